"""Figures in a terminal and in picture files."""

import html
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dtnsim.ground import output, units
from dtnsim.ground.errors import InputError, need
from dtnsim.ground.lazy import Shown
from dtnsim.ground.records import Prediction
from dtnsim.planning.sweep import SweepResult
from dtnsim.report import charts, timeline
from dtnsim.report.page import Figure
from dtnsim.report.table import Out, Table, bar, console
from dtnsim.simulation.results import Simulation

#: endings of picture files, and size of a picture [px]
ENDINGS: Final = (".svg", ".png", ".pdf")
_WIDTH: Final = 1100
#: rows of a terminal's figure, its widest, and curves in it
_ROWS: Final = 18
_WIDEST: Final = 120
_CURVES: Final = 6
Lines = Mapping[str, tuple[Sequence[float], Sequence[Any]]]
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


def check(file: str) -> None:
    """Whether a picture can be written so, before any work."""
    if Path(file).suffix not in ENDINGS:
        raise InputError(f"--picture {file}: write a file that ends in {', '.join(ENDINGS)}; pages: dtnsim report")
    need("plotly", "--picture", instead="use --plot")
    need("kaleido", "--picture", instead="'dtnsim report' for a page")


def write(answer: Shown, file: str) -> None:
    """Writes an answer's figure as a picture."""
    figure = answer.figure()
    figure.update_layout(width=_WIDTH, paper_bgcolor="white", plot_bgcolor="white")
    try:
        drawn = figure.to_image(format=Path(file).suffix[1:])
    except Exception as error:  # noqa: BLE001 - whatever stops a browser
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(f"--picture {file}: kaleido could not draw it with this machine's browser: {reason}") from None
    with output.in_one_piece(file, "--picture") as part:
        part.write_bytes(drawn)


def draw(answers: Sequence[Prediction | Simulation], picture: str | None, *, plot: bool) -> None:
    """Draws answers.

    Args:
        answers: What is drawn.
        picture: File that takes the first.
        plot: Whether all are drawn in the terminal.
    """
    for answer in answers if plot else ():
        if isinstance(answer, Simulation):
            for figure in timeline.figures(answer)[:2]:
                places = figure.layout["xaxis"]["title"]["text"]
                curves(figure.title, _lines(figure), places, console(), zero=True)
        else:
            ladder(answer, console())
    if picture is not None:
        write(answers[0], picture)


def ladder(p: Prediction, out: Out) -> None:
    """Bars of the ladder."""
    t = p.transfers[0]
    top = max(r.throughput_Bps for r in t.ladder)
    rows = Table("station", ">at", "to scale", title=f"ladder of {t.name}, drawn")
    for rung in t.ladder:
        rows.add_row(rung.station, units.show(rung.throughput_Bps, "B/s"), bar(rung.throughput_Bps / top))
    out.print(rows, apart=True)


def swept(result: SweepResult, out: Out) -> None:
    """Throughput over the first key that was varied, a curve for each value of the second."""
    if not 1 <= len(result.keys) <= 2:
        raise InputError("--plot: shows one or two keys; vary fewer, or use -o rows.csv")
    if result.keys[0] not in result.numbers():
        raise InputError(f"--plot: {result.rows[0][0]} is no number to draw over; vary a number first")
    figure = charts.scenarios(result)
    curves(f"throughput [Gb/s] of {result.path}", _lines(figure), f"{result.keys[0]} [SI]", out)


def _lines(figure: Figure) -> Lines:
    return {str(t["name"]): (t["x"], t["y"]) for t in figure.traces}


def curves(title: str, lines: Lines, axis: str, out: Out, *, zero: bool = False) -> None:
    """Curves in characters, as wide as the terminal.

    Args:
        lines: Places and values by name; more than the first few are left out.
        axis: What the axis of the places is.
        zero: Whether both axes begin at 0.
    """
    plot = need("plotext", "--plot")
    plot.clear_figure()
    plot.theme("clear")
    plot.plotsize(min(shutil.get_terminal_size((80, 24)).columns, _WIDEST) - 1, _ROWS)
    for name, points in list(lines.items())[:_CURVES]:
        plain = html.unescape(name.replace("<br>", ""))  # pages break long names
        if measured := [(a, b) for a, b in zip(*points, strict=True) if b is not None]:
            plot.plot(*map(list, zip(*measured, strict=True)), label=plain, marker="hd" if out.draws("▚") else "+")
    if zero:
        plot.xlim(0, max((place for places, _ in lines.values() for place in places), default=1.0))
        plot.ylim(0, None)
    plot.frame(out.draws("│"))
    plot.xlabel(axis)
    drawn = _COLOUR.sub("", plot.build())
    out.print(title, apart=True)
    for line in drawn.splitlines():
        out.print(line.rstrip())
