"""Other people's transfers: where they come from, and what a byte of them costs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.ground.errors import InputError

if TYPE_CHECKING:
    from dtnsim.description.events import Others

#: arrivals drawn at once
_BLOCK: Final = 1024


@dataclass(frozen=True, slots=True)
class Crowd:
    """Other people's transfers, ready for the engine.

    Attributes:
        given: How they arrive.
        row: Station -> demand of one of their bytes.
        cap: Rate that one of them cannot pass [B/s].
        weight: Share of one of them next to others.
        folder: Where a trace lies.
    """

    given: Others
    row: dict[int, float]
    cap: float
    weight: float
    folder: Path

    @property
    def offered_Bps(self) -> float:
        """Bytes a second that they bring on average; 0 for a trace, which has an end [B/s]."""
        if self.given.rate is None:
            return 0.0
        return self.given.rate.value * self.given.size.value * math.exp(self.given.sigma**2 / 2)

    def arrivals(self, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
        """(time [s], bytes) of each, in order of time."""
        if self.given.trace:
            return read_trace(self.folder / self.given.trace)
        return poisson(self.given, rng)


def poisson(others: Others, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Arrivals by thinning a Poisson process of the highest rate (Lewis and Shedler 1979)."""
    assert others.rate is not None
    highest, time = others.rate.value * (1 + others.diurnal), 0.0
    while highest > 0:
        times = time + np.cumsum(rng.exponential(1 / highest, _BLOCK))
        wave = 1 + others.diurnal * np.cos(2 * np.pi * (times / 3600 - others.peak_hour) / 24)
        kept = rng.random(_BLOCK) * (1 + others.diurnal) <= wave
        sizes = others.size.value * np.exp(others.sigma * rng.standard_normal(_BLOCK))
        yield from zip(times[kept].tolist(), sizes[kept].tolist(), strict=True)
        time = float(times[-1])


def read_trace(path: Path) -> Iterator[tuple[float, float]]:
    """(time [s], bytes) of each line of a CSV with the columns ``time_s`` and ``bytes``.

    Raises:
        InputError: It cannot be read, or a line is not what it should be.
    """
    last = 0.0
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if not {"time_s", "bytes"} <= set(reader.fieldnames or ()):
                raise InputError(f"{path}: needs the columns time_s and bytes (found {reader.fieldnames})")
            for number, line in enumerate(reader, 2):
                try:
                    time, size = float(line["time_s"]), float(line["bytes"])
                except (TypeError, ValueError):
                    raise InputError(f"{path}:{number}: is not two numbers (got {line})") from None
                if not (math.isfinite(time) and math.isfinite(size) and time >= 0 and size >= 0):
                    raise InputError(f"{path}:{number}: time and bytes must be 0 or more (got {line})")
                if time < last:
                    raise InputError(f"{path}:{number}: time_s {time} is before the line above; sort the lines by time")
                last = time
                yield time, size
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
