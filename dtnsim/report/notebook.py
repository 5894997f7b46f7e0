"""Answers in a notebook: headline, picture and ladder as HTML; rows as a DataFrame; figures of plotly."""

from collections.abc import Callable
from typing import Any, Final

from dtnsim.ground.errors import frame as rows_frame, need
from dtnsim.ground.records import Prediction
from dtnsim.planning.compare import Comparison
from dtnsim.planning.plan import Plan
from dtnsim.planning.sweep import SweepResult
from dtnsim.report import charts, fleet, fleet_page, picture, simulation, timeline
from dtnsim.report.decision import decide
from dtnsim.report.document import prediction_document
from dtnsim.report.page import Figure, asset, escaped
from dtnsim.report.table import Table
from dtnsim.simulation.fleet.run import FleetAnswer
from dtnsim.simulation.results import Simulation


def html(answer: object) -> str:
    """What a notebook shows: no scripts, nothing from elsewhere."""
    shown = next((show(answer) for kind, (show, *_) in _VIEWS.items() if isinstance(answer, kind)), escaped(answer))
    return f'<div class="dtnsim"><style>{asset("picture.css")}{asset("notebook.css")}</style>{shown}</div>'


def frame(answer: object) -> Any:
    """The answer as a DataFrame: stations of a prediction, stretches of time of a simulation."""
    return _view(answer, 1, "table")(answer)


def figure(answer: object) -> Any:
    """The answer as a figure of plotly, to be shown, changed or written as a picture."""
    chart: Figure = _view(answer, 2, "figure")(answer)
    objects = need("plotly.graph_objects", "figure()")
    above = {"t": 84 if chart.layout.get("showlegend") else 48, "b": 48}
    layout = {**chart.plotly["layout"], "title": {"text": chart.title}, "margin": above, "template": "plotly_white"}
    return objects.Figure({**chart.plotly, "layout": layout})


def _view(answer: object, number: int, name: str) -> Callable[[Any], Any]:
    view = next((views[number] for kind, views in _VIEWS.items() if isinstance(answer, kind)), None)
    if view is None:
        raise TypeError(f"{type(answer).__name__} has no {name}")
    return view


def _markup(answer: object, *sentences: str) -> str:
    """What an answer is, in bold, and sentences on it as a list."""
    listed = "".join(f"<li>{escaped(s)}</li>" for s in sentences)
    return f"<p><b>{escaped(answer)}</b></p>" + (f"<ul>{listed}</ul>" if listed else "")


def _prediction(answer: Prediction) -> str:
    drawn = picture.svg(picture.Picture(answer), "")
    d = decide(answer)
    says = f"<p><b>{escaped(answer.name)}</b><br>{escaped(d.verdict)}</p>{d.html}"
    return f"{says}{drawn}{_ladder(answer).table.columns(0, 1, 2, 3, 4).html('The ladder')}"


def _ladder(answer: Prediction) -> Figure:
    return charts.ladder(answer, answer.longest, [("", "")] * len(answer.ladder))


def _simulation(answer: Simulation) -> str:
    rows = [(h.station, f"{h.start_s:.4g}", f"{h.end_s:.4g}") for t in answer.runs[0].transfers for h in t.held[:20]]
    table = Table("held by", ">from [s]", ">to [s]", rows=rows).html("What held it")
    return f"<p><b>{escaped(answer)}</b><br>{escaped(timeline.figures(answer)[0].says)}</p>{table}"


def _plan(answer: Plan) -> str:
    chart = charts.plan_frontier(answer)
    return _markup(answer.verdict, *answer.sentences) + chart.table.html(chart.title)


def _comparison(answer: Comparison) -> str:
    why = (answer.sentence(n) for n in range(1, len(answer.variants)))
    return _markup(answer, *why) + charts.variants(answer).table.html("Side by side")


def _classes(answer: FleetAnswer) -> Any:
    document = fleet.document(answer)
    return rows_frame([*document["classes"], document["total"]])


#: kind of answer -> what it is as HTML, as a DataFrame and as a figure; None where it is none
_VIEWS: Final[dict[type, tuple[Callable[[Any], str], Callable[[Any], Any] | None, Callable[[Any], Figure]]]] = {
    Prediction: (_prediction, lambda answer: rows_frame(prediction_document(answer)["stations"]), _ladder),
    Simulation: (
        _simulation,
        lambda answer: need("pandas", "to_frame()").DataFrame(simulation.columns(answer)),
        lambda answer: timeline.figures(answer)[0],
    ),
    Plan: (_plan, None, charts.plan_frontier),
    FleetAnswer: (
        lambda answer: _markup(answer) + "".join(table.html(says) for says, table in fleet_page.tables(answer)),
        _classes,
        lambda answer: fleet_page.figures(answer)[0],
    ),
    Comparison: (_comparison, lambda answer: rows_frame(answer.to_dicts()), charts.variants),
    SweepResult: (
        lambda answer: _markup(answer) + charts.scenarios(answer).table.html("Scenarios"),
        lambda answer: rows_frame(answer.to_dicts()).assign(**answer.numbers()),
        charts.scenarios,
    ),
}
