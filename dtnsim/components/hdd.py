"""Hard disks: the zone under the heads sets the rate; streams, files and random requests cost positioning."""

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import BLOCK_REQUEST, ONCE, Device, links_rate
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Mixture, Quantity, Unit, Value, middle, prior
from dtnsim.ground.term import Term, count, largest, law, minimum, term
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import bonding, hdd, hdd_streams, waiting

_SEEKING: Final = 2.0  #: cost of a byte from which on seeks are more than half of it

_MAY_KEEP_B: Final = 10e12  #: smallest disk of the generations that may keep what they acknowledge [B]
#: half a turn, or the answer of a cache that is kept, in parts of half a turn of 7200 rpm
_TURN = Quantity(1.0, "1", 0.0, "assumed: two of three disks of 10 TB and more wait for the platter")
_KEPT = Quantity(
    0.024,
    "1",
    0.6,
    "Toshiba MG06 (anandtech.com 11875): flash takes over the cache of 512e drives; WD OptiNAND (ArmorCache), 2021; "
    "assumed: one of three disks of 10 TB and more, which answers in 0.1 ms",
)
#: power of the queue by which a drive's own order of random reads is faster than theirs
_SORTED: Final = prior(
    "0.23",
    0.32,
    "mean and deviation of eight drives. CrystalDiskMark, 4 KiB within 1 GB, 32 at once over one: 1.50 (WD 1 TB), 1.68 "
    "(Seagate 7200 rpm), 1.95 (Samsung HD502HJ), 2.29 (VelociRaptor), 2.75 (ST3500418AS), powers of 0.12 to 0.29; of "
    "WD20EARS in five arrays 0.25 in the mean (sgvulcan 2014, habeebq 2015, AFIO 2013). Sheets, on the whole stroke: "
    "Seagate Exos X16 170 a second with 16, 0.28; an arm of 2X14 152 with 8, 0.31",
)
#: random writes that the caches of smaller disks sort, generations of 16 to 64 MB
_SMALLER_B: Final = 4e12
_FEWER_WRITES: Final = prior(
    "16",
    0.8,
    "CrystalDiskMark, writes of 4 KiB, 32 at once (the same drives): 173, 193, 244, 150 a second of four at 7200 rpm, "
    "201 of a WD20EARS at 5400, 474 of a VelociRaptor at 10,000: the best of 9, 14, 29, 6, 22, "
    "40 requests",
)
_UNSTATED_CACHE: Final = replace(Mixture.of_kinds("write cache", (_TURN, _TURN, _KEPT)), value=1.0)


class Hdd(Device):
    """A hard disk.

    ``position`` is the mean place of the data, so the data fill twice that part of the stroke unless ``file_distance``
    and ``tree_distance`` say how far the heads go. Of a drive with several ``actuators``, ``rate`` is that of one; each
    serves its own part of the capacity, so one sequential stream keeps one busy. A drive-managed shingled drive has a
    ``shingled_cache``, which it must clean once it is full.

    ``write_cache`` says what a drive acknowledges: a ``volatile`` cache answers writes at once and is flushed by syncs;
    a ``protected`` one (flash that takes it over when power fails) answers syncs too; with ``none`` (switched off, as
    RAID controllers and some servers' firmware have it) each write waits for the platter. Left out, a disk of 10 TB and
    more may keep what it acknowledges.
    """

    kind: ClassVar[str] = "hdd"
    columns: ClassVar[tuple[str, ...]] = ("rate",)

    rate: Annotated[Quantity, Unit("B/s", spread=0.08, low=1e5)]
    capacity: Annotated[Quantity, Unit("B", low=1e8)] = prior(
        "4 TB",
        1.0,
        "assumed: a disk of unknown size, 1 to 16 TB; how far apart small files and random requests lie depends on it",
    )
    inner: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] = prior(
        "0.5", 0.1, "assumed: innermost over outermost radius of a 3.5-inch platter"
    )
    position: Annotated[Quantity, Unit("1", high=1.0)] = prior(
        "0.05", 0.5, "assumed: files lie near the outer edge of a fairly empty disk"
    )
    spindle: Annotated[Quantity, Unit("Hz", low=10, high=400)] = prior("120 Hz", 0.0, "7200 rpm, as most")
    seek: Annotated[Quantity, Unit("s", spread=0.1)] = prior(
        "7.4 ms", 0.1, "WD Ultrastar DC HC310 specification p. 23: average read seek"
    )
    track_seek: Annotated[Quantity, Unit("s", spread=0.2)] = prior(
        "0.23 ms", 0.2, "WD Ultrastar DC HC310 specification p. 23: single-track seek, typical"
    )
    ncq: Annotated[
        int, Field(ge=1, le=256, description="requests that the drive may sort: 32 SATA, 64 or more SAS")
    ] = 32
    cached_writes: Annotated[
        Quantity, Unit("1", spread=0.6, low=1), Field(description="random writes that the drive's own cache sorts")
    ] = prior(
        "240",
        0.6,
        "Seagate Exos X16 data sheet: 440 random writes a second with the cache; Tom's Hardware, Ultrastar He10: "
        "2.5 ms each; the best of 280 and of 200 requests where seeks take 0.3 ms at least and 8.5 ms on average",
    )
    file_distance: Annotated[Quantity, Unit("1", high=1.0)] | None = None
    tree_distance: Annotated[Quantity, Unit("1", high=1.0)] | None = None
    visit: Annotated[Quantity, Unit("B", spread=0.5, low=512)] = prior(
        "512 KiB", 0.6, "assumed: bytes read per visit where nobody above says (read-ahead of the drive and queue)"
    )
    actuators: Annotated[int, Field(ge=1, le=4, description="arms that work at the same time")] = 1
    shingled_cache: Annotated[Quantity, Unit("B", spread=0.5)] | None = None
    band: Annotated[Quantity, Unit("B", spread=0.3, low=2**20)] = prior(
        "30 MiB", 0.4, "Aghayev and Desnoyers, Skylight, FAST 2015: bands of 15 to 40 MiB"
    )
    link: Annotated[Quantity, Unit("B/s", low=1e6)] = prior("300 MB/s", 0.0, "SATA 3 Gb/s after 8b/10b")
    write_cache: Annotated[
        Literal["volatile", "none", "protected"],
        Field(description="none: switched off; protected: kept when power fails (ArmorCache, persistent write cache)"),
        Otherwise("protected", "disks of 10 TB and more whose flash takes over (Toshiba MG06 and later, WD OptiNAND)"),
    ] = "volatile"
    answer: Annotated[Quantity, Unit("s", spread=0.5)] = prior(
        "0.1 ms", 0.6, "assumed: a command that the drive's memory answers over SATA or SAS, 0.05 to 0.2 ms"
    )

    @property
    def rotates(self) -> bool:
        return True

    @property
    def holds_B(self) -> float:
        return self.capacity.value

    @property
    def each_B(self) -> float:
        return self.capacity.value if self.states("capacity") else super().each_B

    @property
    def keeps_writes(self) -> bool:
        return self.write_cache == "protected"

    def answers_early(self, use: Access) -> bool:
        """A cache answers a write, and has read ahead in sequence; if it loses a write with the power, a sync waits."""
        if use.operation == "read":
            return not use.random
        if self.write_cache == "none":
            return False
        return self.keeps_writes or use.finish != "dsync"

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        """Seconds until a cache answers, or that a random request waits for arm and platter."""
        if self.answers_early(use):
            return row.value(self.answer)
        if not use.random:
            return 0.0
        track, average, spindle = (row.value(figure) for figure in (self.track_seek, self.seek, self.spindle))
        return hdd.slowest_positioning_time(members, track, average, spindle, self._stroke(row, use, 1).value)

    def single_rate(self, row: Row, use: Access) -> Value:
        """Bytes per second of one large request alone [B/s]; in sequence the drive has read ahead."""
        return self._zone(row, use).value if use.random else row.value(self.link)

    def next_file(self, row: Row, use: Access, copies: int = 1, members: float = 1.0) -> Value:
        return self._switch(row, self._to_file(row, use, copies), members).value

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return law(hdd.zone_mean_rate, outer_rate=row.term(self.rate), radius_ratio=row.term(self.inner))

    def turnaround(self, row: Row) -> Term:
        """Half a turn: the write begins where the head is not; a large disk may keep what it acknowledges."""
        if self.keeps_writes:
            return row.term(self.answer)
        turn = 0.5 * self.turn(row)
        if "write_cache" in self.model_fields_set or self.capacity.value < _MAY_KEEP_B:
            return turn
        return turn * row.term(_UNSTATED_CACHE)

    def turn(self, row: Row) -> Term:
        return law(hdd.rotation_time, spindle_Hz=row.term(self.spindle))

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        rate = self._zone(row, use)
        busy, use = self._arms(use, copies)
        bands = self._shingled(row, use, copies, rate)
        if use.random and bands is not ONCE:
            per_byte = bands  # the persistent cache takes them in turn, and its cleaning has the arm's time in it
        elif use.random:
            per_byte = self._random(row, use, copies, rate)
        else:
            per_byte = self._sequential(row, use, copies, rate, visit_B) * self._runs(row, use, rate)
            per_byte = per_byte if bands is ONCE else per_byte + (bands - 1.0)
            per_byte = per_byte + self._lost_turns(row, use, copies, rate)
        seeks = ["between streams"] if use.streams > 1 and not use.random else []
        if use.operation == "read" and not use.random and np.all(per_byte.value > _SEEKING):
            apart = middle(self._disks_of_a_file(row, use, copies, rate, visit_B))
            once = use.file_B <= apart * middle(self._window(row, use, copies, rate, visit_B).value)
            seeks += [f"to each file on {apart:g} disks"] if apart > 1 and once else []
        text = f"disk {use.operation}" + (f" with seeks {' and '.join(seeks)}" if seeks else "")
        capacity = count(copies, "disk") * rate if busy is None else count(copies, "disk") * busy * rate
        row.charge(f"{name}.disks", "hdd", capacity=capacity, per_byte=per_byte, what=text)
        capacity = links_rate(row, use, copies, row.term(self.link))
        row.charge(f"{name}.links", "sata", capacity=capacity, per_byte=ONCE, what="drive link")

    def _arms(self, use: Access, copies: int) -> tuple[Term | None, Access]:
        """Actuators at work, where there are several, and what one of them sees."""
        if self.actuators == 1:
            return None, use
        streams = self._queued(use, copies) if use.random else float(use.streams)
        busy = law(bonding.occupied, items=max(streams, 1.0), bins=self.actuators)
        each = float(busy.value)
        if use.random:
            return busy, use.but(queue_depth=max(1, round(use.queue_depth / each)))
        return busy, use.thinned(max(1, round(use.streams / each)))

    def _zone(self, row: Row, use: Access) -> Term:
        position = self._place(row, use)
        return law(hdd.zone_rate, position=position, outer_rate=row.term(self.rate), radius_ratio=row.term(self.inner))

    def _seeks(self, row: Row) -> dict[str, Term]:
        return {
            "track_seek_s": row.term(self.track_seek),
            "average_seek_s": row.term(self.seek),
            "spindle_Hz": row.term(self.spindle),
        }

    def _place(self, row: Row, use: Access) -> Term:
        """Where the data are: as stated, or as a file system that says how full it is fills a disk."""
        if use.filled is None or self.states("position"):
            return row.term(self.position)
        return law(hdd.place_by_fill, filled=term(use.filled), writing=use.operation == "write")

    def _filled(self, row: Row, use: Access) -> Term:
        """Part of the stroke that the data lie on: twice their mean place."""
        if use.filled is None or self.states("position"):
            return minimum(row.term(self.position) * 2.0, term(1.0))
        return term(use.filled)

    def _stroke(self, row: Row, use: Access, copies: int) -> Term:
        """Part of the stroke that random requests lie on: that of their files; all of it where a log is written too."""
        if not use.within_B or use.extent_B < np.inf or use.finish == "dsync":
            return term(1.0)
        return minimum(term(use.within_B, "B") / (count(copies, "disk") * row.term(self.capacity)), term(1.0))

    def _queued(self, use: Access, copies: int) -> float:
        """Requests that a drive knows of; of writes there are many in the page cache, or in its own."""
        many = use.buffered or self.answers_early(use)
        return float(self.ncq) if many else use.in_flight / copies

    def _lost_turns(self, row: Row, use: Access, copies: int, rate: Term) -> Term:
        """What turns of the platter between one write and the next cost where no cache answers, per byte."""
        if self.write_cache != "none" or use.operation == "read" or use.finish == "dsync":
            return term(0.0)
        size = row.term(BLOCK_REQUEST) if use.buffered else term(use.block_B, "B")
        turns, flying = row.term(self.spindle), min(self._queued(use, copies), float(self.ncq))
        return law(hdd.lost_turns_cost, request_B=size, rate=rate, spindle_Hz=turns, in_flight=flying) - 1.0

    def _random(self, row: Row, use: Access, copies: int, rate: Term) -> Term:
        """Positioning before each request: a drive's cache sorts what is written, its queue what it is asked for."""
        if self.answers_early(use) and np.isinf(use.active):
            fewer = not self.states("cached_writes") and self.capacity.value < _SMALLER_B
            queue = row.term(_FEWER_WRITES if fewer else self.cached_writes)
            first = law(hdd.sorted_positioning_time, queue=queue, **self._seeks(row))
        else:
            stroke = self._stroke(row, use, copies)
            alone = law(hdd.sorted_positioning_time, queue=1.0, **self._seeks(row), stroke=stroke)
            queue = term(min(max(self._queued(use, copies), 1.0), float(self.ncq), use.active))
            first = law(hdd.queued_positioning_time, queue=queue, alone_s=alone, power=row.term(_SORTED))
        size = term(use.block_B, "B")
        return rate / law(waiting.request_rate, request_B=size, latency_s=first, rate_Bps=rate)

    def _switch(self, row: Row, distance: Term, members: float = 1.0) -> Term:
        """Seek over a distance, and half a turn; more until the last of several members is there."""
        seek = law(
            hdd.seek_time, distance=distance, track_seek_s=row.term(self.track_seek), average_seek_s=row.term(self.seek)
        )
        return law(hdd.positioning_time, seek_s=seek, spindle_Hz=row.term(self.spindle), disks=members)

    def _sequential(self, row: Row, use: Access, copies: int, rate: Term, visit_B: Term | Value | None) -> Term:
        """What files and turns of streams cost: a positioning to each file, and to each visit that follows elsewhere.

        New files that a cache gathers lie side by side (kernel.org, ext4: delayed allocation), so that one visit writes
        many small ones; they need metadata.
        """
        reading = use.operation == "read"
        turn = first = None
        if use.streams > 1 or (use.scheduled and reading):
            turn = first = self._switch(row, self._seek_distance(row, use))
        if reading:
            first = self._switch(row, self._to_file(row, use, copies))
        cost, of_a_file = ONCE, {"file_B": term(use.file_B, "B"), "rate": rate}
        if first is not None:
            apart = self._disks_of_a_file(row, use, copies, rate, visit_B)
            window = self._window(row, use, copies, rate, visit_B)
            seeks = {"first_s": first, "later_s": turn or term(0.0, "s")}
            disks = 0.0 if use.buffered and not use.rewrite else apart
            cost = law(hdd_streams.visits_cost, **of_a_file, visit_B=window, **seeks, places=disks)
        if reading or use.metadata_writes <= 0:
            return cost
        swept, writes = self._swept(row, use), use.metadata_writes
        inodes = law(hdd_streams.visits_cost, **of_a_file, visit_B=np.inf, first_s=swept, places=writes)
        return inodes if cost is ONCE else cost + (inodes - 1.0)

    def _disks_of_a_file(self, row: Row, use: Access, copies: int, rate: Term, visit_B: Term | Value | None) -> Value:
        """Disks that a file lies on, each of which seeks to it."""
        parts = use.file_B / (use.stripe_B or self._window(row, use, copies, rate, visit_B).value) * (1.0 - 1e-12)
        return np.clip(np.ceil(parts), 1.0, copies)

    def _window(self, row: Row, use: Access, copies: int, rate: Term, visit_B: Term | Value | None) -> Term:
        """Bytes of one visit; all that a stream has queued itself is merged and taken in the order of its sectors.

        Source: Linux, Documentation/block/deadline-iosched: batches in increasing sector order; the scheduler of disks.
        """
        if visit_B is not None:
            return term(visit_B, "B")
        if use.buffered:
            return law(hdd_streams.writeback_visit_bytes, rate=rate)
        visit = row.term(self.visit)
        if not use.waits_for_each:
            return visit
        queued = term(use.block_B * use.queue_depth, "B")
        return largest(visit, law(hdd_streams.visit_bytes, window_B=queued, data_disks=copies))

    def _seek_distance(self, row: Row, use: Access) -> Term:
        """Distance from one stream to the next; where they are swept, the more of them the nearer."""
        if use.scheduled and use.streams == 1:
            return term(0.0)  # the next window of the same file
        if self.file_distance is not None:
            return row.term(self.file_distance)
        places = use.streams if use.scheduled else 2
        return law(hdd.mean_distance, filled=self._filled(row, use), places=places)

    def _swept(self, row: Row, use: Access) -> Term:
        """Positioning to the next place in a sorted sweep."""
        return law(hdd.sorted_positioning_time, queue=self.ncq, **self._seeks(row), stroke=self._filled(row, use))

    def _next_run(self, row: Row, use: Access) -> Term:
        """Positioning to the next run of a file: what is written the drive has in its cache and sorts.

        Of what is read it knows as much as the file system asks for, and the runs lie one behind the other.
        """
        if use.operation == "write" or np.isinf(use.active) or not use.request_B:
            return self._swept(row, use)
        runs = {"request_B": term(use.request_B, "B"), "run_B": term(use.extent_B, "B")}
        choice = minimum(law(hdd.sweep_choice, active=use.active, **runs), term(float(self.ncq)))
        span = choice * (term(use.extent_B, "B") + term(use.gap_B, "B")) / row.term(self.capacity)
        return law(hdd.sorted_positioning_time, queue=choice, **self._seeks(row), stroke=minimum(span, term(1.0)))

    def _runs(self, row: Row, use: Access, rate: Term) -> Term:
        """Gaps between the extents of an aged file system."""
        if np.isinf(use.extent_B):
            return ONCE
        run_B = term(use.extent_B, "B")
        gap_B = term(use.gap_B, "B")
        return law(hdd_streams.run_cost, run_B=run_B, gap_B=gap_B, rate=rate, positioning_s=self._next_run(row, use))

    def _to_file(self, row: Row, use: Access, copies: int) -> Term:
        """Distance to the next file: on the part of the disk that a transfer's tree takes up, unless others read too.

        Large files of one tree need not lie as near (xfs and ext4 spread them): streams in them are `_seek_distance`
        apart.
        """
        if use.streams > use.own_streams:
            return self._seek_distance(row, use)
        if self.tree_distance is not None:
            return row.term(self.tree_distance)
        tree = term(use.total_B, "B") / (count(copies, "disk") * row.term(self.capacity))
        places = use.streams if use.scheduled else 2
        return law(hdd.mean_distance, filled=minimum(tree, self._filled(row, use)), places=places)

    def _shingled(self, row: Row, use: Access, copies: int, rate: Term) -> Term:
        """Time of a write over that of its transfer, where the drive cleans shingled bands."""
        if self.shingled_cache is None or use.operation == "read":
            return ONCE
        size = largest(term(use.total_B / copies, "B"), term(1.0, "B"))
        band = row.term(self.band)
        cache, request_B = row.term(self.shingled_cache), term(use.block_B, "B") if use.random else band
        written = {"size_B": size, "cache_B": cache, "rate": rate, "request_B": request_B, "band_B": band}
        return law(hdd_streams.shingled_write_time, **written) * rate / size
