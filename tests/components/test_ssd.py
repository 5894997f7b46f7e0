"""SSDs: link and flash, zeros on compressing controllers, caches that fill, requests."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.components.access import Operation
from dtnsim.components.base import Component
from dtnsim.components.ssd import Ssd
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw
from tests.each import cases, rows
from tests.lab import KiB, access, charged, device, machine, rate, served, volume

GIVEN = rows("components/ssd", "given")

PARTS = sorted(p.stem for p in (library.root("models") / "parts" / "ssd").glob("*.yaml"))
SATA = GIVEN["SATA"]


def ssd(**more: object) -> Any:
    return device(**{**SATA, **more})


@cases("drive, use, copies, what, expected", rows("components/ssd", "what_a_drive_does"))
def test_what_a_drive_does(drive: Any, use: dict[str, Any], copies: int, what: str, expected: float) -> None:
    found = served(ssd(**drive), access(**use), copies=copies)
    assert found.figure(what) == pytest.approx(expected)
    assert copies == 3 or found.bound == found.figure(what)


@given(st.floats(0.0, 1.0))
def test_a_compressing_controller_writes_what_is_left_of_the_data(stored: float) -> None:
    """R = min(R_link, R_flash / c): zeros (c = 0) at the link's rate, incompressible data at the flash's."""
    rate = served(ssd(compresses=True), access("write", stored=stored)).rate("d.ssds")
    assert rate == pytest.approx(min(550e6, 200e6 / max(stored, 1e-9)), rel=1e-9)


@cases("given, zeros", rows("components/tables", "zeros_run_at_what_the_datasheet_promises_for_compressible_data"))
def test_zeros_run_at_what_the_datasheet_promises_for_compressible_data(given: dict[str, str], zeros: float) -> None:
    """Intel SSD 535 specification: up to 490 MB/s, data that compress; incompressible data never see it."""
    drive = ssd(compresses=True, **given)
    assert served(drive, access("write", stored=0.0)).rate("d.ssds") == pytest.approx(zeros)
    assert served(drive, access("write", stored=1.0)).rate("d.ssds") == pytest.approx(200e6)


@pytest.mark.parametrize("given", [{"burst_write": "500 MB/s"}, {"burst": "10 GB"}])
def test_half_a_burst_is_an_error(given: dict[str, str]) -> None:
    """A rate without its bytes would silently be unused."""
    with pytest.raises(SpecError, match="needs burst"):
        ssd(**given)


def test_a_burst_cache_fills() -> None:
    """22 GB at 2.3 GB/s and the rest at 0.62: mean rate V / (22/2.3 + (V - 22)/0.62) (seconds for GB)."""
    drive = Component.build("samsung-970-evo")

    def rate(size: float) -> float:
        return served(drive, access("write", total_B=size)).bound

    assert rate(10e9) == pytest.approx(2.3e9)
    assert rate(100e9) == pytest.approx(100e9 / (22 / 2.3 + 78 / 0.62), rel=1e-9)
    # TechPowerUp, 970 EVO 500 GB: above 2 GB/s for 22 GB, then about 600 MB/s
    assert 22e9 / rate(22e9) == pytest.approx(22 / 2.1, rel=0.1)
    assert rate(1e15) == pytest.approx(600e6, rel=0.05)
    sizes = [1e9, 22e9, 23e9, 50e9, 500e9]
    assert [rate(s) for s in sizes] == sorted((rate(s) for s in sizes), reverse=True)


def test_reading_and_writing_the_same_drive_takes_the_sum_of_the_times() -> None:
    drive = ssd()

    def both(row: object) -> None:
        drive.serve(row, access("write"), "d")  # type: ignore[arg-type]  # the bench's row
        drive.serve(row, access("read"), "d")  # type: ignore[arg-type]

    assert charged(both).rate("d.ssds") == pytest.approx(1 / (1 / 200e6 + 1 / 540e6), rel=1e-12)


def test_latency_is_that_of_the_operation() -> None:
    """As rated, less 4 KiB over SATA, and less what a program's own turn takes where it is charged beside it."""
    drive, link = ssd(latency_read="100 us", latency_write="30 us"), 4096 / 560e6
    found = [waits(drive, "read"), waits(drive, "write", finish="direct")]
    assert found == pytest.approx([100e-6 - link, 27e-6 - link])


def waits(drive: Ssd, operation: Operation, **use: object) -> float:
    """Latency of one request [s]."""
    found: list[float] = []
    charged(lambda row: found.append(float(drive.latency(row, access(operation, **use)))))
    return found[0]


@pytest.mark.parametrize(("read", "random", "following"), [("540 MB/s", 100e-6, 36e-6), ("3.2 GB/s", 85e-6, 10e-6)])
def test_small_requests_in_sequence_wait_less_than_random_ones(read: str, random: float, following: float) -> None:
    """Samsung 850 EVO, 10,000 random reads a second at depth 1; Intel S4500 and P4500, typical latencies of 4 KiB."""
    drive = ssd(read=read, power_loss_protection=True)
    assert waits(drive, "read", random=True, block_B=4 * KiB) == pytest.approx(random, rel=0.15)
    assert following < waits(drive, "read", block_B=4 * KiB) < 0.6 * random
    assert waits(drive, "read", block_B=4 * KiB, queue_depth=4) == pytest.approx(waits(drive, "read", random=True))


@pytest.mark.parametrize(("size", "part"), [(4 * KiB, 1 / 4), (8 * KiB, 1 / 2), (16 * KiB, 1.0), (1e6, 1.0)])
def test_small_files_of_a_folder_share_the_pages_of_the_flash(size: float, part: float) -> None:
    """Four files of 4 KiB in a page of 16 KiB: one of them waits 100 us for the flash, the others 30 us."""
    drive, found = ssd(latency_read="100 us", latency_sequential="30 us"), []
    charged(lambda row: found.append(float(drive.next_file(row, access("read", file_B=size)))))
    assert found == [pytest.approx(30e-6 + 70e-6 * part - 4096 / 560e6)]


def spread_of_reads(**given: object) -> tuple[float, float, float]:
    """Rates of reading a drive of 7 GB/s: as sold, and at the tenth and ninetieth hundredth of many."""
    drive = device(kind="ssd", read="7 GB/s", write="5 GB/s", **{k: v for k, v in given.items() if k != "seated"})
    use = access("read", seated=bool(given.get("seated")))
    draws = Draw(400, 1)
    found = charged(lambda row: drive.serve(row, use, "d"), draw=draws)
    many = np.asarray(found.stations["h.d.links"].capacity)
    sold = served(drive, use).rate("d.links")
    return sold, float(np.quantile(many, 0.1)), float(np.quantile(many, 0.9))


def test_a_drive_in_a_slot_that_nobody_states_may_have_half_of_its_link() -> None:
    """The ideal is the link it is sold with; one in ten has the half, what an older generation carries."""
    sold, low, high = spread_of_reads()
    assert sold > 7e9
    assert 0.3 * sold < low < 0.55 * sold
    assert high == pytest.approx(sold)


def test_what_is_known_of_the_slot_narrows_the_answer() -> None:
    """A stated slot or link, and one that is old enough for every slot."""
    sold, low, high = spread_of_reads(seated=True)
    assert low == high == sold
    assert spread_of_reads(link="7.4 GB/s")[1] == 7.4e9
    assert np.ptp(links_of(1, {"kind": "ssd", "read": "3.5 GB/s", "write": "3 GB/s"})) == 0


@pytest.mark.parametrize("protected", [True, False], ids=["rated steady", "rated fresh"])
def test_a_drive_of_stated_rates_alone_is_as_the_library_has_such(protected: bool) -> None:
    """Within the library's own spread: its drives on PCIe and SAS, and what a SATA drive's defaults would be."""
    fast = [d for d in map(Ssd.build, PARTS) if d.read.value > 560e6 and d.power_loss_protection is protected]
    made = [ssd(read=d.read, write=d.write, link="16 GB/s", power_loss_protection=protected) for d in fast]
    for name in ("iops_read", "iops_write", "latency_read", "latency_write"):
        off = [np.log(getattr(m, name).value / getattr(d, name).value) for m, d in zip(made, fast, strict=True)]
        assert abs(np.median(off)) < 0.35, name
        assert np.std(off) < 1.3 * np.sqrt(np.log1p(getattr(made[0], name).spread ** 2)), name
    assert ssd().iops_read.value == pytest.approx(82e3)
    assert [ssd(power_loss_protection=p).iops_write.value for p in (True, False)] == [45e3, 82e3]
    assert ssd(read="7 GB/s", iops_read="1M IOPS").iops_read.value == 1e6


def links_of(drives: int, made: Mapping[str, object], **use: object) -> np.ndarray:
    """What the links of equal drives carry together, in many scenarios."""
    draws, drive = Draw(500, 1), device(**made)
    found = charged(lambda row: drive.serve(row, access("read", **use), "d", copies=drives), draw=draws)
    return np.broadcast_to(np.asarray(found.stations["h.d.links"].capacity), 500)


def test_ports_that_nobody_describes_may_share_a_narrow_link() -> None:
    """Four ports on a lane of PCIe 2.0 (Marvell 88SE9215) carry 0.47 GB/s, and two such cards twice that."""
    four, eight = (links_of(n, SATA, loose=True) for n in (4, 8))
    assert four.min() == pytest.approx(0.47e9, rel=0.2)
    assert eight.min() == pytest.approx(0.8e9, rel=0.2)  # or six ports of a chipset of 2008, 0.78 GB/s, and two more
    assert four.max() == pytest.approx(4 * 550e6)
    assert np.mean(four < 4 * 550e6) == pytest.approx(0.7, abs=0.05)  # all but those of 3.4 GB/s and more
    assert served(ssd(), access("read", loose=True), copies=4).rate("d.links") == pytest.approx(4 * 550e6)


@pytest.mark.parametrize(
    ("drives", "made", "use"),
    rows("components/ssd", "where_no_ports_are_shared"),
    ids=["one drive", "described", "NVMe", "on a controller of its own"],
)
def test_where_no_ports_are_shared(drives: int, made: Mapping[str, object], use: dict[str, object]) -> None:
    assert np.ptp(links_of(drives, made, **use)) == 0


def test_a_steady_rating_of_4_kib_is_one_of_bytes() -> None:
    """74 000 writes of 4 KiB are 303 MB/s, and so are larger random ones; a consumer's rating is of its fresh cells."""
    made = {"kind": "ssd", "read": "540 MB/s", "write": "520 MB/s", "iops_write": "74k IOPS"}

    def found(block: float, **more: object) -> float:
        use = access("write", random=True, block_B=block, total_B=1e12, queue_depth=64)
        return served(device(**made, **more), use).bound

    assert found(4 * KiB, power_loss_protection=True, filled=1) == pytest.approx(74e3 * 4096)
    assert found(64 * KiB, power_loss_protection=True, filled=1) == pytest.approx(74e3 * 4096)
    assert found(64 * KiB) == pytest.approx(520e6)


@pytest.mark.parametrize(
    ("array", "filled"),
    [({"level": 0, "disks": 4}, 0.5), ({"level": 10, "disks": 8}, 0.5), ({"level": 5, "disks": 5}, 0.95),
     ({"level": 0, "disks": 4, "software": False}, 0.95)],
)  # fmt: skip
def test_a_drive_is_full_where_nothing_is_trimmed(array: dict[str, object], filled: float) -> None:
    """C (1 - d f): md passes discards on but for parity (raid5.c), a controller does not; half full is assumed else."""
    of = {**SATA, "burst": "10 GB", "burst_write": "500 MB/s", "dynamic": "1"}
    each = 20e9
    for stated, used in (({}, filled), ({"filled": "0"}, 0.0)):
        cache = 10e9 * (1.0 - used)
        made = device(kind="raid", of={**of, **stated}, **array)
        found = served(made, access("write", total_B=4 * each)).rate("d.ssds")
        assert found == pytest.approx(4 * each / (cache / 500e6 + (each - cache) / 200e6), rel=1e-9)


def test_a_drive_that_is_not_full_has_more_spare_than_it_is_rated_with() -> None:
    """P3700 400 GB: 75 000 writes of 4 KiB in the steady state, which is full; no more than it reads, nor streams."""
    made = {"kind": "ssd", "read": "2.7 GB/s", "write": "1080 MB/s", "iops_write": "75k IOPS"}

    def found(filled: float, reads: str = "450k IOPS", *, plp: bool = True) -> float:
        drive = device(**made, filled=filled, iops_read=reads, power_loss_protection=plp)
        use = access("write", random=True, block_B=4 * KiB, total_B=1e12, queue_depth=512)
        return served(drive, use).bound / 4096

    assert found(1.0) == pytest.approx(75e3)
    assert 75e3 < found(0.9) < found(0.5) < found(0.01) <= 1080e6 / 4096
    assert found(0.01) == pytest.approx(1080e6 / 4096, rel=1e-6)
    assert found(0.01, "100k IOPS") == pytest.approx(100e3)
    assert found(1.0, "50k IOPS") == pytest.approx(75e3)  # a rating stands, whatever reads do
    assert found(0.01, plp=False) == pytest.approx(75e3)  # a client drive is rated fresh


def test_single_requests_are_as_fast_as_the_cache_that_takes_them() -> None:
    """dd with oflag=direct onto a 870 QVO of 2 TB: 530 MB/s within its 78 GB, 160 MB/s behind them."""
    host = machine(volumes={"/d": volume({"part": "samsung-870-qvo-2tb"})})
    made = {"name": "q", "hosts": {"n": host}}
    ends = {"from": "n:/dev/zero", "to": "n:/d", "tool": {"name": "dd", "bs": "1 MiB", "oflag": "direct"}}
    sizes = ("40 GB", "100 GB", "20 TB")
    rates = [rate({**made, "transfer": {**ends, "dataset": {"files": 1, "size": size}}}) for size in sizes]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(530e6, rel=0.03)
    assert rates[-1] == pytest.approx(160e6, rel=0.03)
