"""``dtnsim sweep``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Option

from dtnsim.cli import options
from dtnsim.cli._watch import Watch

if TYPE_CHECKING:
    from dtnsim.planning.sweep import SweepResult

_SHOWN: Final = 40  #: rows that are shown


def command(
    path: options.Path,
    vary: Annotated[
        list[str] | None,
        Option(metavar="KEY=VALUES", help="1ms..200ms:log20, 10..100:lin10, or 1,2,4,8. May be given many times."),
    ] = None,
    sample: Annotated[str | None, Option(metavar="lhs:N", help="N scenarios of a Latin hypercube.")] = None,
    table: Annotated[str | None, Option(metavar="FILE", help="CSV of scenarios; its heading has the keys.")] = None,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    out: Annotated[
        str | None, options.Written("-o", "--out", help="Rows as .csv or .parquet; those there are kept.")
    ] = None,
    processes: Annotated[int, Option(help="How many processes.", min=1, max=1024)] = 1,
    scheduler: options.Scheduler = None,
    samples: Annotated[
        int | None, Option(help="Draws of each scenario; 256 for up to 1,000, else 0.", min=0, max=100_000)
    ] = None,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    plot: options.Plot = False,
    json: options.Json = False,
) -> None:
    """Predict a path in many scenarios: each row has what 'dtnsim predict' says of it.

    A scenario takes some 50 ms. More than 1,000 are not drawn unless --samples says so: with --samples 0 rates are
    ceilings, and keys that change numbers alone are worked out as arrays, thousands at a time. A run that was broken
    off goes on where it ended when the same command is given again. Exit code 2: a scenario was refused; its row says
    why.

    \b
    Examples:
      dtnsim sweep venadi/gridftp-gpfs --vary wan.rtt=1ms..200ms:log20 --vary transfer.tool.p=1,2,4,8
      dtnsim sweep my-path.yaml --vary hosts.a.cpu.clock=2GHz..5GHz --vary wan.rtt=1ms..90ms --sample lhs:1000 -o r.csv
      dtnsim sweep my-path.yaml --table scenarios.csv -o rows.parquet --processes 2
      dtnsim sweep my-path.yaml --table scenarios.csv -o rows.csv --scheduler tcp://login1:8786
    """
    from dtnsim.planning.sweep import sweep

    counted = [0]
    try:
        with Watch("predicting scenarios") as watch:

            def progress(done: int, total: int) -> None:
                counted[0] = done
                watch.count(done, total)

            result = sweep(
                options.path_with_options(path, calibration, dataset, line),
                vary or (),
                sample=sample,
                table=table,
                overrides=overrides or (),
                calibration=calibration,
                out=out,
                processes=processes,
                scheduler=scheduler,
                samples=samples,
                seed=seed,
                progress=progress,
            )
    except KeyboardInterrupt:
        note = f"; {counted[0]:,} rows are in {out}: the same command goes on from there" if out is not None else ""
        options.note(f"stopped{note}")
        raise typer.Exit(130) from None
    if json:
        rows = result.to_dicts()
        options.emit({"schema": "dtnsim.sweep/1", "path": result.path, "keys": list(result.keys), "rows": rows})
    else:
        if plot:  # before the table: what cannot be drawn is refused before anything is printed
            from dtnsim.report import plots, text

            plots.swept(result, text.console())
        _show(result, out)
        if samples is None and not result.samples:
            options.note("more than 1,000 scenarios: rates are ceilings; --samples 256 draws each")
    if result.refused:
        count = f"{len(result.refused):,} of {len(result):,} scenarios refused"
        options.note(f"{count}; the first: {result.refused[0]}")
        raise typer.Exit(2)


def _show(result: SweepResult, out: str | None) -> None:
    from dtnsim.ground import units
    from dtnsim.ground.uncertainty import HEADS
    from dtnsim.report.table import Table, console

    printer = console()
    heads = [*(f">{k}" for k in result.keys), ">throughput", HEADS[0], HEADS[2], ">duration", "bottleneck"]
    n = len(result.keys)
    shown = Table(*heads, title=f"{result.path}: {_counted(result)}")
    for row in result.rows[:_SHOWN] if out is None else ():
        answer = (
            ("refused", "", "", "", row[n + 4])
            if row[n] is None
            else (*(units.show(row[c], "B/s") for c in (n, n + 5, n + 6)), units.show(row[n + 1], "s"), row[n + 2])
        )
        shown.add_row(*row[:n], *answer)
    if out is None:
        printer.print(shown)
        if len(result) > _SHOWN:
            printer.print(f"and {len(result) - _SHOWN:,} more; -o rows.csv keeps all")
    else:
        note = f", {result.kept:,} of them from an earlier run" if result.kept else ""
        printer.print(f"{result.path}: {_counted(result)} in {out}{note}")
    rates = sorted(row[n] for row in result.rows if row[n] is not None)
    if rates:
        low, middle, high = (units.show(rates[k], "B/s") for k in (0, len(rates) // 2, -1))
        printer.print(f"throughput: least {low}, median {middle}, most {high}")
        for station, count in result.bottlenecks.most_common(5):
            printer.print(f"held by {station}: {count / len(rates):.0%}")


def _counted(result: SweepResult) -> str:
    return f"{len(result):,} scenario{'s' * (len(result) != 1)}"
