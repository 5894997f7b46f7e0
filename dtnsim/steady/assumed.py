"""Unstated numbers that move the answer, and how far: each at p10 and p90 of its spread, all others at their medians.

Each is tried by itself, all trials as scenarios of one composition. Where there are very many, only those that
correlate most with the answer in the scenarios of the interval are tried.

Unstated settings without a spread (`moved`) are tried at another value that is common in the field, which the field's
own type names (`dtnsim.ground.uncertainty`): an MTU of 9000, BBR, an older release of a tool. A field that is unstated
in several places is changed in all of them at once, because a route's frames are only as large as its smallest MTU. A
tool's option is tried only if it changes the tool's plan.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
from pydantic import BaseModel

from dtnsim.components.nic import Nic
from dtnsim.composition import sharing
from dtnsim.composition.compose import Composer, run_together
from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.ground import draws
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw, Mixture, Quantity, Value, unit_of
from dtnsim.ground.records import Problem
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import Assumption, Otherwise, Since, written
from dtnsim.physics._arrays import LEVELS
from dtnsim.steady import epochs, ordering, timed
from dtnsim.steady.scenarios import Scenarios

_NAMED: Final = 2  #: keys that an answer names one by one
#: most places that are tried one by one if all together move the answer, and the difference that counts as a change
_ALONE: Final = 4
_SAME: Final = 1e-3
WORTH: Final = 0.05  #: part of the answer that a default has to move to be listed
_LITTLE: Final = WORTH / 2  #: part of it below which several that move it together are not looked at one by one
TRANSFERS: Final = 32  #: transfers up to which they are tried: each is one more composition

_STORAGE: Final = frozenset({"volumes", "vm"})  #: keys of a host below which its storage is

Place = tuple[str | int, ...]


class Change(NamedTuple):
    """A field with another value of it, and where a path has it."""

    name: str
    other: Otherwise
    found: list[tuple[Place, BaseModel]]


def moved(composer: Composer, nominal: Problem, whole_Bps: float) -> Iterator[Assumption]:
    """How the answer changes when each unstated setting has its other common value.

    Neglects: changes that are tried together and cancel out.
    """
    if len(nominal.transfers) > TRANSFERS:
        return
    tried = _Trial(composer, whole_Bps, timed.amounts(nominal))
    groups = list(_groups(c for c in unwritten(composer.spec) if _composes(composer, c)))
    tried.ahead(groups)
    moving = [group for group in groups if len(group) == 1 or not abs(tried(*group) - 1) < _LITTLE]
    tried.ahead(part for group in moving for part in _parts(group))
    for group in moving:
        yield from _moving(tried, group)


def _parts(changes: Sequence[Change]) -> Iterator[Sequence[Change]]:
    """All groups of changes that `_moving` may try."""
    if len(changes) == 1:
        yield from ([each] for each in _each_alone(changes[0]))
    else:
        for half in _halves(changes):
            yield from (half, *_parts(half))


def _groups(changes: Iterable[Change]) -> Iterable[list[Change]]:
    """Changes to try together first: one other value of each field, apart from any change that could hide its effect.

    A different congestion control may make losses and packet sizes irrelevant, so it is tried with the storage fields.
    """
    groups: dict[tuple[bool, int], list[Change]] = {}
    turns = Counter[str]()
    for change in changes:
        aside = change.name == "cc" or bool(_STORAGE.intersection(change.found[0][0]))
        groups.setdefault((aside, turns[change.name]), []).append(change)
        turns[change.name] += 1
    return groups.values()


def _moving(tried: _Trial, changes: Sequence[Change]) -> Iterator[Assumption]:
    """The changes worth listing, found by bisection: a group that moves the answer little as a whole is dropped."""
    if len(changes) == 1:
        yield from _listed(tried, changes[0])
    elif not abs(tried(*changes) - 1) < _LITTLE:
        for half in _halves(changes):
            yield from _moving(tried, half)


def _halves(changes: Sequence[Change]) -> tuple[Sequence[Change], Sequence[Change]]:
    return changes[: len(changes) // 2], changes[len(changes) // 2 :]


def _each_alone(change: Change) -> list[Change]:
    """The same change in each of its places alone, if there are only a few."""
    return [change._replace(found=[f]) for f in change.found] if 1 < len(change.found) <= _ALONE else []


def _listed(tried: _Trial, change: Change) -> Iterator[Assumption]:
    """The entry for a default that moves the answer; nothing for one that does not."""
    ratio, path, amounts = tried(change), tried.composer.spec, tried.known
    if not abs(ratio - 1) > WORTH:
        return
    if amounts:  # the bytes that a timed test moves depend on the rate
        tried.known = None
        ratio, tried.known = tried(change), amounts
    name, other, places = change
    if each := _each_alone(change):  # of some fields one end counts alone
        all_of_it = tried(change)
        places = [f for c in each if abs(tried(c) / all_of_it - 1) < _SAME for f in c.found] or places
    keys = _listed_keys(list(dict.fromkeys(place_key(path, place) for place, _ in places)))
    default = str(getattr(places[0][1], name))
    value = other.now or (default.lower() if default in {"True", "False"} else default)
    yield Assumption(keys, value, other.text, other.text, ratio, ratio, other.why)


@dataclass(slots=True)
class _Trial:
    """A path with other values of some fields."""

    composer: Composer  #: The path.
    whole_Bps: float  #: What it gives as it is.
    known: Mapping[str, float] | None  #: What timed transfers move; None to find it out anew.
    _found: dict[Any, float] = field(default_factory=dict)  #: What was asked before.

    def __call__(self, *changes: Change) -> float:
        """The changed answer divided by the present one; NaN if a value does not fit."""
        key = self.known is None, *((c.name, c.other, *(place for place, _ in c.found)) for c in changes)
        if key not in self._found:
            self._found[key] = self._answer(changes)
        return self._found[key]

    def ahead(self, several: Iterable[Sequence[Change]]) -> None:
        """Runs the TCP rounds of several trials as one batch, which takes as many steps as one trial alone."""
        with suppress(DtnsimError):
            run_together(with_values(self.composer.spec, changes) for changes in several)

    def _answer(self, changes: Sequence[Change]) -> float:
        try:
            with without_words():
                changed = with_values(self.composer.spec, changes)
                problem = timed.composer(changed, Draw(), self.known, before=self.composer.past).problem()
        except DtnsimError:
            return math.nan
        return float(epochs.total(problem)[0]) / max(self.whole_Bps, 1e-300)


def with_values(path: PathSpec, changes: Iterable[Change]) -> PathSpec:
    """The path with other values of some fields."""
    for name, other, places in changes:
        for place, model in places:
            path = _put(path, place, read(type(model), name, other.text))
    return path


def _composes(composer: Composer, change: Change) -> bool:
    """Whether a change affects the composition; one of a transfer does only if it alters the tool's plan or reads."""
    numbers = {int(place[1]) for place, _ in change.found if place[0] == "transfers"}
    with suppress(DtnsimError):
        changed = with_values(composer.spec, [change] if numbers else []).transfers
        for n in numbers:
            leg = composer.legs[n]
            left = any(s.read is not None and s.read.cached for s in leg.plan.steps)  # in memory, by the tool
            if (left and changed[n].cached != leg.spec.cached) or changed[n].tool.plan(leg.job) != leg.plan:
                return True
    return not numbers


def unwritten(path: PathSpec) -> list[Change]:
    """Unstated fields of a path that have another common value."""
    by_field: dict[tuple[str, Otherwise], list[tuple[Place, BaseModel]]] = {}
    ends = {end.partition(":")[0] for t in path.transfers for end in (t.source_end, t.to)}
    ends |= {v.server.partition(":")[0] for h in path.hosts.values() for v in h.volumes.values() if v.server}
    for name, host in path.hosts.items():
        if name in ends:
            for place, field, other, model in _fields(host, ("hosts", name)):
                if _can_be(path, host, field, other.text, model):
                    by_field.setdefault((field, other), []).append((place, model))
    for root, segments in (("wan", enumerate(path.wan)), ("links", path.links.items())):
        for key, segment in segments:
            for place, field, other, model in _fields(segment, (root, key)):
                by_field.setdefault((field, other), []).append((place, model))
    for number, transfer in enumerate(path.transfers):
        roles = {"", *(path.hosts[end.partition(":")[0]].role for end in (transfer.source_end, transfer.to))}
        for place, field, other, model in _fields(transfer, ("transfers", number)):
            if other.role in roles:
                by_field.setdefault((field, other), []).append((place, model))
    return [Change(*which, places) for which, places in by_field.items()]


def _can_be(path: PathSpec, host: Host, field: str, text: str, model: BaseModel) -> bool:
    """Whether a host supports the other value: its OS the congestion control, its NIC and path the frame size."""
    if field == "cc":
        return host.has_control(text)
    return not isinstance(model, Nic) or field != "mtu" or (model.could_jumbo and all(s.jumbo for s in path.segments))


def _fields(value: object, place: Place, *, default: bool = False) -> Iterator[tuple[Place, str, Otherwise, BaseModel]]:
    """Unstated fields inside a value that have another common value; a value that is itself a default has none."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            alternatives = [m for m in field.metadata if isinstance(m, Otherwise)]
            if any(isinstance(m, Since) for m in field.metadata) and getattr(value, name) != field.default:
                alternatives.append(
                    Otherwise(str(field.default), "what is usual today; this one is of the year of the hosts")
                )
            unsaid = default or name not in value.model_fields_set
            if not alternatives:
                yield from _fields(getattr(value, name), (*place, name), default=unsaid)
            elif unsaid:
                yield from (((*place, name), name, other, value) for other in alternatives)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _fields(item, (*place, str(key)), default=default)


def read(model: type[BaseModel], name: str, text: str) -> object:
    """The other value as the field holds it.

    Args:
        model: The model.
        name: Its field.
        text: The value as it would be written.
    """
    field = model.model_fields[name]
    if (unit := unit_of(field)) is not None:
        return unit.read(text)
    default = field.default
    number = isinstance(default, int) and not isinstance(default, bool)
    return type(default)(text) if number else {"true": True, "false": False}.get(text, text)


def place_key(path: PathSpec, place: Place) -> str:
    """A place by its key in the path file, where a sole WAN segment or transfer has no number."""
    if place[0] == "transfers":
        return ".".join((path.transfer_key(int(place[1])), *map(str, place[2:])))
    steps = place if place[0] != "wan" or len(path.wan) > 1 else ("wan", *place[2:])
    return ".".join(map(str, steps))


def _put(value: Any, place: Place, new: object) -> Any:
    """A copy of a description with another value at a place."""
    if not place:
        return new
    first, rest = place[0], place[1:]
    if isinstance(value, BaseModel):
        return value.model_copy(update={str(first): _put(getattr(value, str(first)), rest, new)})
    if isinstance(value, list):
        return [_put(item, rest, new) if n == first else item for n, item in enumerate(value)]
    return {**value, first: _put(value[first], rest, new)}


_MOST: Final = 128  #: numbers that are tried at most
#: transfers up to which they are tried; for more, each trial would be as dear as the answer
_TRANSFERS: Final = 100
_NORMAL: Final = NormalDist()
_ENDS: Final = (_NORMAL.inv_cdf(LEVELS[0]), _NORMAL.inv_cdf(LEVELS[2]))  #: standard scores of the ends of an interval
_ERRORS: Final = 2.0  #: standard errors by which a covariance found in scenarios may be too small
_CLOSE: Final = 1e-9  #: how closely a quantile of several laws is found [of its logarithm]
#: numbers that no key of a path file holds -> what would state them
_WORDS: Final = {
    "ports of drives": "what the drives hang on (hbas of the host, and via of the volume)",
    "RAID controllers": "the RAID controller (hbas of the host, and via of the volume)",
    "slots of NVMe drives": "what the NVMe drives hang on (slots of the host, and via of the volume)",
}
_NO_LIMIT: Final = 1e15  #: from here on a number is said to be none
#: a number without a key, as draws call it (`dtnsim.ground.quantity.key_of`)
_NUMBER: Final = re.compile(r"(.+) ([-+.e\d]+) (\S+)")


class _OneAtATime(Draw):
    """All parameters at their medians, except one per pair of scenarios: at p10 in the first, at p90 in the second."""

    def __init__(self, keys: list[str]) -> None:
        super().__init__(max(2 * len(keys), 2))
        self._place = {key: 2 * n for n, key in enumerate(keys)}

    def __call__(self, quantity: Quantity) -> Value:
        """Value of ``quantity``: a float, or one a scenario where it is tried."""
        place = self._place.get(quantity.key)
        if place is None:
            return quantity.value
        values = np.full(self.samples, quantity.value)
        values[place : place + 2] = ends(quantity)
        return values


def ends(quantity: Quantity) -> tuple[float, float]:
    """p10 and p90 of a number."""
    law = quantity.typical or quantity
    low, high = (_quantile(law.kinds if isinstance(law, Mixture) else (law,), end) for end in _ENDS)
    return low, high


def _quantile(kinds: Sequence[Quantity], score: float) -> float:
    """Quantile of an equal mixture of several distributions, by bisection between their own quantiles."""
    if not all(k.value for k in kinds):
        return 0.0
    each = [float(draws.around(k.value, k.spread, score, share=k.is_share)) for k in kinds]
    low, high, level = math.log(min(each)), math.log(max(each)), _NORMAL.cdf(score)
    while high - low > _CLOSE:
        mid = (low + high) / 2
        parts = [draws.score_of(math.exp(mid), k.value, k.spread or _CLOSE, share=k.is_share) for k in kinds]
        low, high = (mid, high) if sum(map(_NORMAL.cdf, parts)) < level * len(kinds) else (low, mid)
    return math.exp(high)


def assumed(composer: Composer, nominal: Problem, drawn: Scenarios, whole_Bps: float) -> tuple[Assumption, ...]:
    """Unstated numbers that move the answer by more than `WORTH`, largest effect first."""
    if len(nominal.transfers) > _TRANSFERS:
        return ()
    assumptions = [*_uncertain(composer, nominal, drawn, whole_Bps), *moved(composer, nominal, whole_Bps)]
    return tuple(sorted((a for a in assumptions if a.moves > WORTH), key=lambda a: -a.moves))


def _uncertain(composer: Composer, nominal: Problem, drawn: Scenarios, whole_Bps: float) -> list[Assumption]:
    """How unstated numbers with a spread move the answer at p10 and p90."""
    quantities, path = drawn.draw.quantities, composer.spec
    keys = _tried(drawn, path.file)
    if not keys:
        return []
    rates = epochs.total(sharing.as_in(composer.drawn(_OneAtATime(keys)), nominal))
    assumptions, places = [], path.written_as
    for n, key in enumerate(keys):
        ratios = rates[2 * n : 2 * n + 2] / max(whole_Bps, 1e-300) if len(rates) > 1 else np.ones(2)
        quantity = quantities[key]
        low, high = (written(quantity, value) for value in ends(quantity))
        source, best = (quantity.typical or quantity).source, quantity.typical is not None
        name, value = named(key, nominal, places), "no limit" if quantity.value >= _NO_LIMIT else str(quantity)
        assumptions.append(Assumption(name, value, low, high, float(ratios[0]), float(ratios[1]), source, key, best))
    return assumptions


def _tried(drawn: Scenarios, file: str) -> list[str]:
    """Keys of numbers neither stated nor fitted, those that correlate most with the answer first.

    If a number moves the answer monotonically, by ``w`` at p90, its covariance with the answer is at least ``w`` times
    the normal density there. Numbers whose covariance rules out an effect of `WORTH` are left out.
    """
    total = np.log(np.maximum(ordering.total_rate(drawn.problem, drawn.parameters), 1e-300))
    total -= total.mean()
    goes_with = {
        k: abs(float(total @ drawn.draw.scores[k])) / len(total)
        for k, quantity in drawn.draw.quantities.items()
        if k in drawn.draw.scores and not written_in(quantity, file) and not quantity.source.startswith("fit: ")
    }
    least = math.log1p(WORTH) * _NORMAL.pdf(_ENDS[1]) - _ERRORS * float(total.std()) / math.sqrt(len(total))
    return sorted((k for k, part in goes_with.items() if part > least), key=lambda k: -goes_with[k])[:_MOST]


def written_in(quantity: Quantity, file: str) -> bool:
    """Whether the path file or ``--set`` states a number."""
    source = quantity.source
    stated = "--set " in source or "given on the command line" in source or (bool(file) and f"{file}:" in source)
    return quantity.typical is None and stated


def named(key: str, problem: Problem, written: Mapping[str, Sequence[str]]) -> str:
    """The name of a number: its keys in the path file or, for one of the model's own, what it is charged for.

    Args:
        key: Key of its draw.
        written: Keys in the path file by those of draws.
    """
    number = _NUMBER.fullmatch(key)
    if key in written or number is None:
        return _WORDS.get(key) or _listed_keys(written.get(key, [key]))
    phases = (phase for transfer in problem.transfers for phase in transfer.phases)
    demands = (demand for phase in phases for demand in (*phase.demands, *phase.delays))
    work = next((d.what for d in demands if number[1] in d.source or number[1] in d.formula), number[1])
    return f"cost of {work} ({float(number[2]):.3g} {number[3]})"


def _listed_keys(keys: Sequence[str]) -> str:
    """Several keys as text, of which only the first few are named."""
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(keys[:_NAMED]) + more if more else " and ".join(keys)
