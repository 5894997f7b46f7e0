"""Answers in a notebook: headline, picture and ladder as HTML; rows as a DataFrame; figures of plotly."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any, Final

from dtnsim.ground.extras import frame as rows_frame
from dtnsim.ground.extras import need
from dtnsim.ground.records import Prediction
from dtnsim.planning.compare import Comparison
from dtnsim.planning.plan import Plan
from dtnsim.planning.sweep import SweepResult
from dtnsim.report import charts, fleet, fleet_page, picture, planned, simulation, timeline
from dtnsim.report.costs import Relief
from dtnsim.report.decision import decide
from dtnsim.report.document import prediction_document
from dtnsim.report.page import asset, escaped
from dtnsim.report.table import Table
from dtnsim.simulation.fleet.run import FleetAnswer
from dtnsim.simulation.results import Simulation

if TYPE_CHECKING:
    from dtnsim.report.page import Figure


#: words are read from the left, decisions have a column for what is said of each, pictures fit their cell
_LOOKS: Final = (
    ".dtnsim td:not(.n),.dtnsim th:not(.n){text-align:left!important}.dtnsim td.n{white-space:nowrap}"
    ".dtnsim .decision{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1.2em;margin:.6em 0 1.2em}"
    ".dtnsim .decision dt{font-weight:600;white-space:nowrap}.dtnsim .decision dd{margin:0}"
    ".dtnsim .decision dt,.dtnsim .decision dd{width:auto;float:none}"
)


def html(answer: object) -> str:
    """What a notebook shows: no scripts, nothing from elsewhere."""
    return f'<div class="dtnsim"><style>{asset("picture.css")}{_LOOKS}</style>{_inside(answer)}</div>'


@singledispatch
def _inside(answer: object) -> str:
    return escaped(answer)


@_inside.register(Prediction)
def _(answer: Prediction) -> str:
    drawn = ""
    if answer.given is not None:
        drawn = picture.svg(picture.layout(answer, answer.given.graph), "")
    shown = _figure(answer).table.columns(0, 1, 2, 3, 4)
    d = decide(answer)
    says = f"<p><b>{escaped(answer.name)}</b><br>{escaped(d.verdict)}</p>{d.html}"
    return f"{says}{drawn}{shown.html('The ladder')}"


@_inside.register(Simulation)
def _(answer: Simulation) -> str:
    rates = timeline.figures(answer)[0]
    first = answer.runs[0]
    rows = [(h.station, f"{h.start_s:.4g}", f"{h.end_s:.4g}") for t in first.transfers for h in t.held[:20]]
    held = Table("held by", ">from [s]", ">to [s]", rows=rows).html("What held it")
    return f"<p><b>{escaped(answer)}</b><br>{escaped(rates.says)}</p>{held}"


@_inside.register(Plan)
def _(answer: Plan) -> str:
    words = "".join(f"<li>{escaped(s)}</li>" for s in answer.sentences)
    made = planned.frontier(answer)
    return f"<p><b>{escaped(answer.verdict)}</b></p><ul>{words}</ul>{made.table.html(made.title)}"


@_inside.register(FleetAnswer)
def _(answer: FleetAnswer) -> str:
    return f"<p><b>{escaped(answer)}</b></p>" + "".join(table.html(says) for says, table in fleet_page.tables(answer))


@_inside.register(Comparison)
def _(answer: Comparison) -> str:
    why = "".join(f"<li>{escaped(answer.sentence(n))}</li>" for n in range(1, len(answer.variants)))
    return f"<p><b>{escaped(answer)}</b></p><ul>{why}</ul>{charts.variants(answer).table.html('Side by side')}"


@_inside.register(SweepResult)
def _(answer: SweepResult) -> str:
    return f"<p><b>{escaped(answer)}</b></p>{charts.scenarios(answer).table.html('Scenarios')}"


@singledispatch
def frame(answer: object) -> Any:
    """The answer as a DataFrame: stations of a prediction, stretches of time of a simulation."""
    raise TypeError(f"{type(answer).__name__} has no table")


@frame.register(Prediction)
def _(answer: Prediction) -> Any:
    rows = prediction_document(answer)["stations"]
    return rows_frame(rows, list(rows[0]))


@frame.register(Simulation)
def _(answer: Simulation) -> Any:
    columns = simulation.columns(answer)
    return need("pandas", "to_frame()").DataFrame(columns)


@frame.register(FleetAnswer)
def _(answer: FleetAnswer) -> Any:
    rows = fleet.document(answer)
    made = [_flat(row) for row in [*rows["classes"], rows["total"]]]
    return rows_frame(made, list(made[0]))


@frame.register(Comparison)
def _(answer: Comparison) -> Any:
    rows = answer.to_dicts()
    return rows_frame(rows, list(rows[0]))


@frame.register(SweepResult)
def _(answer: SweepResult) -> Any:
    made, numbers = rows_frame(answer.to_dicts(), answer.columns), answer.numbers()
    return made.assign(**numbers) if numbers else made


def _flat(entry: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested values under names with dots."""
    found: dict[str, Any] = {}
    for key, value in entry.items():
        found |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


def figure(answer: object) -> Any:
    """The answer as a figure of plotly, to be shown, changed or written as a picture."""
    made = _figure(answer)
    objects = need("plotly.graph_objects", "figure()")
    above = {"t": 84 if made.layout.get("showlegend") else 48, "b": 48}
    layout = {**made.plotly["layout"], "title": {"text": made.title}, "margin": above, "template": "plotly_white"}
    return objects.Figure({**made.plotly, "layout": layout})


@singledispatch
def _figure(answer: object) -> Figure:
    raise TypeError(f"{type(answer).__name__} has no figure")


@_figure.register(Prediction)
def _(answer: Prediction) -> Figure:
    return charts.ladder(answer, answer.transfers[0], [Relief()] * len(answer.ladder))


@_figure.register(Simulation)
def _(answer: Simulation) -> Figure:
    return timeline.figures(answer)[0]


@_figure.register(Plan)
def _(answer: Plan) -> Figure:
    return planned.frontier(answer)


@_figure.register(FleetAnswer)
def _(answer: FleetAnswer) -> Figure:
    return fleet_page.figures(answer)[0]


@_figure.register(Comparison)
def _(answer: Comparison) -> Figure:
    return charts.variants(answer)


@_figure.register(SweepResult)
def _(answer: SweepResult) -> Figure:
    return charts.scenarios(answer)
