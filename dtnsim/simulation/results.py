"""What a simulation hands out: small frozen records, in SI, and samples of how long very many files took."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.ground import units
from dtnsim.ground.lazy import Shown
from dtnsim.ground.records import Prediction
from dtnsim.ground.uncertainty import Assumption
from dtnsim.physics._arrays import FloatArray as Array

ROOM: Final = 65_536  #: durations kept before neighbours are put together
AMONG: Final = 100  #: transfers up to which a run is placed among what `predict` draws


@dataclass(frozen=True, slots=True)
class Held:
    """A stretch of time in which one thing held a transfer back."""

    start_s: float
    end_s: float
    station: str


def joined(stretches: Sequence[Held], width: float) -> tuple[Held, ...]:
    """Joins stretches, of those one after another, shorter than ``width`` into one of what held longest in it."""
    groups: list[list[Held]] = []
    growing = False  # whether the last of them is still too short by itself
    for stretch in stretches:
        short = stretch.end_s - stretch.start_s < width
        if growing and short:
            groups[-1].append(stretch)
        else:
            groups.append([stretch])
        growing = short and stretch.end_s - groups[-1][0].start_s < width
    if growing and len(groups) > 1:  # a short rest belongs to the stretch before it
        groups.pop()
    result: list[Held] = []
    for group in groups:
        time = dict.fromkeys((h.station for h in group), 0.0)
        for h in group:
            time[h.station] += h.end_s - h.start_s
        station = max(time, key=time.__getitem__)
        start = result.pop().start_s if result and result[-1].station == station else group[0].start_s
        result.append(Held(start, group[-1].end_s, station))
    return (*result[:-1], replace(result[-1], end_s=stretches[-1].end_s)) if result else ()


@dataclass(frozen=True)
class Series:
    """What happened over time, in bins of equal width (the last one may be shorter)."""

    edge_s: Array  #: (B+1,) edges of the bins [s].
    #: (B, F) payload rate of each transfer to its destination (into its cache, where it has one); a verification that
    #: reads again does not count.
    rate_Bps: Array
    medium_Bps: Array  #: (B, F) payload rate onto the medium.
    cached_B: Array  #: (B, F) bytes in the destination's cache at the end of the bin.
    utilization: Array  #: (B, K) mean utilisation of each station, other people's transfers included.
    flows: Array  #: (B, K) mean number of these transfers' workers that are at a station.


class LazySeries(Series):
    """A series that is made when it is first asked for."""

    def __init__(self, make: Callable[[], Series]) -> None:
        object.__setattr__(self, "_make", make)

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet."""
        if name.startswith("_") or name not in Series.__dataclass_fields__:
            raise AttributeError(name)
        series = self._make()
        for each in fields(Series):
            object.__setattr__(self, each.name, getattr(series, each.name))
        return getattr(series, name)

    def __reduce__(self) -> Any:
        """Elsewhere it is a plain one."""
        return Series, tuple(getattr(self, each.name) for each in fields(Series))


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """What the workers of a transfer spent on one of its phases."""

    name: str  #: ``transfer``, ``verification`` ...
    moving_s: float  #: Worker-seconds in which bytes moved.
    waiting_s: float  #: Worker-seconds of round trips, file operations and slow start.


@dataclass(frozen=True, slots=True)
class TransferRun:
    """One transfer of one run."""

    name: str  #: Name in the path file.
    started_s: float  #: When its first worker began; nan if it did not.
    #: When the tool's last byte had been written (into the cache, where there is one); nan if not yet.
    written_s: float
    finished_s: float  #: When all was done: ``written_s``, or later where the medium's last byte is waited for.
    on_medium_s: float  #: When the medium had every byte; infinite where it has not by the end of the run.
    payload_B: float  #: Bytes of the files done, and what had been carried of those under way.
    files: int  #: Files done.
    file_s: Array  #: How long a file took, a sample (see `Durations`).
    file_counts: Array  #: How many files each entry of ``file_s`` represents.
    phases: tuple[PhaseTime, ...]  #: What the workers spent on each phase.
    retries: int  #: Files started again after a fault.
    held: Sequence[Held]  #: What held it back, when.
    omitted_s: float = 0.0  #: Time after its start that does not count [s].
    sender_Bps: float | None = None  #: What the sender of a timed test reports; None where bytes end it.
    counted: bool = True  #: Whether its bytes count among those of the whole path.

    @property
    def duration_s(self) -> float:
        """From start to end, what is omitted left out."""
        return self.finished_s - self.started_s - self.omitted_s

    @property
    def throughput_Bps(self) -> float:
        """Mean over the whole transfer; nan where it has not finished."""
        return self.payload_B / self.duration_s if self.duration_s > 0 else float("nan")

    @property
    def waiting_s(self) -> float:
        """Worker-seconds spent waiting for round trips and file operations."""
        return sum(p.waiting_s for p in self.phases)

    @property
    def moving_s(self) -> float:
        """Worker-seconds spent moving bytes."""
        return sum(p.moving_s for p in self.phases)

    def file_quantiles(self, shares: Sequence[float]) -> list[float]:
        """Durations that these shares of the files do not exceed [s]; empty where no file is done."""
        if len(self.file_s) == 1:
            return [float(self.file_s[0])] * len(shares)
        return list(map(float, quantiles(self.file_s, self.file_counts, shares))) if len(self.file_s) else []


@dataclass(frozen=True, slots=True)
class Run:
    """One run (replica) of a path."""

    seed: int  #: What its arrivals were drawn from.
    end_s: float  #: Simulated time at its end.
    transfers: Sequence[TransferRun]  #: Its transfers, in the order of the file.
    stations: Sequence[str]  #: Names of the stations, in the order of the series.
    series: Series  #: What happened over time; empty but for the first run.
    happened: tuple[tuple[float, str], ...]  #: (time [s], what) of every event.
    events: int  #: Steps of the event loop.
    complete: bool  #: True where every transfer has finished.
    interrupted: bool = False  #: True where somebody stopped it.


@dataclass(frozen=True, repr=False)
class Simulation(Shown):
    """All runs of a path; the first one has every parameter at its median."""

    name: str  #: Name of the path.
    runs: tuple[Run, ...]  #: The runs, in the order of their numbers.
    warnings: tuple[str, ...]  #: What the reader should know.
    wanted: int = 1  #: How many runs were asked for.
    #: For each transfer, what has held it (as in `Held.station`) and why that binds, in words.
    why: Sequence[Mapping[str, str]] = ()
    given: Any = field(default=None, compare=False, repr=False)  #: The path.

    def __repr__(self) -> str:
        """One line."""
        done = "" if self.complete else ", not complete"
        runs = f"{len(self.runs)} run{'' if len(self.runs) == 1 else 's'}"
        return f"<Simulation {self.name}: {runs}, {units.show(self.runs[0].end_s, 's')}{done}>"

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it before all was done."""
        return len(self.runs) < self.wanted or any(r.interrupted for r in self.runs)

    @cached_property
    def _predicted(self) -> Prediction | None:
        """What `predict` says of the path, of up to `AMONG` transfers."""
        from dtnsim.steady.prediction import predict

        return predict(self.given) if len(self.runs[0].transfers) <= AMONG else None

    @property
    def assumed(self) -> Sequence[Assumption]:
        """Numbers that nobody wrote and that move the rate of the whole path by more than 5 %, as in `predict`."""
        return self._predicted.assumed if self._predicted is not None else ()

    @property
    def among(self) -> tuple[float | None, ...]:
        """For each transfer the share of `predict`'s scenarios that are slower than the first run.

        None where it has not finished; empty for more than `AMONG` transfers.
        """
        if self._predicted is None:
            return ()
        first, drawn = self.runs[0].transfers, self._predicted.drawn
        rates = drawn.rates_Bps if drawn is not None else np.zeros((1, len(first)))
        return tuple(
            float(np.mean(rates[:, f] < t.throughput_Bps)) if t.duration_s >= 0 else None for f, t in enumerate(first)
        )

    @property
    def complete(self) -> bool:
        """Whether every transfer of every run has finished."""
        return not self.interrupted and all(r.complete for r in self.runs)

    def spread(self, transfer: int) -> tuple[list[float], list[float]]:
        """(throughputs, durations) of one transfer over the runs that finished it."""
        done = [r.transfers[transfer] for r in self.runs if r.transfers[transfer].duration_s >= 0]
        return [t.throughput_Bps for t in done], [t.duration_s for t in done]


class Durations:
    """A sample of durations, each of so many files.

    Up to `ROOM` entries are kept as they come. When they are full, entries that are neighbours in size
    are put together two by two (their mean, their number of files), so the sum stays exact and a
    quantile moves by at most the files of one entry for each such round: some 1/`ROOM` of all.
    """

    __slots__ = ("_counts", "_seconds")

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self._counts: list[int] = []

    def add(self, seconds: float, files: int = 1) -> None:
        """One file, or several that took equally long each."""
        if len(self._seconds) >= ROOM:
            self._halve()
        self._seconds.append(seconds)
        self._counts.append(files)

    def _halve(self) -> None:
        seconds, counts = np.array(self._seconds), np.array(self._counts, float)
        order = np.argsort(seconds, kind="stable")
        pairs, files = seconds[order].reshape(-1, 2), counts[order].reshape(-1, 2)
        total = files.sum(axis=1)
        self._seconds = ((pairs * files).sum(axis=1) / total).tolist()
        self._counts = [int(n) for n in total]

    def arrays(self, room: int = ROOM) -> tuple[Array, Array]:
        """(durations [s], files of each), at most ``room`` entries."""
        while len(self._seconds) > room:
            if len(self._seconds) % 2:
                self._seconds.append(self._seconds[-1])
                self._counts.append(0)
            self._halve()
        return np.array(self._seconds, float), np.array(self._counts, float)


def quantiles(seconds: ArrayLike, files: ArrayLike, shares: ArrayLike) -> Array:
    """Durations that these shares of the files do not exceed.

    Args:
        seconds: (N,) durations, N at least 1 [s].
        shares: (Q,) from 0 to 1 [1].

    Returns:
        (Q,) durations [s]: the smallest with at least that share of the files (inverse of the distribution function).
    """
    order = np.argsort(np.asarray(seconds, float), kind="stable")
    sizes, counts = np.asarray(seconds, float)[order], np.asarray(files, float)[order]
    below = np.cumsum(counts)
    wanted = np.asarray(shares, float) * below[-1] * (1 - 1e-12)
    return np.asarray(sizes[np.minimum(np.searchsorted(below, wanted), len(sizes) - 1)], float)
