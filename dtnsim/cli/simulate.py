"""``dtnsim simulate``."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Any, Self

import typer

from dtnsim.cli import options

#: seconds of work before a progress bar appears
_PATIENCE_S = 2.0


def command(
    path: options.Path,
    overrides: options.Set = None,
    events: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="YAML file with 'events:' (and 'others:') put over the path's own."),
    ] = None,
    replicas: Annotated[
        int, typer.Option(help="Runs; the first at median values, the others drawn.", min=1, max=100_000)
    ] = 1,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated time at which to stop, like 1d or 90min.")
    ] = None,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write everything over time: .csv or .parquet.")
    ] = None,
    max_events: Annotated[int, typer.Option(help="Steps after which a run is given up.", min=1)] = 50_000_000,
    json: options.Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Simulate a path in time: rates, caches, events, completion of every file.

    \b
    Examples:
      dtnsim simulate esnet/lbl-anl --set transfer.dataset=esnet/5GB-in-small-files
      dtnsim simulate venadi/gridftp-gpfs --replicas 50 --json
      dtnsim simulate my-path.yaml --events night.yaml --until 1d --trace run.csv
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    from dtnsim import spec, units
    from dtnsim.errors import UnitError
    from dtnsim.report import simulation as report
    from dtnsim.report import text
    from dtnsim.simulation import simulate

    try:
        end = math.inf if until is None else units.parse(until, "s")
    except UnitError as error:
        raise UnitError(f"--until: {error}") from None
    given = spec.load(path, overrides or (), calibration, events=events)
    with _Bar() as bar:
        result = simulate(given, replicas=replicas, seed=seed, until=end, progress=bar.tell, max_events=max_events)
    if trace is not None:
        report.write_trace(result, trace)
    if json:
        options.emit(report.document(result))
    else:
        report.show(result, text.console())


class _Bar:
    """A progress bar on stderr: simulated time and time left; appears only when it takes long."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, now: float, share: float) -> bool:
        """Shows how far it is; never stops the run."""
        if self._bar is None and time.monotonic() - self._began > _PATIENCE_S:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            terminal = Console(stderr=True)

            self._bar = Progress(
                TextColumn("simulated {task.fields[now]}"), BarColumn(), TextColumn("{task.percentage:.0f}%"),
                TimeRemainingColumn(), console=terminal, transient=True,
                disable=not terminal.is_terminal,
            )  # fmt: skip
            self._bar.start()
            self._bar.add_task("", total=1.0, now="")
        if self._bar is not None:
            from dtnsim import units

            shown = "" if math.isnan(now) else units.show(now, "s")
            self._bar.update(self._bar.task_ids[0], completed=share, now=shown)
        return False
