"""RAID against md(4), counted I/Os and enumerated degraded reads; what Linux md does itself; raidz."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import md, raid, raidz

GROUP = st.tuples(st.integers(3, 24), st.integers(1, 3)).filter(lambda t: t[0] > t[1] + 1)


def _cheapest_by_enumeration(k, n, p):
    """Reads and writes of the two ways to update k chunks, counted disk by disk."""
    written = set(range(k)) | {f"parity{i}" for i in range(p)}
    rmw = len(written) + len(written)  # every old chunk and old parity is read first
    others = set(range(n - p)) - written
    return min(rmw, len(others) + len(written))


@given(group=GROUP, size=st.floats(1.0, 1e8), chunk=st.sampled_from([4096.0, 65536.0, 524288.0]))
def test_write_amplification_bounds(group, size, chunk):
    n, p = group
    a = raid.write_amplification(size, chunk, n, p)
    assert n / (n - p) * (1 - 1e-9) <= a <= min(2 * (1 + p), n) * (1 + 1e-9)
    assert raid.write_amplification(size, chunk, n, p, resyncing=True) >= a * (1 - 1e-12)


def _degraded_by_enumeration(n, lost):
    """Load of the busiest survivor per request, RAID5, one request to every disk in turn."""
    load = np.zeros(n)
    for target in range(n):
        if target in lost:
            for other in set(range(n)) - set(lost):
                load[other] += 1
        else:
            load[target] += 1
    return load.max() / 1.0


@pytest.mark.parametrize("n", [3, 5, 8])
def test_degraded_reads_against_enumeration(n):
    for lost in itertools.combinations(range(n), 1):
        assert raid.degraded_read_share(n, 1, 1) == pytest.approx(1 / _degraded_by_enumeration(n, lost))


@given(group=GROUP)
def test_each_lost_disk_costs_more(group):
    n, p = group
    shares = raid.degraded_read_share(n, p, np.arange(p + 2))
    assert np.all(np.diff(shares) < 0)
    assert shares[0] == 1.0
    assert shares[-1] == 0.0


def test_write_amplification_at_whole_chunks_is_the_count_of_ios():
    for n, p in [(8, 1), (8, 2), (10, 2)]:
        for k in range(1, n - p + 1):
            expected = _cheapest_by_enumeration(k, n, p) / k
            assert raid.write_amplification(k * 65536, 65536, n, p) == pytest.approx(expected)
            assert raid.write_amplification(k * 65536, 65536, n, p, resyncing=True) == pytest.approx(n / k)


@given(rebuild=st.floats(0.0, 500.0), rate=st.floats(1.0, 500.0))
def test_a_rebuild_takes_its_part_of_a_disk(rebuild, rate):
    load = raid.rebuild_load(rebuild, rate)
    assert 1.0 <= load <= 20.0
    if rebuild < 0.9 * rate:
        assert rate / load == pytest.approx(rate - rebuild)


@given(rebuild=st.floats(0.0, 500e6), rate=st.floats(1e7, 5e8), away=st.floats(0.0, 0.03), visit=st.floats(1e-3, 0.5))
def test_a_rebuild_gets_no_more_than_every_other_turn(rebuild, rate, away, visit):
    load = raid.rebuild_load(rebuild, rate, 2**20, away, visit)
    turn = 2**20 / rate + away
    assert 1.0 <= load <= max(20.0, (turn + visit) / visit)
    assert 1 / load >= visit / (turn + visit) - 1e-9 or load == pytest.approx(20.0)
    assert raid.rebuild_load(rebuild / 2, rate, 2**20, away, visit) <= load
    assert raid.rebuild_load(0.0, rate, 2**20, away, visit) == 1.0


@pytest.mark.parametrize("queue", [1, 4, 16])
def test_a_closed_fork_join_against_simulation(queue):
    """Eight exponential servers, each request has a part on all of them: MVA of Varki is within 15 %."""
    rng = np.random.default_rng(3)
    k, requests = 8, 20_000
    free, done = np.zeros(k), np.zeros(requests)
    for n in range(requests):
        asked = np.sort(done[max(0, n - queue) : n])[0] if n >= queue else 0.0
        free = np.maximum(free, asked) + rng.exponential(1.0, k)
        done[n] = free.max()
    found = requests / done.max()
    assert 1 / raid.fork_join_load(queue, (1 / np.arange(1, k + 1)).sum()) == pytest.approx(found, rel=0.15)


# -- Laws of Linux md against its source, counted pages and published rates ------------------------
@pytest.mark.parametrize(("chunk", "measured"), [(64, 174), (128, 175), (512, 285), (1024, 10300), (2048, 17000)])
def test_bits_of_large_chunks_keep_themselves_set(chunk, measured):
    """Five 2-TB 980 PRO in RAID 5, small synchronous writes: requests a second by --bitmap-chunk (pastebin TK4vWjQu).

    20,600 without a bitmap and 174 with the smallest chunks are the times of a write and of a bit.
    """
    alone, bit = 1 / 20600, 1 / 174 - 1 / 20600
    clear = md.bitmap_clear_share(alone, bit, 2e12 / (chunk * 2**20), 1)
    rate = 1 / (alone + clear * bit)
    assert rate / measured == pytest.approx(1, abs=0.25) if measured < 1000 else rate > 10000
    assert md.bitmap_clear_share(alone, bit, 1e12, 1) == pytest.approx(1.0, abs=1e-3)


def test_the_thread_of_md_has_pages_to_handle_not_payload() -> None:
    """Full stripes cost what they were measured at; 4 KiB alone are four pages of RAID 5, six of RAID 6."""
    for disks, parity in ((5, 1), (9, 1), (8, 2)):
        stripe = 4096.0 * 128 * (disks - parity)
        whole = raid.write_amplification(stripe, 4096.0 * 128, disks, parity)
        assert md.thread_load(whole, disks, parity) == pytest.approx(1.0)
        one = raid.write_amplification(4096.0, 4096.0 * 128, disks, parity)
        assert md.thread_load(one, disks, parity) == pytest.approx(2 * (1 + parity) * (disks - parity) / disks)
    # Linux commit 765d704db1f5: 600 MB/s of one Atom core in full stripes of nine disks; a page written alone
    alone = 600e6 / md.thread_load(4.0, 9, 1)
    assert alone / 4096 == pytest.approx(41.2e3, rel=0.01)


def test_writes_of_less_than_a_stripe():
    # Artur Paszkiewicz, linux-raid, 27 August 2024: 463,000 random writes of 4 KiB a second on null_blk, eight threads
    # a node, one or two nodes: of some 3 GHz, with the pages of two members of five that are read and written
    cycles = 2.0 * 4096 * md.thread_load(4.0, 5, 1) + 4096 * md.partial_load(4096.0, 4 * 4096.0, 40e3)
    assert 0.5 < 463e3 / (8 * 3e9 / cycles) < 2.0
    assert 0.5 < 463e3 / (16 * 3e9 / cycles) < 2.0


C, PAGE = 512 * 1024.0, 4096.0


def fifo(request_pages: int, in_flight: int, chunk_pages: int, data: int) -> float:
    """Mean pages of payload in a stripe when a thread, the only one who takes time, comes to it: counted one by one.

    Requests come in sequence, one whenever one is done; the thread takes the stripe that has waited longest.
    """
    waiting: dict[tuple[int, int], list[int]] = {}
    left, found, given = {}, [], 0
    for _ in range(400 * chunk_pages):
        while len(left) < in_flight:
            for page in range(given * request_pages, (given + 1) * request_pages):
                row, offset = divmod(page, chunk_pages * data)
                key = (row, offset % chunk_pages)
                waiting.setdefault(key, []).append(given)
            left[given], given = request_pages, given + 1
        first = next(iter(waiting))
        pages = waiting.pop(first)
        found.append(len(pages))
        for of in pages:
            left[of] -= 1
            if not left[of]:
                del left[of]
    settled = found[len(found) // 2 :]
    return sum(settled) / len(settled)


@pytest.mark.parametrize("in_flight", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(("request_pages", "chunk_pages", "data"), [(8, 8, 3), (8, 16, 3), (16, 8, 6), (4, 16, 2)])
def test_stripes_fill_while_they_wait_for_the_thread(request_pages, in_flight, chunk_pages, data):
    """Closed form beside a count of pages: the same at depth one and where stripes are full, close between."""
    joined = md.gathered_bytes(request_pages * PAGE, in_flight, chunk_pages * PAGE, 4096, data) / PAGE
    held = max(1.0, joined / chunk_pages)
    assert fifo(request_pages, in_flight, chunk_pages, data) == pytest.approx(held, rel=0.35)


def test_a_stream_needs_a_chunk_of_entries_to_fill_stripes():
    """256 entries, the default, are two chunks of 512 KiB: two streams fill stripes, of three each request is alone."""
    for streams, held in ((1, 6 * C), (2, 6 * C), (3, 2 * C), (16, 2 * C)):
        assert md.gathered_bytes(2 * C, 16, C, 256 / streams, 6) == held
    assert md.gathered_bytes(2 * C, 16, C, 4096 / 16, 6) == 6 * C
    # three and a half stripes at once are three whole ones
    assert md.gathered_bytes(21 * C, 4, C, 4096, 6) == 18 * C


# -- RAID-Z allocation against a sector-by-sector layout, and the pools that were measured ---------
LAYOUT = st.tuples(st.integers(2, 16), st.integers(1, 3)).filter(lambda t: t[0] > t[1])


def _laid_out(sectors, n, p):
    """Sectors used when rows of n - p data sectors each get p parity, then padded, counted one by one."""
    used = left = 0
    left = sectors
    while left:
        row = min(left, n - p)
        used += row + p
        left -= row
    while used % (p + 1):
        used += 1
    return used


@given(layout=LAYOUT, block=st.integers(1, 2**24), ashift=st.sampled_from([9, 12, 13]))
def test_amplification_against_rows_laid_out(layout, block, ashift):
    n, p = layout
    sectors = math.ceil(block / 2**ashift)
    if sectors <= 600:
        rows = math.ceil(sectors / (n - p))
        assert raidz.parity_sectors(sectors, n, p) == p * rows
    assert raidz.write_amplification(block, n, p, ashift) >= n / (n - p) * (1 - 1e-12)


@given(layout=LAYOUT, sectors=st.integers(1, 600), ashift=st.sampled_from([9, 12, 13]))
def test_a_block_takes_up_what_is_laid_out(layout, sectors, ashift):
    n, p = layout
    block = sectors * 2**ashift
    taken = raidz.allocation(block, n, p, ashift)
    assert taken * block / 2**ashift == pytest.approx(_laid_out(sectors, n, p))
    assert taken >= raidz.write_amplification(block, n, p, ashift) * (1 - 1e-12)
