"""DAOS: dfuse or a library at the client, engines and ports of the servers."""

from typing import Any

import pytest

from tests.each import cases, tables
from tests.lab import FREE, Sheet, expect, journey, machine, moves, problem, rate, sheet, volume

CPU = {"kind": "cpu", "cores": 64, "clock": "3 GHz"}
NODES = {"count": 4, "port_rate": "400 Gb/s", "port_share": "1"}
FIO = {"name": "fio", "rw": "read", "bs": "1 MiB", "direct": True, "iodepth": 4, "ioengine": "libaio", "numjobs": 64}
WRITE = {"rw": "write"}
SMALL = {"rw": "randread", "bs": "4 KiB", "iodepth": 64}


def path(tool: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    mount = {"kind": "daos", "servers": NODES, "share": "1", **given}
    nic = {"kind": "nic", "rate": "400 Gb/s", "mtu": "9000 B"}
    receiving = {**FREE, "receive_byte": "1 cycles/B"}
    host = machine(cpu=CPU, stack=receiving, nics={"e": nic}, volumes={"/v": volume(filesystem=mount, via=["e"])})
    del host["nic"], host["vm"]
    dataset = {"files": 64, "size": "10 TB"}
    return journey(host, start="a:/v", to="a:/v", tool={**FIO, **(tool or {})}, dataset=dataset)


def charges(tool: dict[str, Any] | None = None, **given: Any) -> Sheet:
    return sheet(problem(path(tool, **given)))


def copied(program: Any, files: int = 1, size: str = "20 GiB", **given: Any) -> float:
    made = path(**given)
    made["transfer"].update({"from": "a:/dev/zero", "tool": program, "dataset": {"files": files, "size": size}})
    return rate(made)


@cases("tool, given, figures", tables("components/tables")["what_a_client_of_daos_charges"])
def test_what_a_client_charges(tool: dict[str, Any], given: dict[str, Any], figures: dict[str, Any]) -> None:
    expect(charges(tool, **given).figure, figures)


def test_dd_with_and_without_a_library_is_of_the_published_order() -> None:
    """docs.daos.io, Interception library: dd bs=1G count=20 writes 1.5 GB/s, with libioil 4.3 GB/s."""
    dd = {"name": "dd", "bs": "1 GiB"}
    assert copied(dd, library="ioil") == pytest.approx(4.3e9, rel=0.2)
    assert 1.2e9 < copied(dd) < 2.2e9


def test_fuse_keeps_few_dirty_bytes_and_a_flush_is_a_request() -> None:
    """A hundredth of the limits: what is beyond waits for the servers."""
    assert copied({"name": "dd", "bs": "1 MiB"}, size="200 GiB") == pytest.approx(2e9, rel=0.1)
    synced = {"name": "dd", "bs": "4 KiB", "oflag": "dsync"}
    assert copied(synced, sync_latency="3 ms") < 0.2 * copied(synced)


def test_what_is_written_leaves_the_client_once_for_each_copy() -> None:
    plain, copies, coded = (charges(WRITE, **how) for how in ({}, {"replicas": 3}, {"data": 2, "coding": 1}))
    for found, times in ((plain, 1.0), (copies, 3.0), (coded, 1.5)):
        assert found.demand("e.port0.tx") == pytest.approx(times * 4178 / 4096)
        assert found.rate("v.engines") == pytest.approx(4 * 19e9 / times)
        assert found.rate("v.servers") == pytest.approx(4 * 50e9 / times)
    assert charges(replicas=3).demand("e.port0.rx") == pytest.approx(4178 / 4096)


def test_a_request_alone_waits_its_latency() -> None:
    """Parallelstore: 0.3 ms for a read of 4 KiB."""
    alone = {**SMALL, "numjobs": 1, "iodepth": 1}
    assert 4096 / rate(path(alone)) == pytest.approx(0.3e-3, rel=0.05)


@pytest.mark.parametrize(("key", "value", "tool", "around"), tables("components/keys")["daos"]["keys"])
def test_a_key_moves_the_answer(key: str, value: Any, tool: dict[str, Any], around: dict[str, Any]) -> None:
    assert moves(path(tool, **around), path(tool, **{**around, key: value}), rel=1e-3)


def test_a_buffered_reader_has_its_window() -> None:
    def read(**given: Any) -> float:
        made = path(eq_count=8, **given)
        made["transfer"].update({"to": "a:/dev/null", "tool": {"name": "dd", "bs": "64 KiB"}})
        return rate(made)

    assert read(read_ahead="128 KiB") == pytest.approx(131072 / 0.3e-3, rel=0.01)
    assert read() > 5 * read(read_ahead="128 KiB")
    few = {"engine_reads": "1k ops/s"}
    assert read(**few, request="64 KiB") < 0.5 * read(**few)  # small requests are counted


def test_metadata_goes_through_dfuse_or_past_it() -> None:
    def small(**given: Any) -> float:
        return copied("cp", files=1000, size="10 MB", **given)

    assert small(metadata_time="9 ms") < 0.2 * small()
    assert small(library="ioil", metadata_direct="9 ms") == pytest.approx(small(library="ioil"))
    assert small(library="pil4dfs") > 1.2 * small(library="ioil")
    assert small(library="pil4dfs", metadata_direct="9 ms") < 0.2 * small(library="pil4dfs")
