"""What relieves a transfer and can be typed: each way tried on the path, with what the transfer then gives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from dtnsim.composition import relief
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import at_once, typed
from dtnsim.ground import units
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Bottleneck, Prediction, Problem, Rung, Station, TransferPrediction
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import Remedy
from dtnsim.steady import solve, timed
from dtnsim.steady.matrices import Matrices

#: of more transfers than this no changes are tried
TRIED: Final = 4
#: a change is worth a word when it brings this much
WORTH: Final = 1.1
#: where none is, one that helps by more than this is kept
_HELPS: Final = 1.002
#: buffers that are sized, and the least change of one [B]
_BUFFERS: Final = ("wmem_max", "rmem_max")
#: steps in which smaller ones are tried, down to this part, and what a window has beyond what its rate needs
_STEP: Final = 4.0
_SMALLEST: Final = 1e-3
_SPARE: Final = (1.02, 1.1, 1.3)
#: what `composition.transport` says of the place that holds a TCP connection: a host's port, or a segment
_PLACE: Final = re.compile(r"the narrowest place is (the port of )?([^,:(\s]+)")
#: a rate that is no further below another is it
_REACHED: Final = 1 - 1e-6
#: kinds of stations that more streams, files or processes at once can relieve
_BY_MORE: Final = frozenset({"core", "tcp", "window", "workers", "latency", "transport", "nfs", "s3", "smb"})
_MORE: Final = 4
#: more than this no tool takes kindly
_MOST_AT_ONCE: Final = 64


RateOf = Callable[[Sequence[str]], float]


def ways(given: PathSpec, problem: Problem, f: int, t: TransferPrediction, rate_of: RateOf) -> tuple[Remedy, ...]:
    """What can be typed against the bottleneck of transfer ``f``, the best first; only what brings something.

    Args:
        given: The path.
        problem: It, composed, with those changes alone that help.
        f: Number of the transfer.
        t: Its answer.
        rate_of: Its rate with a change [B/s].
    """
    station = next((s for s in problem.stations if s.name == t.bottleneck.station), None)
    tried = [(words, o, rate_of(o)) for words, o in _tried(given, problem, f, t.bottleneck.kind, station)]
    found = (Remedy(*each) for each in tried if each[2] > WORTH * t.ceiling)
    return tuple(sorted(found, key=lambda way: -way.ceiling_Bps))


def by(made: Prediction, f: int) -> str:
    """What relieves transfer ``f``, or that nothing does by a tenth: no change, nor the lack of its limit."""
    t = made.transfers[f]
    then, remedy = once_gone(made, t), t.bottleneck.remedy
    station = next((u.station for u in made.stations if u.station.name == t.bottleneck.station), None)
    typed = station is not None and station.changes and all(overrides for _, overrides in station.changes)
    if then is not None and not t.ways and (typed or then.throughput_Bps < WORTH * t.ceiling):
        without = units.show(then.throughput_Bps, "B/s")
        return f"no single change by a tenth: without this limit the ceiling is {without}, where {then.station} holds"
    if not remedy or then is None:
        return remedy
    return f"{remedy}; ceiling without this limit: {units.show(then.throughput_Bps, 'B/s')}"


def once_gone(made: Prediction, t: TransferPrediction) -> Rung | None:
    """What holds a transfer once its bottleneck holds nothing.

    The narrowest place of a TCP connection is a station too, and no other bottleneck.
    """
    place = _PLACE.search(t.bottleneck.reason)
    same = place[2] if place else ""
    ports = ("nic", "ib")
    cards = {u.station.name for u in made.stations if u.station.kind in ports} if place and place[1] else set()
    for rung in islice(t.ladder, 1, None):
        if (
            t.bottleneck.kind in ports
            and (its := _PLACE.search(rung.reason))
            and its[1]
            and its[2] == t.bottleneck.host
        ):
            continue
        mine = rung.station in cards and rung.station.startswith(f"{same}.")
        if not place or not (mine or (not place[1] and rung.station == f"network.{same}")):
            return rung
    return None


def port_of(held: Bottleneck) -> str:
    """The host whose port is the narrowest place of a TCP connection; nothing where that is none."""
    place = _PLACE.search(held.reason) if held.kind == "tcp" else None
    return place[2] if place and place[1] else ""


def tried(problem: Problem, station: Station, now_Bps: float, rate_of: RateOf, streams: str = "streams") -> Station:
    """A station with the changes worth a word, the best first, buffers as small as what then binds needs.

    Args:
        problem: The path, composed.
        station: The station.
        now_Bps: Rate of the transfer that it holds.
        rate_of: Its rate with a change [B/s].
        streams: What stands for more streams of its tool.
    """
    kept: list[tuple[float, tuple[str, tuple[str, ...]]]] = []
    for words, changed in station.changes:
        overrides = tuple(by_key(problem, o) for o in changed)
        rate = rate_of(overrides) if overrides else math.inf
        if rate <= now_Bps * _HELPS:
            continue
        buffers = bool(overrides) and all(o.partition("=")[0].endswith(_BUFFERS) for o in overrides)
        known = rate if overrides else 0.0  # what nobody could try comes last
        words = words if overrides else re.sub(r"\bstreams\b", streams, words)
        kept.append((known, _least(words, overrides, rate, rate_of) if buffers else (words, changed)))
    kept.sort(key=lambda each: -each[0])
    worth = [each for each in kept if not each[1][1] or each[0] > now_Bps * WORTH]
    changes = tuple(change for _, change in worth or kept)
    return replace(station, changes=changes, remedy="; or ".join(words for words, _ in changes))


def streams_of(given: PathSpec | None, f: int) -> str:
    """What stands for more streams of a transfer's tool: files at once, or another tool, where it has none."""
    if given is None or f >= len(given.transfers) or (tool := given.transfers[f].tool).streams_option:
        return "streams"
    return "files at once" if tool.files_option else "streams (of another tool: this one has none)"


def _least(words: str, overrides: tuple[str, ...], rate: float, rate_of: RateOf) -> tuple[str, tuple[str, ...]]:
    """Buffers with which the transfer still reaches the rate that those asked for give: what it gets is in proportion.

    The first part that no longer gives the rate is held by its window, so that it says what the rate needs.
    """
    sizes, part = [_size(o) for o in overrides], 1.0
    keys = [o.rpartition("=")[0] for o in overrides]

    def cut(part: float) -> tuple[str, ...]:
        return tuple(relief.sized(key, size * part) for key, size in zip(keys, sizes, strict=True))

    while part > _SMALLEST:
        less = rate_of(cut(part / _STEP))
        if less < rate * _REACHED:
            needed = (min(part / _STEP * rate / max(less, 1e-300) * spare, part) for spare in _SPARE)
            part = next((p for p in needed if p == part or rate_of(cut(p)) >= rate * _REACHED), part)
            break
        part /= _STEP
    made = cut(part)
    for size, override in zip(sizes, made, strict=True):
        words = words.replace(f"at least {relief.mib(size)}", f"at least {relief.mib(_size(override))}")
    return words, made


def _size(override: str) -> float:
    return units.parse(override.rpartition("=")[2], "B")


def rate_with(
    given: PathSpec, overrides: Sequence[str], f: int, arrays: Callable[[Problem], Matrices] | None = None
) -> float:
    """Rate of transfer ``f`` while all run, with a change; nothing where it cannot be made [B/s].

    Args:
        given: The path.
        overrides: The change.
        f: Number of the transfer.
        arrays: How the changed path is laid out; whole where it is left out.
    """
    try:
        with without_words():
            problem = timed.composed(given.changed(list(overrides)), Draw())
    except DtnsimError:
        return 0.0
    return float(solve.solve((arrays or solve.matrices)(problem)).rate[0, f])


def _tried(
    given: PathSpec, problem: Problem, f: int, kind: str, station: Station | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for words, overrides in station.changes if station is not None else ():
        if overrides:
            yield words, tuple(by_key(problem, o) for o in overrides)
    if kind not in _BY_MORE:
        return
    for number, option, now in at_once(given.transfers):
        if number == f and now * _MORE <= _MOST_AT_ONCE:
            more = now * _MORE
            yield (
                f"more at once: {typed(given.transfers[f].tool, option, more)}",
                (f"{given.transfer_key(f)}.tool.{option}={more}",),
            )


def by_key(problem: Problem, override: str) -> str:
    """``network.wan.loss=0`` with the key of the segment in the place of its station's name."""
    name = max((n for n in problem.keys if override.startswith(f"{n}.")), key=len, default="")
    return problem.keys[name] + override.removeprefix(name) if override.startswith("network.") and name else override
