"""Drives that several transfers share: a byte's demand there changes as transfers come and go.

Each transfer is composed by itself for the number of streams on the volumes of its ends, since nothing else in its
demands depends on the other transfers. Up to `EXACT` streams every number is composed, beyond that in steps of a fifth.
"""

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from dtnsim.components.base import Model
from dtnsim.composition.resolved_transfer import Leg
from dtnsim.composition.storage import Shelf, Storage
from dtnsim.ground.grouping import by_key
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.quantity import Value
from dtnsim.ground.records import Transfer

#: streams up to which every number is composed, and steps of a doubling beyond
EXACT: Final = 8
STEPS: Final = 4


def step(streams: int) -> int:
    """The number of streams that ``streams`` is rounded to."""
    if streams <= EXACT:
        return streams
    return round(2 ** (round(math.log2(streams) * STEPS) / STEPS))


class Composed(Protocol):
    """A path's composer (`dtnsim.composition.compose`)."""

    legs: list[Leg]
    ledger: Ledger

    def storage_of(self, number: int) -> Storage:
        """The storage accesses of the transfers in the same turn."""

    def beside_streams(self, number: int, streams: Mapping[Shelf, int]) -> Transfer:
        """A transfer composed for given numbers of streams on the volumes of its ends."""


class Volumes:
    """Which transfers share volumes, and each transfer as composed for a number of streams there.

    Args:
        composer: The path's composer.
        whole: The transfers beside all others.
    """

    def __init__(self, composer: Composed, transfers: tuple[Transfer, ...]) -> None:
        self._composer, self._whole = composer, transfers
        self.scenarios = max(composer.ledger.draw.samples, 1)
        self._visited = [composer.storage_of(f).visited(leg) for f, leg in enumerate(composer.legs)]
        self._known: dict[tuple[int, tuple[int, ...]], Transfer] = {}
        self._minds: dict[tuple[int, ...], bool] = {}
        self._kinds: dict[int, tuple[int, ...]] = {}
        self._numbers: dict[int, int] = {}
        self._unlike: list[Model] = []
        self.visitors = by_key((shelf, f) for f, ends in enumerate(self._visited) for shelf in dict(ends))

    @property
    def shared(self) -> bool:
        """Whether any two transfers share a volume."""
        return any(len(visitors) > 1 for visitors in self.visitors.values())

    def visits(self, f: int) -> list[tuple[Shelf, int]]:
        """(volume, its own streams there) of each end of a transfer that is a volume."""
        return self._visited[f]

    def neighbours(self, f: int) -> list[int]:
        """Transfers that share a volume with ``f``, itself included, without those that other streams do not affect."""
        kinds = [kind for shelf, _ in self._visited[f] for kind in self._by_drives[shelf].items()]
        return list(dict.fromkeys(g for drives, those in kinds if self._minds.get(drives, True) for g in those))

    @cached_property
    def _by_drives(self) -> dict[Shelf, dict[tuple[int, ...], list[int]]]:
        """The visitors of each volume, grouped by what makes them depend on other streams."""
        return {shelf: by_key((self._drives(f), f) for f in visitors) for shelf, visitors in self.visitors.items()}

    def minds(self, f: int) -> bool:
        """Whether other streams on its volumes may change a transfer's demands."""
        return self._minds.get(self._drives(f), True)

    def beside_all(self, f: int) -> Transfer:
        """The transfer beside all others."""
        return self._whole[f]

    def count(self, f: int, streams: Counter[Shelf], sign: int) -> None:
        """Adds a transfer's streams to those on each volume (``sign`` 1), or takes them away (-1).

        Args:
            f: Number of the transfer.
            streams: Streams by volume.
            sign: 1 or -1.
        """
        for shelf, number in self._visited[f]:
            streams[shelf] += sign * number

    def beside_streams(self, f: int, streams: Mapping[Shelf, int]) -> Transfer:
        """The transfer composed for the given streams on each volume."""
        shelves = [shelf for shelf, _ in self._visited[f]]
        counts = tuple(streams[shelf] for shelf in shelves)
        drives = self._drives(f)
        if not self.minds(f) or counts == tuple(self._composer.storage_of(f).streams[shelf] for shelf in shelves):
            return self._whole[f]
        key = f, tuple(map(step, counts))
        if key not in self._known:
            if drives not in self._minds:  # whoever has equal ones; two streams may seek as often as three
                alone: Counter[Shelf] = Counter()
                self.count(f, alone, 1)
                self._minds[drives] = not _same_costs(self._composer.beside_streams(f, alone), self._whole[f])
            if not self._minds[drives]:
                return self._whole[f]
            self._known[key] = self._composer.beside_streams(f, dict(zip(shelves, key[1], strict=True)))
        return self._known[key]

    def _drives(self, f: int) -> tuple[int, ...]:
        """What makes a transfer mind the streams of others: its tool and its volumes, their places and names apart."""
        if f not in self._kinds:
            leg = self._composer.legs[f]
            volumes = [end.mounted for end in (leg.source, leg.destination) if end.volume is not None]
            served = any(v.server is not None or getattr(v.filesystem, "system", None) for v in volumes)
            self._kinds[f] = (-1 - f,) if served else tuple(self._number(thing) for thing in (leg.spec.tool, *volumes))
        return self._kinds[f]

    def _number(self, thing: Model) -> int:
        """The same number for all that are equal in every figure."""
        number = self._numbers.get(id(thing))
        if number is None:
            number = next((n for n, other in enumerate(self._unlike) if other == thing), len(self._unlike))
            self._numbers[id(thing)] = number
            if number == len(self._unlike):
                self._unlike.append(thing)
        return number


def _same_costs(one: Transfer, other: Transfer) -> bool:
    """Whether every byte costs the same, in all scenarios."""
    costs, other_costs = _costs(one), _costs(other)
    return len(costs) == len(other_costs) and all(map(np.array_equal, costs, other_costs))


def _costs(t: Transfer) -> list[Value]:
    """Every cost of a byte."""
    phases = [*t.phases, *((t.buffered,) if t.buffered is not None else ())]
    return [d.per_byte for p in phases for d in (*p.demands, *p.delays)]
