"""RAID 0, 1, 10, 5, 6, 50, 60 over any devices: drives or other arrays."""

from functools import partial
from typing import Annotated, ClassVar, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import BLOCK_REQUEST, MIRROR_RATE, ONCE, charge_controller, part_of_visit
from dtnsim.components.linux_md import MD_CHUNK, MD_REBUILD, LinuxMd
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, middle, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import md, raid

#: requests that a controller has at one drive (NCQ); Dell, PERC 9 user's guide: caches of SAS drives are off by default
_AT_ONCE: Final = 32.0
#: a controller's chunks, and what its running rebuild takes, where the file says nothing
_CONTROLLER_CHUNK: Final = prior("64 KiB", 0.5, "assumed: 64 KiB on older controllers, 256 KiB on newer")
_CONTROLLER_REBUILD: Final = prior("0.3", 0.5, "Dell PERC and Broadcom MegaRAID user's guides: rebuild rate of 30 %")


class Raid(LinuxMd):
    """An array of ``disks`` equal devices in each of ``groups`` groups.

    ``software`` parity is computed by threads of the host (md's raid5d), and crosses the bus; a hardware controller
    keeps it behind the adapter. A controller's ``cache`` takes writes at the adapter's rate until it is full; with
    ``write_back`` (a battery or flash behind it) it gathers writes to full stripes and answers flushes at once; with
    ``read_ahead`` one reader keeps all members busy. What its memory has, or takes, it answers after ``answer``. A pair
    of controllers with ``mirrored`` caches copies each write to the partner first, at ``mirror_rate``.
    ``lost`` devices per group leave the array degraded; ``rebuilding`` says that a rebuild, check or resync runs,
    beside which a controller keeps its share of the drives and md its sync_speed_min; ``rebuild`` is its rate on every
    device where that was set, and ``resync`` says that parity is not yet trusted.
    """

    kind: ClassVar[str] = "raid"
    other_names: ClassVar[dict[str, str]] = {"drives": "disks", "width": "disks", "raid": "level"}

    level: Literal[0, 1, 5, 6, 10, 50, 60]
    disks: Annotated[int, Field(ge=1, le=1000)]
    groups: Annotated[int, Field(ge=1, le=1000)] = 1
    software: bool = True
    chunk: Annotated[Quantity, Unit("B", low=512)] | None = None
    window: Annotated[Quantity, Unit("B", spread=0.5, low=512)] | None = None
    lost: Annotated[int, Field(ge=0, le=3)] = 0
    rebuild: Annotated[Quantity, Unit("B/s", spread=0.3)] = prior("0 B/s", 0.0, "no rebuild running")
    rebuilding: Annotated[bool, Field(description="a rebuild, check or resync runs at its default rate")] = False
    rebuild_window: Annotated[Quantity, Unit("B", spread=0.5, low=4096)] = prior(
        "1 MiB", 0.6, "Linux drivers/md: 256 pages of the stripe cache (raid5.c), 32 requests of 64 KiB (raid1-10.c)"
    )
    resync: bool = False
    cache: Annotated[Quantity, Unit("B")] | None = None
    write_back: bool = True
    read_ahead: bool = True
    answer: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "60 us", 0.5, "assumed: a command to a controller's memory: driver, firmware, interrupt, 30 to 100 us"
    )
    mirrored: Annotated[bool, Field(description="two controllers keep copies of each other's write cache")] = False
    mirror_rate: Annotated[Quantity, Unit("B/s", spread=0.4, low=1e6)] = MIRROR_RATE

    @model_validator(mode="before")
    @classmethod
    def _level_as_number(cls, raw: object) -> object:
        if isinstance(raw, dict) and isinstance(raw.get("level"), str):
            text = str(raw["level"]).lower().removeprefix("raid").replace("+", "").strip(" -")
            for kind, word in (("raidz", "z"), ("draid", "draid"), ("mirror", "mirror")):
                if text.startswith(word):
                    number = text.removeprefix(word) or "1"
                    many = number.isdigit() and kind != "mirror"
                    also = f", {'parity' if kind == 'draid' else 'level'}: {number}" if many else ""
                    raise ValueError(f"level {raw['level']} is ZFS's own; write {{kind: {kind}{also}, disks: ...}}")
            raw = {**raw, "level": int(text) if text.isdigit() else raw["level"]}
        return raw

    @model_validator(mode="after")
    def _enough(self) -> Self:
        least = {0: 1, 1: 2, 10: 2, 5: 3, 6: 4, 50: 3, 60: 4}[self.level]
        if self.disks < least:
            raise ValueError(f"RAID {self.level} needs at least {least} disks a group, not {self.disks}")
        if self.level == 10 and self.disks % 2 and not self.software:
            raise ValueError(f"RAID 10 of a controller needs an even number of disks, not {self.disks}")
        if self.layout is not None and not (self.software and self.level == 10):
            raise ValueError("near, far and offset are layouts of md's RAID 10; leave 'layout' out")
        most = self.disks - 1 if self.level == 1 else max(self.parity, self.level == 10)
        if self.lost > most:
            raise ValueError(f"RAID {self.level} does not survive {self.lost} lost disks; at most {most}")
        if self.software and self.cache is not None:
            raise ValueError("a software RAID has no cache of its own; leave it out, or write 'software: false'")
        if self.mirrored and (self.software or not self.write_back):
            raise ValueError("a write cache is mirrored by hardware controllers with write_back; leave 'mirrored' out")
        if not self.software and (self.bitmap or self.journal is not None):
            raise ValueError("bitmap and journal belong to md; leave them out, or write 'software: true'")
        if self.journal is not None and not self.parity:
            raise ValueError(f"a journal closes the write hole of RAID 5 and 6; RAID {self.level} has none")
        return self

    @property
    def parity(self) -> int:
        """Parity devices of one group."""
        return raid.PARITY_DISKS[self.level]

    @property
    def copies(self) -> int:
        """Copies kept of each byte."""
        return {1: self.disks, 10: 2}.get(self.level, 1)

    @property
    def members(self) -> int:
        """Devices of all groups."""
        return self.disks * self.groups

    @property
    def drives(self) -> int:
        return self.members * self.of.drives

    @property
    def data_members(self) -> int:
        """Members that a full stripe's data is spread over."""
        return max(1, int(raid.data_disks(self.disks, self.parity, self.groups, self.copies)))

    @property
    def data_disks(self) -> int:
        return self.data_members * self.of.data_disks

    @property
    def keeps_writes(self) -> bool:
        return (not self.software and self.write_back) or self.of.keeps_writes

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """That of the slowest of the members that hold a part of the request, unless a controller's memory answers."""
        if self._from_memory(use):
            return row.value(self.answer)
        marks = self._has_bits(use) and use.operation == "write" and use.random and not use.buffered
        return self._unmarked(row, use, members) + (self._commits(row, use)[1] if marks else 0.0)

    def _unmarked(self, row: Row, use: Access, members: float = 1.0) -> Value:
        busy = members * middle(self._members(row, use).value)
        use = use.but(within_B=use.within_B / self.data_members)
        wait = self.of.latency(row, use, busy)
        if use.operation == "write" and self._reads_first(row, use):
            wait = np.asarray(wait) + self.of.latency(row, use.but(operation="read"), busy + self.parity * members)
        if self.software and self.copies > 1:
            wait = wait + self.handed_over(row, use)
        return wait

    def _has_bits(self, use: Access) -> bool:
        return self.software and self.marked(use, self.level)

    def _commits(self, row: Row, use: Access) -> tuple[Term, Value]:
        """Part of the writes that find their bit clear, and what a write waits for bits in the mean [s]."""
        bit, written_to = self.bit_time(row, use, self.members), max(use.total_B, use.data_B)
        write_s = term(self._unmarked(row, use), "s")
        chunks = term(written_to / self.data_members, "B") / self.of_a_bit(row, self._mirrored_over)
        clear = law(md.bitmap_clear_share, write_s=write_s, commit_s=bit, chunks=chunks, in_flight=use.in_flight)
        return clear, (clear * bit).value

    @property
    def _mirrored_over(self) -> float:
        return self.data_members / self.groups if self.copies > 1 else 1.0

    def answers_early(self, use: Access) -> bool:
        return self._from_memory(use) or self.of.answers_early(use)

    def _from_memory(self, use: Access) -> bool:
        """Whether a controller answers from its memory: any write, and a read in sequence, which it has read ahead."""
        if self.software:
            return False
        return self.write_back if use.operation == "write" else self.read_ahead and not use.random

    def _reads_first(self, row: Row, use: Access) -> bool:
        """Whether a write waits for old data and parity: it is smaller than a stripe and nothing gathers it."""
        stripe = self.data_members / self.groups * middle(self._chunk(row).value)
        return self.parity > 0 and not self._gathers(use) and use.block_B % stripe > 0

    def _gathers(self, use: Access) -> bool:
        """Whether writes become full stripes: sequential in a write-back cache, or buffered in md's stripe cache."""
        return not use.random and (use.buffered if self.software else self.write_back)

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        return super().next_file(row, self._of_a_copy(use), copies, members)

    def single_rate(self, row: Row, use: Access) -> Value:
        """The members that hold a part of a request work on it together; a controller reads ahead for one reader."""
        if self._from_memory(use) and not use.random:
            return np.inf
        return self._members(row, use).value * self.of.single_rate(row, use)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return float(self.data_members) * self.of.media_rate(row, operation)

    def parity_thread(self, row: Row, use: Access) -> tuple[Term, int] | None:
        """Md's raid5d copies what passes its stripe cache, and computes: what is written, and reads without a disk."""
        reading = use.operation == "read"
        past = reading and use.kernel is not None and use.kernel < md.DEGRADED_BY_STRIPE
        if not (self.software and self.parity) or past:
            return super().parity_thread(row, use)
        read = (self._read_load(use) if use.random else ONCE) if self.lost else term(0.0)  # a disk may fail meanwhile
        moved = read if reading else self._moved(row, use, drives_bind=False)
        pages = law(md.thread_load, moved=moved, disks=self.disks, parity=self.parity)
        work = row.term(self.parity_work) * pages
        if not reading and use.random and self._reads_first(row, use):
            stripe = (self.disks - self.parity) * md.MD_PAGE_B
            request = term(use.block_B, "B")
            work = work + law(md.partial_load, request_B=request, stripe_B=stripe, work=row.term(self.partial_work))
        return work, max(1, self.parity_threads * use.sockets)

    def bus_factor(self, use: Access) -> Value:
        """Parity and mirror copies cross the bus when the host makes them; what a controller makes does not."""
        if not self.software:
            return 1.0
        crossings = self._spread().value if use.operation == "write" else 1.0
        return crossings * self.of.bus_factor(use)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        """Charges the members with data, parity, and what small or degraded access adds."""
        reading = use.operation == "read"
        load = self._read_load(use) if reading else self._write_load(row, use)
        inner = self._visit(row, use, visit_B)
        load = load * self._rebuilding(row, use, inner) * self._joined(row, use, copies)
        if not reading:
            if self.mirrored:
                pair = count(copies, "controller pair") * row.term(self.mirror_rate)
                row.charge(f"{name}.mirror", "cache", capacity=pair, what="copies of the write cache at the partner")
            if self.cache is not None and self.write_back:  # what stays in it
                load = load * use.missed_part(row.term(self.cache), self.cache.value)
        if self.software:
            arrays = copies * self.groups
            self.lock(row, use, name, level=self.level, arrays=count(arrays, "array"), chunk=self._chunk(row))
            self.flushes(row, use, name, arrays=count(arrays, "array"), members=self.disks)
            if self.parity and not reading:
                self.stripes(row, use, name, arrays=count(arrays, "group"), disks=self.disks, parity=self.parity)
            if self.journal is not None and not reading:
                self.journal.serve(row.times(self._spread()), use.but(random=False), f"{name}-journal")
        elif not self.mirrored:
            charge_controller(row, use, name, copies * self.disks * self.groups)
        members, seen = copies * (self.disks - self.lost) * self.groups, self._inside(row, use, load)
        serve = partial(self.of.serve, use=seen, name=name, copies=members, visit_B=inner)
        if not (reading or use.random) and self._has_bits(use):
            load = load * self._bitmap(row, use, row.probed(serve) / members)
        serve(row.times(load))

    def _inside(self, row: Row, use: Access, load: Term) -> Access:
        """The access as members see it: requests are cut into chunks, parity and copies fill caches too."""
        busy = middle(self._members(row, use).value)
        lying = float(np.mean((load if use.operation == "write" else self._spread()).value))
        within_B = use.within_B * self.members / self.data_members
        seen = self._of_a_copy(use).but(
            total_B=use.total_B * lying, within_B=within_B, loose=use.loose and self.software
        )
        if use.waits_for_each:
            seen = seen.but(block_B=use.block_B / busy, queue_depth=max(1, round(use.queue_depth * busy)))
        chunk, n = middle(self._chunk(row).value), self.data_members
        part = min(chunk, use.extent_B)
        lies = max(chunk, use.file_B / n) if self.copies > 1 else chunk  # a reader keeps to one copy
        passed = 1.0
        if self.parity and use.operation == "read" and not use.random and self.of.rotates:
            passed = middle(self._read_load(use).value)  # longer with the parity between, on as many members
        seen = seen.but(
            file_B=use.file_B * passed,
            extent_B=max(part, use.extent_B / n),
            gap_B=max(part, use.gap_B / n),
            stripe_B=lies * passed,
            trimmed=use.trimmed and self.software and not self.parity,  # neither a controller nor parity passes it on
            idlest=self.software and self.copies == self.members and self.asks_the_idlest(use, self.level),
        )
        if use.operation == "write" and self.keeps_writes:  # its cache sorts for the drives, whose own is off
            most = use.active if self.software else min(use.active, _AT_ONCE)
            return seen.but(finish="steady" if use.finish == "dsync" else use.finish, active=most)
        return seen

    def _of_a_copy(self, use: Access) -> Access:
        """The streams that take turns on a member; a reader in sequence stays with its copy, others go to the idle one.

        Source: Linux drivers/md/raid1.c, choose_best_rdev; raid10.c, read_balance (the nearest head).
        """
        apart = use.operation == "read" and not (use.random or self.lost)
        return use.thinned(-(-use.streams // self.copies)) if apart else use

    def _members(self, row: Row, use: Access) -> Term:
        """Members of the array that hold a part of one request."""
        if self.level == 1:
            return ONCE
        size, chunk = term(use.block_B, "B"), self._chunk(row)
        return law(raid.striped, size_B=size, unit_B=chunk, members=self.data_members)

    def _chunk(self, row: Row) -> Term:
        return row.term(self.chunk or (MD_CHUNK if self.software else _CONTROLLER_CHUNK))

    def ahead_window(self, row: Row) -> Term:
        """Two stripes of an md array; a controller's is a device as any other."""
        if not self.software or self.level == 1:
            return super().ahead_window(row)
        disks = self.disks if self.layout in ("far", "offset") else self.data_members
        return law(md.read_ahead_bytes, chunk_B=self._chunk(row), disks=disks)

    def _visit(self, row: Row, use: Access, visit_B: Term | Value | None) -> Term | None:
        """Bytes of a visit of one member: its part of the read-ahead or of the write-back run."""
        if visit_B is None and self.window is not None:
            visit_B = row.term(self.window)
        ahead = self.software and use.operation == "read" and use.finish != "direct"
        if visit_B is None and ahead and self.level != 1:
            visit_B = self.ahead_window(row)
        return part_of_visit(visit_B, self.data_members)

    def _spread(self) -> Term:
        """Bytes moved by the members that are left per byte written, full stripes."""
        left = count(self.disks - self.lost, "remaining disk")
        if self.copies > 1:
            return left * float(self.copies) / count(self.disks, "disk")
        return left / count(self.disks - self.parity, "data disk")

    def _read_load(self, use: Access) -> Term:
        """Member bytes per byte read. The heads pass parity by, flash does not; one stream reads one copy only."""
        n = self.disks
        left = count(n - self.lost, "remaining disk")
        if self.copies > 1:
            if self.level == 10 and self.lost:  # every stripe needs the chunk that only one disk has
                return left / (n / 2)
            readers = use.streams * (use.queue_depth if use.random else 1)
            readers = max(readers, self.copies if self.layout == "far" else 1)  # of which one reader has all disks
            return law(raid.mirror_read_load, copies=self.copies - self.lost, readers=readers)
        if self.parity and not use.random and not self.of.rotates:
            return term(1.0)  # of a lost member, parity is read instead
        if use.random:
            share = law(raid.degraded_read_share, disks=n, parity=self.parity, lost=self.lost)
            return left / count(n, "disk") / share
        return left / count(n - self.parity, "data disk")

    def _write_load(self, row: Row, use: Access) -> Term:
        """Member bytes per byte written: full stripes where something gathers them, else read-modify-write."""
        bitmap = self._random_bitmap(row, use) if use.random and self._has_bits(use) else ONCE
        return (self._spread() if self.copies > 1 else self._moved(row, use) if self.parity else ONCE) * bitmap

    def _moved(self, row: Row, use: Access, *, drives_bind: bool = True) -> Term:
        """Member bytes read and written per byte written to an array with parity."""
        if self._gathers(use):
            return self._spread()
        size = row.term(BLOCK_REQUEST) if use.buffered and not use.random else term(min(use.block_B, 2.0**40), "B")
        return law(
            md.direct_amplification,
            request_B=size,
            chunk_B=self._chunk(row),
            disks=self.disks,
            parity=self.parity,
            in_flight=use.queue_depth,
            entries=self.stripe_cache / max(use.streams, 1) if self.software and not use.random else 0,
            drives_bind=drives_bind,
            resyncing=self.resync,
        )

    def _random_bitmap(self, row: Row, use: Access) -> Term:
        """What setting and clearing bits of the write-intent bitmap costs random writes."""
        level = self.parity or self.copies / 2 - 1
        deep = 32.0 if use.buffered else use.in_flight
        clear = ONCE if use.buffered else self._commits(row, use)[0]
        return law(md.bitmap_random_cost, disks=self.disks, parity=level, in_flight=deep, clear_share=clear)

    def _bitmap(self, row: Row, use: Access, member_Bps: Value) -> Term:
        """The same of writes in sequence, of a member that has so much."""
        rate, chunk = term(member_Bps, "B/s", "a member and its link"), self.of_a_bit(row, self._mirrored_over)
        away = term(self.of.latency(row, use.but(random=True, finish="dsync")), "s")
        return law(md.bitmap_cost, bitmap_chunk_B=chunk, rate=rate, positioning_s=away)

    def _joined(self, row: Row, use: Access, copies: int) -> Term:
        """What requests cost that are split over several members and done with the slowest."""
        busy = middle(self._members(row, use).value)
        if not use.random or busy <= 1.0 or self.answers_early(use):
            return ONCE
        if not np.any(np.asarray(alone := self.of.latency(row, use)) > 0):
            return ONCE
        slowest = term(self.of.latency(row, use, busy) / alone, "1", "slowest of the members over any of them")
        in_flight = use.in_flight * busy / (copies * self.data_members)
        return law(raid.fork_join_load, in_flight=in_flight, slowest=slowest)

    def _rebuilding(self, row: Row, use: Access, visit: Term | None) -> Term:
        """What a running rebuild, check or resync leaves of a member, as a factor on every demand."""
        stated = np.any(np.asarray(row.value(self.rebuild)) > 0)
        if not stated and not self.rebuilding:
            return ONCE
        media, window = self.of.media_rate(row, "read"), row.term(self.rebuild_window)
        away = term(
            self.of.latency(row, use.but(operation="read", random=True, within_B=0.0)), "s", "positioning of a member"
        )
        moving = use.random or use.streams > 1  # then the way back is one that the heads go anyhow
        switch = away if moving else 2.0 * away
        if stated or self.software:
            wanted = row.term(self.rebuild if stated else MD_REBUILD)
        else:  # a share of the drives' time
            wanted = row.term(_CONTROLLER_REBUILD) * window / (window / media + switch)
        size_B = term(use.block_B, "B") / self._members(row, use) if use.random else visit or row.term(BLOCK_REQUEST)
        rebuild = law(raid.rebuild_rate, wanted=wanted, media_rate=media)
        moved = {"window_B": window, "switch_s": switch, "visit_s": size_B / media + away if moving else size_B / media}
        return law(raid.rebuild_load, rebuild=rebuild, media_rate=media, **moved)
