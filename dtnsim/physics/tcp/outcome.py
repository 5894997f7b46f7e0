"""Simulated transfers with mean, interval and the name of their limit: the front of the round model."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics._arrays import LEVELS, BoolArray, FloatArray, IntArray, Rows, among, quantile
from dtnsim.physics.tcp import coefficients as known, controls, droptail, path, response, rounds
from dtnsim.physics.tcp.rounds import Cases, Samples

LIMITS: Final = ("link", "window", "loss", "buffer", "start", "sharing")
#: Replicas of a case with random loss, and without: the same whatever company a case has
REPLICAS_LOSS: Final = 16
REPLICAS_CALM: Final = 8
#: Steps after which a lane is taken to repeat itself, with random loss and without
STEPS: Final = 800
STEPS_CALM: Final = 300
#: quantiles of the model's own spread that are mixed with the replicas
_GRID: Final = np.array([-1.5932, -0.9674, -0.5895, -0.2822, 0.0, 0.2822, 0.5895, 0.9674, 1.5932])


@dataclass(slots=True, eq=False, repr=False)
class Outcome(Rows):
    """Answers, one a case: (cases,) unless said otherwise."""

    goodput_Bps: FloatArray  #: Mean of the replicas, their median where two flows share [B/s].
    #: Quantiles of a single run [B/s].
    goodput_p10_Bps: FloatArray
    goodput_p50_Bps: FloatArray
    goodput_p90_Bps: FloatArray
    second_Bps: FloatArray  #: Median goodput of the second flow, nan without one [B/s].
    #: Of a transfer of given size, nan without [s].
    completion_s: FloatArray
    completion_p10_s: FloatArray
    completion_p90_s: FloatArray
    retransmits: FloatArray  #: Segments sent again.
    trip_s: FloatArray  #: Mean round-trip time with queueing [s].
    limit: NDArray[np.str_]  #: One of `LIMITS`.
    delivered_B: FloatArray  #: At the times asked for (cases, times) [B].
    scatter: FloatArray  #: Relative standard deviation of single runs there (cases, times) [1].
    behind_s: FloatArray  #: Until what was lost by then would have come, were it the end (cases, times) [s].
    steps: FloatArray  #: Steps that the engine took.


def simulate(
    cases: Cases, *, seed: int = 1, replicas: int | None = None, times_s: ArrayLike = (), steps: int = STEPS
) -> Outcome:
    """Simulates transfers from their cold start.

    Args:
        cases: The transfers.
        seed: Seed of all draws; the same cases and seed give the same numbers.
        replicas: Runs of each case; None: `REPLICAS_LOSS`, or fewer where chance plays little part.
        times_s: Times at which the bytes delivered are wanted, before the measured window's begin: of all cases (T,),
            or of each of them (cases, T), which are then alike where the cases are; nan after the last of fewer [s].
        steps: Steps after which a run with random loss is taken to repeat itself.

    Returns:
        Mean, interval of a single run, limit and counters of every case.

    Valid: rates to 100 Gb/s, round trips from 1 ms to 0.4 s, loss to 5 %, Linux 5.18 and later.
    Neglects: see the engines in `rounds`.
    Source: RFC 9438, RFC 6937, RFC 8985, RFC 9406, the kernel source (`linux`), `coefficients`.

    Raises:
        KeyError: an algorithm that the model does not know.
    """
    times = np.broadcast_to(np.asarray(times_s, float), (len(cases.rtt_s), np.shape(times_s)[-1]))
    first, where = _distinct(cases)
    if len(first) < len(where):
        distinct = simulate(cases.take(first), seed=seed, replicas=replicas, times_s=times[first], steps=steps)
        return distinct.take(where)
    strange = ~among(cases.cc, controls.names()) | ~among(cases.cc2, ("", *controls.names()))
    if strange.any():
        raise KeyError(f"{cases.cc[strange][0]} {cases.cc2[strange][0]}".strip())
    count = len(cases.rtt_s)
    answers: dict[str, Any] = {f.name: np.full(count, np.nan) for f in fields(Outcome)}
    answers["limit"] = np.full(count, "link", "<U8")
    answers |= {name: np.full(times.shape, np.nan) for name in ("delivered_B", "scatter", "behind_s")}
    o = Outcome(**answers)
    for rows, samples, together in _samples(cases, (replicas, steps), seed, times):
        _fill(o, rows, cases.take(rows), samples, together)
    return o


def _distinct(c: Cases) -> tuple[IntArray, IntArray]:
    """Rows of the first of equal cases, and for each case which of those it equals."""
    seen: dict[tuple[object, ...], int] = {}
    columns = [getattr(c, f.name).tolist() for f in fields(c)]
    where = np.array([seen.setdefault(key, len(seen)) for key in zip(*columns, strict=True)], np.int64)
    first = np.array([int(np.argmax(where == k)) for k in range(len(seen))], np.int64)
    return first, where


def _samples(
    c: Cases, runs_of: tuple[int | None, int], seed: int, times: FloatArray
) -> Iterator[tuple[IntArray, Samples, bool]]:
    """What the cases of each engine did: (rows, samples, whether two flows share)."""
    two, (replicas, most) = c.cc2 != "", runs_of
    by_loss = among(c.cc, controls.names(by_loss=True))
    rows = np.flatnonzero(~two & by_loss)
    if len(rows):
        rough = c.loss[rows] > 0
        runs = np.where(rough, replicas or REPLICAS_LOSS, replicas or REPLICAS_CALM)
        steps = np.where(rough, most, STEPS_CALM)
        for part, samples in rounds.run_windows(c.take(rows), runs, steps, seed, times[rows]):
            yield rows[part], samples, False
    rows = np.flatnonzero(two)
    if len(rows):
        from dtnsim.physics.tcp import competition  # and its kernel, which few need

        yield rows, competition.run_pairs(c.take(rows), replicas or competition.REPLICAS, seed), True
    rows = np.flatnonzero(~two & ~by_loss)
    if len(rows):
        yield rows, rounds.run_bbr(c.take(rows), replicas or REPLICAS_LOSS, seed, times[rows]), False


def _median(values: FloatArray) -> FloatArray:
    return quantile(values, 0.5, 1, between=True)


def _fill(o: Outcome, rows: IntArray, c: Cases, s: Samples, together: bool) -> None:  # noqa: FBT001 - from _groups
    """Means, intervals and limits of one group."""
    link = c.link_Bps
    # two flows may settle in one of two states: a typical run is their median, not a mean between them
    middle_of = _median if together else partial(np.mean, axis=1)
    mean = np.asarray(middle_of(s.goodput_Bps), float)
    calm = (c.loss == 0) & (np.isfinite(c.size_B) | (c.streams * c.window_B / c.rtt_s < link))
    full = (mean > 0.97 * link * (1 - c.loss)) | calm
    alone = np.where(full, known.SPREAD_LINK.value, known.SPREAD_LOSS.value)
    young = among(np.array([c.cc, c.cc2]), controls.unjudged()).any(axis=0)
    shared = np.where(young, known.SPREAD_UNJUDGED.value, known.SPREAD_SHARED.value)
    spread = np.where(together, shared, alone)
    factor = np.exp(spread[:, None] * _GRID)
    mixed = (s.goodput_Bps[:, :, None] * factor[:, None, :]).reshape(len(rows), -1)
    low, middle, high = quantile(mixed, LEVELS, 1, between=True)
    top = np.where(together, np.inf, np.maximum(link, mean))
    o.goodput_Bps[rows] = mean
    o.goodput_p10_Bps[rows] = np.minimum(low, top)
    o.goodput_p50_Bps[rows] = np.minimum(middle, top)
    o.goodput_p90_Bps[rows] = np.minimum(high, top)
    o.second_Bps[rows] = middle_of(s.second_Bps)
    o.completion_s[rows] = s.completion_s.mean(axis=1)
    slow = (s.completion_s[:, :, None] * factor[:, None, :]).reshape(len(rows), -1)
    o.completion_p10_s[rows], _, o.completion_p90_s[rows] = quantile(slow, LEVELS, 1, between=True)
    o.retransmits[rows] = s.retransmits.mean(axis=1)
    o.trip_s[rows] = s.trip_s.mean(axis=1)
    o.steps[rows] = s.steps
    if not together:
        o.delivered_B[rows], o.scatter[rows], o.behind_s[rows] = s.delivered_B, s.scatter, s.behind_s
    o.limit[rows] = "sharing" if together else limits(c, mean)


def limits(c: Cases, goodput_Bps: FloatArray) -> NDArray[np.str_]:
    """What holds each transfer back, from its goodput and the limits in closed form.

    Args:
        c: Transfers that compete with nobody.
        goodput_Bps: Their goodput [B/s].

    Returns:
        One of `LIMITS` for each.

    Valid: as `simulate`.
    Neglects: limits that are close together: the first in the order link, window, start, loss, buffer counts; loss
        that by itself would let the flows have more than the queue does.
    Source: comparison of the goodput with link, window, start and the closed forms of `path` and `droptail`.
    """
    link = c.link_Bps
    _, queue, most = rounds.packets(c)
    window = c.streams * np.floor(rounds.mean_flight(c)) * c.mss_B / rounds.trip(c)  # whole segments are sent
    bdp = np.maximum(link * c.rtt_s, 1e-9)
    room = c.buffer_B * c.mss_B / c.mtu_B / bdp
    kept = [controls.find(str(cc)).sawtooth(b) for cc, b in zip(c.cc, room, strict=True)]
    saw = droptail.sawtooth_utilisation(room, np.asarray(kept, float))
    full = goodput_Bps > 0.95 * link * (1 - c.loss)
    _, nearest = path.path_goodput(**path.figures(c, window_B=np.inf, background_share=c.background))
    choices = [
        full,
        (window < link) & (goodput_Bps > 0.85 * window),
        (c.size_B < 20 * bdp) & (c.loss * np.where(np.isfinite(c.size_B), c.size_B, 0.0) / c.mss_B < 1),
        _stopped_early(c, goodput_Bps, link) | (goodput_Bps == 0.0),
        nearest == "loss",
        (window < link) & (c.streams * most <= queue),  # none overflows
        (saw < 0.99) | (goodput_Bps < 0.9 * link),
    ]
    return np.select(choices, ["link", "window", "start", "start", "loss", "window", "buffer"], "link").astype(np.str_)


def _stopped_early(c: Cases, goodput_Bps: FloatArray, link_Bps: FloatArray) -> BoolArray:
    """Transfers stopped by the clock of which slow start, from the first byte, cost more than all else."""
    climb = response.slow_start_time(link_Bps * c.rtt_s / c.streams, c.rtt_s, c.mss_B) + rounds.SET_UP * c.rtt_s
    missing = (1 - goodput_Bps / np.maximum(link_Bps, 1e-9)) * c.duration_s
    few = c.loss * goodput_Bps * c.duration_s / c.mss_B < 1
    return np.asarray(np.isinf(c.size_B) & (c.warmup_s == 0) & few & (climb > missing / 2))
