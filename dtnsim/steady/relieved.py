"""What relieves a transfer and can be typed: each way tried on the path, with what the transfer then gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dtnsim.description.transfer import at_once
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.term import without_words
from dtnsim.steady import solve, timed

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Prediction, Problem, Station

#: a way is worth a word when it brings this much
_WORTH: Final = 1.05
#: kinds of stations that more streams, files or processes at once can relieve
_BY_MORE: Final = frozenset({"core", "tcp", "window", "workers", "latency", "transport", "nfs", "s3", "smb"})
_MORE: Final = 4
#: more than this no tool takes kindly
_MOST_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class Way:
    """A change that relieves a transfer.

    Attributes:
        overrides: ``key=value`` of it.
        rate_Bps: The transfer's ceiling with it.
    """

    overrides: tuple[str, ...]
    rate_Bps: float


def ways(made: Prediction, f: int) -> tuple[Way, ...]:
    """What can be typed against the bottleneck of transfer ``f``, the best first; only what brings something."""
    given, t = made.given, made.transfers[f]
    if given is None:
        return ()
    station = next((u.station for u in made.stations if u.station.name == t.bottleneck.station), None)
    found = []
    for overrides in _tried(given, made.problem, f, t.bottleneck.kind, station):
        try:
            with without_words():
                problem = timed.composed(given.changed(overrides), Draw())
        except DtnsimError:
            continue
        rate = float(solve.solve(solve.matrices(problem)).rate[0, f])
        if rate > _WORTH * t.ceiling:
            found.append(Way(overrides, rate))
    return tuple(sorted(found, key=lambda way: -way.rate_Bps))


def _tried(given: PathSpec, problem: Problem, f: int, kind: str, station: Station | None) -> Iterator[tuple[str, ...]]:
    for _, overrides in station.changes if station is not None else ():
        if overrides:
            yield tuple(by_key(problem, o) for o in overrides)
    if kind not in _BY_MORE:
        return
    for number, option, now in at_once(given.transfers):
        if number == f and now * _MORE <= _MOST_AT_ONCE:
            yield (f"{given.transfer_key(f)}.tool.{option}={now * _MORE}",)


def by_key(problem: Problem, override: str) -> str:
    """``network.wan.loss=0`` with the key of the segment in the place of its station's name."""
    name = max((n for n in problem.keys if override.startswith(f"{n}.")), key=len, default="")
    return problem.keys[name] + override.removeprefix(name) if override.startswith("network.") and name else override
