"""From a path to stations and demands: follows each transfer through hosts and network.

Every step of a tool's plan becomes a row: read at the source, network, write at the destination,
each component on the way charging what it costs. Where a file system works in stretches (cached,
then throttled), the step becomes as many phases.

What a worker does between its writes, and the medium behind a page cache, go on at the same time
(`waits.hidden_by_medium`): a tool that verifies each file after it has written it leaves the medium that time to take
what is in memory. The work of the medium moves from the stretch in which the writer waits for it into the step that
follows.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from dtnsim.components.filesystem import Stretch
from dtnsim.composition import files, like, sharing, transport, waits
from dtnsim.composition.network import Network
from dtnsim.composition.residency import NOTHING, History
from dtnsim.composition.resolved_transfer import Leg, check_space, end_of, leg, openings
from dtnsim.composition.route import Route
from dtnsim.composition.storage import Shelf, Storage
from dtnsim.composition.volumes import Volumes
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import TransferSpec, split_end
from dtnsim.ground import runtime, units
from dtnsim.ground.errors import DtnsimError, SpecError
from dtnsim.ground.ledger import Ledger, Row, solo_rate
from dtnsim.ground.quantity import Draw, Quantity, Value
from dtnsim.ground.records import Phase, Problem, Transfer
from dtnsim.ground.term import without_words
from dtnsim.tools.plan import Step

Charged = tuple[Row, Row, waits.Waits]  #: demands of a whole step, demands of its files, and its waits


def compose(spec: PathSpec, draw: Draw, moved: Mapping[str, float] | None = None) -> Problem:
    """Writes down all stations and demands of a path.

    Args:
        spec: The validated path.
        draw: Values of the parameters: nominal, or arrays of draws.
        moved: Bytes that each timed transfer moves, as far as they are known (`dtnsim.steady.timed` finds them).

    Returns:
        The `Problem` that `solve` and `simulate` read.

    Raises:
        SpecError: a path between two hosts that does not exist, or ends that make no sense.
    """
    return Composer(spec, Ledger(draw), moved or {}).problem()


def run_together(paths: Iterable[PathSpec]) -> None:
    """Runs the TCP rounds of many paths as one batch, so that their courses are known when they are composed."""
    from dtnsim.physics.tcp.rate_over_time import NotYet, gathered

    several = list(paths)
    with gathered(), without_words():
        for path in several if len(several) > 1 else ():
            mounts = any(v.away for h in path.hosts.values() for v in h.volumes.values())
            if not mounts and all(split_end(t.source_end)[0] == split_end(t.to)[0] for t in path.transfers):
                continue  # no connections
            with suppress(DtnsimError):  # whoever composes it hears of it
                composer = Composer(path, Ledger(Draw()), {})
                for each in composer.legs:
                    for connect in (c for step in each.plan.steps for c in composer.connections(each, step)):
                        with suppress(NotYet):
                            connect()


class Composer:
    """Composes the transfers of a path on one ledger."""

    def __init__(self, spec: PathSpec, ledger: Ledger, moved: Mapping[str, float], past: History = NOTHING) -> None:
        self.spec, self.moved, self.past = spec, moved, past
        self.network = Network(spec)
        self._roughly = Counter(map(like.roughly, spec.transfers))
        self._first: dict[Any, Leg] = {}  # of those that are like each other
        self._like: dict[str, str] = {}  # and its name, for each of the others and for itself
        self.ledger = ledger
        self.legs = [self._leg(number) for number in range(len(spec.transfers))]
        check_space(spec, self.legs, ledger)
        by_order = dict(zip((t.name for t in spec.transfers), files.turns(spec.transfers), strict=True))
        self.turns = dict(past.turns) or by_order
        self._alone = past is NOTHING and not any(t.after or t.start is not None for t in spec.transfers)
        self._open(ledger)

    def _open(self, ledger: Ledger) -> None:
        """Starts over with an empty ledger."""
        spec, past = self.spec, self.past
        self.ledger, self.company = ledger, sharing.Company()
        #: transfers that wait for each other never run together: a storage for each turn
        self.storages = {
            turn: Storage(spec, ledger, self.network, [g for g in self.legs if self.turns[g.spec.name] == turn], past)
            for turn in sorted(set(self.turns.values()))
        }
        self.storage = self.storages[0]
        self._patterns: dict[Any, like.Pattern] = {}
        self._composed: Problem | None = None

    def drawn(self, draw: Draw) -> Problem:
        """The whole path at other parameter values, with the same routes, plans and amounts."""
        other = copy(self)
        other._open(Ledger(draw))  # noqa: SLF001
        return other.problem()

    def problem(self) -> Problem:
        """The whole path, composed once; for scenarios without the text on how each number came about."""
        if self._composed is not None:
            return self._composed
        with runtime.gc_paused(), without_words() if self.ledger.draw.many else nullcontext():
            composed = [self.transfer(leg) for leg in self.legs]
            self.company = sharing.Company()
            for turn in self.storages:  # those of other turns do not compete
                sharing.meet([t for t in composed if self.turns[t.name] == turn], self.ledger, self.company)
            transfers = tuple(self.company.apply(t) for t in composed)
            spec, ledger = self.spec, self.ledger
            drives = Volumes(self, transfers)
            self._composed = Problem(
                spec.name,
                sharing.stations(ledger.stations.values(), self.company.carried),
                transfers,
                (*self._notes, *ledger.folded([*spec.hosts, *(t.name for t in spec.transfers)])),
                spec.slowdowns(ledger),
                ledger.connections,
                self._keys,
                self.company.carried,
                drives if drives.shared else None,
            )
            return self._composed

    @cached_property
    def _notes(self) -> tuple[str, ...]:
        return self.spec.notes

    @cached_property
    def _keys(self) -> dict[str, str]:
        return {node: data["key"] for node, data in self.spec.graph.nodes(data=True) if "key" in data}

    def beside_streams(self, number: int, streams: Mapping[Shelf, int]) -> Transfer:
        """A transfer composed for given numbers of streams on the volumes of its ends.

        The stations keep their capacities; a drive slowed by several streams has a higher demand per byte.
        """
        storage = self.storage_of(number)
        saved = storage.streams
        storage.streams = Counter({**saved, **streams})
        try:
            with without_words() if self.ledger.draw.many else nullcontext():
                return self.company.apply(self.transfer(self.legs[number]))
        finally:
            storage.streams = saved

    def storage_of(self, number: int) -> Storage:
        """The storage accesses of the transfers in the same turn."""
        return self.storages[self.turns[self.legs[number].spec.name]]

    def _leg(self, number: int) -> Leg:
        spec = self.spec.transfers[number]
        leg = self._made_leg(spec, number)
        if spec.dataset is None and leg.timing is None:
            size = units.show(leg.job.payload_B, "B")
            self.ledger.warn(f"{spec.name}: assumed: one file of {size}; write 'dataset' to say what is moved")
        if options := ", ".join(spec.tool.unmodelled):
            self.ledger.warn(
                f"{spec.name}: {spec.tool.kind} has {options}, not modelled, though the time may change with that"
            )
        for warning in leg.plan.warnings:
            self.ledger.warn(f"{spec.name}: {warning}")
        return leg

    def _made_leg(self, spec: TransferSpec, number: int) -> Leg:
        kind = (like.figures(spec), self.moved.get(spec.name)) if self._roughly[like.roughly(spec)] > 1 else spec.name
        first = self._first.get(kind)
        if first is not None:
            self._like[first.spec.name] = self._like[spec.name] = first.spec.name
            return replace(first, spec=spec, job=replace(first.job, name=spec.name))
        source, destination = end_of(self.spec, spec.source_end), end_of(self.spec, spec.to)
        apart = source.host is not destination.host
        route = self.network.route(source.host, destination.host, spec.via, spec.nics) if apart else None
        if not apart and source.volume is None and destination.volume is None:  # two programs of one host
            route = Route(source.host, destination.host, ())
        try:
            resolved = self._first[kind] = leg(spec, source, destination, route, self.moved.get(spec.name))
        except SpecError as error:
            raise self.spec.located(error, number) from None
        return resolved

    def outlines(self) -> list[Transfer]:
        """The transfers without their phases: when they begin, what they read, write and hold."""
        outlines = []
        for number, each in enumerate(self.legs):
            self.storage = self.storage_of(number)
            outlines.append(self._transfer_of(each, [], self._destination_memory(each, None)))
        return outlines

    def transfer(self, leg: Leg) -> Transfer:
        """All phases of a transfer; of like transfers under like conditions, only the first is composed."""
        name = leg.spec.name
        self.storage = self.storages[self.turns[name]]
        key = self._finds(leg) if name in self._like else None
        if key in self._patterns:
            return self._patterns[key].written(leg, self.ledger)
        spec, plan = leg.spec, leg.plan
        steps = [self._phases(leg, step, self._charge(leg, step)) for step in plan.steps]
        buffered = next((buffered for buffered, _ in steps if buffered is not None), None)
        memory = self._destination_memory(leg, buffered)
        phases = self._in_turn(leg, [phase for _, parts in steps for phase in parts], memory)
        if not any(p.demands or p.delays for p in phases):
            message = "both ends are memory on one host: nothing to transfer"
            remedy = "give it a volume or a network between its ends"
            raise SpecError(message, key=f"transfer {spec.name}", remedy=remedy)
        transfer = files.with_cached(self._transfer_of(leg, phases, memory), self.past.shares.get(name, ()))
        if key is not None:
            self._patterns[key] = like.Pattern.of(transfer, phases, self.ledger)
        return transfer

    def _finds(self, leg: Leg) -> tuple[Any, ...]:
        """Conditions a transfer finds; like transfers that find the same charge the same."""
        name, storage = leg.spec.name, self.storage
        before = self.past.key_of(name, (leg.source.host.name, leg.destination.host.name))
        beside = tuple(storage.streams[shelf] for shelf, _ in storage.visited(leg))
        return self._like[name], self.turns[name], storage.memory_share(leg), before, beside

    def _transfer_of(self, leg: Leg, phases: list[Phase], memory: Mapping[str, Any]) -> Transfer:
        """The transfer with these phases and the destination's ``memory``; without phases, its outline."""
        spec, job, plan = leg.spec, leg.job, leg.plan
        # one file that lasts as long as the time does, unless something follows its end
        endless = leg.timing is not None and spec.dataset is None and len(plan.steps) == 1
        return Transfer(
            spec.name,
            tuple(phases),
            max(1.0, plan.workers * self.storage.kept_in_flight(leg)),
            max(job.payload_B, 1.0),  # an empty folder takes its time as well
            job.files,
            self.storage.weight(leg),
            piece_B=plan.piece_B,
            sizes_B=(math.inf,) if endless else tuple(float(s) for s in leg.data.sizes_B),
            counts=tuple(int(c) for c in leg.data.counts),
            start_s=spec.start.value if spec.start is not None else 0.0,
            time_s=leg.timing.seconds if leg.timing is not None else math.inf,
            omitted_s=leg.timing.omitted if leg.timing is not None else 0.0,
            counted=spec.counted,
            **self._order(leg),
            **memory,
        )

    def _order(self, leg: Leg) -> dict[str, Any]:
        """What a transfer starts after, and the files that earlier ones may have left in memory."""
        spec, plan = leg.spec, leg.plan
        if self._alone:
            return {}
        # what the path file says of it, and tools that know, come before what others have left
        reads = [s.read for s in plan.steps if s.read is not None]
        open_to = spec.cached is None and all(not r.cached and not r.random and r.finish != "direct" for r in reads)
        writes = [s.write for s in plan.steps if s.write is not None and s.write.finish != "direct"]
        return {
            "after": tuple(spec.after),
            "pause_s": spec.pause.value if spec.pause is not None else 0.0,
            "turn": self.turns[spec.name],
            "reads": files.cached_files(self.storage, leg, leg.source) if reads and open_to else (),
            "writes": files.cached_files(self.storage, leg, leg.destination) if writes else (),
            "holder": leg.destination.host.name,
            "holds_B": plan.holds_B,
        }

    def _destination_memory(self, leg: Leg, buffered: Phase | None) -> dict[str, Any]:
        """Bytes that the destination's page cache takes before its medium must keep up, for the simulation."""
        destination = leg.destination
        step = next((s for s in leg.plan.steps if s.write is not None), None)
        write = self.storage.use(destination, step.write if step is not None else None, leg)
        if destination.volume is None or step is None or write is None:
            return {}
        volume = destination.mounted
        if not volume.filesystem.gathers(write):
            return {}
        probe = Row(self.ledger, "", [], 1.0, destination.host.name)
        cache = volume.filesystem.page_cache(probe, write, destination.host, destination.volume)
        if buffered is None:
            return {"cache": cache}
        return {"cache": cache, "buffered": buffered, "flushed": write.finish != "none"}

    def connections(self, leg: Leg, step: Step) -> Iterator[Callable[[], None]]:
        """Calls that each work out one of the step's connections, those of its mounts included."""
        row, storage = Row(self.ledger, leg.spec.name, [], step.share), self.storages[self.turns[leg.spec.name]]
        for end, _, use in storage.uses(leg, step):
            if end.mounted.away:
                yield partial(storage.charge, row, row, end, use)
        if step.net is not None and leg.route is not None:
            net = leg.use_of(step.net)
            nics, frame = self.network.ends(leg.route, net, leg.spec)
            cards, opened = [card for _, card in nics], openings(leg, step.net)
            yield partial(transport.charge, row.seen_from(""), leg.route, net, frame, cards, opened)

    # -- one step ---------------------------------------------------------------------------------

    def _phases(self, leg: Leg, step: Step, charged: Charged) -> tuple[Phase | None, list[Phase]]:
        """A step as one phase, if a page cache takes its writes, and its phases as the cache cuts it."""
        end = leg.destination
        write = self.storage.use(end, step.write, leg)
        if write is None or end.volume is None:
            return None, [self._phase(leg, step, charged, Stretch(step.name), step.name)]
        probe, filesystem = Row(self.ledger, leg.spec.name, [], 1.0), end.mounted.filesystem
        buffered, cut = None, write.finish in ("fdatasync", "none")
        if cut or filesystem.gathers(write):
            near = probe.seen_from(end.host.name)
            steady = filesystem.stretches(near, write.but(finish="steady"), end.host, end.volume)[0]
            undivided = Stretch(step.name, delay=steady.delay, what=steady.what)
            buffered = self._phase(leg, step, charged, undivided, step.name, fills=True)
            if cut:  # who shares the memory shares the medium
                (fill, drain), share = self._cache_rates(leg, buffered), self.storage.memory_share(leg)
                write = write.but(fill_Bps=fill, drain_Bps=share * drain, memory_share=share)
        stretches: tuple[Stretch, ...] = filesystem.stretches(probe, write, end.host, end.volume)
        if filesystem.gathers(write) and not filesystem.flushes_at_close:
            room = write.memory_share * filesystem.cache_limits(probe, end.host, write.held_B)[1]
            stretches = tuple(replace(part, behind=room) for part in stretches)
        late: Value = 1.0
        if cut and waits.positive(stretches[0].behind):
            begins_B = filesystem.page_cache(probe, write, end.host, end.volume).write_back_B
            late = waits.felt_of_opening(leg, step, charged[0], stretches, write, begins_B)
        names = [step.name if len(stretches) == 1 else f"{step.name}: {part.name}" for part in stretches]
        return buffered, [
            self._phase(leg, step, charged, *each, late=late) for each in zip(stretches, names, strict=True)
        ]

    def _in_turn(self, leg: Leg, phases: list[Phase], memory: Mapping[str, Any]) -> list[Phase]:
        """The phases, with write-back of a worker's bytes during its other steps."""
        cache, plan, job = memory.get("cache"), leg.plan, leg.job
        if cache is None or "buffered" not in memory or len(plan.steps) == 1 or cache.flush_files:
            return phases
        share, workers, payload_B = self.storage.memory_share(leg), max(int(plan.workers), 1), max(job.payload_B, 1.0)
        room = share * cache.size_B / max(min(job.mean_B, plan.piece_B) * workers, 1.0)
        idle = share * cache.write_back_B / payload_B, cache.write_back_s / payload_B
        return waits.hidden_by_medium(phases, memory["buffered"], self.ledger.stations, (room, *idle), workers)

    def _cache_rates(self, leg: Leg, buffered: Phase) -> tuple[Value, Value]:
        """Rates at which a step fills the destination's cache, and at which the medium drains it meanwhile [B/s]."""
        waiting = waits.recurring(buffered) / leg.plan.workers
        above = [d for d in buffered.demands if not d.below_cache]
        with np.errstate(divide="ignore"):  # a network that loses everything
            moving = 1.0 / np.asarray(solo_rate(self.ledger.stations, above))
            fill = 1.0 / np.maximum(moving + waiting, 1e-15)
        return fill, waits.rate_beside(self.ledger.stations, buffered.demands, fill)

    def _phase(
        self,
        leg: Leg,
        step: Step,
        charged: Charged,
        part: Stretch,
        name: str,
        *,
        fills: bool = False,
        late: Value = 1.0,
    ) -> Phase:
        """The phase for one stretch of a step, from the demands of the whole step; see `waits.delays`."""
        whole, each, pauses = charged
        row = Row(self.ledger, whole.transfer, whole.charged_again(part.cpu, part.medium), whole.factor)
        metadata = each.charged_again(part.cpu, part.cpu)
        waiting = waits.delays(pauses, leg, step, part, row, metadata, fills=fills, late=late)
        return Phase(name, (*row.demands, *metadata), tuple(waiting), step.name)

    def _charge(self, leg: Leg, step: Step) -> Charged:
        """Demands of a whole step: every component on the way charges its row."""
        row, each = (Row(self.ledger, leg.spec.name, [], factor, terms=[]) for factor in (step.share, 1.0))
        use, charge = self.storage.use, self.storage.charge
        charge(row, row.where_missed(), leg.source, use(leg.source, step.read, leg))
        charge(row, row.behind_cache(), leg.destination, use(leg.destination, step.write, leg))
        charge(row, row, leg.destination, use(leg.destination, step.reread, leg))
        if step.net is not None and leg.route is not None:
            net = leg.use_of(step.net)
            cards, frame = self.network.carry(row, leg.route, net, leg.spec)
            wire = row.times(net.overhead).seen_from("")
            transport.charge(wire, leg.route, net, frame, cards, openings(leg, step.net))
        elif step.net is not None:  # on one host a tool keeps to the rate that it was given, too
            transport.target(row.times(step.net.overhead).seen_from(leg.source.host.name), step.net, "target")
        for work in step.cpu:
            host = (leg.source if work.end == "source" else leg.destination).host
            cycles = getattr(host.stack, work.stack) if work.stack else work.cycles
            cost = row.term(cycles) if isinstance(cycles, Quantity) else cycles(row)
            duty = None if work.duty is None else self.network.passing(work.duty, host, leg.spec)
            host.work(row.seen_from(host.name), leg.placed(work.thread), cost, work.what, duty)
        self.storage.metadata(leg, step, each)
        files.folder(self.storage, leg, step, each)
        return row, each, waits.waits_of(self.storage, leg, step, row)
