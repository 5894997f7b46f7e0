"""`sweep`: a path in many scenarios, on one process, several or a cluster; a broken run leaves its rows behind."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description import override, spec
from dtnsim.description.override import Overrides
from dtnsim.ground import pool, units
from dtnsim.ground.errors import InputError, UnitError
from dtnsim.ground.lazy import Pictured
from dtnsim.ground.pool import Pool
from dtnsim.ground.quantity import Quantity
from dtnsim.planning import design as designs, groups
from dtnsim.planning.design import Design
from dtnsim.planning.rowfile import ANSWERS, Row, RowFile
from dtnsim.planning.swept import places
from dtnsim.steady.prediction import SAMPLES

_DRAWN: Final = 1000  #: scenarios up to which each is drawn where nobody says
Progress = Callable[[int, int], None]  #: scenarios done, and all of them


@dataclass(frozen=True, slots=True, repr=False)
class SweepResult(Pictured):
    """The rows of a sweep, in the order of its scenarios.

    Attributes:
        path: Name of the path.
        keys: What was varied.
        rows: Values of the keys, throughput [B/s], duration [s], bottleneck, its kind, error, p10, p90 and ceiling of
            the throughput [B/s], path.
        kept: How many of them an earlier run had left.
        samples: Draws behind each of them; without any, rates are ceilings.
        vector: Keys that were arrays of one composition.
    """

    path: str
    keys: tuple[str, ...]
    rows: tuple[Row, ...]
    kept: int = 0
    samples: int = 0
    vector: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<SweepResult {self.path}: {len(self):,} scenarios of {', '.join(self.keys)}>"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what a row has."""
        return (*self.keys, *ANSWERS)

    @property
    def throughput_Bps(self) -> np.ndarray:
        """Throughput of each scenario; nan of those that were refused."""
        n = len(self.keys)
        return np.array([np.nan if r[n] is None else r[n] for r in self.rows], float)

    @property
    def bottlenecks(self) -> Counter[str]:
        """How many scenarios each station holds."""
        return Counter(str(r[len(self.keys) + 2]) for r in self.rows if r[len(self.keys)] is not None)

    @property
    def refused(self) -> list[str]:
        """Why scenarios were refused, one text each."""
        return [str(r[len(self.keys) + 4]) for r in self.rows if r[len(self.keys)] is None]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows by the names of their columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def numbers(self) -> dict[str, list[float]]:
        """Values of the keys that are numbers in every scenario, in SI: 0.05 for ``50 ms``."""
        columns = {}
        for n, key in enumerate(self.keys):
            with suppress(UnitError):
                columns[key] = [units.read(str(row[n]))[0] for row in self.rows]
        return columns


def sweep(
    path: str | Path | spec.PathSpec,
    vary: Sequence[str] = (),
    *,
    sample: str | None = None,
    table: str | Path | None = None,
    overrides: Overrides = (),
    calibration: str | Path | None = None,
    out: str | Path | None = None,
    processes: int = 1,
    scheduler: str | None = None,
    samples: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> SweepResult:
    """Predicts a path in many scenarios; each row has what `predict` says of it.

    Args:
        path: A path file, the name of a shipped path, or a path already loaded.
        vary: ``key=1ms..200ms:log20`` or ``key=1,2,4,8``; all are crossed with each other.
        sample: ``lhs:1000`` for a Latin hypercube instead.
        table: A CSV file whose heading has the keys, instead of both.
        overrides: What all scenarios share: ``{"wan.rtt": "50 ms"}``, or ``key=value`` texts.
        calibration: File of fitted parameters to use.
        out: ``.csv`` or ``.parquet`` for the rows. Rows that are there are kept, and not worked out again.
        processes: How many processes.
        scheduler: Address of a Dask scheduler, ``tcp://login1:8786``, whose workers do the work instead.
        samples: Draws behind each scenario; 0 leaves the ceilings, of which keys that change numbers alone are worked
            out as arrays, thousands at a time. Where not given, as many as `predict` takes for up to 1,000 scenarios,
            and 0 for more.
        seed: Seed of the hypercube and of the draws.
        progress: Called with the scenarios done and all of them.

    Returns:
        The `SweepResult`.

    Raises:
        InputError: the path, a key or a range cannot be used, ``out`` has rows of something else, or no scheduler
            answers.
        DtnsimError: the scheduler was lost on the way; rows that were done are in ``out``.
    """
    if scheduler is not None:
        pool.check(scheduler)
    path_spec = spec.load(path, overrides, calibration)
    wanted = _design(vary, sample, table, seed)
    option = "--vary" if table is None else "--table"
    for key in {text.partition("=")[0].strip() for text in override.texts(overrides)} & {*wanted.keys}:
        raise InputError(f"--set {key} has no effect beside {option} {key}; leave one of them out")
    samples = samples if samples is not None else SAMPLES if len(wanted) <= _DRAWN else 0
    label = f"{path_spec.name} ({_digest(path_spec, samples, seed)})"
    file = RowFile(out, wanted.keys, label) if out is not None else None
    with override.given_with(option):
        vector = groups.vector_keys(path_spec, wanted, arrays=not samples)
    rows: list[Row | None] = [None] * len(wanted)
    if file is not None:
        rows = [file.done.get(wanted.row(n)) for n in range(len(wanted))]
    todo = np.array([n for n, row in enumerate(rows) if row is None], np.intp)
    done = kept = len(rows) - len(todo)
    pace, task = groups.Pace(), groups.Task(path_spec, samples, seed)
    pieces = groups.groups(wanted, vector, todo, pace) if len(todo) else ()
    with Pool(groups.timed_outcomes, task, pieces, processes if len(todo) > 1 else 1, scheduler) as workers:
        for _, (numbers, outcomes, seconds) in workers.results():
            pace.took(seconds)
            for n, o in zip(numbers, outcomes, strict=True):
                error = _called(o.error, option, wanted.keys)
                around = o.around or (o.rate_Bps,) * 3
                rows[n] = (*wanted.row(n), o.rate_Bps, o.seconds, o.station, o.kind, error, *around, label)
            if file is not None:
                file.append(row for n in numbers if (row := rows[n]) is not None)
            done += len(outcomes)
            if progress is not None:
                progress(done, len(rows))
    if file is not None:
        file.finish()
    return SweepResult(path_spec.name, wanted.keys, tuple(r for r in rows if r is not None), kept, samples, vector)


def _called(error: str, option: str, keys: Sequence[str]) -> str:
    """An error with the option that its key came with."""
    for key in keys:
        error = error.replace(f"--set {key}", f"{option} {key}")
    return error


def _design(vary: Sequence[str], sample: str | None, table: str | Path | None, seed: int) -> Design:
    if table is not None:
        if vary or sample is not None:
            raise InputError("--table brings its scenarios: leave --vary and --sample out")
        return designs.table(table)
    axes = [designs.axis(text) for text in vary]
    designs.check(axes)
    if sample is None:
        return designs.cartesian(axes)
    return designs.hypercube(axes, designs.sampling(sample), seed)


def _digest(path: spec.PathSpec, samples: int, seed: int) -> str:
    """What makes two descriptions differ, or what is drawn of them."""
    leaves = sorted(
        f"{'.'.join(map(str, place))}={f'{leaf.value!r} {leaf.dim}' if isinstance(leaf, Quantity) else repr(leaf)}"
        for place, leaf in places(path).items()
        if not place or place[-1] not in ("file", "source", "description")
    )
    leaves += [f"{samples} draws, seed {seed}"] if samples else []
    return hashlib.blake2b("\n".join(leaves).encode(), digest_size=4).hexdigest()
