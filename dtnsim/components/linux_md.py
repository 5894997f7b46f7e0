"""What an array of Linux' md has besides its members: lock, stripe cache, threads for parity, bitmap, journal."""

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from dtnsim.components.access import Access
from dtnsim.components.base import Pick
from dtnsim.components.device import BLOCK_REQUEST, Device, Layer
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, law, minimum, term
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import md

#: chunks, and what a running rebuild takes, where the file says nothing
MD_CHUNK: Final = prior("512 KiB", 0.0, "mdadm(8), --chunk: 512 KiB since mdadm 3.1")
MD_REBUILD: Final = prior("1000 KiB/s", 0.0, "md(4): sync_speed_min, kept beside other traffic")
#: time between requests that take no lock of their array: of RAID 10, and of RAID 5 and 6, whose reads all cores count
_FREE: Final = prior("1e-6 us", 0.0, "none is taken in this release")
_COUNTED: Final = prior(
    "0.25 us",
    0.4,
    "Linux commit 97ae27252f49: 4 million reads of 4 KiB a second of RAID 6 on RAM disks without the lock, 1024 "
    "threads on 96 cores of two sockets (active_aligned_reads is one counter for all)",
)


class LinuxMd(Layer):
    """Keys of an array that md runs, and what they charge. Each array of a nested one has its own.

    Attributes:
        partial_work: Work of md's thread on a write that is smaller than a stripe, besides its pages.
        hand_over: Time until md's thread is awake and at work on a write, or on what it has waited for.
        lock_time: Time that a request keeps the lock of its array, in releases whose requests take one.
    """

    layout: Annotated[
        Literal["near", "far", "offset"] | None,
        BeforeValidator(lambda given: {"n2": "near", "f2": "far", "o2": "offset"}.get(str(given), given)),
        Field(description="of md's RAID 10 (mdadm --layout), near if left out; of far one reader has all disks"),
    ] = None
    stripe_cache: Annotated[
        int,
        Field(ge=17, le=32768, description="md's stripe_cache_size"),
        Otherwise("4096", "arrays set up for large writes (/sys/block/md0/md/stripe_cache_size)"),
    ] = 256
    bitmap: Annotated[bool | None, Field(description="md's write-intent bitmap; left out: mdadm's choice")] = None
    bitmap_chunk: Annotated[Quantity, Unit("B", low=4096)] = prior("64 MiB", 0.0, "mdadm(8), --bitmap-chunk: default")
    journal: Annotated[Device, Pick(Device)] | None = None
    parity_work: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "2 cycles/B",
        0.6,
        "Linux commit 765d704db1f5 (2017): one raid5d writes 600 MB/s on an Atom, about 2.2 GHz and 3.7 cycles/B; "
        "assumed: a server core takes about half of that",
    )
    partial_work: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "40000 cycles",
        0.6,
        "Artur Paszkiewicz, linux-raid, 27 August 2024: 463,000 random writes of 4 KiB a second of RAID 5 on null_blk, "
        "eight threads a node; some 3 GHz and one or two nodes assumed, less their pages",
    )
    hand_over: Annotated[Quantity, Unit("s", spread=0.6)] = prior(
        "20 us",
        0.6,
        "Jonathan Derrick, linux-raid, 17 February 2023, biosnoop of a RAID 10 written at depth one: 27 us from bitmap "
        "to data and 62 from data to the next bitmap, "
        "less 15 us of the drives and 10 of a program's own turn",
    )
    parity_threads: Annotated[
        int, Field(ge=0, le=1024, description="md's group_thread_cnt, threads of each socket; 0 (default): one in all")
    ] = 0
    lock_time: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "0.55 us",
        0.4,
        "Linux commits 97ae27252f49 and b9b083f9044a (md): 1.6 and 2 million reads a second of RAID 6 on two sockets, "
        "1.8 of RAID 10 on two sockets and on one node of four; 0.76 to 0.84 on all four",
    )

    def marked(self, use: Access, level: int) -> bool:
        """Whether the array has a bitmap: where nobody says it, arrays with redundancy on members of 100 GiB and more.

        Source: mdadm(8), --bitmap; Create.c ("automatically enabling write-intent bitmap on large array"); assumed: on
            hosts with Linux 3.0 (2011) and later.
        """
        if self.bitmap is not None:
            return self.bitmap
        large = self.of.holds_B >= md.MARKED_B and use.kernel is not None and use.kernel >= (3, 0)
        return large and level > 0 and self.journal is None

    def lock(self, row: Row, use: Access, name: str, *, level: int, arrays: Term, chunk: Term) -> None:
        """Charges the lock of requests, split at chunks, or their counter; writes with parity are the thread's."""
        of_thread = level != 10 and use.operation == "write"
        if use.kernels is None or of_thread or level not in md.LOCKLESS:
            return
        free, after = md.LOCKLESS[level], _FREE if level == 10 else _COUNTED
        hold = use.kernels.number(lambda release: after if release >= free else self.lock_time)
        if hold == _FREE:
            return
        each = 1.0 / minimum(use.joined_request_B(row.term(BLOCK_REQUEST)), chunk)
        text = "md, which each request of an array takes"
        remedy = "larger requests, several arrays; before Linux 5.14 (RAID 5 and 6) or 6.1 (RAID 10) a later kernel"
        row.charge(f"{name}.lock", "lock", capacity=arrays / row.term(hold), per_byte=each, what=text, remedy=remedy)

    def of_a_bit(self, row: Row, spread: float) -> Term:
        """Bytes of each member that a bit of the bitmap stands for; a mirror's, spread over members, cover the array.

        Source: Linux drivers/md/raid10.c (resync_max_sectors is the array's size), raid5.c (a member's).
        """
        return row.term(self.bitmap_chunk) / spread

    def bit_time(self, row: Row, use: Access, members: int) -> Term:
        """Seconds that setting a bit takes: caches are flushed, the page is written past them, the thread is woken.

        Source: Linux drivers/md/md.c, md_super_write (PREFLUSH, FUA).
        """
        return 2.0 * self._flush(row, use, members) + row.term(self.hand_over)

    def handed_over(self, row: Row, use: Access) -> Value:
        """Seconds until the thread sends out a mirror's write that nobody holds back together with others.

        Source: Linux drivers/md/raid1.c and raid10.c (pending_bio_list; raid1_unplug of several); 7db922bae3ab (6.5:
            without a bitmap the caller does).
        """
        passed_on = self.marked(use, 1) or (use.kernel is not None and use.kernel < md.WRITES_DIRECTLY)
        held_back = use.operation == "read" or use.buffered or use.queue_depth > 1
        return row.value(self.hand_over) if passed_on and not held_back else 0.0

    def asks_the_idlest(self, use: Access, level: int) -> bool:
        """Whether a random read goes to the copy with the fewest requests before it, of flash or of flash and disks.

        Source: Linux commits 9dedf60313fa (raid1.c), 0e5313e2d4ef (raid10.c).
        """
        since = md.IDLEST.get(level)
        return use.random and since is not None and use.kernel is not None and use.kernel >= since

    def _flush(self, row: Row, use: Access, members: int) -> Term:
        each = self.of.flush_time(row)
        if each is not None:
            return each
        slowest = self.of.latency(row, use.but(random=True, finish="dsync"), float(members))
        return term(slowest, "s", "slowest of the members")

    def flushes(self, row: Row, use: Access, name: str, *, arrays: Term, members: int) -> None:
        """Charges the flushes after synchronous writes: of all members, one after the other before Linux 4.18.

        Source: Linux drivers/md/md.c, md_flush_request; commits 5a409b4f56d5 (4.18: several at once) and 2bc13b83e629
            (5.2: one for all that wait).
        """
        one_by_one = use.kernel is not None and use.kernel < md.FLUSHES_OVERLAP
        one_by_one = one_by_one and use.in_flight > 2  # of two, each waits for its own data and log meanwhile
        if use.finish != "dsync" or use.operation == "read" or not one_by_one or self.of.keeps_writes:
            return
        rate, each = arrays / self._flush(row, use, members), 1.0 / term(use.block_B, "B")
        text, remedy = "flushes of md, one after the other", "fewer syncs, or a later kernel (Linux 4.18)"
        row.charge(f"{name}.flushes", "lock", capacity=rate, per_byte=each, what=text, remedy=remedy)

    def stripes(self, row: Row, use: Access, name: str, *, arrays: Term, disks: int, parity: int) -> None:
        """Charges the stripe caches of arrays of ``disks`` members, of which ``parity`` have it, for a written byte."""
        member = term(self.of.single_rate(row, use.but(random=True)), "B/s")
        update_s = self.of.turnaround(row) + float(self.stripe_cache) * term(md.MD_PAGE_B, "B") / member
        room = law(md.stripe_cache_write_rate, entries=self.stripe_cache, disks=disks, parity=parity, update_s=update_s)
        remedy = "a larger stripe_cache_size ({key}.array.stripe_cache), or a drive with a protected cache"
        row.charge(f"{name}.stripes", "cache", capacity=arrays * room, what="md stripe cache", remedy=remedy)
