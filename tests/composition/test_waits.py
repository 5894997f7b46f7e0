"""Where workers wait: rounds of files that are not full."""

from __future__ import annotations

import pytest

from dtnsim.simulation import simulate
from tests.lab import answer, journey, machine, rate, volume
from tests.strategies import load


def test_a_round_that_is_not_full_is_counted_once():
    """Fifty files on four workers take as many rounds as fifty-two: thirteen."""
    host = machine()
    seconds = {
        files: answer(
            journey(
                host,
                host,
                tool={"name": "rclone", "backend": "sftp", "transfers": 4},
                dataset={"files": files, "each": "10 kB"},
                wan={"bandwidth": "1 Gb/s", "rtt": "50 ms"},
            )
        ).duration_s
        for files in (48, 50, 52)
    }
    assert seconds[48].p50 < seconds[50].p50
    assert seconds[50].p50 == pytest.approx(seconds[52].p50, rel=0.005)  # connections are shared out as before


def test_what_a_worker_waits_for_passes_while_the_medium_works() -> None:
    """Files of 10 MB with a pause each onto a slow drive: the drive has all of the time, not what the pauses leave."""

    def to(write: str, memory: str) -> float:
        fast = {"kind": "ssd", "read": "9 GB/s", "write": "9 GB/s", "link": "16 GB/s"}
        vm = {"dirty_bytes": memory, "dirty_background_bytes": "0 B"}
        ends = (machine(vm=vm, volumes={"/d": volume({**fast, "write": w})}) for w in ("9 GB/s", write))
        wan = {"bandwidth": "10 Gb/s", "rtt": "20 ms"}
        path = journey(*ends, start="a:/d", to="b:/d", tool="scp", dataset={"files": 2000, "size": "20 GB"}, wan=wan)
        said = rate(path)
        assert simulate(load(path)).runs[0].transfers[0].throughput_Bps == pytest.approx(said, rel=0.01)
        return said

    assert to("50 MB/s", "100 MB") == pytest.approx(50e6, rel=0.01)
    small = 10e6 / (10e6 / 50e6 + 40e-3 - 0.75 * 1e6 / 50e6)  # the set point is at three quarters of the limit
    assert to("50 MB/s", "1 MB") == pytest.approx(small, rel=0.01)
    assert to("9 GB/s", "100 MB") == pytest.approx(10e6 / (10e6 / 105e6 + 40e-3), rel=0.01)  # 2 MiB a round trip
