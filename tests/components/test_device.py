"""Devices nest, accesses are values, and what explain prints of block storage is the calculation."""

import math
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.access import Access, Thread
from tests.each import cases, named, worked_out
from tests.lab import KiB, access, charged, device, expect, served
from tests.strategies import arrays

DRIVE = {"kind": "hdd", "rate": "100 MB/s"}


@cases("given, use, figures", named("components/devices"))
def test_what_a_device_does(given: dict[str, Any], use: dict[str, Any], figures: dict[str, Any]) -> None:
    made, use = device(**given), worked_out(use, {})
    how = {key: use.pop(key) for key in ("copies", "visit_B") if key in use}
    found = served(made, access(**use), **how)
    own = {"bound": found.bound, "bus": float(made.bus_factor(access(**use)))}
    expect(lambda what: own[what] if what in own else found.figure(what), figures)


@given(arrays(), st.sampled_from(["read", "write"]), st.booleans(), st.integers(1, 6))
def test_no_array_beats_its_drives(array: dict[str, Any], operation: str, random: bool, streams: int) -> None:
    made = device(**array)
    while True:
        inner = getattr(made, "of", None)
        if inner is None:
            break
        made = inner
    use = access(operation, random=random, block_B=64 * KiB, streams=streams)
    whole = device(**array)
    best = served(made, access(operation)).bound
    assert 0 < served(whole, use).bound <= whole.drives * best * (1 + 1e-9)
    assert 1 <= whole.data_disks <= whole.drives
    assert float(whole.bus_factor(use)) >= 1.0


@given(arrays(), st.integers(1, 8), st.booleans())
def test_equal_arrays_side_by_side_add(array: dict[str, Any], copies: int, random: bool) -> None:
    use, made = access(random=random, block_B=64 * KiB), device(**array)
    assert served(made, use, copies=copies).bound == pytest.approx(copies * served(made, use).bound, rel=1e-6)


@settings(max_examples=20)
@given(arrays(), st.sampled_from(["read", "write"]))
def test_a_stripe_of_one_is_no_stripe(array: dict[str, Any], operation: str) -> None:
    use = access(operation)
    striped = device(kind="raid", level=0, disks=1, of=array)
    assert served(striped, use).bound == pytest.approx(served(device(**array), use).bound, rel=1e-9)
    assert striped.drives == device(**array).drives


def test_a_drive_alone() -> None:
    drive = device(**DRIVE)
    assert (drive.drives, drive.data_disks) == (1, 1)
    assert drive.bus_factor(access("write")) == 1.0


def test_arrays_of_arrays_multiply() -> None:
    """RAID0 of four RAID6 of ten: 40 drives, 32 with data; three levels deep as well."""
    group = {"kind": "raid", "level": 6, "disks": 10, "of": DRIVE}
    whole = device(kind="raid", level=0, disks=4, of=group)
    assert (whole.drives, whole.data_disks) == (40, 32)
    deep = device(kind="raid", level=1, disks=2, of={"kind": "raid", "level": 0, "disks": 4, "of": group})
    assert (deep.drives, deep.data_disks) == (80, 32)
    # both mirrors cross the bus, each with its parity
    assert float(deep.bus_factor(access("write"))) == pytest.approx(2 * 10 / 8)


def test_latency_is_that_of_the_drive() -> None:
    slow = {"kind": "ssd", "read": "1 GB/s", "write": "1 GB/s", "latency_read": "80 us"}
    whole, found = device(kind="raid", level=0, disks=4, of={"kind": "raid", "level": 5, "disks": 4, "of": slow}), []
    charged(lambda row: found.append(float(whole.latency(row, access("read")))))
    assert found == [pytest.approx(80e-6, rel=0.02)]  # less the transfer of 4 KiB


def test_a_plain_access_is_one_sequential_stream_of_incompressible_bytes() -> None:
    """What a tool does not say must be what plain read() and write() do: nothing cached, one request at a time."""
    use = Access("read", Thread("reader"), 4096, 1e6, 1e9)
    assert (use.streams, use.own_streams, use.queue_depth) == (1, 1, 1)
    assert (use.random, use.cached, use.rewrite) == (False, False, False)
    assert use.stored == 1.0
    assert use.finish == "steady"
    assert math.isinf(use.llc_B)


def test_but_changes_a_copy() -> None:
    use = Access("write", Thread("writer"), 4096, 1e6, 1e9)
    other = use.but(block_B=512, finish="dsync")
    assert (use.block_B, use.finish) == (4096, "steady")
    assert (other.block_B, other.finish, other.thread) == (512, "dsync", use.thread)
    with pytest.raises(TypeError):
        use.but(blokc_B=1)
