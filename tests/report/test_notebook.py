"""Answers in notebooks."""

import sys

import pytest

import dtnsim
from dtnsim.ground.errors import InputError
from dtnsim.ground.lazy import Shown
from dtnsim.report import notebook

pandas = pytest.importorskip("pandas", reason="to_frame() needs pandas")


@pytest.fixture(scope="module")
def answers() -> dict[str, Shown]:
    given = dtnsim.load("venadi/gridftp-gpfs")
    plan = dtnsim.plan(given, target="14Gb/s", allow=["tuning"], samples=16, hints=False)
    return {"Prediction": dtnsim.predict(given, samples=16), "Simulation": dtnsim.simulate(given), "Plan": plan}


@pytest.mark.parametrize("name", ["Prediction", "Simulation", "Plan"])
def test_an_answer_shows_itself(answers: dict[str, Shown], name: str) -> None:
    pytest.importorskip("plotly", reason="figure() needs plotly")
    answer = answers[name]
    assert repr(answer).startswith(f"<{name} NERSC project")
    assert len(repr(answer)) < 200
    shown = answer._repr_html_()
    assert "<script" not in shown
    assert "<table>" in shown
    assert len(answer.to_frame()) > 1
    assert answer.figure().data
    assert "venadi.memory" in answer.graph


def test_a_fleet_shows_itself() -> None:
    pytest.importorskip("plotly", reason="figure() needs plotly")
    answer = dtnsim.fleet("examples/facility-year", overrides=["workload.span=6 h"], replicas=1)
    assert repr(answer).startswith("<FleetAnswer A facility of forty DTNs")
    shown = answer._repr_html_()
    assert "<script" not in shown
    for words in ("<table>", "What was asked for", "network.wan"):
        assert words in shown
    frame = answer.to_frame()
    assert frame["asked"].iloc[-1] == frame["asked"].iloc[:-1].sum()
    assert frame["completion_s.p95"].iloc[-1] > 0
    assert answer.figure().data
    assert "dtn01.memory" in answer.graph


def test_a_prediction_has_a_picture_and_its_frame_the_stations(answers: dict[str, Shown]) -> None:
    assert 'class="picture"' in notebook.html(answers["Prediction"])
    frame = answers["Prediction"].to_frame()
    assert frame["utilization"].max() == pytest.approx(1.0)
    time = answers["Simulation"].to_frame()
    assert (time["end_s"] > time["start_s"]).all()


def test_without_plotly_it_says_what_to_install(answers: dict[str, Shown], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(InputError, match=r"figure\(\) needs plotly: pip install"):
        answers["Prediction"].figure()


def test_nothing_else_can_be_shown() -> None:
    with pytest.raises(TypeError, match="no figure"):
        notebook.figure(3)
    with pytest.raises(TypeError, match="no table"):
        notebook.frame(3)


def test_a_sweep_and_a_comparison_show_themselves_with_numbers_as_numbers() -> None:
    pytest.importorskip("plotly", reason="figure() needs plotly")
    swept = dtnsim.sweep("venadi/gridftp-gpfs", ["wan.rtt=50ms,1ms", "transfer.tool.cc=1,2"], samples=16)
    compared = dtnsim.compare("venadi/gridftp-gpfs", variants=["wan.rtt=5 ms"], samples=16)
    for answer, columns in ((swept, 4), (compared, 2)):
        assert "<table>" in answer._repr_html_()
        assert "<script" not in answer._repr_html_()
        assert len(answer.to_frame()) == columns
    frame = swept.to_frame()
    assert sorted(set(frame["wan.rtt"])) == pytest.approx([0.001, 0.05])
    assert (frame["p10_Bps"] <= frame["throughput_Bps"]).all()
    assert (frame["throughput_Bps"] <= frame["p90_Bps"]).all()
    lines = swept.figure().data
    assert [list(t.x) for t in lines] == [pytest.approx([0.001, 0.05])] * 2
    assert [t.name for t in lines] == ["transfer.tool.cc=1", "transfer.tool.cc=2"]
    assert list(compared.figure().data[0].x) == pytest.approx(list(compared.to_frame()["throughput_Bps"] * 8e-9))
