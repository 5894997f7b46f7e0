"""Single disks side by side: a file lies on one of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab import MiB, access, device, served

DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s"}


def streaming(disks: int, **use: object) -> float:
    return served(device(kind="jbod", disks=disks, of=DRIVE), access(**use)).rate("d.ssds")  # type: ignore[arg-type]  # by name


def test_one_stream_has_one_disk() -> None:
    assert streaming(12, streams=1) == pytest.approx(100e6)


def test_many_streams_find_nearly_all_disks() -> None:
    """k (1 - (1 - 1/k)^n): four streams on four disks meet 2.73 of them, a hundred all."""
    assert streaming(4, streams=4) == pytest.approx(4 * (1 - 0.75**4) * 100e6)
    assert streaming(4, streams=100) == pytest.approx(400e6, rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.integers(1, 60))
def test_more_disks_or_streams_never_hurt(disks: int, streams: int) -> None:
    here = streaming(disks, streams=streams)
    assert streaming(disks + 1, streams=streams) >= here * (1 - 1e-9)
    assert streaming(disks, streams=streams + 1) >= here * (1 - 1e-9)
    assert here <= 100e6 * min(disks, streams) * (1 + 1e-9)


def test_it_is_as_large_as_its_disks() -> None:
    made = device(kind="jbod", disks=12, of=DRIVE)
    assert (made.drives, made.data_disks) == (12, 1)
    assert served(made, access("write", block_B=MiB, streams=12)).demand("d.ssds") > 1.0
