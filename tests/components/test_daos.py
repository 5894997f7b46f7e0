"""DAOS: dfuse or a library at the client, engines and ports of the servers."""

from typing import Any

import pytest

from tests.each import cases, tables
from tests.lab import FREE, Sheet, expect, journey, machine, moves, problem, sheet, volume

CPU = {"kind": "cpu", "cores": 64, "clock": "3 GHz"}
NODES = {"count": 4, "port_rate": "400 Gb/s", "port_share": "1"}
FIO = {"name": "fio", "rw": "read", "bs": "1 MiB", "direct": True, "iodepth": 4, "ioengine": "libaio", "numjobs": 64}


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


@cases("tool, given, figures", tables("components/tables")["what_a_client_of_daos_charges"])
def test_what_a_client_charges(tool: dict[str, Any], given: dict[str, Any], figures: dict[str, Any]) -> None:
    expect(charges(tool, **given).figure, figures)


@pytest.mark.parametrize(("key", "value", "tool", "around"), tables("components/keys")["daos"]["keys"])
def test_a_key_moves_the_answer(key: str, value: Any, tool: dict[str, Any], around: dict[str, Any]) -> None:
    assert moves(path(tool, **around), path(tool, **{**around, key: value}), rel=1e-3)
