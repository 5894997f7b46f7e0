"""``dtnsim tools``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from dtnsim.cli import options
from dtnsim.cli._watch import Watch
from dtnsim.ground.errors import DtnsimError, InputError, SpecError

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.evidence.tool_runs import Answer, Run
    from dtnsim.planning.tool_choice import Choice
    from dtnsim.report.table import Table

PREDICTED: Final = ("predicted_wall_s", "p10_s", "p90_s", "held_by")
_NEEDED: Final = ("tool_key|tool", "rate_bps", "rtt_s", "files", "total_bytes")


def command(
    path: Annotated[str | None, Argument(metavar="[PATH]", help="A path file, or the name of a shipped path.")] = None,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    calibration: options.Calibration = None,
    table: Annotated[str | None, Option(metavar="FILE", help="CSV of runs; the columns are listed above.")] = None,
    out: Annotated[str | None, options.Written("-o", "--out", help="Where --table writes.")] = None,
    have: Annotated[
        str | None, Option(metavar="TOOLS", help="Only tools that you have, by kind or by row: rsync,rclone.")
    ] = None,
    explain: Annotated[
        str | None, Option(metavar="TOOL", help="Show the whole prediction of one row: 'yours', 'rclone', ...")
    ] = None,
    samples: Annotated[int, Option(help="Scenarios drawn for the interval.", min=0, max=100_000)] = 256,
    seed: options.Seed = 1,
    json: options.Json = False,
) -> None:
    """Which tool, with which options? Transfer tools compared on one path, or predicted for a table of runs.

    The path's own tool stands beside every tool that can serve its ends, each with its best options; for many small
    files, sending one archive is tried too. Of several transfers the first is compared, without the others. --json has
    for each row what --set of 'dtnsim predict' takes.

    \b
    Examples:
      dtnsim tools examples/small-files-40ms
      dtnsim tools examples/small-files-40ms --have rsync,rclone --explain rsync
      dtnsim tools examples/small-files-40ms --dataset sizes.txt    # find DIR -type f -printf '%s\\n' > sizes.txt
      dtnsim tools --table runs.csv -o predicted.csv

    \b
    A table needs the columns tool_key (a tool with a command line, rsyncd, guc3 for a third-party globus-url-copy, or
    one with its protocol, like rclone-http), rate_bps, rtt_s, files and total_bytes. It may have version, direction
    (put, get), options (as typed), env, buffer_bytes, loss, mtu, cc, tcp_rmem_max, tcp_wmem_max,
    dataset and rerun_nothing_changed. All columns come back, with predicted_wall_s, p10_s, p90_s and held_by beside
    them; those of a row that cannot be used are empty, a line on stderr says why, and the exit code is 2.
    """
    if (path is None) == (table is None):
        raise InputError("give a path or --table FILE; try: dtnsim tools examples/small-files-40ms")
    if table is None:
        from dtnsim.description import spec

        path_spec = options.changed(spec.load(str(path), overrides or (), calibration), dataset, line)
        _advise(path_spec, samples, seed, have, explain, json=json)
        return
    from dtnsim.cli import _table

    columns, rows = _table.read(table, _NEEDED, "see 'dtnsim tools --help' for the names")
    with Watch("predicting rows"):
        answered, wrong = _answer(rows, samples, seed, table)
    _table.answer("tools", columns, PREDICTED, answered, seed, out, json=json)
    for error in wrong:
        options.note(str(error))
    if wrong:
        raise typer.Exit(InputError.exit_code)


def _advise(path: PathSpec, samples: int, seed: int, have: str | None, explain: str | None, *, json: bool) -> None:
    """Prints the finding, then the tools by what they would take, and how each is typed."""
    from dtnsim.ground import units
    from dtnsim.planning import messages, tool_choice, whynot
    from dtnsim.report import text
    from dtnsim.report.document import prediction_document
    from dtnsim.steady.ordering import moved, sends

    if have is not None and not options.listed(have):
        raise InputError("--have: names no tool; write it like rsync,rclone")
    with Watch("predicting tools"):
        choices, refused = tool_choice.choose(path, samples, seed, options.listed(have))
    advice, out_of = messages.tool_advice(choices), whynot.of_tools(choices, refused)
    if json and explain is not None:
        options.emit(prediction_document(_named(choices, explain).prediction))
        return
    if json:
        options.emit(
            {
                "schema": "dtnsim.tools/1",
                "name": path.name,
                "advice": advice,
                "tools": [_row(c) for c in choices],
                "refused": [{"tool": r.part, "why": r.why} for r in refused if r.test == "cannot"],
                "why_not": out_of.document(),
            }
        )
        return
    out = text.console()
    if explain is not None:
        text.prediction(_named(choices, explain).prediction, out)
        return
    out.print(advice[0].upper() + advice[1:] + ".")
    out.print()
    transfer = path.transfers[0]
    alone = "" if tool_choice.is_only_transfer(path) else "; the path's other transfers are left out"
    out.print(f"{path.name}: {transfer.source_end} to {transfer.to}{alone}")
    if transfer.dataset is not None:
        files, payload_B = moved(choices[0].prediction)
        out.print(f"{files:,} file{'s' if files > 1 else ''}, {units.show(payload_B, 'B')}{sends(transfer.tool)}")
    out.print()
    out.print(_rows(choices))
    out.print("best: share of the draws in which no other is more than 5 % faster; --explain TOOL says what holds one")
    out.print()
    for c in choices:
        if c.line:
            out.print(f"{c.name}: {c.line}" + (f"  [{c.lacks}]" if c.lacks else ""))
    out.print()
    for sentence in out_of.sentences():
        out.print(sentence)
    for why in dict.fromkeys(each.why for each in refused if each.test == "cannot"):
        out.print(f"not possible here: {'; '.join(each.part for each in refused if each.why == why)} ({why})")


def _rows(choices: list[Choice]) -> Table:
    """The ways by what they would take."""
    from dtnsim.ground import units
    from dtnsim.ground.uncertainty import HEADS
    from dtnsim.report import text

    shown = text.Table(">duration", HEADS[0], HEADS[2], ">throughput", ">best", "tool", "needs", "held by")
    for c in choices:
        seconds = (units.show(v, "s", digits=3) for v in (c.duration_s.p50, c.duration_s.p10, c.duration_s.p90))
        rate = text.rate(c.throughput_Bps.p50)
        shown.add_row(*seconds, rate, f"{c.best:.0%}", c.name, c.needs, c.prediction.bottleneck.station)
    return shown


def _named(choices: list[Choice], name: str) -> Choice:
    """The row of a name, or of a kind."""
    for c in choices:
        if name in (c.name, None if c.archived else c.options.get("name"), "yours" if c.own else None):
            return c
    rows = "; ".join(c.name for c in choices if not c.own)
    raise InputError(f"--explain: {name!r} is none of the rows; write yours or one of: {rows}")


def _row(c: Choice) -> dict[str, object]:
    from dtnsim.ground.output import fields

    named = fields(c, tool="name", yours="own", command="line") | {"set": "; ".join(c.overrides)}
    rates = {"duration_s": c.duration_s.as_dict(), "throughput_Bps": c.throughput_Bps.as_dict()}
    limits = fields(c, ceiling_Bps="prediction.ceiling", best="best", held_by="prediction.bottleneck.reason")
    return named | fields(c, "needs", "lacks") | rates | limits


def _answer(
    rows: list[dict[str, str]], samples: int, seed: int, file: str
) -> tuple[list[dict[str, Any]], list[SpecError]]:
    """The rows with the predicted columns added, and what is wrong in those that cannot be used: ``error`` there."""
    from dtnsim.evidence import tool_runs

    answered: list[dict[str, Any]] = []
    wrong: list[SpecError] = []
    cache: dict[str, Answer] = {}
    runs: list[Run | DtnsimError] = []
    for row in rows:
        try:
            runs.append(tool_runs.run_of(row))
        except DtnsimError as error:
            runs.append(error)
    tool_runs.ahead(run for run in runs if not isinstance(run, DtnsimError))
    for number, (row, run) in enumerate(zip(rows, runs, strict=True), start=2):
        try:
            if isinstance(run, DtnsimError):
                raise run
            if run.alike not in cache:
                cache[run.alike] = tool_runs.answer(run, samples, seed)
        except DtnsimError as error:
            failure = error if isinstance(error, SpecError) else SpecError(str(error))
            failure.file, failure.line, failure.further = file, number, ()
            wrong.append(failure)
            answered.append({**row, **dict.fromkeys(PREDICTED, ""), "error": str(failure)})
            continue
        answer = cache[run.alike]
        without = f"; without effect here: {' '.join(run.left_out)}" if run.left_out else ""
        values = (f"{answer.p50_s:.6g}", f"{answer.p10_s:.6g}", f"{answer.p90_s:.6g}", answer.held_by + without)
        answered.append({**row, **dict(zip(PREDICTED, values, strict=True))})
    return answered, wrong
