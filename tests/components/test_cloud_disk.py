"""Block storage of cloud providers: throughput, requests, credits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.components.base import Component, find_kind
from dtnsim.components.device import Device
from tests.lab import KiB, MiB, access, answer, device, journey, machine, served, volume

GP3 = {"kind": "cloud-disk", "rate": "125 MiB/s", "iops": "3000 IOPS"}
DATA = {"files": 1, "size": "1 TB"}


def test_throughput_and_requests_hold_what_they_hold() -> None:
    """gp3 as it comes: 125 MiB/s for large requests, 3,000 x 16 KiB = 46.9 MiB/s for small ones (AWS)."""
    large, small = access(), access(random=True, block_B=16 * KiB)
    assert served(device(**GP3), large).bound == pytest.approx(125 * MiB)
    assert served(device(**GP3), small).bound == pytest.approx(3000 * 16 * KiB)
    huge = access(random=True, block_B=1 * MiB)
    assert served(device(**{**GP3, "iops": "100 IOPS"}), huge).bound == pytest.approx(100 / 4 * MiB)


def test_disks_side_by_side() -> None:
    assert served(device(**GP3), access(), copies=4).bound == pytest.approx(500 * MiB)


def test_a_scan_of_st1_is_what_aws_prints() -> None:
    disk = Device.build("ebs-st1-1tib")
    scan = access(total_B=2.0**40)
    assert 2.0**40 / served(disk, scan).bound / 3600 == pytest.approx(1.17, abs=0.006)
    assert served(disk, access(total_B=1e18)).bound == pytest.approx(40 * MiB, rel=1e-3)


@settings(max_examples=30, deadline=None)
@given(st.floats(1e6, 1e15), st.sampled_from([4, 16, 256, 1024]))
def test_more_is_never_slower(total: float, block: int) -> None:
    def here(**more: Any) -> float:
        saved = {"baseline": "20 MiB/s", "credits": "100 GB"}
        use = access(total_B=total, random=True, block_B=block * KiB)
        return served(device(**{**GP3, **saved, **more}), use).bound

    assert here(credits="1 TB") >= here() * (1 - 1e-12)
    assert here(iops="6000 IOPS") >= here() * (1 - 1e-12)
    assert here(rate="1 GB/s") >= here() * (1 - 1e-12)


CREDITS = {"baseline": "20 MiB/s", "credits": "10 GB"}
STREAM = {"name": "dd", "bs": "1 MiB"}
KEYS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "rate": ("60 MiB/s", {}, STREAM),
    "iops": ("100 IOPS", {}, STREAM),
    "counted": ("16 KiB", {}, STREAM),
    "response": ("1 s", {}, {"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True}),
    "baseline": ("40 MiB/s", CREDITS, STREAM),
    "credits": ("100 GB", CREDITS, STREAM),
}


@pytest.mark.parametrize("key", list(KEYS))
def test_a_key_moves_the_answer(key: str) -> None:
    value, around, tool = KEYS[key]

    def rate(**given: Any) -> float:
        host = machine(volumes={"/d": volume({**GP3, **given})})
        to = "a:/d" if tool["name"] == "fio" else "a:/dev/null"
        return answer(journey(host, start="a:/d", to=to, tool=tool, dataset=DATA)).throughput_Bps.p50

    assert rate(**{**around, key: value}) != pytest.approx(rate(**around), rel=1e-3)


def test_every_key_is_tried() -> None:
    assert set(find_kind("cloud-disk").model_fields) - set(Component.model_fields) == set(KEYS)
