"""GPFS: blocks in flight of a node, servers that everybody shares."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.each import cases, rows
from tests.lab import GiB, MiB, Sheet, answer, journey, machine, problem, rate, sheet, volume, waiting

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


def test_a_direct_request_waits_for_its_block() -> None:
    tool, host = {"name": "dd", "bs": "4 MiB", "oflag": "direct"}, mount(latency="20 ms", pagepool="64 GiB")
    direct = rate(journey(host, start="a:memory", to="a:/g", tool=tool, dataset={"files": 1, "size": "100 TB"}))
    assert direct == pytest.approx(4 * MiB / 20e-3, rel=0.02)


def test_tokens_of_other_nodes_cost_messages() -> None:
    """A request and its revocation for each removal (Schmuck and Haskin, FAST 2002); its own work besides."""

    def seconds(contended: str) -> float:
        host = mount(metadata_time="1 ms", contended=contended, servers={"metadata": METADATA})
        path = journey(host, start="a:memory", to="a:/g", tool="rm", dataset={"files": 1000, "size": "1 GB"})
        return waiting(problem(path))

    assert seconds("1") - seconds("0") == pytest.approx(1000 * 2e-3 / 1e9)


@pytest.mark.parametrize(("tool", "each"), rows("components/tables", "a_node_that_holds_the_tokens_works_by_itself"))
def test_a_node_that_holds_the_tokens_works_by_itself(tool: dict[str, str], each: float) -> None:
    """IBM, "File system manager": after the grant no further message is needed until another node wants the token."""
    made = path(mount(metadata_time="1 ms", servers={"metadata": METADATA}), "1 GB")
    made["transfer"] |= {"from": "a:memory", "to": "a:/g", "tool": tool, "dataset": {"files": 1000, "size": "1 GB"}}
    assert waiting(problem(made)) == pytest.approx(1000 * each / 1e9)


@pytest.mark.parametrize(("each", "printed"), [("1 B", 222_100 / 32), ("3 KiB", 960), ("64 KiB", 960)])
def test_files_with_data_take_longer(each: str, printed: float) -> None:
    """Dell PixStor guide: 222,100 empty files a second of 32 threads, 960 of one whose files of 3 KiB lie in inodes.

    A larger file takes no less.
    """
    made = path(mount(servers={"metadata": METADATA}), "1 GB")
    made["transfer"] |= {"from": "a:memory", "to": "a:/g", "tool": {"name": "mdtest"}}
    made["transfer"]["dataset"] = {"files": 1000, "each": each}
    made["hosts"]["a"]["volumes"]["/g"]["filesystem"].pop("create_time", None)
    seconds = waiting(problem(made)) * problem(made).transfers[0].payload_B / 1000
    assert 1 / seconds == pytest.approx(printed, rel=0.06)


@pytest.mark.parametrize("test", ["read", "write"])
def test_a_call_is_one_copy_and_no_page_of_the_kernel(test: str) -> None:
    """The pagepool is pinned (IBM, "Pinned memory"): both directions take what a cached read of a file takes."""
    ends = {"from": "a:/g", "to": "a:/dev/null"} if test == "read" else {"from": "a:memory", "to": "a:/g"}
    stack = {"file_read_byte": "0.5 cycles/B", "file_write_byte": "3 cycles/B", "file_call": "0 cycles"}
    host = machine(volumes={"/g": volume(filesystem=FREE)}, stack={"kind": "stack", **stack})
    tool = {"name": "iozone", "test": test, "r": "1 MiB"}
    made = journey(host, start=ends["from"], to=ends["to"], tool=tool, dataset={"files": 1, "size": "100 TB"})
    assert sheet(problem(made)).demand("a.cpu.iozone[transfer]") == pytest.approx(0.5)


@pytest.mark.parametrize(("pool", "disks"), [("1 GiB", True), ("100 GB", False)])
def test_what_a_node_reads_again_is_in_the_pagepool_or_comes_from_the_disks(pool: str, disks: bool) -> None:
    """IBM Spectrum Scale, "Cache usage": files are in the pagepool, however much memory the host has besides."""
    host = machine(volumes={"/g": volume(filesystem={**FREE, "pagepool": pool, "nsds": 1, "nsd_rate": "100 MB/s"})})
    tool, data = {"name": "iozone", "test": "read", "r": "1 MiB"}, {"files": 1, "size": "10 GB"}
    found = rate(journey(host, start="a:/g", to="a:/dev/null", tool=tool, dataset=data))
    assert found == pytest.approx(100e6, rel=0.01) if disks else found > 1e9


@settings(max_examples=10)
@given(st.floats(0.05, 1.0), st.floats(0.05, 1.0))
def test_the_less_others_leave_the_less_is_left(a: float, b: float) -> None:
    low, high = sorted((a, b))
    rates = [charges(nsds=4, nsd_rate="500 MB/s", share=repr(s)).bound for s in (low, high)]
    assert rates[0] <= rates[1]


def test_write_behind_has_the_pagepools_room_and_no_more() -> None:
    """prefetchPct of the pagepool (IBM, "Setting the pagepool size"); the host's page cache has no part in it."""
    made_of = {"pagepool": "10 GiB", "prefetch_share": "0.2", "nsds": 1, "nsd_rate": "100 MB/s", "share": "1"}
    host = machine(volumes={"/g": volume(filesystem={"kind": "gpfs", **made_of})}, vm={"dirty_ratio": "0.2"})
    made = journey(host, start="a:/dev/zero", to="a:/g", tool={"name": "dd", "bs": "1 MiB"}, dataset={"size": "4 GiB"})
    seconds = answer(made).duration_s.p50
    assert seconds == pytest.approx(2 * GiB / 100e6, rel=0.05)  # 2 GiB of four fit; blocks go out from the first on
