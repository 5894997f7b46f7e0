"""The course of a transfer in time: its goodput from the first byte until it is steady, by the round model.

The one answer of TCP that `predict`, `simulate` and the tables of `dtnsim tcp` build on; `dtnsim tcp` takes its
headline from the same runs, with the window of the measurement in place of the edges here.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, Index, Rows, among, broadcast
from dtnsim.physics.tcp import coefficients as known, controls, linux, outcome, rounds
from dtnsim.physics.tcp.setting import Setting

#: edges one round trip apart, and how much longer each later interval is than the one before
ROUNDS: Final = 32
STRETCH: Final = 1.25
HORIZON_S: Final = 5e4  #: time that is looked at [s]: Reno climbs for hours on a long fat path
DOUBLES: Final = 1.5  #: a round is of slow start where it delivers this much more than the one before
#: transfers that are run together by `courses`: their counters then take some 30 MB; answers that are remembered
TOGETHER: Final = 256
KEPT: Final = 4096
SETTLED: Final = 0.01  #: the opening is over when no more than this share of what it costs is still to come

_HALF: Final = 0.5  #: part of its last rate below which a connection counts as not yet open


class Here(TypedDict, total=False):
    """How a course goes somewhere else; the arguments broadcast."""

    most_Bps: ArrayLike  #: What the rest of the way allows [B/s]; inf where left out.
    factor: ArrayLike  #: Rates here over those of the course [1]; 1 where left out.
    #: The same below the steady rate, which slow start comes to as it does [1]; as `factor` where left out.
    early: ArrayLike
    stretch: ArrayLike  #: Round trip here over that of the course [1]; 1 where left out.


@dataclass(frozen=True, eq=False)
class Course(Rows):
    """How a transfer goes: a step function of time, then the steady rate.

    Of several transfers at once (`joined`) every attribute has them along its first axis, and shorter courses
    have their last edge repeated, between which nothing comes.
    """

    times_s: FloatArray  #: Edges from connect(), the first is 0, one round trip apart at first (k + 1,) [s].
    rates_Bps: FloatArray  #: Goodput of all streams at the receiver between the edges, mean of runs (k,) [B/s].
    steady_Bps: Any  #: Goodput after the last edge [B/s].
    #: What single runs have delivered by these times from connect() scatters so much, and would be without a hole so
    #: much later, were it all [s], [1], [s].
    ages_s: FloatArray
    scatter: FloatArray
    behind_s: FloatArray
    limit: Any  #: What holds it, one of `outcome.LIMITS`.

    def opens_s(self, **here: Unpack[Here]) -> FloatArray:
        """Time that is lost while less than half comes of what will: others have the way for themselves meanwhile.

        The sum of (1 - rate / last rate) dt over steps below half of the last rate. Slow start loses nearly all of its
        time so, since it doubles; a window that has overshot and grows back loses its time at more than half.

        Args:
            here: How it goes here, as `Here` has it.

        Returns:
            Time; the arguments broadcast [s].

        Valid: as `delivered_B`.
        Neglects: as `delivered_B`.
        Source: integral of the steps; a half is where the way is shared evenly with one other.
        """
        seconds, _, part = self.steps_here(**here)
        return np.asarray((np.where(part < _HALF, 1 - part, 0.0) * seconds).sum(axis=-1))

    def steps_here(self, **here: Unpack[Here]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """All steps but the steady one.

        Args:
            here: How it goes here, as `Here` has it.

        Returns:
            Length of each step [s], its rate [B/s], and what part that is of the last rate [1]; along one more axis.

        Valid: as `delivered_B`.
        Neglects: as `delivered_B`.
        Source: as `delivered_B`.
        """
        most, factor, early, stretch = self._limits(**here)
        _, span, rate = (x[..., :-1] for x in self._steps)
        last = np.minimum(np.asarray(self.steady_Bps)[..., None] * factor, most)
        rates = self.rates_here(rate, factor, early)
        return span * stretch, rates, rates / np.maximum(last, 1e-30)

    def delivered_B(self, time_s: ArrayLike, **here: Unpack[Here]) -> FloatArray:
        """Bytes that have come `time_s` after the first of them, where something else lets `most_Bps` pass.

        Args:
            time_s: Time after the first byte was sent into the bottleneck [s].
            here: How it goes here, as `Here` has it.

        Returns:
            Bytes; the arguments broadcast [B].

        Valid: round trips that differ little from the course's.
        Neglects: that losses come at times of their own where something else holds the transfer back.
        Source: integral of the steps.
        """
        time, most, factor, early, stretch = self._limits(time_s, **here)
        begin, span, rate = self._steps
        spans = np.clip(time - begin * stretch, 0.0, span * stretch)
        return np.asarray((spans * np.minimum(self.rates_here(rate, factor, early), most)).sum(axis=-1), float)

    def time_of(self, size_B: ArrayLike, *, trains: float = 0.0, **here: Unpack[Here]) -> FloatArray:
        """Time from the first byte sent into the bottleneck until so many have come: inverse of `delivered_B`.

        Args:
            size_B: Payload [B].
            trains: Rounds of slow start whose segments count one behind the other where they are the last, not spread
                over their round trip: inf where nothing paces them, 1 of a sender that paces [1].
            here: How it goes here, as `Here` has it.

        Returns:
            Time; the arguments broadcast [s].

        Valid: as `delivered_B`.
        Neglects: as `delivered_B`.
        Source: as `delivered_B`; Linux net/ipv4/tcp_output.c, tcp_update_skb_after_send (ten segments are never paced).
        """
        size, most, factor, early, stretch = self._limits(size_B, **here)
        begin, span, rate = self._steps
        flows = np.maximum(np.minimum(self.rates_here(rate, factor, early), most), 1e-30)
        with np.errstate(invalid="ignore"):
            upto = np.cumsum(flows * span * stretch, axis=-1)
        end = begin.shape[-1] - 1
        place = np.minimum((upto < size).sum(axis=-1, keepdims=True), end)

        def at(values: FloatArray, place: Index) -> FloatArray:
            one = values.ndim == 1  # for all
            return values[place] if one else np.take_along_axis(np.broadcast_to(values, upto.shape), place, axis=-1)

        current, before = at(rate, place), np.where(place > 0, at(upto, np.maximum(place - 1, 0)), 0.0)
        last = at(flows, place)
        if trains:
            doubles = (place == 0) | ((place < trains) & (current > DOUBLES * at(rate, np.maximum(place - 1, 0))))
            last = np.where(doubles, np.maximum(np.minimum(rate[..., -1:] * factor, most), last), last)
        return np.asarray((at(begin, place) * stretch + (size - before) / last)[..., 0])

    def repair_s(self, time_s: FloatArray, stretch: ArrayLike = 1.0) -> FloatArray:
        """How much later than that the last hole is filled in what has come by then, were it all.

        Args:
            time_s: Time from the first byte sent into the bottleneck (..., S), S those of the courses [s].
            stretch: Round trip here over that of the course [1].

        Returns:
            Time; the arguments broadcast [s].

        Valid: as `delivered_B`.
        Neglects: that what is lost when nothing new is sent is repaired by itself, sooner or by a timer.
        Source: Linux net/ipv4/tcp_input.c: nothing that lies behind a hole is handed over; RFC 8985.
        """
        factor = np.asarray(stretch, float)
        ages, edges, behind = time_s / factor, self.ages_s[..., 1:] - self.ages_s[..., 1:2], self.behind_s[..., 1:]
        if edges.ndim == 1:
            return np.asarray(np.interp(ages, edges, behind) * factor)
        each = [np.interp(ages[..., n], edges[n], behind[n]) for n in range(len(edges))]
        return np.asarray(np.stack(each, axis=-1) * factor)

    def spread(self, time_s: float) -> float:
        """Relative standard deviation of what single runs have delivered by then: chance, and the model's own [1]."""
        model = known.SPREAD_LINK if self.limit in ("link", "window", "start") else known.SPREAD_LOSS
        return float(np.hypot(np.interp(time_s, self.ages_s[1:], self.scatter[1:]), model.value))

    @staticmethod
    def _limits(*values: ArrayLike, **here: Unpack[Here]) -> Iterator[FloatArray]:
        """What is asked, and how it goes here, with one more axis for the steps."""
        factor = here.get("factor", 1.0)
        figures = here.get("most_Bps", np.inf), factor, here.get("early", factor), here.get("stretch", 1.0)
        return (x[..., None] for x in broadcast(*values, *figures))

    def rates_here(self, rate: FloatArray, factor: FloatArray, early: FloatArray) -> FloatArray:
        """Rates of steps here: slow start comes as it does, up to what the connection then has.

        Args:
            rate: Those of the course [B/s].
            factor: Rates here over those of the course [1].
            early: The same below the steady rate [1].

        Returns:
            Rates [B/s].

        Valid: as `delivered_B`.
        Neglects: a climb after slow start, of which loss and buffer hold a part.
        Source: RFC 5681, section 3.1 (a window doubles a round trip, whatever it comes to).
        """
        steady = np.asarray(self.steady_Bps)[..., None]
        return np.where(rate < steady, np.minimum(rate * early, steady * factor), rate * factor)

    @cached_property
    def _steps(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Begin, length and rate of all steps after the set-up, the steady one last."""
        edges = self.times_s[..., 1:] - self.times_s[..., 1:2]
        steady = np.asarray(self.steady_Bps)[..., None]
        span = np.concatenate([np.diff(edges), np.full_like(steady, np.inf)], axis=-1)
        return edges, span, np.concatenate([self.rates_Bps[..., 1:], steady], axis=-1)


_kept: dict[tuple[Setting, int], Course] = {}
_GATHERED: Final[ContextVar[list[tuple[Setting, int]] | None]] = ContextVar("gathered", default=None)


class NotYet(Exception):  # noqa: N818 - nothing is wrong
    """A course that is run later, with the others that are `gathered`."""


@contextmanager
def gathered() -> Iterator[None]:
    """Courses that are asked for meanwhile raise `NotYet`, and are run together at the end, for whoever asks again."""
    wanted: list[tuple[Setting, int]] = []
    before = _GATHERED.set(wanted)
    try:
        yield
    finally:
        _GATHERED.reset(before)
    for steps in {steps for _, steps in wanted}:
        courses([s for s, own in wanted if own == steps], steps)


def courses(settings: Sequence[Setting], steps: int = outcome.STEPS) -> list[Course]:
    """Courses of transfers: slow start with HyStart, its overshoot and repair, the climb to the steady rate.

    Where the connections share with others, cap the transfer at `rates_Bps[i]` from `times_s[i]` to
    `times_s[i + 1]` after its connect(), then at `steady_Bps`. The first 1.5 round trips (handshake
    and the way of the first bytes) have rate 0; a connection that is open already starts at that edge.

    Args:
        settings: The transfers; they go on for ever, whatever their sizes and times are. Those that were not asked for
            before are run together.
        steps: Steps after which a run with random loss is taken to repeat itself.

    Returns:
        Edges, rates, steady rate, scatter and limit of each.

    Valid: as `outcome.simulate`.
    Neglects: competing flows that yield; the growth of the receive buffer (autotuning keeps ahead of the window).
    Source: `rounds` (RFC 9438, RFC 9406, RFC 6928, the Linux sender).

    Raises:
        KeyError: an algorithm that the model does not know.
    """
    by_setting = {s: _kept[s, steps] for s in settings if (s, steps) in _kept}
    missing = list(dict.fromkeys(s for s in settings if s not in by_setting))
    gathering = _GATHERED.get()
    if missing and gathering is not None:
        gathering += [(s, steps) for s in missing]
        raise NotYet
    for begin in range(0, len(missing), TOGETHER):
        batch = missing[begin : begin + TOGETHER]
        by_setting.update(zip(batch, answers((), batch, steps=steps)[1], strict=True))
    if len(_kept) + len(missing) > KEPT:
        _kept.clear()
    _kept.update({(s, steps): by_setting[s] for s in missing[:KEPT]})
    return [by_setting[s] for s in settings]


def answers(
    settings: Sequence[Setting], endless: Sequence[Setting] = (), *, seed: int = 1, steps: int = outcome.STEPS
) -> tuple[outcome.Outcome, list[Course]]:
    """Answers and courses in one run of the round model: it takes the steps of the longest, not of all.

    Args:
        settings: Transfers of which the measured window is wanted.
        endless: Transfers of which the course is wanted.
        seed: Seed of the draws.
        steps: As `courses` has it.

    Returns:
        The outcome, those of `settings` first, and the course of each of `endless`.

    Valid: as `courses`.
    Neglects: as `courses`.
    Source: as `courses`.
    """
    rows = [s.columns() for s in (*settings, *(replace(s, size_B=np.inf) for s in endless))]
    cases = rounds.Cases.of(**{name: [row[name] for row in rows] for name in rows[0]})
    paced = ~among(cases.cc, controls.names(by_loss=True))
    edges = {n: _edges(float(cases.rtt_s[n]), paced=bool(paced[n])) for n in range(len(settings), len(rows))}
    times = np.full((len(rows), max(map(len, edges.values()), default=0)), np.nan)
    window = {name: getattr(cases, name).copy() for name in ("warmup_s", "duration_s")}
    for n, ages in edges.items():
        times[n, : len(ages)] = ages
        window["warmup_s"][n] = window["duration_s"][n] = ages[-1]
    o = outcome.simulate(replace(cases, **window), seed=seed, times_s=times, steps=steps)
    curves = []
    for n, ages in edges.items():
        rtt = float(cases.rtt_s[n])
        delivered, steady = np.asarray(o.delivered_B[n, : len(ages)], float), float(o.goodput_Bps[n])
        times_s, rates = _cut_paused(ages, delivered, steady) if paced[n] else _cut(ages, delivered, steady, rtt / 2)
        scatter, behind = (np.asarray(x[n, : len(ages)], float) for x in (o.scatter, o.behind_s))
        behind = np.maximum.accumulate(ages + behind) - ages
        curves.append(Course(times_s, rates, steady, ages, scatter, behind, str(o.limit[n])))
    return o, curves


def joined(parts: list[Course]) -> Course:
    """Courses as one, transfers on its first axis: the last edge, and what belongs to it, repeated to equal lengths."""

    def padded(rows: list[FloatArray], ends: list[float]) -> FloatArray:
        table = np.repeat(np.array(ends)[:, None], max(len(r) for r in rows), axis=1)
        for line, row in zip(table, rows, strict=True):
            line[: len(row)] = row
        return table

    return Course(
        padded([c.times_s for c in parts], [c.times_s[-1] for c in parts]),
        padded([c.rates_Bps for c in parts], [c.steady_Bps for c in parts]),
        np.array([c.steady_Bps for c in parts]),
        padded([c.ages_s for c in parts], [c.ages_s[-1] for c in parts]),
        padded([c.scatter for c in parts], [c.scatter[-1] for c in parts]),
        padded([c.behind_s for c in parts], [c.behind_s[-1] for c in parts]),
        np.array([c.limit for c in parts]),
    )


def _edges(rtt_s: float, *, paced: bool) -> FloatArray:
    """Edges [s]: round trips, then ever longer ones up to the horizon; of paced starts the end of the second flight."""
    longer = max(int(np.log(max(HORIZON_S / rtt_s, 1.0)) / np.log(STRETCH)), 8)
    steps = np.cumsum(rtt_s * STRETCH ** np.maximum(np.arange(-ROUNDS, longer), 0.0))
    steps = rounds.SET_UP * rtt_s + steps
    last = max(HORIZON_S, 4 * ROUNDS * rtt_s)
    flight = [(rounds.SET_UP + 1 + 2 / linux.BBR_HIGH_GAIN) * rtt_s] if paced else []
    early = [0.0, rounds.SET_UP * rtt_s, steps[0], *flight]
    return np.concatenate([early, steps[1:][steps[1:] < last / 1.1], [last]])


def _cut(edges: FloatArray, delivered: FloatArray, steady: float, slack_s: float) -> tuple[FloatArray, FloatArray]:
    """The step function up to where the cost of the opening has been paid, but for so many seconds at most."""
    half = int(np.searchsorted(edges, edges[-1] / 2))
    cost = edges * (delivered[-1] - delivered[half]) / (edges[-1] - edges[half]) - delivered
    cost = np.abs(cost - cost[half:].mean())
    off = cost > max(SETTLED * float(cost.max()), steady * slack_s)
    last = min(int(np.flatnonzero(off).max(initial=1)) + 1, len(edges) - 1)
    return edges[: last + 1], (np.diff(delivered) / np.diff(edges))[:last]


def _cut_paused(edges: FloatArray, delivered: FloatArray, steady: float) -> tuple[FloatArray, FloatArray]:
    """The same of a control that pauses: to where its rate grows no more, and from there to its first pause."""
    rates, before = np.diff(delivered) / np.diff(edges), int(np.searchsorted(edges, linux.BBR_MIN_RTT_S, "right")) - 1
    grown = int(np.flatnonzero(rates[:before] < steady * (1 - SETTLED)).max(initial=0)) + 1
    keep = sorted({*range(grown + 1), max(before, grown)})
    return edges[keep], np.diff(delivered[keep]) / np.diff(edges[keep])
