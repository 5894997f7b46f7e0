"""A slow oracle for stores: fixed small steps of time, rates by hand, nothing of the code that is tested.

Workers fill a store over a common way of rate ``way``, each at most ``cap``; the store is emptied at
``disk``. A full store lets in what it lets out. Between files a worker pauses.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Stepped:
    """The store in steps of ``dt`` seconds."""

    way: float
    disk: Callable[[float], float]
    size: float
    files: list[list[float]]
    pause: float = 0.0
    cap: float = float("inf")
    hold: float = 0.0
    dt: float = 1e-3
    level: float = 0.0
    now: float = 0.0
    written: float = 0.0
    ends: list[float] = field(default_factory=list)

    def run(self) -> float:
        """Time at which the store is empty after the last file."""
        left = [[self.pause, *files] for files in self.files]
        begun = False
        while any(left) or self.level > 1e-9:
            moving = []
            for worker in left:
                if not worker:
                    continue
                if worker[0] > 0:
                    worker[0] -= self.dt
                elif len(worker) > 1:
                    moving.append(worker)
                else:
                    worker.clear()
            if self.level <= self.hold and not moving:  # write-back stops where it begins; the next must gather again
                begun = False
            begun = begun or self.level >= self.hold or not any(left)
            out = self.disk(self.now) if begun else 0.0
            rate = min(self.cap, self.way / len(moving)) if moving else 0.0
            into = rate * len(moving)
            if self.level <= 0:
                out = min(out, into)
            if self.level >= self.size and into > out:
                into = out
            self.level = min(max(self.level + (into - out) * self.dt, 0.0), self.size)
            for worker in moving:
                worker[1] -= into / len(moving) * self.dt
                if worker[1] <= 0:
                    del worker[1]
                    worker[0] = self.pause if len(worker) > 1 else 0.0
                    self.written = self.now + self.dt
            self.now += self.dt
        return self.now
