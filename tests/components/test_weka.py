"""WEKA: frontends of the client, compute cores, drives and ports of the servers."""

from typing import Any

import pytest

from tests.each import cases, rows, tables
from tests.lab import FREE, Sheet, journey, machine, moves, problem, sheet, volume

CPU = {"kind": "cpu", "cores": 64, "clock": "3 GHz"}
NODES = {"count": 8, "ports": 2, "port_rate": "100 Gb/s", "port_share": "1"}
FIO = {"name": "fio", "rw": "read", "bs": "1 MiB", "direct": True, "iodepth": 4, "ioengine": "libaio", "numjobs": 64}


def path(tool: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    mount = {"kind": "weka", "servers": NODES, "share": "1", **given}
    nic = {"kind": "nic", "rate": "10 Tb/s", "mtu": "9000 B"}
    costly = {**FREE, "receive_byte": "3 cycles/B", "send_byte": "3 cycles/B"}
    host = machine(cpu=CPU, stack=costly, nics={"e": nic}, volumes={"/v": volume(filesystem=mount, via=["e"])})
    del host["nic"]
    dataset = {"files": 64, "size": "10 TB"}
    return journey(host, start="a:/v", to="a:/v", tool={**FIO, **(tool or {})}, dataset=dataset)


def charges(tool: dict[str, Any] | None = None, **given: Any) -> Sheet:
    return sheet(problem(path(tool, **given)))


@cases("tool, given, what, expected, rel", rows("components/weka", "what_a_mount_charges"))
def test_what_a_mount_charges(tool: Any, given: dict[str, Any], what: str, expected: float, rel: float) -> None:
    assert charges(tool, **given).figure(what) == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize(("key", "value", "tool", "around"), tables("components/keys")["weka"]["keys"])
def test_a_key_moves_the_answer(key: str, value: Any, tool: dict[str, Any], around: dict[str, Any]) -> None:
    assert moves(path(tool, **around), path(tool, **{**around, key: value}), rel=1e-3)
