"""``dtnsim simulate``."""

import math
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from dtnsim.cli import options
from dtnsim.cli._watch import STOPPED, Watch
from dtnsim.ground import units


def command(
    path: options.Path,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    events: Annotated[
        str | None, Option(metavar="FILE", help="YAML file with 'events:' (and 'others:') put over the path's own.")
    ] = None,
    replicas: options.Replicas = 1,
    scheduler: options.Scheduler = None,
    until: Annotated[
        str | None, Option(metavar="TIME", help="Simulated time at which to stop, like 1d or 90min.")
    ] = None,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    trace: Annotated[
        Path | None, options.Written(help="Write everything over time: .csv or .parquet.", check=options.table)
    ] = None,
    max_events: Annotated[int, Option(help="Abort a run after so many steps.", min=1)] = 50_000_000,
    plot: options.Plot = False,
    picture: options.Picture = None,
    json: options.Json = False,
) -> None:
    """Simulate a path in time: rates, caches, events, completion of every file.

    Ctrl-C stops it between two events: results so far are shown, and the exit code is 130.

    \b
    Examples:
      dtnsim simulate esnet/lbl-anl --set transfer.dataset=esnet/5GB-in-small-files
      dtnsim simulate venadi/gridftp-gpfs --replicas 50 --json
      dtnsim simulate my-path.yaml --events night.yaml --until 1d --trace run.csv

    \b
    An events file:
      events:
        - {at: 20 min, station: network.wan, factor: 0, until: 30 min, what: the link is down}
        - {at: 40 min, set: {wan.loss: 1e-4}, what: a bad fibre}
      others:
        - {stations: [network.wan], rate: 0.005 ops/s, size: 100 GB}
    """
    from dtnsim.description import spec
    from dtnsim.ground import output
    from dtnsim.report import simulation as report, text
    from dtnsim.simulation import simulate

    end = math.inf if until is None else units.of_option("--until", until, "s")
    path_spec = options.changed(spec.load(path, overrides or (), calibration, events=events), dataset, line)
    with Watch("simulating", orderly=True) as watch:
        result = simulate(
            path_spec, replicas=replicas, seed=seed, until=end, progress=watch.tell_simulated, max_events=max_events,
            scheduler=scheduler,
        )  # fmt: skip
    if trace is not None:
        output.table(report.columns(result), trace, "--trace")
    if json:
        options.emit(report.document(result))
    else:
        report.show(result, text.console())
    if plot or picture is not None:
        from dtnsim.report import plots

        plots.draw([result], picture, plot=plot)
    if result.interrupted:
        raise typer.Exit(STOPPED)
