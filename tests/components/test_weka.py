"""WEKA: frontends of the client, compute cores, drives and ports of the servers."""

from typing import Any

import pytest

from tests.each import cases, rows, tables
from tests.lab import FREE, Sheet, journey, machine, moves, problem, rate, sheet, volume

GIVEN = rows("components/weka", "given")

CPU = {"kind": "cpu", "cores": 64, "clock": "3 GHz"}
NODES = {"count": 8, "ports": 2, "port_rate": "100 Gb/s", "port_share": "1"}
FIO = {"name": "fio", "rw": "read", "bs": "1 MiB", "direct": True, "iodepth": 4, "ioengine": "libaio", "numjobs": 64}
SMALL = GIVEN["SMALL"]


def path(tool: dict[str, Any] | None = None, *, files: int = 64, **given: Any) -> dict[str, Any]:
    mount = {"kind": "weka", "servers": NODES, "share": "1", **given}
    nic = {"kind": "nic", "rate": "10 Tb/s", "mtu": "9000 B"}
    costly = {**FREE, "receive_byte": "3 cycles/B", "send_byte": "3 cycles/B"}
    host = machine(cpu=CPU, stack=costly, nics={"e": nic}, volumes={"/v": volume(filesystem=mount, via=["e"])})
    del host["nic"]
    dataset = {"files": files, "size": "10 TB"}
    return journey(host, start="a:/v", to="a:/v", tool={**FIO, **(tool or {})}, dataset=dataset)


def charges(tool: dict[str, Any] | None = None, **given: Any) -> Sheet:
    return sheet(problem(path(tool, **given)))


@cases("tool, given, what, expected, rel", rows("components/weka", "what_a_mount_charges"))
def test_what_a_mount_charges(tool: Any, given: dict[str, Any], what: str, expected: float, rel: float) -> None:
    assert charges(tool, **given).figure(what) == pytest.approx(expected, rel=rel)


def test_compute_cores_do_the_metadata_as_well() -> None:
    """117,644 removals a second of 32 compute cores (docs.weka.io, mdtest)."""
    made = path(compute=4)
    made["transfer"].update({"from": "a:memory", "dataset": {"files": 100_000, "size": "1 MB"}, "tool": "rm"})
    assert sheet(problem(made)).rate("v.compute") / 10 == pytest.approx(117_644, rel=0.1)
    servers = {**NODES, "metadata": {"count": 2, "remove": "100 ops/s"}}
    made["hosts"]["a"]["volumes"]["/v"]["filesystem"]["servers"] = servers
    assert sheet(problem(made)).rate("v.metadata") / 10 == pytest.approx(200)


def test_a_request_alone_waits_its_latency() -> None:
    """145 and 272 us for a read of 4 KiB (docs.weka.io)."""
    alone = {**SMALL, "numjobs": 1, "iodepth": 1}
    assert 4096 / rate(path(alone, num_cores=4)) == pytest.approx(0.2e-3, rel=0.2)


@pytest.mark.parametrize(("key", "value", "tool", "around"), tables("components/keys")["weka"]["keys"])
def test_a_key_moves_the_answer(key: str, value: Any, tool: dict[str, Any], around: dict[str, Any]) -> None:
    assert moves(path(tool, **around), path(tool, **{**around, key: value}), rel=1e-3)


def buffered(**given: Any) -> dict[str, Any]:
    made = path(num_cores=19, **given)
    made["transfer"].update({"to": "a:/dev/null", "tool": {"name": "dd", "bs": "64 KiB"}})
    return made


def test_a_buffered_reader_has_its_window_and_joins_its_requests() -> None:
    assert rate(buffered(read_ahead="64 KiB")) == pytest.approx(65536 / 0.2e-3, rel=0.01)
    assert rate(buffered()) > 10 * rate(buffered(read_ahead="64 KiB"))
    small, large = (sheet(problem(buffered(request=size))) for size in ("64 KiB", "1 MiB"))
    assert small.rate("v.frontends") < 0.8 * large.rate("v.frontends")


def test_small_files_wait_for_metadata_and_flushes() -> None:
    def copied(**given: Any) -> float:
        made = path(**given)
        made["transfer"].update({"from": "a:memory", "dataset": {"files": 10000, "size": "1 GB"}, "tool": "cp"})
        return rate(made)

    assert copied(metadata_time="3 ms") < 0.3 * copied()
    dsync = {"bs": "4 KiB", "oflag": "dsync"}

    def synced(**given: Any) -> float:
        made = path(**given)
        made["transfer"].update({"from": "a:/dev/zero", "tool": {"name": "dd", **dsync}})
        return rate(made)

    assert synced(sync_latency="2 ms") < 0.2 * synced()
