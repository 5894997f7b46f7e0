"""`predict`: the median of the scenarios with an interval, the ceiling, its bottleneck, and what binds next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

import numpy as np

from dtnsim.composition import relief
from dtnsim.description import findings, spec
from dtnsim.description.override import Overrides
from dtnsim.ground import runtime
from dtnsim.ground.lazy import Lazy
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import (
    SLOW_START,
    Demand,
    Phase,
    Prediction,
    Problem,
    Station,
    StationUse,
    Transfer,
    TransferPrediction,
)
from dtnsim.ground.term import Term, term, worded
from dtnsim.ground.uncertainty import Drawn, Interval
from dtnsim.physics._arrays import FloatArray as Array, Index, quantile
from dtnsim.steady import breakdown, discrepancy, durability, ordering, relieved, solve, timed
from dtnsim.steady.known import Assumed
from dtnsim.steady.ladder import Ladder
from dtnsim.steady.matrices import once_only
from dtnsim.steady.meetings import Meeting, meetings, part
from dtnsim.steady.reasons import Cause, bottleneck
from dtnsim.steady.scenarios import (
    Scenarios,
    composed_and_drawn,
    holders_of,
    in_some,
    interval,
    laid_out,
    scenarios,
    took,
)
from dtnsim.steady.solve import Matrices

_ROUNDING: Final = 1e-9  #: part of the workers' time that is rounding

# what a path is refused for has all that composing it would find
findings.CHECKS.append(lambda given: timed.composer(given, Draw()).problem())


def with_workers(problem: Problem, m: Matrices) -> Problem:
    """The problem with the workers of each transfer written as a station."""
    ceiling = solve.ceilings(m)[0]
    stations, transfers = list(problem.stations), []
    for f, transfer in enumerate(problem.transfers):
        if not np.isfinite(ceiling[f]):
            transfers.append(transfer)
            continue
        at_work = float(m.at_work[f])
        station = _station(transfer, at_work, float(m.opening[0, f]))
        stations.append(station)
        idle = _idle(m, f, float(ceiling[f]))
        phases: list[Phase] = []
        for phase, times in zip(transfer.phases, solve.solo_times(m, f), strict=True):
            waits = _waits(phase, station.name, transfer, at_work)
            if idle > 0 and not phases:
                why = "the slowest station's time less the workers' own"
                waits += (Demand(station.name, idle, "waiting for their share of a station", f"{idle:.7g}", why),)
            work = _work(problem, phase, times, station.name)
            phases.append(replace(phase, demands=(*phase.demands, *work, *waits), delays=()))
        transfers.append(replace(transfer, phases=tuple(phases)))
    return replace(problem, stations=tuple(stations), transfers=tuple(transfers))


def _station(transfer: Transfer, at_work: float, opening: float) -> Station:
    """Workers as a station: seconds of work per second, less the slow start of a timed transfer."""
    formula = f"{at_work:.7g} worker{'s' if at_work != 1 else ''}" + (f" x (1 - {opening:.7g})" if opening else "")
    count = f"{transfer.workers:g} worker{'s' if transfer.workers != 1 else ''}"
    source = f"seconds of work per second of {count}, less the time without a file at the end"
    source += f", less the time for {SLOW_START}" if opening else ""
    capacity = at_work * (1 - opening)
    name = f"{transfer.name}.workers"
    return Station(name, "tool", "workers", "workers", capacity, "s", formula, source, private=True)


def _work(problem: Problem, phase: Phase, times: tuple[Index, Array], name: str) -> tuple[Demand, ...]:
    """A worker's time to move a byte of a phase: that of the slowest station."""
    visited, solo = times
    if not solo[0].any():  # it only waits
        return ()
    slowest = int(np.argmax(solo[0]))
    at, seconds = problem.stations[visited[slowest]].name, float(solo[0, slowest])
    cost = sum(float(np.ravel(d.per_byte)[0]) for d in phase.demands if d.station == at)
    return (Demand(name, seconds, f"{phase.name} at {at}", f"{cost:.7g} / {cost / seconds:.7g}", "demand / capacity"),)


def _waits(phase: Phase, name: str, transfer: Transfer, at_work: float) -> tuple[Demand, ...]:
    """The delays of a phase as demands on the workers; some of them are waits of all workers at once."""
    gone_by, demands = once_only(transfer) if transfer.timed else (), []
    for delay in (replace(d, station=name) for d in phase.delays if d.each not in gone_by):
        wait = Term(delay.per_byte, f"({delay.formula})", delay.source) * at_work
        lead = delay.each == "lead" and at_work != 1
        demands.append(replace(delay, per_byte=wait.value, formula=wait.formula) if lead else delay)
    return tuple(demands)


def _idle(m: Matrices, f: int, ceiling: float) -> float:
    """Worker seconds per byte spent waiting for a station that the transfer's workers share.

    ``ceiling``: what the workers allow [B/s].
    """
    busy = sum(float(t[0].max(initial=0.0)) for _, t in solve.solo_times(m, f))
    busy += sum(float(m.delay[0, p]) for p in m.phases_of(f))
    pace = (1 - float(m.opening[0, f])) / ceiling - float(m.lead[0, f])
    idle = pace * float(m.at_work[f]) - busy
    return idle if idle > _ROUNDING * busy else 0.0


SAMPLES = 256  #: scenarios behind p10, p50 and p90
_ROUNDED_UP = 1 + _ROUNDING  #: a utilisation up to this is one, but for the last digits of the sums


def predict(
    path: str | Path | spec.PathSpec,
    *,
    overrides: Overrides = (),
    samples: int = SAMPLES,
    seed: int = 1,
    calibration: str | Path | None = None,
    mean: bool = False,
) -> Prediction:
    """Predicts the transfers of a path.

    Args:
        path: A path file, the name of a shipped path, or a path already loaded.
        overrides: Keys and values put over the file: ``{"wan.rtt": "50 ms"}``, or ``key=value`` texts.
        samples: Scenarios behind p10, p50 and p90; 0 leaves all three at the ceiling.
        seed: Random seed; the same seed reproduces the result exactly.
        calibration: File of fitted parameters to use (``dtnsim calibrate`` makes it).
        mean: Ask for the long-run mean instead of one run on a random day.

    Returns:
        The `Prediction`. p10, p50 and p90 are quantiles over the parameters' spreads, what is not stated, the model's
        own error and repeat noise (`dtnsim.steady.discrepancy`); its ceiling has every parameter at its median and
        everything unstated at its best (``explain`` shows the sum, and the way from there to the median).

    Raises:
        SpecError: the path cannot be used.
    """
    loaded = spec.load(path, overrides, calibration)
    return predicted(loaded, samples, seed, mean=mean)


def predicted(
    path: spec.PathSpec, samples: int, seed: int, drawn: Scenarios | None = None, *, mean: bool = False
) -> Prediction:
    """The answer of `predict`; ``drawn``: the path's scenarios, if known.

    Raises:
        SpecError: the path cannot be used.
    """
    with runtime.gc_paused(), path.told_whole():  # all records are kept until the end
        composer = timed.composer(path, Draw())
        problem = composer.problem()
        if not samples:
            return replace(_with_medium(_answer(problem, None, path), problem, problem, None), given=path)
        if drawn is None:
            drawn = scenarios(composer, problem, samples, seed, mean=mean)
        prediction = _drawn(path, problem, drawn, seed, mean=mean)
        rests_on = Assumed(composer, problem, drawn, prediction.ceiling, seed, mean=mean)
        return replace(prediction, assumed=rests_on, unstated=Lazy(lambda: breakdown.unstated(path, drawn)))


def _drawn(path: spec.PathSpec, problem: Problem, drawn: Scenarios, seed: int, *, mean: bool) -> Prediction:
    """A path's answer at its medians and in scenarios."""
    rates = drawn.rates(discrepancy.load(), mean=mean)
    prediction = _with_medium(_answer(problem, rates, path), problem, drawn.problem, rates)
    together = quantile(drawn.while_all_run(rates), 0.5)
    transfers = tuple(replace(t, all_run_Bps=float(r)) for t, r in zip(prediction.transfers, together, strict=True))
    total, seconds = ordering.total_rate(problem, rates), ordering.span(problem, rates)
    behind = Drawn(rates, total, seconds, drawn.draw.scores, seed, mean)
    return replace(prediction, transfers=transfers, drawn=behind, given=path)


def without(
    p: Prediction, gone: frozenset[str], path: spec.PathSpec | None = None, first: int | None = None
) -> Prediction:
    """The answer with the same draws if some stations had no limit (`dtnsim.composition.relief.without`).

    Neglects: that what a time ends moves more then, and that transfers leave memory otherwise to later ones.

    Args:
        p: The answer.
        gone: The stations; none of them for the answer itself.
        path: Its path, changed.
        first: In so many of the draws alone, the first.
    """
    path, assumed = p.given if path is None else path, p.assumed
    if not gone:
        return p
    if p.drawn is None or not isinstance(assumed, Assumed):
        problem = relief.without(timed.composer(path, Draw()).problem(), gone)
        return replace(_answer(problem, None, path), given=path)
    nominal, drawn, seed, mean = assumed.nominal, assumed.drawn, p.drawn.seed, p.drawn.mean
    if path is not p.given:
        nominal, drawn = composed_and_drawn(path, drawn.draw.samples, seed, mean=mean)
    problem = relief.without(nominal, gone)
    freed = relief.without(drawn.problem if first is None else in_some(drawn.problem, slice(first)), gone)
    free = laid_out(freed, drawn.draw, holders_of(path, problem))
    return _drawn(path, problem, free, seed, mean=mean)


def _with_medium(prediction: Prediction, nominal: Problem, drawn: Problem, rates: Array | None) -> Prediction:
    """The answer with the time at which every byte is on the medium, if tools end before."""
    if not durability.waits_for(nominal):
        return prediction
    rates = np.array([[t.ceiling for t in prediction.transfers]]) if rates is None else rates
    ends = durability.seconds(drawn, rates)
    transfers = [replace(t, on_medium_s=took(ends[f])) if f in ends else t for f, t in enumerate(prediction.transfers)]
    return replace(prediction, transfers=tuple(transfers))


def _answer(problem: Problem, rates: Array | None, path: spec.PathSpec | None = None) -> Prediction:
    """Puts the nominal solution and the drawn rates into a `Prediction`."""
    met = meetings(problem)
    ceilings, solution = met.own, met.solution
    if rates is None:
        rates = ceilings[None, :]
    tried = path if len(problem.transfers) <= relieved.TRIED else None
    predictions: dict[int, TransferPrediction] = {}
    stations, used = list(problem.stations), []
    for group in met.each:
        slowed, causes = _slowed(group.problem, group.m, group.solution), {f: group.cause(f) for f in group.halfway}
        rates_with = {f: _rate_with(tried, f, group) for f in group.halfway} if tried is not None else {}
        helped = _tried(slowed, group, causes, rates_with, path)
        used.append((with_workers(helped, group.used), group.solution.rate[0]))
        for f, cause in causes.items():
            both = float(ceilings[f]), float(solution.rate[0, f])
            one = _transfer_prediction((slowed, helped), group, f, cause, both, rates[:, f], path)
            if path is not None and f in rates_with:
                one = replace(one, ways=Lazy(partial(relieved.remedies, path, helped, f, one, rates_with[f])))
            predictions[f] = one
            if (k := cause.station) is not None:
                stations[k] = replace(stations[k], changes=helped.stations[k].changes, remedy=helped.stations[k].remedy)
    transfers = tuple(predictions[f] for f in range(len(problem.transfers)))
    total, top = (ordering.total_rate(problem, r) for r in (rates, ceilings[None, :]))
    span = transfers[0].duration_s if len(transfers) == 1 else took(ordering.span(problem, rates))
    overall = _slowed(replace(problem, stations=tuple(stations)), met.m, solution)
    full = used[0][0] if len(used) == 1 else with_workers(overall, replace(met.m, capacity=solution.capacity))
    uses = Lazy(partial(_uses, full, used))
    return Prediction(problem.name, interval(total), span, float(top[0]), transfers, uses, problem.warnings, full)


def _rate_with(path: spec.PathSpec, f: int, group: Meeting) -> relieved.RateOf:
    """The rate of a transfer in a meeting with a change of the path."""

    def laid_out(changed: Problem) -> Matrices:
        return solve.matrices(part(changed, group.members))

    return lru_cache(partial(relieved.rate_with, path, f=group.place(f), arrays=laid_out, number=f))


def _tried(
    problem: Problem,
    group: Meeting,
    causes: Mapping[int, Cause],
    rates_with: Mapping[int, relieved.RateOf],
    path: spec.PathSpec | None,
) -> Problem:
    """The problem, its connections that hold a transfer with only those changes that help, and no larger than helps."""
    if not worded():
        return problem
    stations = list(problem.stations)
    for f, rate_of in rates_with.items():
        k = causes[f].station
        if k is not None and stations[k].changes:
            streams, now_Bps = relieved.streams_of(path, f), float(group.solution.rate[0, group.place(f)])
            stations[k] = relieved.tried(problem, stations[k], now_Bps, rate_of, streams)
    return replace(problem, stations=tuple(stations))


def _slowed(problem: Problem, m: Matrices, solution: solve.Solution) -> Problem:
    """The problem with the capacities of the solution; ``m``: its arrays."""
    stations = list(problem.stations)
    for k in np.flatnonzero(solution.capacity[0] < m.capacity[0]).tolist():
        station, before, after = stations[k], float(m.capacity[0, k]), float(solution.capacity[0, k])
        slower = Term(before, station.formula, station.source) / term(before / after)
        stations[k] = replace(station, capacity=after, formula=slower.formula, slowed=1 - after / before)
    return replace(problem, stations=tuple(stations), slowdowns=())


def _transfer_prediction(
    problems: tuple[Problem, Problem],
    group: Meeting,
    f: int,
    cause: Cause,
    rates: tuple[float, float],
    drawn: Array,
    path: spec.PathSpec | None,
) -> TransferPrediction:
    """The answer for transfer ``f``.

    Args:
        problems: Those that run halfway through its time, with the capacities of the solution; and with those changes
            alone that help.
        group: Their meeting.
        rates: Of the transfer over its own time, and while all of the path run [B/s].
        drawn: (S,) its rates in scenarios [B/s].
        path: The path.
    """
    (problem, helped), (ceiling, together), place = problems, rates, group.place(f)
    transfer = problem.transfers[place]
    rate = interval(drawn)
    seconds = Interval(*(transfer.payload_B / r if r > 0 else float("inf") for r in (rate.p90, rate.p50, rate.p10)))
    if transfer.timed:
        seconds = Interval(*(transfer.time_s,) * 3)
    return TransferPrediction(
        transfer.name,
        rate,
        ceiling,
        seconds,
        bottleneck(helped, place, cause),
        transfer.files,
        rate.p50 * transfer.time_s if transfer.timed else transfer.payload_B,
        Ladder(problem, group, place, cause, path, helped),
        timed.sender_rate(problem, transfer, rate.p50),
        all_run_Bps=together,
    )


def _uses(full: Problem, meetings_of: Sequence[tuple[Problem, Array]]) -> tuple[StationUse, ...]:
    """Utilisation of every station in the meeting that uses it most.

    Args:
        full: The whole path.
        meetings_of: Each meeting and its rates [B/s].
    """
    uses = {s.name: StationUse(s, 0.0, 0.0) for s in full.stations}
    for problem, rates in meetings_of:
        m = solve.matrices(problem)
        capacity, load = m.capacity[0], m.loads(rates[None, :])[0]
        demand = m.loads(np.ones((1, 1)))[0] if len(rates) == 1 else load / max(float(rates.sum()), 1e-300)
        for k in np.flatnonzero((demand > 0) | (len(meetings_of) == 1)).tolist():
            share = float(load[k] / capacity[k]) if capacity[k] > 0 else float(load[k] > 0)
            share = 1.0 if 1.0 < share < _ROUNDED_UP else share
            before = uses[problem.stations[k].name]
            if share >= before.utilization:
                previous = before.station
                station = replace(
                    problem.stations[k], capacity=float(capacity[k]), changes=previous.changes, remedy=previous.remedy
                )
                uses[station.name] = StationUse(station, float(demand[k]), share)
    return tuple(sorted(uses.values(), key=lambda u: -u.utilization))
