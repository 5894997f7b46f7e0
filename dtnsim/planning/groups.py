"""Scenarios in groups: those that differ only in numbers are arrays of one composition.

Whether a key qualifies is tested, not assumed: the description must differ in that number only, nothing but the draw
may read it, and each value must give what it gives by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Final

import numpy as np

from dtnsim.description.spec import PathSpec
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError, SpecError
from dtnsim.ground.records import Prediction
from dtnsim.ground.several import MixedError, NeedsOneError
from dtnsim.ground.term import without_words
from dtnsim.planning import swept
from dtnsim.planning.design import Design
from dtnsim.planning.swept import Place, Rates
from dtnsim.steady.prediction import predict

#: scenarios of one composition: at first, at least and at most (their arrays then take some 100 MB)
_CHUNK: Final = (64, 16, 4096)
_GROUP_S: Final = 2.0  #: seconds that a group takes: so often are rows written
_FEW: Final = 4  #: fewer of them are composed one by one
_COMPARED: Final = 7  #: values of a key that are compared with each by itself
_RANDOM: Final = 4  #: scenarios of a group at random that are compared with each by itself, beside its corners
_SMALL: Final = 64  #: a group of so many that does not give what each gives by itself is composed one by one
_SAME: Final = 1e-9  #: relative difference that rounding explains


@dataclass(frozen=True, slots=True)
class Group:
    """Scenarios that differ only in numbers."""

    numbers: np.ndarray  #: Their places in the design, (S,).
    fixed: tuple[str, ...]  #: ``key=value`` that they share.
    keys: tuple[str, ...]  #: Keys of the numbers, with one value a scenario.
    texts: tuple[tuple[str, ...], ...]  #: What each scenario has there, (S,) tuples.

    def overrides(self, n: int) -> list[str]:
        """Everything that makes its scenario ``n``."""
        return [*self.fixed, *(f"{k}={v}" for k, v in zip(self.keys, self.texts[n], strict=True))]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one scenario, or why it has none."""

    #: Throughput and duration: medians, or without draws those of the ceiling.
    rate_Bps: float | None
    seconds: float | None
    #: What holds it.
    station: str = ""
    kind: str = ""
    error: str = ""  #: Why there is none.
    around: tuple[float, float, float] | None = None  #: p10, p90 and the ceiling of the throughput [B/s].


@dataclass(frozen=True, slots=True)
class Task:
    """What the scenarios of a sweep have in common: the path, and the draws of each."""

    given: PathSpec
    samples: int
    seed: int
    known: Prediction | None = None  #: The path's own answer by these draws, where it is there.


class Pace:
    """Size of the next group: as many scenarios as take some two seconds."""

    def __init__(self) -> None:
        self.size = _CHUNK[0]

    def took(self, seconds: float) -> None:
        """Learns from the CPU time of a group [s]; that of a quick one is mostly overhead."""
        if seconds < _GROUP_S / 2:
            self.size = min(self.size * _CHUNK[0] // 4, _CHUNK[2])
        elif seconds > _GROUP_S:
            self.size = max(int(self.size * _GROUP_S / seconds), _CHUNK[1])


def groups(design: Design, vector: tuple[str, ...], todo: np.ndarray, pace: Pace) -> Iterator[Group]:
    """Some scenarios of a design in groups.

    Args:
        vector: Keys whose values are arrays.
        todo: Numbers of the scenarios.
        pace: How large the next group is to be.
    """
    fixed = [n for n, key in enumerate(design.keys) if key not in vector]
    free = [n for n, key in enumerate(design.keys) if key in vector]
    codes = np.array([design.columns[n][1][todo] for n in fixed], np.intp).reshape(len(fixed), len(todo))
    order = np.lexsort(codes[::-1]) if fixed else np.arange(len(todo))
    change = np.flatnonzero(np.any(np.diff(codes[:, order], axis=1) != 0, axis=0)) + 1
    for block in np.split(order, change):
        while len(block):
            numbers, block = todo[block[: pace.size]], block[pace.size :]
            row = design.row(int(numbers[0]))
            texts = [[design.columns[n][0][c] for c in design.columns[n][1][numbers]] for n in free]
            shared, keys = tuple(f"{design.keys[n]}={row[n]}" for n in fixed), tuple(design.keys[n] for n in free)
            yield Group(numbers, shared, keys, tuple(zip(*texts, strict=True)) if texts else ((),) * len(numbers))


def vector_keys(path: PathSpec, design: Design, *, arrays: bool = True) -> tuple[str, ...]:
    """Keys of a design whose values may be one array; ``arrays``: whether arrays are wanted at all."""
    first = [f"{k}={v}" for k, v in zip(design.keys, design.row(0), strict=True)]
    start = path.changed(first)
    if not arrays or any(t.timing() is not None for t in start.transfers):
        return ()  # what they move is found by rounds of compositions
    columns = zip(design.keys, design.columns, strict=True)
    return tuple(key for key, (values, _) in columns if len(values) >= _FEW and _is_vector(start, key, values))


def _is_vector(start: PathSpec, key: str, values: tuple[str, ...]) -> bool:
    try:
        if (where := places_of(start, (key,), (values,))) is None:
            return False
        size = np.array([units.read(v)[0] for v in values])
        chosen = np.unique(np.argsort(size)[np.linspace(0, len(size) - 1, min(_COMPARED, len(size))).astype(int)])
        many = _spread(swept.rates(swept.with_values(start, where, [size[chosen]])), len(chosen))
        return all(_equal(many, n, compose_alone(start, [f"{key}={values[c]}"])) for n, c in enumerate(chosen))
    except MixedError:
        return True  # groups are taken apart by what it is that they do not agree in, and are compared then
    except (NeedsOneError, DtnsimError):
        return False


def places_of(
    start: PathSpec, keys: tuple[str, ...], values: tuple[tuple[str, ...], ...]
) -> list[tuple[Place, ...]] | None:
    """Where the numbers of some keys are, by the ``values`` of each; None where one changes more than a number."""
    places = []
    for key, texts in zip(keys, values, strict=True):
        try:
            written = {units.read(text)[0]: text for text in texts}
        except DtnsimError:
            return None
        ends = min(written), max(written)
        low, high = (start.changed([f"{key}={written[end]}"]) for end in ends)
        place = swept.numeric(low, high, ends)
        if place is None:
            return None
        places.append(place)
    return places


def _equal(many: Rates, n: int, single: Outcome) -> bool:
    return (
        single.rate_Bps is not None
        and single.seconds is not None
        and abs(many.rate_Bps[n] - single.rate_Bps) <= _SAME * single.rate_Bps
        and (many.seconds[n] == single.seconds or abs(many.seconds[n] - single.seconds) <= _SAME * single.seconds)
    )


def predicted(task: Task, overrides: list[str]) -> Outcome:
    """What `predict` says of one scenario."""
    try:
        with without_words():  # of a scenario nobody reads why, or what would relieve it
            own = None if overrides else task.known
            p = own or predict(task.given.changed(overrides), samples=task.samples, seed=task.seed)
    except DtnsimError as error:
        return Outcome(None, None, error=str(error).replace("\n", "; also "))  # a cell of a table
    rate, limit = p.throughput_Bps, p.bottleneck
    return Outcome(rate.p50, p.duration_s.p50, limit.station, limit.kind, around=(rate.p10, rate.p90, p.ceiling))


def compose_alone(path: PathSpec, overrides: list[str]) -> Outcome:
    """The ceiling of one scenario, composed by itself."""
    try:
        rates = swept.rates(path.changed(overrides))
    except DtnsimError as error:
        return Outcome(None, None, error=str(error).replace("\n", "; also "))  # a cell of a table
    return Outcome(float(rates.rate_Bps[0]), float(rates.seconds[0]), rates.station[0], rates.kind[0])


def timed_outcomes(task: Task, group: Group) -> tuple[list[int], list[Outcome], float]:
    """(places in the design of the scenarios of a group, what they give, CPU time that took [s])."""
    began = process_time()
    if task.samples:
        answers = [predicted(task, group.overrides(n)) for n in range(len(group.numbers))]
    else:
        answers = outcomes(task.given, group)
    return group.numbers.tolist(), answers, process_time() - began


def outcomes(path: PathSpec, group: Group) -> list[Outcome]:
    """Ceilings of a group's scenarios: as arrays of one composition, or one by one if that differs."""
    many = _as_arrays(path, group) if group.keys and len(group.numbers) >= _FEW else None
    return many or [compose_alone(path, group.overrides(n)) for n in range(len(group.numbers))]


def _as_arrays(path: PathSpec, group: Group) -> list[Outcome] | None:
    """A group as arrays, split up where scenarios compose differently or differ from their results alone."""
    try:
        start = path.changed(group.overrides(0))  # what the path leaves open is there, too
        columns = tuple(tuple(dict.fromkeys(c)) for c in zip(*group.texts, strict=True))
        where = places_of(start, group.keys, columns)
    except (SpecError, NeedsOneError):
        return None
    if where is None:
        return None
    numbers = np.array([[units.read(t)[0] for t in c] for c in zip(*group.texts, strict=True)])
    answers: list[Outcome | None] = [None] * len(group.numbers)
    parts = [(np.arange(len(answers)), 0)]
    while parts:
        part, depth = parts.pop()
        if len(part) == 1:
            answers[part[0]] = compose_alone(path, group.overrides(int(part[0])))
            continue
        try:
            rates = _spread(swept.rates(swept.with_values(start, where, list(numbers[:, part]))), len(part))
        except MixedError as mixed:
            parts += [(part[mixed.holds], depth), (part[~mixed.holds], depth)]
            continue
        except (SpecError, NeedsOneError):
            rates = None
        if rates is not None and _proved(path, group, part, numbers, rates):
            for n, *row in zip(
                part, rates.rate_Bps.tolist(), rates.seconds.tolist(), rates.station, rates.kind, strict=True
            ):
                answers[n] = Outcome(*row)
        elif rates is None or len(part) <= _SMALL:
            for n in part:
                answers[n] = compose_alone(path, group.overrides(int(n)))
        else:  # a value decides something: it may not on either side of the middle of one of the keys
            order = part[np.argsort(numbers[depth % len(numbers), part], kind="stable")]
            parts += [(half, depth + 1) for half in np.array_split(order, 2)]
    return [one for one in answers if one is not None]


def _spread(rates: Rates, count: int) -> Rates:
    """Rates with one entry a scenario, also where they do not depend on it."""
    wide = [np.broadcast_to(v, count) for v in (rates.rate_Bps, rates.seconds)]
    stations, kinds = (v if len(v) == count else v * count for v in (rates.station, rates.kind))
    return Rates(wide[0], wide[1], stations, kinds)


def _proved(path: PathSpec, group: Group, part: np.ndarray, numbers: np.ndarray, rates: Rates) -> bool:
    """Whether some scenarios (corners, two of each bottleneck, random ones) give alone what they give together."""
    picks = {int(np.argmin(rates.rate_Bps)), int(np.argmax(rates.rate_Bps))}
    for row in numbers[:, part]:
        picks |= {int(np.argmin(row)), int(np.argmax(row))}
    for station in sorted(set(rates.station)):
        indices = np.array([n for n, name in enumerate(rates.station) if name == station])
        by_rate = indices[np.argsort(rates.rate_Bps[indices], kind="stable")]
        picks |= {int(by_rate[0]), int(by_rate[-1])}
    picks |= set(np.random.default_rng(len(part)).integers(0, len(part), _RANDOM).tolist())
    return all(
        _equal(rates, n, one) and one.station == rates.station[n]
        for n in sorted(picks)
        for one in [compose_alone(path, group.overrides(int(part[n])))]
    )
