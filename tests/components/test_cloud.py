"""What an instance may move, and its disks."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.cloud import Allowance
from dtnsim.components.device import Device
from tests import lab
from tests.each import cases, rows, tables
from tests.lab import KiB, MiB, access, device, journey, machine, moves, problem, served, sheet, volume

DATA = {"files": 32, "each": "10 GB"}


def path(streams: int = 16, *, to: str = "b:memory", rtt: str = "5 ms", ends: int = 1, **allowance: Any) -> Any:
    nic = {"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B", "allowance": {"kind": "allowance", **allowance}}
    start, wan = {"b": "a:memory", "a": "b:memory"}[to[0]], {"bandwidth": "100 Gb/s", "rtt": rtt, "loss": "0"}
    tool = {"name": "gridftp", "cc": 1, "p": streams}
    return journey(*[machine(nic=nic)] * ends, start=start, to=to, tool=tool, dataset=DATA, wan=wan)


@cases("given, what, expected", rows("components/tables", "only_what_leaves_is_held"))
def test_only_what_leaves_is_held(given: dict[str, Any], what: str, expected: float) -> None:
    assert sheet(problem(path(**given))).figure(what) == pytest.approx(expected)


@pytest.mark.parametrize(("key", "value", "around"), rows("components/tables", "a_key_moves_the_answer"))
def test_a_key_moves_the_answer(key: str, value: Any, around: dict[str, Any]) -> None:
    assert moves(path(**around), path(**{**around, key: value}), rel=1e-3)


def test_every_key_is_tried() -> None:
    lab.all_tried(Allowance, [key for key, *_ in rows("components/tables", "a_key_moves_the_answer")], "tables")


GP3 = {"kind": "cloud-disk", "rate": "125 MiB/s", "iops": "3000 IOPS"}
ONE_FILE = {"files": 1, "size": "1 TB"}


#: gp3 as it comes: 125 MiB/s for large requests, 3,000 x 16 KiB = 46.9 MiB/s for small ones (AWS)
@cases("given, use, copies, expected", rows("components/tables", "what_a_disk_gives"))
def test_what_a_disk_gives(given: dict[str, str], use: dict[str, Any], copies: int, expected: float) -> None:
    assert served(device(**{**GP3, **given}), access(**use), copies=copies).bound == pytest.approx(expected)


def test_a_scan_of_st1_is_what_aws_prints() -> None:
    disk = Device.build("ebs-st1-1tib")
    scan = access(total_B=2.0**40)
    assert 2.0**40 / served(disk, scan).bound / 3600 == pytest.approx(1.17, abs=0.006)
    assert served(disk, access(total_B=1e18)).bound == pytest.approx(40 * MiB, rel=1e-3)


@settings(max_examples=30)
@given(st.floats(1e6, 1e15), st.sampled_from([4, 16, 256, 1024]))
def test_more_is_never_slower(total: float, block: int) -> None:
    def here(**more: Any) -> float:
        saved = {"baseline": "20 MiB/s", "credits": "100 GB"}
        use = access(total_B=total, random=True, block_B=block * KiB)
        return served(device(**{**GP3, **saved, **more}), use).bound

    assert here(credits="1 TB") >= here() * (1 - 1e-12)
    assert here(iops="6000 IOPS") >= here() * (1 - 1e-12)
    assert here(rate="1 GB/s") >= here() * (1 - 1e-12)


KEYS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = tables("components/keys")["cloud-disk"]["keys"]


@pytest.mark.parametrize("key", list(KEYS))
def test_a_key_moves_the_answer_of_a_disk(key: str) -> None:
    value, around, tool = KEYS[key]

    def held(**given: Any) -> dict[str, Any]:
        host = machine(volumes={"/d": volume({**GP3, **given})})
        to = "a:/d" if tool["name"] == "fio" else "a:/dev/null"
        return journey(host, start="a:/d", to=to, tool=tool, dataset=ONE_FILE)

    assert moves(held(**around), held(**{**around, key: value}), rel=1e-3)


def test_every_key_is_tried_of_a_disk() -> None:
    lab.all_tried("cloud-disk", KEYS, "keys")
