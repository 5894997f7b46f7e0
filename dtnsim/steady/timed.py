"""Transfers that a time ends: what they move follows from their rate, and part of their costs from what they move.

How much of a write a page cache takes, how many files are opened, how far a connection has opened up: all of
that depends on the bytes. So the path is composed again with what the last solution moves, until that stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from dtnsim.composition.compose import Composer, compose
from dtnsim.composition.leg import FIRST_GUESS_BPS
from dtnsim.composition.residency import NOTHING, Past
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import Draw, middle
from dtnsim.ground.term import without_words
from dtnsim.physics.timed import ahead_of_arrival
from dtnsim.steady import epochs
from dtnsim.steady.order import past

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Problem, Transfer

#: rounds at most, and the relative change of what moves below which it stays
_ROUNDS: Final = 30
_STAYS: Final = 1e-4
#: bytes that take so many times too long take for ever, and the part of them that is tried next
_FOR_EVER: Final = 1e3
_LEAST_STEP: Final = 1e-3


def composed(
    given: PathSpec, draw: Draw, moved: Mapping[str, float] | None = None, *, in_time: bool = False
) -> Problem:
    """The path composed, its timed transfers with what they move.

    Args:
        given: The path.
        draw: Values of the parameters.
        moved: Bytes that each timed transfer moves, where they are known already (`amounts` of another problem);
            draws take those of the median.
        in_time: True where a simulation finds out what earlier transfers have left behind.
    """
    return composer(given, draw, moved, in_time=in_time).problem()


def composer(
    given: PathSpec,
    draw: Draw,
    moved: Mapping[str, float] | None = None,
    *,
    in_time: bool = False,
    before: Past | None = None,
) -> Composer:
    """What composes the path so (see `composed`); ``before``: what earlier transfers leave behind, where known."""
    times = {t.name: timing.seconds for t in given.transfers if (timing := t.timing()) is not None}
    if moved is None:
        moved = _settled(given, times) if times else {}
    if before is None:
        before = NOTHING if in_time else past(given, moved)
    return Composer(given, Ledger(draw), moved, before)


def amounts(problem: Problem) -> dict[str, float]:
    """What each timed transfer moves, for `composed` [B]."""
    return {t.name: t.payload_B for t in problem.transfers if t.timed}


def _settled(given: PathSpec, times: Mapping[str, float]) -> dict[str, float]:
    """What each timed transfer moves at the median."""
    sizes = {t.name: t.dataset.payload_B for t in given.transfers if t.dataset is not None}
    once = {t.name for t in given.transfers if (timing := t.timing()) is not None and not timing.repeats}
    most = {name: sizes[name] if name in once else math.inf for name in times}
    moved = {name: min(FIRST_GUESS_BPS * seconds, most[name]) for name, seconds in times.items()}
    searches = {name: _Search(seconds) for name, seconds in times.items()}
    for _ in range(_ROUNDS):
        with without_words():
            problem = compose(given, Draw(), moved)
        rates = dict(zip((t.name for t in problem.transfers), epochs.rates(problem)[0], strict=True))
        before = moved
        moved = {n: min(s.better(before[n], before[n] / max(rates[n], 1e-300)), most[n]) for n, s in searches.items()}
        if all(abs(moved[n] - before[n]) <= _STAYS * before[n] for n in moved):
            break
    return moved


class _Search:
    """Looks for the bytes that take a given time; more bytes take longer.

    Args:
        seconds: The time.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._below: tuple[float, float] | None = None
        self._above: tuple[float, float] | None = None

    def better(self, moved: float, took: float) -> float:
        """Bytes nearer to the answer than ``moved``, which take ``took``: along the chord, or by proportion."""
        straight = moved * max(self.seconds / max(took, 1e-300), _LEAST_STEP)
        if took <= self.seconds:
            again, self._below = self._below is not None, (moved, took)
        else:
            again, self._above = self._above is not None, (moved, took)
        if self._below is None or self._above is None or abs(took - self.seconds) <= _STAYS * self.seconds:
            return straight
        (low, quick), (high, slow) = self._below, self._above
        if slow > _FOR_EVER * self.seconds:  # connections have no time to open up for so many
            return math.sqrt(low * high)
        chord = low + (high - low) * (self.seconds - quick) / (slow - quick)
        return math.sqrt(chord * math.sqrt(low * high)) if again else chord


def sender_rate(problem: Problem, transfer: Transfer, rate: float) -> float | None:
    """What the sender of a timed test reports, which counts what its sockets have taken [B/s]."""
    if not transfer.timed or not rate > 0 or transfer.sizes_B != (math.inf,):
        return None
    visited = {d.station for p in transfer.phases for d in p.demands}
    for name, streams in problem.connections.items():
        if name in visited:
            waiting = ahead_of_arrival(rate, middle(streams.rtt_s), streams.streams, middle(streams.window_B))
            return rate + float(waiting) / transfer.time_s
    return None
