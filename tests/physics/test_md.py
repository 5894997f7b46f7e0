"""Laws of Linux md against its source, counted pages and published rates."""

import numpy as np
import pytest

from dtnsim.physics import md, raid


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


def test_a_bitmap_costs_little_with_large_chunks_and_nothing_with_infinite_ones():
    # 64 MiB at 250 MB/s are 268 ms, a positioning 12 ms
    # a bit in 268 ms takes 12 ms, and clearing those of 5 s another 12; bits of a minute are cleared one by one
    assert md.bitmap_cost(64 * 2**20, 250e6, 12e-3) == pytest.approx(1 + 12 / 268.4 + 12 / 5000, rel=1e-3)
    assert md.bitmap_cost(15e9, 250e6, 12e-3) == pytest.approx(1 + 2 * 12e-3 / 60)
    assert md.bitmap_cost(np.inf, 250e6, 12e-3) == 1.0
    assert md.bitmap_random_cost(8, 1, 1e9) == pytest.approx(1.0)
    # one write of 4 requests at a time, and 8 members write their bitmap before it
    assert md.bitmap_random_cost(8, 1, 1) == pytest.approx(3.0)
    costs = md.bitmap_random_cost(8, 2, np.arange(1, 64))
    assert np.all(np.diff(costs) < 0)


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
    # as large as a stripe: its work over all of its bytes; two stripes twice the work
    assert md.partial_load(4096.0 * 4, 4096.0 * 4, 40e3) == pytest.approx(40e3 / 16384)
    assert md.partial_load(4096.0 * 5, 4096.0 * 4, 40e3) == pytest.approx(2 * 40e3 / 20480)
    assert md.partial_load(4096.0, 4096.0 * 4, 0.0) == 0.0


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


def test_drives_read_for_the_first_and_write_for_all():
    """RAID 5 of four: a chunk alone moves four; a stripe that fills meanwhile two reads in vain and four writes."""
    alone = md.direct_amplification(C, C, 4, 1, in_flight=1, entries=256)
    assert alone == pytest.approx(4.0)
    assert alone == raid.write_amplification(C, C, 4, 1)
    assert md.direct_amplification(C, C, 4, 1, in_flight=16, entries=256) == pytest.approx((4 + 2) / 3)
    assert md.direct_amplification(C, C, 4, 1, in_flight=16, entries=256, drives_bind=False) == pytest.approx(4 / 3)
    assert md.direct_amplification(3 * C, C, 4, 1, in_flight=1) == pytest.approx(4 / 3)
    assert md.direct_amplification(C, C, 4, 1, in_flight=16, entries=64) == pytest.approx(4.0)
