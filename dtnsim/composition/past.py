"""What earlier transfers of a path have left behind when later ones begin, as the steady answer knows it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Past:
    """What transfers find.

    Attributes:
        shares: By transfer: parts of what it reads in the memory of its host, and in that of the server.
        held_B: By transfer and host: memory that programs hold there meanwhile, its own included [B].
        dirty_B: By transfer and host: dirty bytes that earlier writers have left there [B].
        draining: Transfers and hosts where write-back is at work on them.
        turns: By transfer: those of other turns it never meets; empty where only ``after`` says who meets.
    """

    shares: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    held_B: Mapping[tuple[str, str], float] = field(default_factory=dict)
    dirty_B: Mapping[tuple[str, str], float] = field(default_factory=dict)
    draining: AbstractSet[tuple[str, str]] = frozenset()
    turns: Mapping[str, int] = field(default_factory=dict)

    def by(self, name: str, hosts: tuple[str, ...]) -> tuple[object, ...]:
        """All that a transfer finds on its hosts; equal for those that find the same."""
        keys = [(name, host) for host in hosts]
        return (
            tuple(self.shares.get(name, ())),
            *((self.held_B.get(key), self.dirty_B.get(key), key in self.draining) for key in keys),
        )


#: where nothing was before
NOTHING = Past()
