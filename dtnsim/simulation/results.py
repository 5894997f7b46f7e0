"""What a simulation hands out: small frozen records, in SI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Held:
    """A stretch of time in which one thing held a transfer back."""

    start_s: float
    end_s: float
    station: str


@dataclass(frozen=True, slots=True)
class Series:
    """What happened over time, in bins of equal width.

    Attributes:
        edge_s: (B+1,) edges of the bins [s].
        rate_Bps: (B, F) payload rate of each transfer into its destination (its cache, where it has one).
        medium_Bps: (B, F) payload rate out of the cache onto the medium.
        cached_B: (B, F) bytes in the destination's cache at the end of the bin.
        utilization: (B, K) mean utilisation of each station.
        flows: (B, K) mean number of flows at each station.
    """

    edge_s: Array
    rate_Bps: Array
    medium_Bps: Array
    cached_B: Array
    utilization: Array
    flows: Array


@dataclass(frozen=True, slots=True)
class TransferRun:
    """One transfer of one run.

    Attributes:
        name: Name in the path file.
        started_s: When its first worker began.
        finished_s: When its last file was done (flushed, where the tool waits for that); nan if it was not.
        payload_B: Bytes moved by then.
        files: Files done.
        file_s: Duration of every file (or of a batch of equal ones, divided evenly) in order of completion.
        waiting_s: Worker-seconds spent waiting for round trips and file operations.
        moving_s: Worker-seconds spent moving bytes.
        retries: Files started again after a fault.
        held: What held it back, when.
    """

    name: str
    started_s: float
    finished_s: float
    payload_B: float
    files: int
    file_s: Array
    waiting_s: float
    moving_s: float
    retries: int
    held: tuple[Held, ...]

    @property
    def duration_s(self) -> float:
        """From start to end."""
        return self.finished_s - self.started_s

    @property
    def throughput_Bps(self) -> float:
        """Mean over the whole transfer."""
        return self.payload_B / self.duration_s if self.duration_s > 0 else float("nan")


@dataclass(frozen=True, slots=True)
class Run:
    """One run (replica) of a path."""

    seed: int
    end_s: float
    transfers: tuple[TransferRun, ...]
    stations: tuple[str, ...]
    series: Series
    happened: tuple[tuple[float, str], ...]
    events: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Simulation:
    """All runs of a path; the first one has every parameter at its median."""

    name: str
    runs: tuple[Run, ...]
    warnings: tuple[str, ...]

    def spread(self, transfer: int) -> tuple[list[float], list[float]]:
        """(throughputs, durations) of one transfer over the runs that finished it."""
        done = [r.transfers[transfer] for r in self.runs if r.transfers[transfer].finished_s > 0]
        return [t.throughput_Bps for t in done], [t.duration_s for t in done]
