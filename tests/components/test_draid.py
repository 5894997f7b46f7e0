"""dRAID: stripes of fixed width over many disks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.ground.errors import SpecError
from tests.lab import KiB, MiB, access, device, served

DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s"}


def draid(**more: object):  # type: ignore[no-untyped-def]  # a device
    return device(kind="draid", **{"parity": 2, "data": 8, "disks": 24, "of": DRIVE, "record": "1 MiB", **more})


def test_data_parity_and_spares_share_all_disks() -> None:
    """22 of 24 disks work, eight tenths of what they move is data."""
    turning = {"kind": "hdd", "rate": "100 MB/s", "position": "0", "link": "100 GB/s"}
    assert served(draid(spares=2, of=turning), access()).rate("d.disks") == pytest.approx(22 * 0.8 * 100e6)
    assert served(draid(spares=2), access()).rate("d.ssds") == pytest.approx(22 * 100e6)  # flash passes no parity by
    assert served(draid(spares=2), access("write")).rate("d.ssds") == pytest.approx(22 * 0.8 * 100e6)


def test_small_blocks_are_filled_up_to_a_stripe() -> None:
    """OpenZFS docs, dRAID Howto: 32 KiB is the least allocation with eight data disks and 4-KiB sectors."""
    whole, small = (draid().bus_factor(access("write", record_B=b * KiB)) for b in (32, 4))
    assert whole == pytest.approx(10 / 8)
    assert small == pytest.approx(10.0)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 12), st.integers(0, 4), st.integers(1, 3))
def test_it_is_never_faster_than_its_disks(data: int, spares: int, parity: int) -> None:
    made = draid(data=data, parity=parity, spares=spares)
    assert served(made, access(block_B=MiB)).rate("d.ssds") <= (24 - spares) * 100e6 * (1 + 1e-9)
    assert made.data_disks <= made.drives


def test_stripes_wider_than_the_disks_cannot_be() -> None:
    with pytest.raises(SpecError, match="do not fit"):
        draid(data=23)
