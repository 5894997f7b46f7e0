"""``dtnsim fleet``."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from dtnsim.cli import options
from dtnsim.cli._watch import STOPPED, Watch


def command(
    path: options.Path,
    overrides: options.Set = None,
    workload: Annotated[
        str | None, Option(metavar="NAME", help="Instead of the path's own: a file, or the name of a shipped one.")
    ] = None,
    replicas: options.Replicas = 10,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    transfers: Annotated[
        Path | None, options.Written(help="Write every transfer: .csv or .parquet.", check=options.table)
    ] = None,
    hours: Annotated[
        Path | None, options.Written(help="Write every station's use by hour: .csv or .parquet.", check=options.table)
    ] = None,
    processes: Annotated[
        int | None, Option(help="Processes that share the replicas (default: one per core).", min=1)
    ] = None,
    scheduler: options.Scheduler = None,
    checkpoint: Annotated[
        Path | None, options.Written(help="Save runs here, also mid-run, and resume from them.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Simulate a facility's workload over months: completion, deadlines, failures, what needs upgrading, and when.

    Ctrl-C stops it: results so far are shown, and the exit code is 130.

    \b
    Examples:
      dtnsim fleet examples/facility-year
      dtnsim fleet examples/facility-year --set workload.growth=25% --replicas 20 --json
      dtnsim fleet site.yaml --workload year.yaml --transfers all.parquet --hours use.csv

    \b
    A workload, in a path file or in one of its own:
      workload:
        growth: 40 %
        endpoints: {site: {hosts: "dtn*", choose: least loaded, active: 40}}
        classes:
          nightly: {from: "site:/data", to: "store:/in", every: 1 day, at: "02:00", size: 20 TB, each: 10 GB,
                    tool: globus, deadline: 8 h}
          users: {from: "site:/data", to: "store:/in", rate: 400 /day, diurnal: {wave: 60 %}, tool: globus,
                  size: {median: 20 GB, sigma: 1.5}, each: 1 GB}
        failures: [{hosts: "dtn*", mtbf: 180 d, mttr: 4 h}]
    """
    from dtnsim.report import fleet as report, fleet_page, text
    from dtnsim.simulation.fleet.run import fleet

    with Watch("simulating the fleet", orderly=True) as watch:

        def tell(now: float, share: float, done: int) -> bool:
            rate = f"{done:,} transfers, {done / max(watch.seconds, 1e-3):,.0f}/s" if done else ""
            return watch.tell_simulated(now, share, rate)

        answer: Any = fleet(
            path,
            workload=workload,
            overrides=overrides or (),
            calibration=calibration,
            replicas=replicas,
            seed=seed,
            processes=processes,
            scheduler=scheduler,
            checkpoint=checkpoint,
            progress=tell,
            transfers=transfers is not None or hours is not None,
        )
    if transfers is not None:
        fleet_page.transfers(answer, transfers)
    if hours is not None:
        fleet_page.hours(answer, hours)
    if json:
        options.emit(report.document(answer))
    else:
        report.show(answer, text.console())
    if watch.stopped:
        raise typer.Exit(STOPPED)
