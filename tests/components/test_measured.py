"""A volume as it was measured: every figure that was measured comes out again, and what lies between lies between."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.ground.errors import SpecError
from dtnsim.physics import measured
from tests.each import cases, rows
from tests.lab import journey, machine, rate, volume

DEEP = {"read": "1.8 GB/s", "write": "1.2 GB/s", "reads": "80k IOPS", "writes": "40k IOPS"}
ONE = {"read": "900 MB/s", "write": "600 MB/s", "reads": "10k IOPS", "writes": "5k IOPS"}
ARRAY: dict[str, Any] = {
    "kind": "measured", "read": "1.2 GB/s", "write": "0.8 GB/s", "read_several": "2 GB/s", "first_write": "0.2 GB/s",
    "fresh": "0.25", "depths": {1: ONE, 16: DEEP},
}  # fmt: skip
READ, WRITE = ("a:/d", "a:/dev/null"), ("a:memory", "a:/d")


def ceiling(way: tuple[str, str], tool: dict[str, Any], files: int = 1, **changed: Any) -> float:
    array = {k: v for k, v in {**ARRAY, **changed}.items() if v is not None}
    drives = volume(array, {"kind": "ext4", "sync_latency": "2 ms"})
    host = machine(volumes={"/d": drives})
    return rate(journey(host, start=way[0], to=way[1], tool=tool, dataset={"files": files, "size": "640 GB"}))


@cases("way, tool, expected", rows("components/tables", "what_was_measured_comes_out"))
def test_what_was_measured_comes_out(way: str, tool: dict[str, Any], expected: float) -> None:
    assert ceiling({"read": READ, "write": WRITE}[way], tool) == pytest.approx(expected, rel=1e-3)


def test_new_files_lie_on_blocks_of_both_sorts() -> None:
    new, old = (
        {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"},
        {"name": "dd", "bs": "1 MiB", "conv": "fdatasync,notrunc"},
    )
    zero = ("a:/dev/zero", "a:/d")
    assert ceiling(zero, new) == pytest.approx(1 / (0.25 / 0.2e9 + 0.75 / 0.8e9), rel=1e-3)
    assert ceiling(zero, old) == pytest.approx(0.8e9, rel=1e-3)


def test_a_sync_of_every_block_costs_what_it_took() -> None:
    """2 ms, and 4 KiB at 0.8 GB/s, which are 5 us."""
    made = ceiling(("a:/dev/zero", "a:/d"), {"name": "dd", "bs": "4 KiB", "oflag": "dsync"})
    assert 4096 / made == pytest.approx(2e-3, rel=0.02)


def test_several_streams_read_as_several_did() -> None:
    assert ceiling(READ, {"name": "fio", "rw": "read", "bs": "1 MiB", "numjobs": 4}, 4) == pytest.approx(2e9, rel=1e-3)
    two = ceiling(READ, {"name": "fio", "rw": "read", "bs": "1 MiB", "numjobs": 2}, 2)
    assert two == pytest.approx((1.2e9 * 2e9) ** 0.5, rel=1e-3)


def test_a_bucket_runs_out() -> None:
    """64 GB more at 2.4 than at 0.8 GB/s: the bucket lasts for 64 x 2.4 / (2.4 - 0.8) = 96 GB."""
    new = {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}
    made = ceiling(("a:/dev/zero", "a:/d"), new, first_write=None, burst="64 GB", burst_write="2.4 GB/s")
    assert 640e9 / made == pytest.approx(96e9 / 2.4e9 + 544e9 / 0.8e9, rel=1e-3)


@given(st.floats(512, 1e8), st.floats(1, 1e6), st.floats(1e5, 1e10))
def test_a_request_between_two_sizes(size: float, small_rate: float, large_Bps: float) -> None:
    def time(request_B: float) -> float:
        return request_B / float(measured.request_rate(request_B, 4096.0, small_rate, 2.0**20, large_Bps))

    assert time(4096.0) == pytest.approx(1 / small_rate)
    assert time(2.0**20) == pytest.approx(max(2.0**20 / large_Bps, 1 / small_rate))
    assert time(size) <= time(size * 2) * (1 + 1e-9)


@given(st.floats(1, 16), st.floats(1e6, 1e9), st.floats(1e6, 1e9))
def test_between_two_depths(number: float, low: float, high: float) -> None:
    rate = float(measured.between(number, 1.0, low, 16.0, high))
    assert min(low, high) * (1 - 1e-9) <= rate <= max(low, high) * (1 + 1e-9)
    assert float(measured.between(1.0, 1.0, low, 16.0, high)) == pytest.approx(low)


def test_parts_at_two_rates() -> None:
    assert np.allclose(measured.mixed_rate([0.0, 0.5, 1.0], 1.0, 3.0), [3.0, 1.5, 1.0])


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"burst": "1 GB"}, "belong together"), ({"depths": {}}, "at least 1"), ({"depths": {0: ONE}}, "1 or more")],
)
def test_what_makes_no_sense_is_said(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        ceiling(READ, {"name": "dd"}, **changed)
