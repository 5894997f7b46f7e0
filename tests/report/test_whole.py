"""The report of a path: what it says, that it is escaped, and that it can be made again."""

import ast
import json
import re
from pathlib import Path

import pytest

import dtnsim
from dtnsim.ground.errors import InputError
from dtnsim.ground.uncertainty import Interval
from dtnsim.physics.tcp import rate_over_time
from dtnsim.planning import messages, tool_choice, whatif
from dtnsim.planning.groups import Task
from dtnsim.report import assumed, charts, costs, fleet_page, holds, page, picture, timeline, traces, whole
from dtnsim.report.decision import verdict
from dtnsim.report.how_long import clock
from dtnsim.report.table import Table
from dtnsim.simulation.fleet.run import fleet
from dtnsim.steady import goals
from dtnsim.steady.why_wide import Share
from tests.each import tables

EVIL, PATH = tables("report/tables")["evil"]


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dtnsim.description.spec.PathSpec:  # type: ignore[name-defined]
    file = tmp_path_factory.mktemp("path") / "evil.yaml"
    file.write_text(PATH)
    return dtnsim.load(file)


@pytest.fixture(scope="module")
def answer(given: object) -> dtnsim.Prediction:
    return dtnsim.predict(given, samples=64)


@pytest.fixture(scope="module")
def html(given: object, answer: dtnsim.Prediction) -> str:
    simulation = dtnsim.simulate(given)
    typed = ("dtnsim", "report", "evil.yaml")
    return whole.report(given, whole.Sections(simulation, scenarios=12, samples=32, sensitivity=64, command=typed))


def data(html: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', html, re.DOTALL)
    return json.loads(found[1])


def test_it_is_one_file_that_needs_nothing(html: str) -> None:
    assert len(html.encode()) < 6e6
    markup = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(?!data:)', markup)
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in markup


def test_texts_of_others_stay_text(html: str) -> None:
    assert "<img" not in re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert page.escaped(EVIL) in html
    for figure in data(html)["figures"]:
        assert "<img" not in json.dumps(figure)


def test_it_says_how_it_is_made_again(html: str) -> None:
    assert "dtnsim report evil.yaml" in html
    assert page.escaped("tool: {name: gridftp, p: 4}") in html
    assert dtnsim.__version__ in html


def test_every_figure_has_words_and_a_table(html: str) -> None:
    figures = data(html)["figures"]
    assert len(figures) >= 8
    assert html.count("<details><summary>The numbers: ") == len(figures)
    assert len(
        re.findall(r'class="plot" role="img" style="height:\d+px" data-figure="\d+" aria-label="[^"]{10,}"', html)
    ) == len(figures)


def test_the_same_input_gives_the_same_bytes(given: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.setattr(costs.Reliefs, "reliefs", lambda _, rungs: [("", "")] * len(rungs))  # tested by itself
    asked = whole.Sections(planned=False, scenarios=0, samples=16, sensitivity=0, tools=False)
    first = whole.report(given, asked)
    assert first == whole.report(given, asked)
    assert "1970-01-02" in first


def test_every_position_of_the_sliders_is_a_prediction(given: object, html: str) -> None:
    grid = data(html)["whatif"]
    own = dtnsim.predict(given, samples=32).throughput_Bps.p50
    assert grid["rate"][grid["own"]] == pytest.approx(own, rel=1e-12)
    axis = next(n for n, a in enumerate(grid["axes"]) if a["name"] == "rtt")
    sizes = [len(a["labels"]) for a in grid["axes"]]
    at = [a["own"] for a in grid["axes"]]
    at[axis] = 0 if at[axis] else len(grid["axes"][axis]["labels"]) - 1
    number = 0
    for size, place in zip(sizes, at, strict=True):
        number = number * size + place
    other = dtnsim.predict(given.changed([f"wan.rtt={grid['axes'][axis]['labels'][at[axis]]}"]), samples=32)
    assert grid["rate"][number] == pytest.approx(other.throughput_Bps.p50, rel=1e-12)
    assert grid["stations"][grid["station"][number]].endswith(f"[{other.bottleneck.station}]")


def test_a_grid_has_no_more_crossings_than_asked(given: object) -> None:
    grid = whatif.grid(Task(given, 0, 1), 6)
    assert 1 < len(grid.outcomes) <= 6
    assert grid.plane("rtt", "nothing") is None


def test_round_trips_and_losses_of_a_grid_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dtnsim.load("venadi/gridftp-gpfs")
    monkeypatch.setattr(rate_over_time, "_kept", {})
    runs, real = [], rate_over_time.answers

    def counted(some: object, ends: tuple[object, ...] = (), **seed: int) -> object:
        runs.append(len(ends))
        return real(some, ends, **seed)

    monkeypatch.setattr(rate_over_time, "answers", counted)
    grid = whatif.grid(Task(given, 16, 1), 24)
    labels = {a.name: a.labels for a in grid.axes}
    assert len(labels["rtt"]) > 2
    assert max(runs) > 1
    assert len(runs) <= 2 * len(labels["streams"])  # without loss, and with those that nobody states
    assert grid.every == 6 * 3 * 4 * 3 * 3
    last = [o for a in grid.axes for o in a.overrides[-1]]
    assert all(any(a.overrides) for a in grid.axes)
    monkeypatch.setattr(rate_over_time, "_kept", {})
    alone = dtnsim.predict(given.changed(last), samples=16).throughput_Bps.p50
    found = grid.outcome({a.name: len(a.labels) - 1 for a in grid.axes}).rate_Bps
    assert found == pytest.approx(alone, rel=1e-9)


def test_transfers_with_names_can_be_varied() -> None:
    given = dtnsim.load("nasa/nuttscp-5of7")
    assert [given.transfer_key(n) for n in (0, 1)] == ["transfers.file1", "transfers.file2"]
    assert len(whatif.grid(Task(given, 0, 1), 2).axes[0].labels) == 2


def test_verdict(answer: dtnsim.Prediction) -> None:
    assert verdict(answer).startswith("60 GB in 20 files by gridftp: about ")
    night = verdict(answer, [goals.deadline("1d")], clock("23:59"))
    assert night.startswith("60 GB in 20 files by gridftp fits within 24 h (in every run): there by 00:")
    assert "on day 2" in night
    with pytest.raises(InputError, match="22:00"):
        clock("25:00")


def test_verdict_of_a_timed_test() -> None:
    found = dtnsim.predict("venadi/iperf3", samples=16)
    assert verdict(found).count("b/s") == 3


def test_the_picture_has_what_is_used_and_marks_what_binds(given: object, answer: dtnsim.Prediction) -> None:
    made = picture.Picture(answer)
    used = {u.station.name for u in answer.stations if u.utilization > 0 and u.station.kind != "workers"}
    assert {u.station.name for b in made.boxes.values() for u in b.uses} == used
    assert [b for b in made.boxes.values() if b.binds]
    assert len({(b.column, b.row) for b in made.boxes.values()}) == len(made.boxes)
    svg = picture.svg(made, "about")
    assert svg.count('role="img"') == len(made.boxes)
    assert "<img" not in svg


def test_hosts_of_a_cluster_fold() -> None:
    given = dtnsim.load("examples/lustre-cluster-globus")
    made = picture.Picture(dtnsim.predict(given, samples=0))
    assert len(made.boxes) < 30 < len(given.graph)
    assert sum(b.folded > 0 for b in made.boxes.values()) == 6
    assert any("7 components" in picture.about(b)[0] for b in made.boxes.values())
    assert len({(b.column, b.row) for b in made.boxes.values()}) == len(made.boxes)


def test_servers_of_a_host_stand_below_each_other() -> None:
    ends = {"transfer.from": "nersc:/cori-scratch", "transfer.to": "nersc:/project", "transfer.tool": "cp"}
    named = {f"hosts.nersc.volumes./{mount}.filesystem.system": mount for mount in ("cori-scratch", "project")}
    given = dtnsim.load("venadi/gridftp-gpfs", ends | named)
    made = picture.Picture(dtnsim.predict(given, samples=0))
    assert len({(b.column, b.row) for b in made.boxes.values()}) == len(made.boxes)


def test_what_the_file_does_not_say_comes_with_its_source_and_share(given: object) -> None:
    made = assumed.table(given, [Share("tool gridftp.overhead", 0.25, 0.9, "a trial run")])
    rows = {r[0]: r for r in made.rows}
    assert any("tool.overhead" in what and r[3] == "25.0%" for what, r in rows.items())
    assert all(r[4] for r in made.rows)
    assert not any(what == "wan.0.rtt" for what in rows)


def test_each_rung_has_what_relieves_it() -> None:
    p = dtnsim.predict("venadi/gridftp-gpfs", samples=0)
    found = costs.Reliefs(p).reliefs(p.ladder)
    assert len(found) == len(p.ladder)
    assert any(price for _, price in found)


def test_of_a_ladder_the_rung_that_binds_stands_out() -> None:
    p = dtnsim.predict("venadi/gridftp-gpfs", samples=0)
    told = p.transfers[0]
    made = charts.ladder(p, told, [("", "")] * len(told.ladder))
    marker, names = made.traces[0]["marker"], made.layout["yaxis"]["ticktext"]
    assert names[0].startswith("1  one core of nersc's processor<br>")
    assert ">nersc.cpu.gridftp sender</span>" in names[0]
    assert made.layout["height"] > traces.height(traces.rows_axis(["a"] * len(names)))  # two lines need more room
    assert marker["color"] == [traces.AMBER, *[traces.BLUE] * (len(told.ladder) - 1)]
    assert len(marker["pattern"]["shape"]) == len(told.ladder)


def test_measured_is_shown_beside_predicted() -> None:
    made = charts.measured([("a", "blind", 1e9, Interval(0.5e9, 0.9e9, 2e9))])
    assert "-10.0%" in made.table.rows[0]
    assert charts.measured([]) is None


@pytest.mark.long
def test_a_plan_is_drawn() -> None:
    plan = dtnsim.plan("venadi/gridftp-gpfs", target="15Gb/s", allow=["tuning"], samples=16, hints=False)
    made = charts.plan_frontier(plan)
    assert made.layout["shapes"][0]["y0"] == pytest.approx(15.0)
    assert len(made.table.rows) == len(made.traces[0]["x"])
    assert len(charts.free_settings(plan).rows) == len(plan.wins)


def test_a_year_by_the_hour() -> None:
    edges = [h * 3600.0 for h in range(24 * 365 + 1)]
    rates = [1e9 if h % 24 == 3 else 0.0 for h in range(24 * 365)]
    made = timeline.by_hour(rates, edges, "a year")
    assert "busiest from 3:00, 8 Gb/s" in made.says
    assert timeline.by_hour(rates[:24], edges[:25], "a day") is None
    assert made.layout["xaxis"]["dtick"] == int(made.layout["xaxis"]["dtick"]) == 19  # 365 days on 20 ticks at most


def test_hours_of_the_day_are_those_of_the_start() -> None:
    edges = [h * 3600.0 for h in range(49)]
    rates = [1e9 if h == 3 else 0.0 for h in range(48)]
    made = timeline.by_hour(rates, edges, "two days", clock("22:30"))
    z = made.traces[0]["z"]
    assert made.traces[0]["x"] == [1, 2, 3]
    assert (z[1][1], z[2][1]) == (pytest.approx(4.0), pytest.approx(4.0))  # from 1:30 to 2:30 at 8 Gb/s
    assert z[21][0] is None  # not begun
    assert (z[22][0], z[22][2]) == (0.0, 0.0)
    assert z[23][2] is None  # has ended
    assert made.layout["xaxis"]["dtick"] == 1
    assert sum(v is not None for row in z for v in row) == 49


def test_level_lines_are_a_sentence() -> None:
    level = timeline._curves("Queues", {"a": [2.0, 2.0, None, 2.01]}, [0.0, 1.0, 2.0, 3.0], "s", "workers", [])
    assert timeline.is_flat(level)
    assert level.says == "Queues: a 2 throughout"
    rates = timeline._curves("Throughput", {"a": [2.0, 2.0]}, [0.0, 1.0], "s", "throughput [Gb/s]", [])
    assert rates.says == "Throughput: a 2 Gb/s throughout"
    moved = timeline._curves("Queues", {"a": [2.0, 2.0], "b": [0.0, 2.0]}, [0.0, 1.0], "s", "workers", [])
    assert not timeline.is_flat(moved)
    marked = timeline._curves("Queues", {"a": [2.0, 2.0]}, [0.0, 1.0], "s", "workers", [(0.5, "wan down")])
    assert not timeline.is_flat(marked)


def test_names_on_an_axis_are_whole_and_one_of_less_than_tenfold_has_numbers() -> None:
    name = "nas.pcie.slot-3.switch[receive, transfer-of-the-night].workers.of.a.very.long.name" + "x" * 50
    lines = traces.wrapped(name).split("<br>")
    assert "".join(lines) == name
    assert max(map(len, lines)) <= traces.LETTERS
    assert traces.wrapped("<b>") == "&lt;b&gt;"
    assert traces.rows_axis([name])["ticktext"] == [traces.wrapped(name)]

    assert traces.tenfold("time [s]", [2.0, 15.0]).get("type") is None
    assert traces.tenfold("time [s]", [2.0, 25.0])["type"] == "log"


def test_stations_have_words_and_braces_in_names_stay() -> None:
    p = dtnsim.predict("examples/s3-upload-nas", samples=0)
    assert holds.called(p, "nas.bucket.connections[transfer]") == "bucket's connections"
    assert holds.called(p, "nas.pool.disks") == "disks of nas"
    assert holds.called(p, "{host} of nobody") == "{host} of nobody"
    fast = dtnsim.predict("examples/dtn-400g", samples=0)
    rungs = [holds.called(fast, r.station, r.reason) for r in fast.ladder]
    assert rungs[:2] == ["network link wan (shared with other traffic)", "network port of left"]  # of one connection
    q = dtnsim.predict("examples/nas-24-nightly", samples=0)
    assert holds.called(q, q.ladder[0].station, q.ladder[0].reason) == "TCP window from nas to centre"


def test_tables_leave_out_what_nobody_says() -> None:
    html = Table("a", "b", ">c", rows=[("1", "", "3"), ("2", "", "")]).html("numbers")
    assert ">b</th>" not in html
    assert html.count("<td") == 4
    assert '<th scope="col" class="n">c</th>' in html


def test_maps_and_bars_begin_at_nothing_and_rates_have_no_prefix(html: str) -> None:
    maps = [t for f in data(html)["figures"] for t in f["data"] if t["type"] == "heatmap"]
    assert maps
    assert all(t["zmin"] == 0 < t["zmax"] for t in maps)  # one of them alone is not looked at
    for figure in data(html)["figures"]:
        layout = figure["layout"]
        if any(trace["type"] == "bar" for trace in figure["data"]):
            assert layout["xaxis"].get("type") != "log"
            assert len(figure["data"]) == 1 or layout["showlegend"]
            assert layout["xaxis"].get("rangemode") == "tozero" or layout["xaxis"]["range"][0] == 0
        for axis in (layout.get("xaxis", {}), layout.get("yaxis", {})):
            title = axis.get("title", {}).get("text", "")
            if "Gb/s" in title:
                assert axis["exponentformat"] == "none"
            if title.startswith("time ["):
                assert axis["rangemode"] == "tozero"


def test_a_report_says_which_tool(given: object, html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = tool_choice.choose(given, 32)
    text = re.sub(r"\s+", " ", html)
    said = messages.tool_advice(found)
    assert page.escaped(said[1:]) in text
    rows = re.search(r"<caption>\d+ of \d+ ways.*?</table>", text)
    shown = [page.escaped(c.name) for c in found[: whole.TOOLS]]
    places = [rows[0].find(f">{name}<") for name in shown]
    assert -1 not in places
    assert places == sorted(places)
    assert found[0].own
    monkeypatch.setattr(tool_choice, "choose", lambda *_: pytest.fail("asked for tools"))
    monkeypatch.setattr(costs.Reliefs, "reliefs", lambda _, rungs: [("", "")] * len(rungs))
    few = whole.Sections(planned=False, scenarios=0, samples=16, sensitivity=0, tools=False)
    assert "Which tool" not in whole.report(given, few)


def test_bars_of_what_bytes_cost_are_the_utilisation() -> None:
    for name in ("venadi/gridftp-gpfs", "nasa/nuttscp-5of7", "examples/page-cache-program"):
        p = dtnsim.predict(name, samples=0)
        made = charts.spending(p)
        shown = [sum(t["x"][k] for t in made.traces) for k in range(len(made.traces[0]["x"]))]
        used = [100 * u.utilization for u in p.stations if u.utilization > 0 and u.station.kind != "workers"]
        phased = any(len(t.phases) > 1 for t in p.problem.transfers)
        assert shown == pytest.approx(used[: len(shown)], rel=0.02 if not phased else 0.1)


def test_a_fleet_has_its_figures() -> None:
    made = fleet(
        "examples/facility-year", replicas=1, overrides=["workload.span=1 d", "workload.classes.users.volume=1 TB/day"]
    )
    titles = [f.title for f in fleet_page.figures(made)]
    assert titles == ["How long transfers take, by class", "Use by hour of the week"]
    used = [str(row[0]) for row in fleet_page.figures(made)[1].table.rows]
    assert len({re.sub(r"\d+", "*", name.partition(".")[0]) + name.partition(".")[2] for name in used}) == len(used)
    hours = fleet_page.figures(made)[1].traces[0]["z"]
    assert all(sum(v is not None for v in row) == 24 for row in hours)  # a day says nothing of the week's other hours
    row = fleet_page.figures(made)[1].table.rows[0]  # each hour was seen once
    assert row[3] == f"{max(v for v in hours[0] if v is not None):.1f}%"
    tops = {s.name: max(s.of_week) for s in made.runs[0].stations}
    assert used == ["network.wan"]  # the only one that any hour uses by a tenth
    assert sorted(tops.values())[-2] < fleet_page.IDLE <= tops["network.wan"]
    assert f"at most {sorted(tops.values())[-2]:.1%} in any hour" in fleet_page.idle(made)
    captions = [caption for caption, _ in fleet_page.tables(made)]
    assert captions[1] == "What held the transfers of each class"
    assert captions[0] == "What was asked for, and what became of it"
    assert f"of {made.runs[0].total.asked:,} transfers done" in fleet_page.sentence(made)
    due = dict(fleet_page.tables(made)).get("What is due for an upgrade, the first ones first")
    assert due is None or due.head[0] == "due for an upgrade"  # words, no keys of the JSON document


def test_the_plan_is_there_by_default_against_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now, free and bought, where the window holds a path whose drives are not enough for ten times that."""
    monkeypatch.setattr(costs.Reliefs, "reliefs", lambda _, rungs: [("", "")] * len(rungs))  # tested by itself
    given = dtnsim.load("examples/nas-24-nightly")
    asked = whole.Sections(goal=goals.target("25Gb/s"), scenarios=0, samples=16, sensitivity=0, tools=False)
    html = whole.report(given, asked)
    first = data(html)["figures"][0]
    assert len(first["data"][0]["x"]) >= 2
    assert first["layout"]["shapes"][0]["x0"] == pytest.approx(25.0)
    assert first["data"][0]["x"][0] < first["data"][0]["x"][1]
    assert html.index("What to do") < html.index("The path")
    assert "--set hosts.nas.tcp.wmem_max" in html


def test_every_kind_of_station_has_words() -> None:
    """A limit of md's stripe cache was 'E.stripes of fs'."""
    folder, charged = Path(dtnsim.__file__).parent, set[str]()
    texts = (file.read_text(encoding="utf-8") for file in folder.rglob("*.py"))
    for text in (text for text in texts if "charge(" in text):
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "charge" and len(call.args) > 1:
                name, kind = call.args[:2]
                own = name.values[-1] if isinstance(name, ast.JoinedStr) else name
                last = own.value.rpartition(".")[2] if isinstance(own, ast.Constant) else ""
                if isinstance(kind, ast.Constant) and f".{last}" not in holds._OWN:
                    charged.add(str(kind.value))
    assert len(charged) > 10
    assert charged - set(holds._HOLDS) <= {"tcp"}  # connections have words of their own
