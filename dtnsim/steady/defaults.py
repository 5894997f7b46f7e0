"""Defaults without a spread that nobody wrote: another value that many systems have, and what the answer becomes.

A field says itself what it often is (`dtnsim.ground.uncertainty`): an MTU of 9000, BBR, a dirty ratio of 40 %. All
places of a path where one and the same field is not written are tried together, since frames are only as large as the
smallest MTU of a route.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import BaseModel

from dtnsim.description.keys import copied
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw, Unit
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import Assumption, Otherwise
from dtnsim.steady import epochs, timed

if TYPE_CHECKING:
    from dtnsim.composition.past import Past
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Problem

#: keys that an answer names one by one
_NAMED: Final = 2
#: places that are tried one by one where all together move the answer, and what is as much as all together
_ALONE: Final = 4
_SAME: Final = 1e-3
#: part of the answer that a default has to move to be listed
WORTH: Final = 0.05
#: transfers up to which they are tried: each is one more composition
TRANSFERS: Final = 32

Place = tuple[str | int, ...]


def moved(given: PathSpec, nominal: Problem, before: Past | None = None) -> Iterator[Assumption]:
    """What each default that has another usual value does to the answer when it has that.

    Args:
        given: The path.
        nominal: The path at its medians.
        before: What earlier transfers have left behind, where that is known.
    """
    if len(nominal.transfers) > TRANSFERS:
        return
    known = timed.amounts(nominal)
    tried = _Trial(given, _rate(nominal), known, before)
    for (name, other), found in unwritten(given).items():
        now = tried(found, name, other.text)
        if abs(now - 1) <= WORTH:
            continue
        if known:  # what moves in a given time depends on the rate
            tried.known = None
            now, tried.known = tried(found, name, other.text), known
        if 1 < len(found) <= _ALONE:  # of some fields one end counts alone
            all_of_it = tried(found, name, other.text)
            found = [f for f in found if abs(tried([f], name, other.text) / all_of_it - 1) < _SAME] or found
        keys = [_key(given, place) for place, _ in found]
        more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
        value = other.now or str(getattr(found[0][1], name))
        key = " and ".join(keys) if not more else ", ".join(keys[:_NAMED]) + more
        yield Assumption(key, value, other.text, other.text, now, now, other.why)


@dataclass(slots=True)
class _Trial:
    """A path with other values of some fields.

    Attributes:
        given: The path.
        whole_Bps: What it gives as it is.
        known: What timed transfers move; None to find it out anew.
        before: What earlier transfers have left behind.
    """

    given: PathSpec
    whole_Bps: float
    known: Mapping[str, float] | None
    before: Past | None

    def __call__(self, found: Sequence[tuple[Place, BaseModel]], name: str, text: str) -> float:
        """What the answer becomes, over what it is; as it is where the value does not fit."""
        changed = self.given
        for place, model in found:
            changed = _put(changed, place, read(type(model), name, text))
        try:
            with without_words():
                problem = timed.composer(changed, Draw(), self.known, before=self.before).problem()
        except DtnsimError:
            return 1.0
        return _rate(problem) / max(self.whole_Bps, 1e-300)


def unwritten(given: PathSpec) -> dict[tuple[str, Otherwise], list[tuple[Place, BaseModel]]]:
    """By field and its other value: where a path has it, and nobody wrote it."""
    found: dict[tuple[str, Otherwise], list[tuple[Place, BaseModel]]] = {}
    ends = {end.partition(":")[0] for t in given.transfers for end in (t.source_end, t.to)}
    for name, host in given.hosts.items():
        if name in ends or any(v.server and name == v.server.partition(":")[0] for v in _volumes(given)):
            for place, field, other, model in _fields(host, ("hosts", name)):
                found.setdefault((field, other), []).append((place, model))
    for root, segments in (("wan", enumerate(given.wan)), ("links", given.links.items())):
        for key, segment in segments:
            for place, field, other, model in _fields(segment, (root, key)):
                found.setdefault((field, other), []).append((place, model))
    return found


def _volumes(given: PathSpec) -> Iterator[Any]:
    for host in given.hosts.values():
        yield from host.volumes.values()


def _fields(value: object, place: Place) -> Iterator[tuple[Place, str, Otherwise, BaseModel]]:
    """Fields below a value that have another usual value and are not written."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            other = next((m for m in field.metadata if isinstance(m, Otherwise)), None)
            if other is not None and name not in value.model_fields_set:
                yield (*place, name), name, other, value
            elif other is None:
                yield from _fields(getattr(value, name), (*place, name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _fields(item, (*place, str(key)))


def read(model: type[BaseModel], name: str, text: str) -> object:
    """The other value as the field holds it."""
    field = model.model_fields[name]
    inner = [m for a in get_args(field.annotation) for m in getattr(a, "__metadata__", ())]  # of what may be None
    unit = next((m for m in (*field.metadata, *inner) if isinstance(m, Unit)), None)
    if unit is not None:
        return unit.read(text)
    default = field.default
    return type(default)(text) if isinstance(default, int) and not isinstance(default, bool) else _plain(text)


def _plain(text: str) -> object:
    return {"true": True, "false": False}.get(text, text)


def _key(given: PathSpec, place: Place) -> str:
    """A place as the path file names it: the only segment of a WAN has no number."""
    steps = place if place[0] != "wan" or len(given.wan) > 1 else ("wan", *place[2:])
    return ".".join(map(str, steps))


def _put(value: Any, place: Place, new: object) -> Any:
    """A copy of a description with another value at a place."""
    if not place:
        return new
    first, rest = place[0], place[1:]
    if isinstance(value, BaseModel):
        return copied(value, {str(first): _put(getattr(value, str(first)), rest, new)})
    if isinstance(value, list):
        return [_put(item, rest, new) if n == first else item for n, item in enumerate(value)]
    return {**value, first: _put(value[first], rest, new)}


def _rate(problem: Problem) -> float:
    return float(epochs.total(problem)[0])
