"""What transfers queue for and cross: endpoints, users, classes, lanes between endpoints, and ways between hosts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dtnsim.description.workload import Retry
    from dtnsim.simulation.fleet.corruption import Damage

#: no limit on transfers at once
UNLIMITED: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class Reduced:
    """One kind of transfer between two hosts, composed once.

    Attributes:
        demands: Use of each shared station a byte, (number of the station, units) in order.
        sizes_B: Sizes of transfers for which it is known how long one takes alone, rising [B].
        times_s: How long; in between, as far between [s].
        weight: Weight in sharing.
        workers: Files in progress at once.
        own: What holds it where it is alone (number of a name).
    """

    demands: tuple[tuple[int, float], ...]
    sizes_B: tuple[float, ...]
    times_s: tuple[float, ...]
    weight: float
    workers: float
    own: int


@dataclass(frozen=True, slots=True)
class Work:
    """The transfers of a fleet, in the order in which they may begin, (N,) each.

    Attributes:
        asked: When it was asked for [s].
        ready: When it may begin: no earlier, and where its class has a window no earlier than that opens [s].
        size: Bytes [B].
        files: Number of files.
        lane: Its lane.
        grain: By the size of its files, which of the ways between two hosts.
        due: When it has to be done; infinite without a deadline [s].
        cap: Rate that it may not pass [B/s].
        damage: What happened to its files; nothing where left out.
    """

    asked: NDArray[np.float64]
    ready: NDArray[np.float64]
    size: NDArray[np.float64]
    files: NDArray[np.int64]
    lane: NDArray[np.int64]
    grain: NDArray[np.int64]
    due: NDArray[np.float64]
    cap: NDArray[np.float64]
    damage: Damage | None = None

    @property
    def again_B(self) -> NDArray[np.float64] | float:
        """Bytes of each that are sent again because files were found damaged [B]."""
        return 0.0 if self.damage is None else self.damage.again_B

    def __len__(self) -> int:
        return len(self.ready)


class Place:
    """What has room for so many transfers at once: an endpoint, a user, a class."""

    __slots__ = ("limit", "name")

    def __init__(self, name: str, limit: int | None) -> None:
        self.name = name
        self.limit = UNLIMITED if limit is None else limit


class Endpoint(Place):
    """Hosts behind one name; the next transfer takes the next host, or the one with the fewest."""

    __slots__ = ("by_load", "hosts")

    def __init__(self, name: str, limit: int | None, hosts: list[int], *, by_load: bool) -> None:
        super().__init__(name, limit)
        self.hosts, self.by_load = hosts, by_load


class User(Place):
    """Whose transfers are limited together."""

    __slots__ = ("share",)

    def __init__(self, name: str, limit: int | None, share: float) -> None:
        super().__init__(name, limit)
        self.share = share


class Kind(Place):
    """A class of transfers.

    Attributes:
        number: Its number.
        priority: Higher ones begin first.
        retry: What becomes of those that are broken off.
        grows: Factor by which it grows in a year.
    """

    __slots__ = ("grows", "number", "priority", "retry")

    def __init__(self, name: str, limit: int | None, number: int, priority: int, retry: Retry, grows: float) -> None:
        super().__init__(name, limit)
        self.number, self.priority, self.retry, self.grows = number, priority, retry, grows

    def back_off_s(self, tries: int) -> float:
        """How long a transfer waits that has been broken off so often [s]."""
        wait, longest = self.retry.after.value, self.retry.most.value
        steps = tries - 1
        if self.retry.factor > 1 and wait < longest:
            steps = min(steps, math.ceil(math.log(longest / wait) / math.log(self.retry.factor)))
        return min(wait * self.retry.factor**steps, max(longest, wait))


class Way:
    """A `Reduced` transfer between two hosts.

    Attributes:
        number: Its number among all ways.
        reduced: Its demands and what it can do alone.
        stations: Numbers of its stations.
        source, target: Its hosts.
    """

    __slots__ = ("number", "reduced", "source", "stations", "target")

    def __init__(self, number: int, reduced: Reduced, source: int, target: int) -> None:
        self.number, self.reduced = number, reduced
        self.source, self.target = source, target
        self.stations = frozenset(k for k, _ in reduced.demands)


class Lane:
    """Transfers of one class and user between two endpoints, in the order in which they came.

    Attributes:
        number: Its number.
        ways: By place of the source, place of the target, and grain of the files; None between a host and itself.
        places: Endpoints, user and class.
    """

    __slots__ = ("kind", "number", "places", "source", "target", "user", "ways")

    def __init__(
        self,
        number: int,
        ends: tuple[Endpoint, Endpoint],
        user: User,
        kind: Kind,
        ways: list[list[list[Way | None]]],
    ) -> None:
        self.number, self.user, self.kind, self.ways = number, user, kind, ways
        self.source, self.target = ends
        self.places: tuple[Place, ...] = (*ends, user, kind)
