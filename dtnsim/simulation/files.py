"""Memory of the hosts in time: which files it holds, and what programs take from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from dtnsim.composition.residency import Residency
from dtnsim.simulation.jobs import Job, at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dtnsim.ground.pages import Kept
    from dtnsim.simulation.memory import Memory


class Files:
    """The files in the memories of a path's hosts.

    Args:
        jobs: The transfers.
        memories: Limits on dirty bytes, by pool.
        scenario: Which of the drawn values.
    """

    def __init__(self, jobs: Sequence[Job], memories: Mapping[str, Memory], scenario: int) -> None:
        self._jobs, self._memories = jobs, memories
        self._writers: dict[tuple[str, str], list[Job]] = {}
        self._hosts: dict[str, Residency] = {}
        for job in jobs:
            for kept in (*job.transfer.reads, *job.transfer.writes):
                if kept.host not in self._hosts:
                    self._hosts[kept.host] = Residency(at(kept.room_B, scenario), partial(self._dirty, kept.host))
            for kept in job.transfer.writes[:1]:  # what waits at a server is on its way to the medium already
                self._writers.setdefault((kept.host, kept.file), []).append(job)

    def holds(self, f: int, sign: int) -> None:
        """A program takes its memory (``sign`` 1), or gives it back (-1)."""
        transfer = self._jobs[f].transfer
        size = sign * transfer.holds_B
        if not size:
            return
        if transfer.holder in self._hosts:
            self._hosts[transfer.holder].hold(size)
        if transfer.holder in self._memories:
            self._memories[transfer.holder].hold(size)

    def begun(self, f: int) -> tuple[float, ...]:
        """A transfer begins: parts of what it reads in the memory of its own host, and in the server's."""
        transfer, shares, left = self._jobs[f].transfer, [], 1.0
        for kept in transfer.reads:
            share = min(self._read(kept) / kept.size_B, left) if left > 0 and kept.size_B > 0 else 0.0
            shares.append(share)
            left -= share
        for kept in transfer.writes:
            self._hosts[kept.host].write(kept.file, kept.size_B)
        return tuple(shares)

    def ended(self, f: int) -> None:
        """A transfer has ended: what it has moved is in memory."""
        transfer = self._jobs[f].transfer
        for kept in (*transfer.reads, *transfer.writes):
            self._hosts[kept.host].ended(kept.file)

    def _read(self, kept: Kept) -> float:
        return self._hosts[kept.host].read(kept.file, kept.size_B)

    def _dirty(self, host: str, file: str) -> float:
        level = 0.0
        for job in self._writers.get((host, file), ()):
            if job.cache is not None:
                job.cache.book(job.cache.env.now)
                level += job.cache.level
        return level
