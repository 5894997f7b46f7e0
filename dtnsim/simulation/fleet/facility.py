"""What transfers queue for and cross: endpoints, users, classes, lanes between endpoints, ways between hosts."""

import math
from dataclasses import dataclass

from dtnsim.description.workload import Retry
from dtnsim.physics._arrays import FloatArray as Array, IntArray
from dtnsim.simulation.fleet.corruption import Damage


@dataclass(frozen=True, slots=True)
class Reduced:
    """One kind of transfer between two hosts, composed once."""

    #: Use of each shared station a byte, (number of the station, units) in order.
    demands: tuple[tuple[int, float], ...]
    sizes_B: tuple[float, ...]  #: Sizes of transfers for which it is known how long one takes alone, rising [B].
    times_s: tuple[float, ...]  #: How long; in between, as far between [s].
    weight: float  #: Weight in sharing.
    workers: float  #: Files in progress at once.
    own: int  #: What holds it where it is alone (number of a name).


@dataclass(frozen=True, slots=True)
class Work:
    """The transfers of a fleet, in the order in which they may begin, (N,) each."""

    asked: Array  #: When it was asked for [s].
    ready: Array  #: When it may begin: no earlier, and where its class has a window no earlier than that opens [s].
    size: Array  #: Bytes [B].
    files: IntArray  #: Number of files.
    lane: IntArray  #: Its lane.
    grain: IntArray  #: By the size of its files, which of the ways between two hosts.
    due: Array  #: When it has to be done; infinite without a deadline [s].
    cap: Array  #: Rate that it may not pass [B/s].
    damage: Damage  #: What happened to its files.

    def __len__(self) -> int:
        return len(self.ready)


@dataclass(slots=True, eq=False)
class Place:
    """A limit on transfers at once (None: no limit): of an endpoint, a user or a class."""

    name: str
    limit: int | None


@dataclass(slots=True, eq=False)
class Endpoint(Place):
    """Hosts behind one name; the next transfer takes the next host, or the one with the fewest."""

    hosts: list[int]
    by_load: bool


@dataclass(slots=True, eq=False)
class User(Place):
    """A user, whose transfers are limited together."""

    share: float


@dataclass(slots=True, eq=False)
class Kind(Place):
    """A class of transfers."""

    number: int  #: Its number.
    priority: int  #: Higher ones begin first.
    retry: Retry  #: What becomes of those that are broken off.
    grows: float  #: Factor by which it grows in a year.

    def back_off_s(self, tries: int) -> float:
        """How long a transfer waits that has been broken off so often [s]."""
        wait, longest = self.retry.after.value, self.retry.most.value
        steps = tries - 1
        if self.retry.factor > 1 and wait < longest:
            steps = min(steps, math.ceil(math.log(longest / wait) / math.log(self.retry.factor)))
        return min(wait * self.retry.factor**steps, max(longest, wait))


@dataclass(slots=True, eq=False)
class Way:
    """A `Reduced` transfer between two hosts."""

    number: int  #: Its number among all ways.
    reduced: Reduced  #: Its demands and what it can do alone.
    #: Its hosts.
    source: int
    target: int


@dataclass(slots=True, eq=False)
class Lane:
    """Transfers of one class and user between two endpoints, in the order in which they came."""

    number: int  #: Its number.
    ends: tuple[Endpoint, Endpoint]
    user: User
    kind: Kind
    #: By place of the source, place of the target, and grain of the files; None between a host and itself.
    ways: list[list[list[Way | None]]]

    @property
    def names(self) -> tuple[str, str]:
        """Names of its ends."""
        return self.ends[0].name, self.ends[1].name
