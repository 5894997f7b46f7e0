"""What operations take: each waits for the one before, over the way to the servers."""

import pytest

from tests.lab import journey, machine, problem, volume, waiting


@pytest.mark.parametrize("rtt_ms", [0.0, 10.0])
def test_operations_are_round_trips_in_a_row(rtt_ms: float) -> None:
    """N k (T + t): a create and a close of each of N files, both round trips of T to a server that takes t."""
    servers = {"metadata": dict.fromkeys(("create", "stat", "remove"), "1000000000000 ops/s")}
    mount = {"kind": "beegfs", "metadata_time": "1 ms", "change_time": "0 s", "share": "1", "servers": servers}
    made = journey(machine(volumes={"/v": volume(filesystem=mount, over="wan")}), start="a:memory", to="a:/v",
                   tool={"name": "mdtest"}, dataset={"files": 1000, "size": "1 GB"},
                   wan={"bandwidth": "10 Gb/s", "rtt": f"{rtt_ms} ms", "loss": 0})  # fmt: skip
    del made["hosts"]["b"]
    assert waiting(problem(made)) * 1e9 == pytest.approx(1000 * 2 * (rtt_ms + 1.0) * 1e-3, rel=1e-2)
