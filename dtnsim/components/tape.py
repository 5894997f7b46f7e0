"""Tape behind a staging disk (HPSS, CTA, dCache): mounts, locates, streaming, robots, and the disk in front."""

import math
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access, Thread
from dtnsim.components.disk_filesystem import LocalFilesystem
from dtnsim.components.filesystem import Stretch, label_of
from dtnsim.components.machine import Machine
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger, Row, solo_rate
from dtnsim.ground.quantity import Quantity, Unit, middle, prior
from dtnsim.ground.term import Term, count, law, minimum, term
from dtnsim.physics import tape

_MOVES = 2.0  #: a cartridge is fetched before a mount and put back after it
#: what relieves the drives, by whether they read
_RELIEF = {
    True: "more drives, or files asked for in bulk and in the order in which they lie on tape",
    False: "more drives that write at once, or faster ones",
}


class Tape(LocalFilesystem):
    """A tape library whose files pass a staging disk: the volume's ``array``.

    What is read comes from tape to the disk and from there to the reader, what is written goes to the disk and from
    there to tape. ``prestage`` asks for all files before the first is read (a bulk recall, HPSS' or CTA's queues), so
    that drives work ahead of the readers; without it each file is asked for when it is opened, and waited for. ``wait``
    counts a file as written once it is on tape; without it once it is on the disk.

    Neglects: mounts of other people, beside the part of the drives that they take (``share``); verification reads.

    Attributes:
        rate: Native rate of a drive.
        slowest: Slowest speed at which its tape streams; below it stops and starts (shoe-shining).
        capacity: Bytes of one cartridge.
        buffer: Memory of a drive.
        compression: Bytes of files for each byte on tape.
        link: Rate of the drive's link.
        load: Time from a cartridge in the drive until it is ready.
        unload: Time to unthread and give it back.
        rewind: Time to rewind before that.
        away: Time from the load point to a file, on average.
        turn: Time to stop, change the wrap and be up to speed again.
        drives: Drives of the library.
        robots: Pickers that fetch cartridges.
        move: Time in which a picker brings a cartridge to a drive or takes it back.
        tapes: Cartridges that the files lie on, or are written to; as few as hold them where left out, and never fewer.
        run: Bytes that lie together on a tape; a file where left out.
        scattered: Part of a tape's other files that lies between those asked for: 0 where they were written in one go.
        rao: Whether files of one tape are read in a recommended access order.
        sync: Bytes written between two flushes, each of which stops the tape.
        staged: Part of the bytes that is on the staging disk already.
        prestage: Whether all files are asked for before the first is read.
        wait: Whether a file counts as written only when it is on tape.
        share: Part of the drives and robots that other people leave.
        mover_byte: What a byte between tape and disk costs the mover's core.
    """

    kind: ClassVar[str] = "tape"
    on_drives: ClassVar[bool] = False  # which disk it stages on has to be said

    rate: Annotated[Quantity, Unit("B/s", spread=0.02, low=1e6)]
    slowest: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e5)]
    capacity: Annotated[Quantity, Unit("B", low=1e9)]
    buffer: Annotated[Quantity, Unit("B", low=1e6)] = prior("1024 MB", 0.0, "IBM LTO-9 specifications: cache buffer")
    compression: Annotated[Quantity, Unit("1", low=1.0, high=10.0)] = prior(
        "1", 0.0, "data that are compressed already: 1; the drives' data sheets promise 2.5"
    )
    link: Annotated[Quantity, Unit("B/s", low=1e6)] = prior("800 MB/s", 0.0, "Fibre Channel 8 Gb/s after 8b/10b")
    load: Annotated[Quantity, Unit("s", spread=0.1)]
    unload: Annotated[Quantity, Unit("s", spread=0.1)]
    rewind: Annotated[Quantity, Unit("s", spread=0.1)]
    away: Annotated[Quantity, Unit("s", spread=0.1)]
    turn: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "5 s", 0.5, "assumed: to stop a tape, change the wrap and start again, 3 to 8 s"
    )
    drives: Annotated[int, Field(ge=1, le=1000)] = 1
    robots: Annotated[int, Field(ge=1, le=100)] = 1
    move: Annotated[Quantity, Unit("s", spread=0.4)] = prior(
        "15 s",
        0.6,
        "assumed: a picker fetches a cartridge and puts it into a drive in 5 s (small) to 30 s (many frames)",
    )
    tapes: Annotated[int, Field(ge=1, le=1000000)] | None = None
    run: Annotated[Quantity, Unit("B", low=1e3)] | None = None
    scattered: Annotated[Quantity, Unit("1", spread=0.5, high=1.0)] = prior(
        "0.5", 0.8, "assumed: nobody knows which other files came to the tapes meanwhile; none (0) to all (1)"
    )
    rao: bool = False
    sync: Annotated[Quantity, Unit("B", low=1e6)] = prior(
        "32 GB", 0.0, "CTA cta-taped.conf: MaxBytesBeforeFlush 32 GB (and MaxFilesBeforeFlush 200)"
    )
    staged: Annotated[Quantity, Unit("1", spread=0.3, high=1.0)] = prior("0", 0.0, "nothing is on the disk yet")
    prestage: bool = True
    wait: bool = True
    share: Annotated[Quantity, Unit("1", spread=0.3, low=1e-3, high=1.0)] = prior("1", 0.0, "all drives are ours")
    mover_byte: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "1 cycles/B", 0.6, "assumed: a copy between tape and file and an Adler-32 or CRC on the way"
    )

    # -- the drives -------------------------------------------------------------------------------

    def cartridges(self, use: Access) -> float:
        """Tapes that the files lie on, or go to: as few as hold them where nothing is said, nor more than pieces."""
        least = max(1, math.ceil(use.total_B / (self.capacity.value * self.compression.value)))
        piece_B = use.file_B if self.run is None else self.run.value  # a piece lies on one tape, as far as it holds it
        return float(max(least, min(self.tapes or least, math.ceil(use.total_B / max(piece_B, 1.0) - 1e-6))))

    def busy(self, use: Access) -> int:
        """Drives that have a tape of this data set in them."""
        asking = use.own_streams if use.operation == "read" and not self.prestage else self.drives
        return max(1, min(self.drives, int(self.cartridges(use)), asking))

    def waited(self, use: Access) -> bool:
        """Whether each reader has a drive to itself and waits for it; more readers than drives queue for them."""
        free = min(self.drives, int(self.cartridges(use)))
        return use.operation == "read" and not self.prestage and use.own_streams <= free

    def fastest(self, row: Row) -> Term:
        """Rate of a drive that nothing keeps waiting [B/s]."""
        return minimum(row.term(self.compression) * row.term(self.rate), row.term(self.link))

    def fed(self, row: Row, feed: Term) -> Term:
        """Most that a drive passes at this feed [B/s]."""
        fastest, slowest = self.fastest(row), row.term(self.compression) * row.term(self.slowest)
        rates = {"feed": feed, "slowest": minimum(slowest, fastest), "fastest": fastest}
        return law(tape.streaming_rate, **rates, buffer_B=row.term(self.buffer), reposition_s=row.term(self.turn))

    def drive_time(self, row: Row, use: Access, rate: Term | float) -> Term:
        """Time of a drive that one byte takes at a rate; infinite: the time beside streaming [s/B]."""
        tapes, total = self.cartridges(use), max(use.total_B, 1.0)
        one = term(total, "B") / count(int(tapes), "tape")
        locate, run = row.term(self.turn), row.term(self.sync)  # a flush stops the tape
        if use.operation == "read":
            run = row.term(self.run) if self.run is not None else term(max(use.file_B, 1.0), "B")
            files = max(1.0, total / middle(run.value) / tapes) if self.prestage else 1.0
            rest = row.term(self.capacity) * row.term(self.compression) - one
            past = row.term(self.scattered) * rest / count(int(files), "file") / self.fastest(row)
            times = {"away_s": row.term(self.away), "turn_s": row.term(self.turn)}
            between_s = past if self.prestage else np.inf
            locate = law(tape.locate_time, **times, files=files, sorted_=float(self.rao), between_s=between_s)
        mount = _MOVES * row.term(self.move) + row.term(self.load) + row.term(self.rewind) + row.term(self.unload)
        return law(tape.drive_seconds, rate=rate, run_B=run, locate_s=locate, tape_B=one, mount_s=mount)

    def staging(self, row: Row, use: Access, host: Machine, volume: str) -> Term:
        """Rate of the staging disk while it is read and written [B/s]."""
        probe = Row(Ledger(row.ledger.draw), "", [], 1.0, host.name)
        self._disk(probe, use, host, volume, term(1.0))
        rate = solo_rate(probe.ledger.stations, probe.demands)
        return term(rate, "B/s", "rate of the staging disk, read and written at once")

    # -- what a byte charges ----------------------------------------------------------------------

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """The staging disk, twice where the byte goes to or comes from tape; drives, robots, and the mover's core."""
        if host.volumes[volume].array is None:
            key = f"hosts.{host.name}.volumes.{volume}.array"
            remedy = "write the disks that files pass on their way to and from tape"
            raise SpecError("needs a staging disk", key=key, remedy=remedy)
        part = self.passing(row, use)
        self._disk(row, use, host, volume, part)
        if not np.any(np.asarray(part.value) > 0):
            return
        taped, label = row.times(part), label_of(volume)
        share, busy = row.term(self.share), self.busy(use)
        if not self.waited(use):
            drives, disk = count(busy, "drive") * share, self.staging(row, use, host, volume)
            feed = law(tape.feed_of_one, disk=disk, drives=drives, idle_s=self.drive_time(row, use, np.inf))
            rate, why = self.fed(row, feed), "mounts, locates, streaming"
            remedy = f"{_RELIEF[use.operation == 'read']} (hosts.{host.name}.volumes.{volume}.filesystem)"
            if middle(rate.value) < middle(self.fastest(row).value):
                why = "the staging disk is slower than the tape, which stops and goes"
                remedy = f"a faster staging disk (hosts.{host.name}.volumes.{volume}.array)"
            per_byte = self.drive_time(row, use, rate)
            text = f"tape drives, {busy} of {self.drives} with a tape of these files: {why}"
            taped.charge(f"{label}.tape-drives", "tape", capacity=drives, per_byte=per_byte, what=text, remedy=remedy)
        moves = _MOVES * row.term(self.move) * count(int(self.cartridges(use)), "tape")
        robots, each = count(self.robots, "robot") * share, moves / term(max(use.total_B, 1.0), "B")
        remedy = f"more robots, or files on fewer tapes (hosts.{host.name}.volumes.{volume}.filesystem)"
        text = "robots that fetch cartridges"
        taped.charge(f"{label}.robots", "tape", capacity=robots, per_byte=each, what=text, remedy=remedy)
        host.core(taped, Thread("tape mover", busy), row.term(self.mover_byte), "between tape and staging disk")

    def passing(self, row: Row, use: Access) -> Term:
        """Part of the bytes that go to tape or come from it while they are moved."""
        if use.operation == "write":
            return term(1.0 if self.wait else 0.0)
        if use.revisited:  # the disk has it by now
            return term(0.0)
        return term(1.0) - row.term(self.staged)

    def _disk(self, row: Row, use: Access, host: Machine, volume: str, part: Term) -> None:
        """Charges the staging disk: what the program asks for, and beside it what goes to tape or comes from it."""
        array = host.volumes[volume].array
        assert array is not None
        also = middle(part.value)
        reading = use.operation == "read"
        if also <= 0:
            host.array(row, use, volume, array, self._stated_ahead(row, use))
            return
        both = (1.0 if reading else also) / (1.0 + also)
        disk_use = replace(use, read_share=both, streams=use.streams + self.busy(use))
        mover = disk_use.but(
            operation="write" if reading else "read", finish="steady", random=False, block_B=2.0**20, queue_depth=1
        )
        host.array(row, disk_use, volume, array, self._stated_ahead(row, use))
        host.array(row.times(part), mover, volume, array, None)

    def stretches(self, row: Row, use: Access, host: Machine, volume: str) -> tuple[Stretch, ...]:
        """A file that nobody has asked for before its reader is waited for until all of it is on the disk."""
        parts = super().stretches(row, use, host, volume)
        if not self.waited(use) or use.cached:
            return parts
        feed = self.staging(row, use, host, volume) / count(self.busy(use), "drive")
        wait = self.passing(row, use) * self.drive_time(row, use, minimum(feed, self.fed(row, feed)))
        wait = wait / row.term(self.share)
        text = "each file is recalled from tape when it is opened"
        return tuple(replace(s, delay=wait + s.delay, what=text) for s in parts)
