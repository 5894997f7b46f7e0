"""Hard disks: zones, seeks of random requests, streams that take turns."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.ground import library
from dtnsim.ground.ledger import Ledger, Row
from dtnsim.ground.quantity import Draw
from dtnsim.physics import hdd
from tests.each import rows
from tests.lab import KiB, MiB, access, answer, device, journey, machine, rate, served, volume

GIVEN = rows("components/hdd", "given")

R, TURN = 100e6, 1 / 120
DISK = GIVEN["DISK"]


def disk(use: dict[str, object] | None = None, **more: object) -> float:
    return served(device(**{**DISK, **more}), access(**(use or {}))).rate("d.disks")  # type: ignore[arg-type]


def test_the_visit_and_not_the_number_of_streams_sets_the_loss() -> None:
    assert disk({"streams": 2}) == pytest.approx(disk({"streams": 9}), rel=1e-12)
    rates = [disk({"streams": 4}, visit=f"{v} KiB") for v in (64, 256, 1024, 16384)]
    assert rates == sorted(rates)
    assert rates[-1] < R
    assert disk({"streams": 1}, visit="64 KiB") == pytest.approx(R, rel=1e-6)


@given(st.floats(0.0, 1.0), st.floats(0.01, 0.99), st.integers(1, 5), st.booleans())
def test_nothing_beats_the_outer_zone(position: float, distance: float, streams: int, random: bool) -> None:
    use = {"streams": streams, "random": random, "block_B": 64 * KiB}
    inside = disk(use, position=repr(position), file_distance=repr(distance))
    assert 0 < inside <= R * (1 + 1e-9)


def test_small_new_files_of_many_writers_lie_side_by_side() -> None:
    """Delayed allocation: sixteen writers of new 4-KiB files cost no seek each; of old ones they do."""
    disk = device(kind="hdd", rate="200 MB/s")
    use = access("write", streams=16, file_B=4 * KiB)
    new, old = (served(disk, use.but(rewrite=r)).rate("d.disks") for r in (False, True))
    assert new > 0.9 * served(disk, access("write", streams=16)).rate("d.disks")
    assert old < 0.05 * new


def test_readers_of_small_files_pay_one_positioning_a_file() -> None:
    """Taking turns costs nothing more where each visit is a file: the head must move to it anyhow."""
    size = 64 * KiB
    few, many = ({"file_B": size, "block_B": size, "total_B": 1e9, "streams": n} for n in (1, 16))
    assert disk(many, visit="1 MiB") == pytest.approx(disk(few, visit="1 MiB"), rel=1e-9)


@pytest.mark.parametrize(
    ("array", "parts", "passed"),
    rows("components/hdd", "each_disk_with_a_part_of_a_file_positions_however_many_read"),
    ids=lambda v: "".join(str(v.get(k, "")) for k in ("kind", "level", "chunk")) if isinstance(v, dict) else None,
)
def test_each_disk_with_a_part_of_a_file_positions_however_many_read(
    array: dict[str, object], parts: int, passed: float
) -> None:
    """m t_pos + s / R a file, of all disks together: no reader more makes an array faster than its disks can seek."""
    made = device(**array)
    for streams in (640, 6400):
        use = access(file_B=300 * KiB, block_B=300 * KiB, total_B=1e9, streams=streams, record_B=128 * KiB)
        each = use.file_B / served(made, use).rate("d.disks")
        assert each * made.drives == pytest.approx(parts * TURN / 2 + passed * use.file_B / R, rel=1e-9)


@pytest.mark.parametrize(
    "use",
    rows("components/hdd", "a_disk_of_any_model_positions_as_those_of_a_data_sheet"),
    ids=["small files", "of many readers", "two streams", "random", "queued"],
)
def test_a_disk_of_any_model_positions_as_those_of_a_data_sheet(use: dict[str, object]) -> None:
    """Of a disk that nobody names small files and several streams had no seeks."""
    of = [served(device(**library.read("parts", n)), access(**use)).rate("d.disks") for n in ("any-disk", "wd-hc310")]
    assert of[0] == pytest.approx(of[1], rel=0.15)


POOLS = GIVEN["POOLS"]


@given(st.sampled_from([*POOLS]), st.floats(1e3, 1e8), st.integers(1, 40), st.booleans())
def test_a_reader_more_brings_no_more_than_a_shorter_sweep(
    pool: str, size: float, streams: int, scheduled: bool
) -> None:
    """Heads shared by one more go no shorter way, unless a file system sorts: then half a turn a file is left."""
    made = device(**POOLS[pool])
    use = access(file_B=size, block_B=size, total_B=1e11, scheduled=scheduled, record_B=min(size, 128 * KiB))
    alone, few, more = (
        served(made, use.but(streams=n), visit_B=8 * MiB).rate("d.disks") for n in (1, streams, streams + 1)
    )
    assert few <= made.drives * size / (TURN / 2 + size / 250e6)
    assert more <= few * (1 + 1e-9) or scheduled or pool == "mirror"  # whose copies have a reader each
    assert few <= alone * made.drives * (1 + 1e-9) or scheduled


@pytest.mark.parametrize("pool", ["disk", "raid"])
def test_small_files_of_one_tree_lie_nearer_than_those_of_others(pool: str) -> None:
    """Who shares the heads with readers elsewhere waits for longer seeks, and the disk has no less to do for a file."""
    made, row = device(**POOLS[pool]), Row(Ledger(Draw()), "t", [], 1.0, "h")
    use = access(file_B=64 * KiB, block_B=64 * KiB, total_B=1e9)
    alone, own, others = use, use.but(streams=16, own_streams=16), use.but(streams=16, own_streams=8)
    waits = [float(made.next_file(row, each)) for each in (alone, own, others)]
    rates = [served(made, each).rate("d.disks") for each in (alone, own, others)]
    assert (waits[1], rates[1]) == pytest.approx((waits[0], rates[0]))
    assert waits[2] > 1.3 * waits[0]
    assert rates[2] < rates[0] / 1.3


def test_two_readers_of_a_mirror_have_a_copy_each() -> None:
    """A reader in sequence stays with its disk (Linux drivers/md/raid1.c): two read twice what one does."""
    one, two, four = (served(device(**POOLS["mirror"]), access(streams=n)).rate("d.disks") for n in (1, 2, 4))
    assert two == pytest.approx(2 * one)
    assert four < 0.7 * two
    random = access(random=True, block_B=4 * KiB, streams=64)  # requests are of all disks: 32 are before each
    of_each = served(device(**POOLS["disk"]), random.but(streams=32)).rate("d.disks")
    assert served(device(**POOLS["mirror"]), random).rate("d.disks") == pytest.approx(2 * of_each)


def test_a_file_of_raidz_is_there_with_the_last_of_its_parts() -> None:
    """The largest of four angles is 4/5 of a turn in the mean, and that of one half a turn."""
    rng = np.random.default_rng(1)
    assert hdd.positioning_time(0.0, 120.0, 4) == pytest.approx(rng.random((100_000, 4)).max(1).mean() / 120, rel=5e-3)
    row = Row(Ledger(Draw()), "t", [], 1.0, "h")
    pool, use = device(kind="raidz", level=2, disks=6, of=DISK), access(record_B=128 * KiB)
    assert pool.next_file(row, use) == pytest.approx(4 / 5 * TURN)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("size", [10 * KiB, 100 * KiB, 10 * MiB])
def test_small_files_beside_others_are_not_read_earlier_than_alone(pool: str, size: int) -> None:
    """A second transfer on six disks of raidz2 made the first twice as fast, and both together five times."""
    disks = machine(volumes={"/d": volume(POOLS[pool], "zfs" if pool in ("mirrors", "raidz") else "xfs")})
    reader = {"from": "a:/d", "to": "b:memory", "tool": {"name": "gridftp", "cc": 1}}
    reader["dataset"] = {"files": 20000, "size": f"{20000 * size} B"}
    both = [{**reader, "name": "one"}, {**reader, "name": "two"}]
    took = [answer(journey(disks, transfers=both[:n])).transfers[0].duration_s.p50 for n in (1, 2)]
    assert took[1] >= took[0] * 0.997  # a mirror has a copy for each, and who reads is not who waits for its other work


def jobs(rw: str, size: str = "100 GB", **more: object) -> float:
    """What fio writes to one disk, direct and without a queue [B/s]."""
    options = {"name": "fio", "rw": rw, "bs": "4 KiB", "ioengine": "libaio", "direct": True, **more}
    each = machine(volumes={"/d": volume({**DISK, "position": "0.5", **options.pop("disk", {})})})  # type: ignore[dict-item]
    made = journey(each, start="a:memory", to="a:/d", tool=options, dataset={"files": 1, "size": size})
    return rate(made)


def test_a_cache_answers_writes_and_sorts_them_however_few_are_asked() -> None:
    """Seagate Exos X16 data sheet: 440 random writes a second with the cache; He10: 2.5 ms each (Tom's Hardware)."""
    seeks = {"disk": {"seek": "8.5 ms", "track_seek": "0.3 ms"}}
    alone, deep = jobs("randwrite", **seeks), jobs("randwrite", iodepth=16, **seeks)
    assert alone == pytest.approx(deep, rel=1e-3)
    assert 400 * 4096 < alone < 440 * 4096


def test_without_a_cache_a_write_waits_for_the_platter() -> None:
    """7.4 ms and half a turn for a random one; a turn of 8.3 ms for the next in sequence (Ruemmler and Wilkes 1994)."""
    none = {"disk": {"write_cache": "none"}}
    assert jobs("randwrite", "4 TB", **none) / 4096 == pytest.approx(1 / 11.6e-3, rel=0.02)
    # on a hundredth of the stroke t_track + b E sqrt(d) is 0.23 + 7.17 / 10 ms (the same source)
    assert jobs("randwrite", "40 GB", **none) / 4096 == pytest.approx(1 / (0.947e-3 + 0.5 / 120), rel=0.02)
    assert jobs("write", **none) / 4096 == pytest.approx(120, rel=0.03)
    queued = jobs("write", iodepth=2, **none)
    assert queued > 0.9 * jobs("write", iodepth=2)
    assert jobs("write") > 30 * jobs("write", **none)


def test_a_protected_cache_answers_syncs() -> None:
    """One flush waits for the log's blocks and its commit record, 23 ms, unless the drive keeps what it has."""
    sync = {"direct": False, "fdatasync": True, "ioengine": "sync"}
    volatile, none, kept = (
        jobs("write", disk={"write_cache": cache}, **sync) for cache in ("volatile", "none", "protected")
    )
    assert volatile / 4096 == pytest.approx(1 / 23.1e-3, rel=0.05)
    assert none == pytest.approx(volatile, rel=0.01)
    assert kept > 50 * volatile


def test_two_arms_serve_a_queue_almost_twice_as_fast() -> None:
    """Seagate Exos 2X14 data sheet: 304 random reads a second at queue depth 16, 8 for each arm."""
    arms = {"actuators": 2, "seek": "8.5 ms", "track_seek": "0.3 ms", "position": "0.5"}
    assert disk({"random": True, "queue_depth": 16, "block_B": 4 * KiB}, **arms) / 4096 == pytest.approx(304, rel=0.17)
    one, two = (disk({"streams": n}, **arms, visit="1 MiB") for n in (1, 2))
    assert two == pytest.approx(1.5 * one, rel=1e-6)  # both in one half, or one in each


def test_what_a_stream_has_queued_is_one_visit() -> None:
    """32 requests of 64 KiB are 2 MiB, of which each of two disks has half."""
    queue = {"streams": 4, "block_B": 64 * KiB, "finish": "direct", "operation": "write", "queue_depth": 32}
    assert disk(queue) == pytest.approx(disk({"streams": 4}, visit="2 MiB"), rel=1e-9)
    one = {**queue, "queue_depth": 1}
    assert disk(one) == pytest.approx(disk({"streams": 4}), rel=1e-9)
    two, half = (
        served(device(**DISK, visit=v), access(**use), copies=2) for v, use in (("64 KiB", queue), ("1 MiB", one))
    )
    assert two.rate("d.disks") == pytest.approx(half.rate("d.disks"), rel=1e-9)


def test_large_direct_requests_are_visits_of_their_own() -> None:
    small, large = (disk({"streams": 4, "block_B": b, "finish": "direct"}) for b in (64 * KiB, 16 * MiB))
    assert small == pytest.approx(disk({"streams": 4}))
    assert large > 1.7 * small


def test_runs_that_a_file_system_asks_for_are_chosen_among_when_read_and_sorted_when_written() -> None:
    """Of one request at a time there is no choice; of sixteen the drive has the next; a cache sorts what is written."""
    runs = {"extent_B": 1e6, "gap_B": 3e6, "request_B": 131072.0}
    one, many, unknown = (disk({**runs, "active": n}, capacity="4 TB") for n in (1.0, 16.0, math.inf))
    assert one < many < unknown
    written = {disk({"operation": "write", **runs, "active": n}, capacity="4 TB") for n in (1.0, 16.0, math.inf)}
    assert len(written) == 1


def test_a_large_disk_may_keep_what_it_acknowledges_where_nobody_says() -> None:
    """A third of the draws answer within a tenth of half a turn; small disks and stated caches never do."""

    def kept(**said: str) -> float:
        row = Row(Ledger(Draw(600, 1)), "t", [], 1.0, "h")
        turns = device(**{**DISK, **said}).turnaround(row).value
        return float(np.mean(np.broadcast_to(turns, 600) < TURN / 20))

    assert kept(capacity="12 TB") == pytest.approx(1 / 3, abs=0.01)
    assert kept(capacity="8 TB") == kept(capacity="12 TB", write_cache="volatile") == 0
    assert kept(capacity="12 TB", write_cache="protected") > 0.99
    nominal = Row(Ledger(Draw()), "t", [], 1.0, "h")
    assert device(**{**DISK, "capacity": "12 TB"}).turnaround(nominal).value == pytest.approx(TURN / 2)
