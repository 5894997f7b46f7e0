"""Runs of one test on several days: how far runs and days lie apart, drift, and since when it is otherwise.

All on the logarithm of the rate. Runs of a day and days are separated by a one-way analysis of variance with unequal
numbers (Searle, Casella and McCulloch, Variance Components, 1992, ch. 3): ``s_run^2 = MS_within``,
``s_day^2 = (MS_between - MS_within) / n_0``, pooled over all tests, since a host has one noise. Changes are looked for
in the daily medians, as below. What a line explains better is a drift: Kendall's tau of the
daily medians over time (Mann 1945), its size by the median of all slopes (Theil 1950, Sen 1968). Otherwise days are
exchangeable.

Change points of a series of daily figures: where its mean shifts, and how improbable that is by chance.

The split with the largest two-sample t (the likelihood ratio of a shift of the mean; Hawkins, Testing a sequence of
observations for a shift in location, JASA 1977). Its probability is bounded in closed form by Bonferroni over the
splits, so that a large effect is significant however few days there are: a permutation of ten days split 5:5 never
gets below 2/252. Three guards keep that honest for what is measured: days that stand out by themselves are pulled in
first (Hampel filter, noise from the median difference of neighbours), what neighbours have in common counts as fewer
days (variance times ``(1 + r) / (1 - r)``, r the lag-one autocorrelation about the two means; Lund et al., J. Climate
2007), and a shift below 3 % is none. Both parts are searched again (binary segmentation, Scott and Knott 1974).
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain
from typing import Any, Final

import numpy as np

from dtnsim.evidence.figures import Figure
from dtnsim.evidence.fit_logs import SPREAD
from dtnsim.ground.grouping import by_key
from dtnsim.ground.units import plural
from dtnsim.physics._arrays import FloatArray as Array, IntArray
from dtnsim.steady.discrepancy import OF_RUNS, UNIT, Discrepancy, Noise

#: what is too improbable for chance, of all series together: a year of weekly looks errs in less than one of twenty
CHANCE: Final = 0.001
#: days from which a change is looked for, fewest days on either side of it, and the smallest one worth a word
DAYS: Final = 8
SIDE: Final = 3
SMALLEST: Final = 0.03
#: neighbours that a day is compared with on either side, and the distance that stands out [noise]
_NEAR: Final = 2
_FAR: Final = 4.0
#: standard deviation over the median absolute difference of two normal figures
_DIFFERENCE: Final = 1.4826 / np.sqrt(2)
#: figures are printed with three digits: noise is never taken for less than their rounding
_ROUNDING: Final = 1e-3
_ALIKE: Final = 0.9


def shifted(values: Array, chance: float) -> list[tuple[int, float]]:
    """Where the mean of a sequence shifts: (first index after it, probability by chance), in order.

    Args:
        values: Logarithms of daily figures, in the order of time, (N,).
        chance: What is too improbable for chance; over many series their share of it (Bonferroni).
    """
    return sorted(_segments(np.asarray(values, float), 0, chance))


def _segments(values: Array, offset: int, chance: float) -> Iterator[tuple[int, float]]:
    if values.size < DAYS:
        return
    split, size, p = (row[0] for row in steps(values[None, :]))
    if p > chance or abs(size) < SMALLEST:
        return
    yield offset + int(split), float(p)
    yield from _segments(values[:split], offset, chance)
    yield from _segments(values[split:], offset + int(split), chance)


def steps(rows: Array) -> tuple[IntArray, Array, Array]:
    """The largest step of each series: (first index after it, its size, bound of its probability by chance), each (S,).

    Args:
        rows: Series of the same length, (S, N >= 8).
    """
    from scipy.special import stdtr

    x = _pulled_in(rows)
    series, n = np.arange(x.shape[0]), x.shape[1]
    first = np.arange(SIDE, n - SIDE + 1)
    sums = np.cumsum(x, axis=1)
    before = sums[:, first - 1] / first
    sizes = (sums[:, -1:] - sums[:, first - 1]) / (n - first) - before
    best = (sizes**2 * first * (n - first)).argmax(axis=1)
    split, size = first[best], sizes[series, best]
    level = before[series, best, None] + np.where(np.arange(n) >= split[:, None], size[:, None], 0.0)
    left = x - level
    squares = (left**2).sum(axis=1)
    alike = np.clip((left[:, 1:] * left[:, :-1]).sum(axis=1) / np.maximum(squares, 1e-300), 0.0, _ALIKE)
    noise = np.maximum(np.sqrt(squares / (n - 2) * (1 + alike) / (1 - alike)), _ROUNDING)
    t = np.abs(size) / (noise * np.sqrt(n / (split * (n - split))))
    return split, size, np.minimum(2 * first.size * stdtr(n - 2, -t), 1.0)


def _pulled_in(rows: Array) -> Array:
    """Series whose days lie no further from the median of their neighbours than noise does; steps stay as they are."""
    noise = _DIFFERENCE * np.median(np.abs(np.diff(rows, axis=1)), axis=1, keepdims=True)
    wide, n = 2 * _NEAR + 1, rows.shape[1]
    start = np.clip(np.arange(n) - _NEAR, 0, n - wide)
    middle = np.median(rows[:, start[:, None] + np.arange(wide)], axis=2)
    far = _FAR * np.maximum(noise, _ROUNDING)
    return np.clip(rows, middle - far, middle + far)


_CHANCE: Final = 0.01  #: what is too improbable for chance, of all tests together
#: what is taken for runs and for days where no repeats say it, so that both together are ``SPREAD``; it counts
#: for so many degrees of freedom beside those of the data
_ASSUMED: Final = SPREAD / math.sqrt(2)
_WORTH: Final = 2.0
_MONTH_DAYS: Final = 30.4375
_QUIET: Final = 0.005  #: noise that a kind never falls below
_SCALES: Final = np.exp(np.linspace(np.log(1e-4), 0.0, 400))  #: scales that noise of repeats is looked for among


@dataclass(frozen=True, slots=True)
class Change:
    """A shift of the rate."""

    since: date  #: First day after it.
    factor: float  #: Rate after over rate before.
    p: float  #: Probability of such a shift by chance.

    @property
    def words(self) -> str:
        """For people."""
        slower = self.factor < 1
        size = 1 - self.factor if slower else self.factor - 1
        how = "slower" if slower else "faster"
        return f"since {day_words(self.since)} {size:.0%} {how} (p = {self.p:.2g})"


@dataclass(frozen=True, slots=True)
class Repeats:
    """Runs of one test."""

    test: str  #: What was run.
    rates: tuple[float, ...]  #: Rates of all runs [B/s], in the order of time.
    whens: tuple[datetime | None, ...]  #: When each was.
    changes: tuple[Change, ...]  #: Shifts, in their order.
    #: Relative change a month that no shift explains, and its probability by chance; None for none.
    drift: tuple[float, float] | None
    run_to_run: float  #: Standard deviation of the logarithm between runs of a day, of all tests together.
    day_to_day: float | None  #: The same between days; None where no test has runs of two days.
    used: int  #: How many of the last runs enter the fit: those since the last change.
    host: str  #: Where it was run.

    @property
    def days(self) -> int:
        """Days with runs."""
        return len({w.date() for w in self.whens if w is not None})

    @property
    def words(self) -> str:
        """For people."""
        parts = [
            f"{self.test}: {plural(len(self.rates), 'run')}" + (f" on {plural(self.days, 'day')}" if self.days else "")
        ]
        parts += [change.words for change in self.changes]
        if self.drift is not None:
            how = "slower" if self.drift[0] < 0 else "faster"
            parts.append(f"{abs(self.drift[0]):.1%} {how} every month (p = {self.drift[1]:.2g})")
        if self.used < len(self.rates):
            parts.append(f"fitted to the last {plural(self.used, 'run')}")
        return "; ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "test": self.test,
            "runs": len(self.rates),
            "days": self.days,
            "used": self.used,
            "mean_Bps": float(np.exp(np.mean(np.log(self.rates[-self.used :])))),
            "changes": [{"since": c.since.isoformat(), "factor": round(c.factor, 4), "p": c.p} for c in self.changes],
            "drift_per_month": None if self.drift is None else round(self.drift[0], 5),
        }


def day_words(day: date) -> str:
    """3 March 2020."""
    return f"{day.day} {day:%B} {day.year}"


def key_of(figure: Figure) -> str:
    """Which test a figure is of: the same tool, options and place; of fio whatever its time let it move."""
    case = figure.case
    transfer = json.loads(case.overrides[0]) if case.overrides and case.overrides[0].startswith("{") else {}
    if case.tool == "fio":
        transfer.pop("dataset", None)
    return f"{case.site} {json.dumps(transfer, sort_keys=True) if transfer else case.name}"


def name_of(figure: Figure) -> str:
    """The test for people: tool, options and volume."""
    transfer = json.loads(figure.case.overrides[0])
    tool = dict(transfer.get("tool", {}))
    options = " ".join(f"{k}={v}" for k, v in tool.items() if k not in ("name", "ioengine"))
    ends = [str(transfer[k]).partition(":")[2] for k in ("from", "to")]
    place = ends[1] if ends[0] in ("memory", "/dev/zero", "/dev/urandom", "/dev/random") else ends[0]
    return f"{tool.get('name', figure.case.tool)} {options} on {place}"


def weighed(figures: Sequence[Figure]) -> tuple[list[Figure], list[Repeats]]:
    """Figures of logs with the errors that their repeats show, without those from before a change; and the repeats.

    A mean of N runs on D days has the variance ``s_day^2 / D + s_run^2 / N``; every run is given N times as much, so
    that all of them together say no more than that.
    """
    weighted = [f for f in figures if f.case.quantity != "throughput"]  # shares of a processor are at different rates
    groups = by_key((key_of(f), f) for f in figures if f.case.quantity == "throughput")
    parts = [_split(mine, len(groups)) for mine in groups.values()]
    run, day, days_known = _noise(piece for pieces, _, _ in parts for piece in pieces)
    repeats: list[Repeats] = []
    for pieces, changes, drift in parts:
        last = pieces[-1]
        count, days = len(last), len(_by_day(last))
        error = math.sqrt(count * (day**2 / max(days, 1) + run**2 / count))
        weighted += [replace(f, case=replace(f.case, spread=error)) for f in last]
        if sum(map(len, pieces)) > 1:
            every = [f for piece in pieces for f in piece]
            rates, whens = tuple(f.case.measured for f in every), tuple(f.when for f in every)
            error_of_days = day if days_known else None
            repeats.append(
                Repeats(name_of(every[0]), rates, whens, changes, drift, run, error_of_days, count, every[0].case.site)
            )
    order = {f.case.log: n for n, f in enumerate(figures)}
    return sorted(weighted, key=lambda f: order[f.case.log]), repeats


def _by_day(figures: Sequence[Figure]) -> dict[date | None, list[float]]:
    return by_key((f.when.date() if f.when else None, math.log(f.case.measured)) for f in figures)


def _split(mine: list[Figure], tests: int) -> tuple[list[list[Figure]], tuple[Change, ...], tuple[float, float] | None]:
    """(runs between changes in the order of time, the changes, a drift); runs without a date are before any change."""
    mine = sorted(mine, key=lambda f: f.when.timestamp() if f.when else 0.0)
    days = _by_day(mine)
    dates = [d for d in days if d is not None]
    if not dates:
        return [mine], (), None
    medians = np.array([float(np.median(days[d])) for d in dates])
    ordinals = np.array([d.toordinal() for d in dates], float)
    drift = drifting(ordinals, medians, _CHANCE / tests)
    shifts = shifted(medians, CHANCE / tests)
    if drift is not None:  # squares about the means between shifts, and about a straight line
        left = sum(float(((part - part.mean()) ** 2).sum()) for part in np.split(medians, [n for n, _ in shifts]))
        if left >= float(((medians - np.polyval(np.polyfit(ordinals, medians, 1), ordinals)) ** 2).sum()):
            return [mine], (), drift
    changes = changes_at(shifts, dates, medians)
    starts = [c.since for c in changes]
    pieces: list[list[Figure]] = [[] for _ in range(len(starts) + 1)]
    for figure in mine:
        pieces[sum(figure.when is not None and figure.when.date() >= s for s in starts)].append(figure)
    return pieces, changes, None


def changes_at(shifts: Sequence[tuple[int, float]], days: Sequence[date], values: Array) -> tuple[Change, ...]:
    """Shifts of a series (first index after each, its probability by chance) as changes."""
    level = [float(part.mean()) for part in np.split(values, [n for n, _ in shifts])]
    return tuple(Change(days[n], math.exp(level[i + 1] - level[i]), p) for i, (n, p) in enumerate(shifts))


def drifting(days: Array, values: Array, chance: float) -> tuple[float, float] | None:
    """(relative change a month, its probability by chance); None where chance may have made it."""
    if values.size < DAYS:
        return None
    from scipy.stats import kendalltau, theilslopes

    p = float(kendalltau(days, values).pvalue)
    slope = float(theilslopes(values, days).slope)
    month = math.expm1(slope * _MONTH_DAYS)
    return (month, p) if p < chance and abs(slope) * float(np.ptp(days)) >= SMALLEST else None


def _noise(pieces: Iterable[Sequence[Figure]]) -> tuple[float, float, bool]:
    """(run to run, day to day, whether days are known) of all tests together."""
    within = between = mean_size = 0.0
    free_within = free_between = 0
    for runs in pieces:
        values = np.log([f.case.measured for f in runs])
        days = [np.array(d) for d in _by_day(runs).values()]
        within += sum(float(((d - d.mean()) ** 2).sum()) for d in days)
        free_within += values.size - len(days)
        if len(days) > 1:
            between += sum(d.size * float((d.mean() - values.mean()) ** 2) for d in days)
            free_between += len(days) - 1
            mean_size += values.size - sum(d.size**2 for d in days) / values.size
    run = math.sqrt((_WORTH * _ASSUMED**2 + within) / (_WORTH + free_within))
    if not free_between:
        return run, _ASSUMED, False
    size = mean_size / free_between  # n_0: runs a day
    day2 = max((between / free_between - run**2) / size, 0.0)
    return run, math.sqrt((_WORTH * _ASSUMED**2 + free_between * day2) / (_WORTH + free_between)), True


def noise_of(pairs: Iterable[tuple[str, bool, Sequence[float]]]) -> Discrepancy:
    """Repeat noise by kind.

    Args:
        pairs: (kind, whether on another day, logarithms of runs of one test).

    Returns:
        A `Discrepancy` with noises only. The noise between days is what runs of different days differ by beyond runs of
        one day; a kind without repeats has the pooled ones.
    """
    listed = list(pairs)
    same, days = (by_key((kind, p) for kind, other, p in listed if other is far) for far in (False, True))
    pooled = _pooled(list(chain.from_iterable(same.values()))) or _QUIET

    def noise(near: float, far: Sequence[Sequence[float]]) -> Noise:
        return Noise(near, math.sqrt(max((_pooled(far) or 0.0) ** 2 - near**2, 0.0)))

    kinds = dict.fromkeys(kind for kind, _, _ in listed)
    noises = {k: noise(max(_pooled(same.get(k, ())) or pooled, _QUIET), days.get(k, ())) for k in kinds}
    return Discrepancy(default_noise=noise(pooled, list(chain.from_iterable(days.values()))), noises=noises)


def _pooled(groups: Sequence[Sequence[float]]) -> float | None:
    """Standard deviation of the t that groups of runs are likeliest from; None where none has two.

    A few runs lie far from the others where most agree to some parts in a thousand: a root mean square would tell of
    those few alone.
    """
    several = [np.asarray(g) for g in groups if len(g) > 1]
    if not several:
        return None
    off = np.concatenate([(g - g.mean()) * np.sqrt(len(g) / (len(g) - 1)) for g in several])
    likely = -np.log(_SCALES) - (OF_RUNS + 1) / 2 * np.log1p((off[:, None] / _SCALES) ** 2 / OF_RUNS).mean(axis=0)
    return float(_SCALES[np.argmax(likely)] / UNIT)
