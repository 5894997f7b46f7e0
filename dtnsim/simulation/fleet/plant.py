"""What transfers queue for and cross: endpoints, users, classes, lanes between endpoints, and ways between hosts."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dtnsim.description.workload import Retry
    from dtnsim.engine.flows import Row

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

    def alone_s(self, size_B: float) -> float:
        """Time that a transfer takes alone [s]."""
        sizes, times = self.sizes_B, self.times_s
        if len(sizes) == 1:
            return times[0] * size_B / sizes[0]
        k = min(max(bisect(sizes, size_B), 1), len(sizes) - 1)
        slope = (times[k] - times[k - 1]) / (sizes[k] - sizes[k - 1])
        return times[k - 1] + slope * (size_B - sizes[k - 1])


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
    """

    asked: NDArray[np.float64]
    ready: NDArray[np.float64]
    size: NDArray[np.float64]
    files: NDArray[np.int64]
    lane: NDArray[np.int64]
    grain: NDArray[np.int64]
    due: NDArray[np.float64]
    cap: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.ready)


class Place:
    """What has room for so many transfers at once: an endpoint, a user, a class."""

    __slots__ = ("active", "limit", "name", "waiting")

    def __init__(self, name: str, limit: int | None) -> None:
        self.name = name
        self.limit = UNLIMITED if limit is None else limit
        self.active = 0
        #: lanes with transfers that wait, in the order in which they began to
        self.waiting: dict[Lane, None] = {}


class Endpoint(Place):
    """Hosts behind one name; the next transfer takes the next host, or the one with the fewest."""

    __slots__ = ("by_load", "hosts", "turn")

    def __init__(self, name: str, limit: int | None, hosts: list[int], *, by_load: bool) -> None:
        super().__init__(name, limit)
        self.hosts, self.by_load, self.turn = hosts, by_load, 0

    def order(self, active: list[int]) -> list[int]:
        """Its hosts' places in the order in which they are to be tried."""
        turned = [*range(self.turn, len(self.hosts)), *range(self.turn)]
        return sorted(turned, key=lambda m: active[self.hosts[m]]) if self.by_load else turned


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
    """A `Reduced` transfer between two hosts, as the engine has it.

    Attributes:
        number: Its number among all ways.
        reduced: Its demands and what it can do alone.
        row: The engine's row, once there is an engine.
        stations: Numbers of its stations.
        source, target: Its hosts.
        bytes: Payload that it has moved in this stretch of time [B].
    """

    __slots__ = ("bytes", "number", "reduced", "row", "source", "stations", "target")

    row: Row

    def __init__(self, number: int, reduced: Reduced, source: int, target: int) -> None:
        self.number, self.reduced = number, reduced
        self.source, self.target = source, target
        self.stations = frozenset(k for k, _ in reduced.demands)
        self.bytes = 0.0


class Lane:
    """Transfers of one class and user between two endpoints, in the order in which they came.

    Attributes:
        number: Its number.
        ways: By place of the source, place of the target, and grain of the files; None between a host and itself.
        queue: Heap of (when it is due where that decides, number) of those that wait.
        places: Endpoints, user and class.
        down_since: From when on nothing goes because every way is down; infinite otherwise [s].
        down: The last stretch of that [s].
    """

    __slots__ = ("down", "down_since", "kind", "number", "places", "queue", "source", "target", "user", "ways")

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
        self.queue: list[tuple[float, int]] = []
        self.places: tuple[Place, ...] = (*ends, user, kind)
        self.down_since = math.inf
        self.down = (0.0, 0.0)

    def has_room(self) -> bool:
        """Whether the limits let its next transfer begin."""
        user, kind, source, target = self.user, self.kind, self.source, self.target
        if user.active >= user.limit or kind.active >= kind.limit:
            return False
        if source is target:
            return source.active + 2 <= source.limit
        return source.active < source.limit and target.active < target.limit
