"""GPFS: blocks in flight of a node, servers that everybody shares."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.each import cases, rows
from tests.lab import MiB, Sheet, answer, journey, machine, problem, rate, sheet, volume, waiting

METADATA = dict.fromkeys(("create", "stat", "remove"), "1000000000000 ops/s")
FREE = {"kind": "gpfs", "latency": "1 us", "nsds": 1, "nsd_rate": "10 TB/s", "share": "1", "metadata_time": "0 s"}


def mount(**given: Any) -> dict[str, Any]:
    return machine(volumes={"/g": volume(filesystem={**FREE, **given})})


def path(host: dict[str, Any], size: str = "100 TB") -> dict[str, Any]:
    return journey(host, start="a:/g", tool="gridftp", dataset={"files": 1, "size": size})


def charges(size: str = "100 TB", **given: Any) -> Sheet:
    return sheet(problem(path(mount(**given), size)))


@cases("prefetch, pagepool, blocks", rows("components/tables", "blocks_in_flight_over_their_latency"))
def test_blocks_in_flight_over_their_latency(prefetch: int, pagepool: str, blocks: float) -> None:
    """min(prefetchThreads, 20 % of the pagepool) blocks / latency (IBM, Spectrum Scale: pagepool; Little)."""
    found = charges(prefetch=prefetch, pagepool=pagepool, block="4 MiB", latency="20 ms")
    assert found.rate("g.prefetch") == pytest.approx(blocks * 4 * MiB / 20e-3)


def test_clients_of_one_system_share_its_servers() -> None:
    """Four clients of a file system of 2 GB/s get 2 GB/s."""
    given = {"nsds": 4, "nsd_rate": {"value": "500 MB/s", "spread": 0.4}, "system": "g"}
    hosts = {h: mount(**given) for h in "acde"}
    transfers = [{"name": f"t{h}", "from": f"{h}:/g", "to": "b:memory", "tool": "gridftp",
                  "dataset": {"files": 1, "size": "100 TB"}} for h in hosts]  # fmt: skip
    path = journey(transfers=transfers)
    path["hosts"] = {**hosts, "b": machine()}
    assert rate(path) == pytest.approx(2e9, rel=1e-3)
    together = answer(path, samples=64).throughput_Bps
    alone = answer({**path, "transfers": transfers[:1]}, samples=64).throughput_Bps
    assert together.p90 / together.p10 == pytest.approx(alone.p90 / alone.p10, rel=0.05)  # one draw for all of them


@pytest.mark.parametrize(("tool", "each"), rows("components/tables", "a_node_that_holds_the_tokens_works_by_itself"))
def test_a_node_that_holds_the_tokens_works_by_itself(tool: dict[str, str], each: float) -> None:
    """IBM, "File system manager": after the grant no further message is needed until another node wants the token."""
    made = path(mount(metadata_time="1 ms", servers={"metadata": METADATA}), "1 GB")
    made["transfer"] |= {"from": "a:memory", "to": "a:/g", "tool": tool, "dataset": {"files": 1000, "size": "1 GB"}}
    assert waiting(problem(made)) == pytest.approx(1000 * each / 1e9)


@settings(max_examples=10)
@given(st.floats(0.05, 1.0), st.floats(0.05, 1.0))
def test_the_less_others_leave_the_less_is_left(a: float, b: float) -> None:
    low, high = sorted((a, b))
    rates = [charges(nsds=4, nsd_rate="500 MB/s", share=repr(s)).bound for s in (low, high)]
    assert rates[0] <= rates[1]
