"""Tables of tool runs: read, predicted, written back (``dtnsim tools --table``)."""

from __future__ import annotations

import sys
from typing import Any, Final

import typer

from dtnsim.cli import _table, options
from dtnsim.cli._watch import Watch
from dtnsim.evidence import tool_runs
from dtnsim.ground.errors import DtnsimError, InputError, SpecError

PREDICTED: Final = ("predicted_wall_s", "p10_s", "p90_s", "held_by")
_NEEDED: Final = ("tool_key|tool", "rate_bps", "rtt_s", "files", "total_bytes")


def command(path: str, out: str | None, samples: int, seed: int, *, json: bool) -> None:
    """Reads, predicts and writes a table; a row that cannot be used is a line on standard error, and exit code 2."""
    columns, rows = _table.read(path, _NEEDED, "see 'dtnsim tools --help' for the names")
    with Watch("predicting rows"):
        answered, wrong = answer(rows, samples, seed, path)
    if json:
        options.emit({"schema": "dtnsim.tools-table/1", "seed": seed, "rows": answered})
    if out is not None or not json:
        _table.write([*columns, *(k for k in PREDICTED if k not in columns)], answered, out)
    if wrong:
        sys.stderr.write("".join(f"dtnsim: {error}\n" for error in wrong))
        raise typer.Exit(InputError.exit_code)


def answer(
    rows: list[dict[str, str]], samples: int, seed: int, file: str
) -> tuple[list[dict[str, Any]], list[SpecError]]:
    """The rows with the predicted columns added, and what is wrong in those that cannot be used: ``error`` there."""
    answered: list[dict[str, Any]] = []
    wrong: list[SpecError] = []
    known: dict[str, tool_runs.Answer] = {}
    for number, row in enumerate(rows, start=2):
        try:
            run = tool_runs.run_of(row)
            if run.alike not in known:
                known[run.alike] = tool_runs.answer(run, samples, seed)
        except DtnsimError as error:
            said = error if isinstance(error, SpecError) else SpecError(str(error))
            wrong.append(
                SpecError(said.message, file=file, line=number, key=said.key, value=said.value, remedy=said.remedy)
            )
            answered.append({**row, **dict.fromkeys(PREDICTED, ""), "error": str(wrong[-1])})
            continue
        told = known[run.alike]
        values = (f"{told.p50_s:.6g}", f"{told.p10_s:.6g}", f"{told.p90_s:.6g}", told.held_by + _said(run.left_out))
        answered.append({**row, **dict(zip(PREDICTED, values, strict=True))})
    return answered, wrong


def _said(left_out: tuple[str, ...]) -> str:
    return f"; without effect here: {' '.join(left_out)}" if left_out else ""
