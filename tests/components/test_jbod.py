"""Disks side by side, and arrays of unlike ones."""

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import dtnsim
from dtnsim.ground.errors import SpecError
from tests.each import rows, tables
from tests.lab import MiB, access, device, served

DRIVE = {"kind": "ssd", "read": "100 MB/s", "write": "100 MB/s", "link": "100 GB/s"}


def streaming(disks: int, **use: object) -> float:
    return served(device(kind="jbod", disks=disks, of=DRIVE), access(**use)).rate("d.ssds")  # type: ignore[arg-type]  # by name


@settings(max_examples=15)
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


HOST = tables("components/tables")["host"]
FAST = "{kind: hdd, rate: 250 MB/s}"
SLOW = "{kind: hdd, rate: 60 MB/s}"
READ = ("from: 'h:/d', to: 'h:/dev/null'", "iflag")
WRITE = ("from: 'h:/dev/zero', to: 'h:/d'", "oflag")


def ceiling(tmp_path: Path, array: str, ends: tuple[str, str] = READ) -> float:
    file = tmp_path / "p.yaml"
    file.write_text(HOST.format(fs="zfs" if "raidz" in array else "xfs", array=array, ends=ends[0], direct=ends[1]))
    return float(dtnsim.predict(file, samples=0).ceiling)


@pytest.mark.parametrize("ends", [READ, WRITE], ids=["read", "written"])
@pytest.mark.parametrize("kind", ["raid, level: 0", "raid, level: 6", "raid, level: 10", "raidz, level: 2"])
def test_a_stripe_runs_at_the_slowest(kind: str, ends: tuple[str, str], tmp_path: Path) -> None:
    """md(4) and zpoolconcepts(7): as many drives of the slowest model are as fast; how many are slow says nothing."""
    slow = ceiling(tmp_path, f"{{kind: {kind}, disks: 12, of: {SLOW}}}", ends)
    for n in (1, 4, 11):
        of = f"[{{drive: {FAST}, n: {12 - n}}}, {{drive: {SLOW}, n: {n}}}]"
        assert ceiling(tmp_path, f"{{kind: {kind}, of: {of}}}", ends) == pytest.approx(slow, rel=0.02)
    assert ceiling(tmp_path, f"{{kind: {kind}, disks: 12, of: {FAST}}}", ends) > 2 * slow


@pytest.mark.parametrize(("level", "kernel", "a_second"), [(1, 4.19, 602e3), (10, 4.19, 208e3), (10, 5.4, 602e3)])
def test_random_reads_go_to_the_copy_that_has_least_to_do(level: int, kernel: float, a_second: float) -> None:
    """A. Smith, strugglers.net (June 2019): PM983 (540,000 a second) and SM883 (97,000), also with 0e5313e2d4ef."""
    drives = ({"iops_read": "540k IOPS", "read": "3.2 GB/s"}, {"iops_read": "97k IOPS", "read": "540 MB/s"})
    of = [{"drive": {"kind": "ssd", "write": "500 MB/s", **drive}, "n": 1} for drive in drives]
    release = tuple(int(part) for part in str(kernel).split("."))
    use = access(random=True, block_B=4096, queue_depth=128, kernel=release)
    assert served(device(kind="raid", level=level, of=of), use).bound / 4096 == pytest.approx(a_second, rel=0.08)
    of_zfs = served(device(kind="mirror", of=of), use).bound  # vdev_mirror.c, vdev_mirror_load: always so
    assert of_zfs / 4096 == pytest.approx(637e3)


def test_alike_drives_in_a_list_are_an_array_of_them(tmp_path: Path) -> None:
    of = f"[{{drive: {FAST}, n: 8}}, {{drive: {FAST}, n: 4}}]"
    one = ceiling(tmp_path, f"{{kind: raid, level: 6, disks: 12, of: {FAST}}}")
    assert ceiling(tmp_path, f"{{kind: raid, level: 6, of: {of}}}") == pytest.approx(one, rel=1e-4)


@pytest.mark.parametrize(("array", "says"), rows("components/tables", "what_is_no_array_of_unlike_drives_is_refused"))
def test_what_is_no_array_of_unlike_drives_is_refused(array: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=says):
        ceiling(tmp_path, array)
