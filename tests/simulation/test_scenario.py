"""What a run has to know beforehand: names, timelines, states of a path, crowds, arrivals of other people."""

import math
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dtnsim.components.base import validate
from dtnsim.description.events import Others
from dtnsim.ground.errors import InputError, SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Problem, Station
from dtnsim.ground.yamlio import loads
from dtnsim.simulation import scenario, simulate
from dtnsim.simulation.scenario import DIURNAL_STEP_S, SHARE_STEP, check_load, make_scene, matching, poisson, read_trace
from dtnsim.steady.prediction import predict
from dtnsim.steady.timed import composer
from tests.each import rows
from tests.lab import journey
from tests.simulation.slow import FAST, SLOW, make
from tests.strategies import load, written

DAY: dict[str, Any] = {"share": "40 %", "diurnal": "0.5", "peak_hour": 15, "hour": 3}


def stations(*names: str) -> Problem:
    return Problem("p", tuple(Station(n, "h", n, "t", 1.0, "B") for n in names), ())


def test_stars_stand_for_names_and_brackets_for_themselves() -> None:
    problem = stations("a.cpu[t1]", "a.cpu[t2]", "a.disk", "b.disk")
    assert matching(problem, "*.disk") == [2, 3]
    assert matching(problem, "a.cpu[t1]") == [0]
    assert matching(problem, "a.cpu[*") == [0, 1]
    assert matching(problem, "?.disk") == [2, 3]
    with pytest.raises(SpecError, match=r"is not a station.*a\.disk"):
        matching(problem, "c.disk")


def test_a_timeline_has_what_holds_from_when_on() -> None:
    change = {"wan.loss": "1e-4"}
    events = [{"at": "10 s", "set": change, "until": "30 s"}, {"at": "20 s", "set": change, "until": "40 s"}]
    scene = make_scene(make(FAST, events=events))
    assert [(t, key[0]) for t, key in scene.timeline()] == [(10, (0,)), (20, (0, 1)), (30, (1,)), (40, ())]


def test_a_load_over_the_day_follows_its_cosine() -> None:
    """Mean 40 %, half of it up and down, 3 o'clock at the start, its peak at 15."""
    scene = make_scene(make(FAST, wan__background=DAY))
    told = list(islice(scene.timeline(), 48))
    hours = 3 + (np.array([t for t, _ in told]) + DIURNAL_STEP_S / 2) / 3600
    shares = np.array([key[1][0] for _, key in told]) * SHARE_STEP
    want = 0.4 * (1 + 0.5 * np.cos(2 * np.pi * (hours - 15) / 24))
    assert shares == pytest.approx(want, abs=SHARE_STEP / 2 + 1e-12)


def test_a_state_of_the_path_is_the_path_with_those_keys() -> None:
    events = [{"at": "10 s", "set": {"wan.bandwidth": "1 Gb/s"}}]
    scene = make_scene(make(FAST, events=events))
    slow = scene.state(((0,), ()))[0]
    rate = predict(make(FAST, wan__bandwidth="1 Gb/s"), samples=0).throughput_Bps.p50
    number = [s.name for s in slow.stations].index("network.wan")
    capacity = float(np.ravel(slow.stations[number].capacity)[0])
    assert capacity == pytest.approx(1e9 / 8)
    assert rate < capacity
    assert scene.state(((0,), ()))[0] is slow
    assert scene.state(scene.start)[0] is scene.problem


def test_a_load_that_varies_changes_the_rate_by_the_hour() -> None:
    path = make(FAST, wan__background={**DAY, "diurnal": "0.9"}, transfer__dataset={"files": 1, "size": "40 TB"})
    run = simulate(path).runs[0]
    assert predict(path, samples=0).duration_s.p50 == pytest.approx(run.end_s, rel=0.01)
    series = run.series
    middle = 3 + (series.edge_s[1:] + series.edge_s[:-1]) / 7200
    day = middle < 27
    slowest = middle[day][int(np.argmin(series.rate_Bps[day, 0]))]
    assert slowest == pytest.approx(15, abs=0.6)


def test_crowds_that_offer_more_than_fits_need_an_end() -> None:
    others = [{"stations": ["network.wan"], "rate": "2 /s", "size": "1 GB"}]  # 16 Gb/s and more over 10
    scene = make_scene(make(SLOW, others=others))
    check_load(scene, until=3600.0)
    with pytest.raises(SpecError, match="pile up for ever"):
        check_load(scene, until=math.inf)
    with pytest.raises(SpecError, match="pile up for ever"):
        simulate(make(SLOW, others=others))


def test_nobody_may_crowd_a_thread() -> None:
    others = [{"stations": ["*.cpu.gridftp*"], "rate": "1 /s", "size": "1 GB"}]
    with pytest.raises(SpecError, match="none of these stations"):
        make_scene(make(SLOW, others=others))


def others(text: str) -> Others:
    return validate(Others, loads(text, "o.yaml"))


def test_arrivals_have_the_rate_and_sizes_asked_for() -> None:
    given = others("{stations: [x], rate: 2 /s, size: 1 GB, sigma: 1}")
    drawn = np.array(list(islice(poisson(given, np.random.default_rng(1)), 20_000)))
    gaps = np.diff(drawn[:, 0])
    # standard error of the mean of 20,000 exponential gaps is 0.7 %: four of them
    assert gaps.mean() == pytest.approx(0.5, rel=0.03)
    assert np.median(drawn[:, 1]) == pytest.approx(1e9, rel=0.05)
    assert np.all(gaps >= 0)
    offered = scenario.Crowd(given, {}, math.inf, 1.0, Path()).offered_Bps  # 1 % for sizes and for gaps: four of them
    assert drawn[:, 1].sum() / drawn[-1, 0] == pytest.approx(offered, rel=0.05)


def test_a_daily_wave_brings_more_at_its_peak() -> None:
    given = others("{stations: [x], rate: 1 /s, diurnal: 1, peak_hour: 15}")
    times = np.array([t for t, _ in islice(poisson(given, np.random.default_rng(2)), 86_000)])
    hour = (times / 3600) % 24
    busy, idle = np.sum(np.abs(hour - 15) < 1), np.sum(np.abs(hour - 3) < 1)
    assert busy > 20 * idle  # 1 + cos is 2 at the peak and nearly 0 twelve hours later


def test_the_same_seed_brings_the_same_people() -> None:
    given = others("{stations: [x], rate: 2 /s}")
    a, b = (list(islice(poisson(given, np.random.default_rng(7)), 50)) for _ in range(2))
    assert a == b


def test_a_trace_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "time_s,bytes\n0,1e6\n2.5,3000\n")
    assert list(read_trace(path)) == [(0.0, 1e6), (2.5, 3000.0)]


@pytest.mark.parametrize(("text", "says"), rows("simulation/tables", "bad_traces"))
def test_bad_traces(text: str, says: str, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(InputError, match=says):
        list(read_trace(path))


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_trace(tmp_path / "absent.csv"))


def test_who_has_ended_shares_no_link_with_who_begins_later() -> None:
    """Eight streams of a bbcp that is done within seconds left scp a third of its share of what comes after."""
    moves = ({"tool": {"name": "bbcp", "s": 8}}, {"tool": "scp", "start": "60 s"}, {"tool": "gridftp", "start": "61 s"})
    one = {"from": "a:memory", "to": "b:memory", "dataset": {"size": "9 GB"}}
    given = load(journey(wan={"bandwidth": "5 Gb/s", "rtt": "20 ms"}, transfers=[one | more for more in moves]))
    met = make_scene(given).problem, composer(given, Draw()).problem()
    simulated, predicted = ([(t.turn, t.weight) for t in made.transfers] for made in met)
    assert simulated == predicted
