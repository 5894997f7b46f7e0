"""A fleet from a path file: a fleet of one is `predict`, alike hosts are composed once, seeds, faults, traces, answers.

`job_classes`, `build`, `degraded`, `answers`, `trace`, `checkpoint` and `run` of `dtnsim.simulation.fleet`.
"""

import json
import math
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dtnsim
from dtnsim.description import calendar, spec
from dtnsim.description.events import Failure
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError, SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.report import fleet as fleet_report, text
from dtnsim.simulation.fleet import arrivals, faults, job_classes, run, trace
from dtnsim.simulation.fleet.answers import answer, due
from dtnsim.simulation.fleet.build import Fleet
from dtnsim.simulation.fleet.checkpoint import CheckpointFile
from dtnsim.simulation.fleet.run import fleet
from tests.each import rows

HEAD = """
name: a yard
hosts: {{a1: example-dtn-100g, a2: {{like: a1}}, b: example-dtn-100g}}
wan: {{bandwidth: {wan}, rtt: 20 ms}}
workload:
  span: {span}
  date: "2024-01-01"
  endpoints: {{site: {{hosts: "a*", choose: least loaded}}}}
"""
DAILY = "{from: 'site:/xfs', to: 'b:/xfs', tool: {name: gridftp, p: 4, cc: 4}, size: 1 TB, each: 10 GB, every: 1 day}"


MIXED = {
    "daily": DAILY.replace("every: 1 day", "every: 1 day, deadline: 1 min"),
    "u": "{from: 'site:/xfs', to: 'b:/xfs', tool: scp, size: {median: 5 GB}, rate: 100 /day, growth: 0 %}",
}


def path(classes, more="", span="10 d", wan="100 Gb/s", folder=None):
    text = HEAD.format(span=span, wan=wan) + textwrap.indent(textwrap.dedent(more), "  ") + "\n  classes:\n"
    text += "".join(f"    {name}: {body}\n" for name, body in classes.items())
    return spec.resolve(yamlio.loads(text, "yard.yaml"), beside=folder)


def ran(given, seed=1):
    made = (given if isinstance(given, Fleet) else Fleet(given, Draw())).ready(seed)
    while not made.course.run(100_000):
        pass
    return made


@pytest.mark.parametrize("tool", ["{name: gridftp, p: 4, cc: 4}", "scp", "globus", "{name: rclone, transfers: 8}"])
def test_a_fleet_of_one_is_what_predict_says(tool):
    body = f"{{from: 'a1:/xfs', to: 'b:/xfs', tool: {tool}, size: 1 TB, files: 700, start: 100 s}}"
    given = path({"one": body})
    made = ran(given)
    expected = dtnsim.predict(given, samples=0).transfers[0].duration_s.p50
    assert made.course.ended[0] - 100 == pytest.approx(expected, rel=1e-9)
    assert answer(made, given.workload).total.slowdown[0] == pytest.approx(1.0)


def test_alike_hosts_are_composed_once_and_have_stations_of_their_own():
    made = ran(whole := Fleet(path({"daily": DAILY}), Draw()))
    assert len([*whole.reduction.made]) == 1
    assert {"a1.eth.port0.tx", "a2.eth.port0.tx", "b.eth.port0.rx"} <= set(made.names)
    assert {made.course.ways[w].source for w in made.course.way} == {0, 1}  # the less loaded, the next of equals


def test_several_at_once_share_what_they_cross():
    """Four at once over a narrow WAN take as long as the WAN needs for all of them."""
    body = DAILY.replace("every: 1 day", "every: 1 day, count: 4")
    given = path({"daily": body}, wan="10 Gb/s", span="1 d")
    made = ran(given)
    wan = made.names.index("network.wan")
    cost = dict(made.course.ways[0].reduced.demands)[wan]
    assert made.course.ended == pytest.approx(4e12 * cost / made.course.capacity[wan], rel=1e-9)
    found = answer(made, given.workload)
    assert found.held_s["daily"]["network.wan"] > 0
    wire = next(s for s in found.stations if s.name == "network.wan")  # full for that part of its hour, and of the day
    took = float(made.course.ended[0])
    assert (wire.peak, wire.mean, found.end_s) == pytest.approx((took / 3600, took / 86400, 86400.0))


def test_use_of_stations_is_what_transfers_have_moved():
    given = path(
        {"daily": DAILY, "u": "{from: 'site:/xfs', to: 'b:/xfs', tool: scp, size: {median: 5 GB}, rate: 200 /day}"}
    )
    made = ran(given)
    found = answer(made, given.workload)
    wan = next(s for s in found.stations if s.name == "network.wan")
    k = made.names.index("network.wan")
    moved = np.zeros(len(made.course.ways))
    np.add.at(moved, made.course.way[made.course.way >= 0], (made.course.work.size)[made.course.way >= 0])
    used = sum(m * dict(w.reduced.demands)[k] for m, w in zip(moved, made.course.ways, strict=True))
    assert wan.mean * made.course.capacity[k] * 10 * 86400 == pytest.approx(used, rel=1e-3)
    assert np.mean(wan.of_week[: 24 * 7]) > 0
    assert found.total.asked == len(made.course.work)


# -- times, sizes, pairs --------------------------------------------------------------------------


PLAIN = "{{from: 'a1:/xfs', to: 'b:/xfs', tool: scp, {}}}"


def drawn(body, more="", span="364 d", seed=1):
    given = path({"c": body}, more, span)
    return arrivals.draw("c", given.workload, seed, Path())


def test_poisson_arrivals_follow_day_week_and_growth():
    body = PLAIN.format("size: 1 GB, rate: 100 /day, diurnal: {wave: 80 %, peak_hour: 15, weekend: 30 %}")
    found = drawn(body).asked
    assert len(found) == pytest.approx(36400, rel=0.02)
    hours = np.bincount((found % 86400 // 3600).astype(int))
    assert hours[13:17].sum() / hours[1:5].sum() == pytest.approx(1.78 / 0.22, rel=0.1)
    days = np.bincount((found // 86400 % 7).astype(int))
    assert days[5:].mean() / days[:5].mean() == pytest.approx(0.3, rel=0.05)
    grown = drawn(body, "growth: 100 %", "730.5 d").asked
    assert (grown > 365.25 * 86400).sum() / (grown < 365.25 * 86400).sum() == pytest.approx(2.0, rel=0.03)


def test_volume_makes_the_rate():
    body = (
        "{from: 'a1:/xfs', to: 'b:/xfs', tool: scp, size: {median: 10 GB, sigma: 1.2, most: 200 GB}, volume: 5 TB/day}"
    )
    assert drawn(body).size.sum() == pytest.approx(364 * 5e12, rel=0.03)


def test_clockwork_grows_in_size():
    found = drawn("{from: 'a1:/xfs', to: 'b:/xfs', tool: scp, size: 1 TB, cron: '0 3 * * mon', growth: 50 %, count: 2}")
    assert len(found.asked) == 104
    assert found.asked[0] == 3 * 3600
    assert found.size[-1] / 1e12 == pytest.approx(1.5 ** (found.asked[-1] / (365.25 * 86400)))


def test_windows_open_past_midnight_and_not_at_weekends():
    body = PLAIN.format("size: 1 GB, rate: 30 /day, window: {from: '22:00', to: '02:00', days: mon-fri}")
    found = drawn(body, span="28 d")
    week = found.ready % calendar.WEEK_S
    hour = week % 86400 / 3600
    day = (week // 86400).astype(int)
    assert np.all((hour >= 22) | (hour < 2))
    assert np.all(np.where(hour < 2, (day >= 1) & (day <= 5), day <= 4))
    assert np.all(found.ready >= found.asked)
    assert np.all(found.ready - found.asked < 3 * 86400)


def test_pairs_by_gravity_and_by_matrix():
    ends = "from: ['a1:/xfs', 'b:/xfs'], to: ['a2:/xfs', 'b:/xfs'], tool: scp, size: 1 GB, rate: 100 /day"
    found = drawn(f"{{{ends}, pairs: {{gravity: {{a1: 1, a2: 2, b: 3}}}}}}")
    share = np.bincount(found.pair[:, 0] * 2 + found.pair[:, 1], minlength=4) / len(found.pair)
    assert share == pytest.approx([2 / 11, 3 / 11, 6 / 11, 0], abs=0.01)  # b does not send to itself
    found = drawn(f"{{{ends}, pairs: {{matrix: {{a1: {{b: 1}}, b: {{a2: 3}}}}}}}}")
    share = np.bincount(found.pair[:, 0] * 2 + found.pair[:, 1], minlength=4) / len(found.pair)
    assert share == pytest.approx([0, 0.25, 0.75, 0], abs=0.01)
    with pytest.raises(SpecError, match=r"is no end of this class.*'c9'.*write one of"):
        drawn(f"{{{ends}, pairs: {{gravity: {{c9: 1}}}}}}")


def test_one_class_does_not_change_another():
    body = "{from: 'a1:/xfs', to: 'b:/xfs', tool: scp, size: 1 GB, rate: 100 /day}"
    alone = arrivals.draw("c", path({"c": body}).workload, 7, Path())
    beside = arrivals.draw("c", path({"b": body, "c": body}).workload, 7, Path())
    assert np.array_equal(alone.asked, beside.asked)


@pytest.mark.parametrize(("body", "more", "message"), rows("simulation/fleet/tables", "too_much_is_said"))
def test_too_much_is_said(body, more, message):
    given = path({"c": f"{{from: 'a1:/xfs', to: 'b:/xfs', tool: scp, size: 1 PB, {body}}}"})
    workload = given.workload
    if more:
        workload = workload.model_copy(update={"span": workload.span.worth(20 * 31557600.0)})
    with pytest.raises(SpecError, match=message):
        arrivals.draw("c", workload, 1, Path())


# -- traces ---------------------------------------------------------------------------------------

ROWS = "start,source,destination,bytes,files\n10,a1,b,5e9,3\n20.5,a2,b,1e9,1\n"


def traced(tmp_path, text, names=""):
    (tmp_path / "t.csv").write_text(text)
    body = f"{{from: ['a1:/xfs', 'a2:/xfs'], to: ['b:/xfs'], tool: scp, trace: t.csv{names}}}"
    given = path({"t": body}, folder=tmp_path)
    return arrivals.draw("t", given.workload, 1, tmp_path), given


def test_a_trace(tmp_path):
    found, given = traced(tmp_path, ROWS)
    assert found.asked.tolist() == [10, 20.5]
    assert found.size.tolist() == [5e9, 1e9]
    assert found.files.tolist() == [3, 1]
    assert found.pair.tolist() == [[0, 0], [1, 0]]
    made = ran(given)
    assert np.all(made.course.status == 4)


def test_a_trace_is_composed_for_its_median(tmp_path, monkeypatch):
    asked, real = [], job_classes.sorts
    monkeypatch.setattr(job_classes, "sorts", lambda *given: asked.append(given) or real(*given))
    _, given = traced(tmp_path, ROWS)
    ran(given)
    assert asked
    assert [typical for _, _, typical in asked] == [float(np.median(sizes)) for sizes, _, _ in asked]


def test_traces_of_services(tmp_path):
    text = (
        "Request Time,Source Endpoint,Destination Endpoint,Bytes Transferred,Files Transferred\n"
        "2024-01-01T01:00:00Z,ALCF,NERSC DTN,1000000000,4\n"
    )
    found, _ = traced(tmp_path, text, ", names: {ALCF: a2, NERSC DTN: b}")
    assert (found.asked.tolist(), found.pair.tolist(), found.files.tolist()) == ([3600], [[1, 0]], [4])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *rows("simulation/fleet/tables", "traces_that_are_none"),
        *((f"{ROWS}{line}\n", said) for line, said in rows("simulation/fleet/tables", "lines_of_traces_that_are_none")),
    ],
)
def test_traces_that_are_none(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as raised:
        traced(tmp_path, text)
    assert raised.value.exit_code == 2


def test_what_of_a_trace_comes_after_the_span_is_said(tmp_path):
    (tmp_path / "t.csv").write_text("start,source,destination,bytes\n0,a1,b,5e9\n2e6,a1,b,3e9\n3e6,a1,b,4e9\n")
    given = path({"t": "{from: 'a1:/xfs', to: 'b:/xfs', tool: scp, trace: t.csv}"}, folder=tmp_path)
    (said,) = [w for w in dtnsim.fleet(given, replicas=1).warnings if "t.csv" in w]
    assert said.endswith("t.csv: 2 transfers of 3 (7 GB) come after the span of 10 d and are left out")
    (tmp_path / "t.csv").write_text("start,source,destination,bytes\n0,a1,b,5e9\n")
    assert not any("t.csv" in w for w in dtnsim.fleet(given, replicas=1).warnings)


def test_a_checkpoint_on_a_full_disk(tmp_path):
    full = tmp_path / "kept"
    full.symlink_to("/dev/full")
    given = path({"one": "{from: 'a1:/xfs', to: 'b:/xfs', tool: scp, size: 1 GB, start: 0 s}"})
    with pytest.raises(InputError, match=r"--checkpoint: .*kept: cannot be written: No space left on device"):
        dtnsim.fleet(given, replicas=1, checkpoint=full)


def test_a_trace_that_is_not_text(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        trace.read(tmp_path / "t.csv", calendar.date("2024-01-01"))


# -- faults ---------------------------------------------------------------------------------------
def outages(more, seed=1, span="364 d"):
    given = path({"daily": DAILY}, more, span)
    return ran(given, seed).outages


def test_failures_come_as_often_and_last_as_long_as_said():
    found = outages("failures: [{hosts: 'a*', mtbf: 2 d, mttr: 6 h}]")
    assert len(found) == pytest.approx(2 * 364 / 2.25, rel=0.1)
    assert np.mean([o.end - o.begin for o in found]) == pytest.approx(6 * 3600, rel=0.15)
    assert {(o.name, o.word) for o in found} == {("a1", "down"), ("a2", "down")}


def test_wear_is_more_regular_than_chance():
    spread = []
    for shape in (1.0, 4.0):
        failure = Failure(links="wan", mtbf="10 d", mttr="1 min", shape=shape)
        rng = np.random.default_rng(1)
        lives = np.array([faults._lifetime(failure, rng) for _ in range(4000)])
        assert lives.mean() == pytest.approx(10 * 86400, rel=0.05)
        spread.append(lives.std() / lives.mean())
    assert spread == pytest.approx([1.0, 0.28], rel=0.05)


def test_a_lost_drive_degrades_its_array_until_it_is_rebuilt():
    more = "failures: [{drives: 'b:/xfs', mtbf: 300 d, size: 7.68 TB, rebuild: 100 MB/s}]"
    made = ran(path({"daily": DAILY}, more, "364 d"))
    one = next(o for o in made.outages if o.word == "degraded, 1 drive lost")
    assert one.end - one.begin == pytest.approx(76800)
    assert one.factors
    assert all(0 < factor < 1 and made.names[k].startswith("b.xfs") for k, factor in one.factors)
    drives = sum(1 for o in made.outages if "1 drive lost" in o.word)
    assert drives == pytest.approx(8 * 364 / 300, abs=8)


def test_outages_of_one_station_multiply():
    down = [
        faults.Outage(0.0, 10.0, ((0, 0.5),), False, "x", "degraded"),
        faults.Outage(5.0, 7.0, ((0, 0.0),), True, "x", "down"),
        faults.Outage(6.0, 12.0, ((0, 0.5),), False, "y", "degraded"),
    ]
    line = [(f.time, f.factors[0][1], f.breaks) for f in faults.timeline(down)]
    assert line == [(0, 0.5, False), (5, 0, True), (6, 0, False), (7, 0.25, False), (10, 0.5, False), (12, 1, False)]


def test_planned_downtime_is_waited_for():
    more = "maintenance: [{links: wan, cron: '0 1 * * *', lasts: 2 h, what: fibre work}]"
    body = DAILY.replace("every: 1 day", "every: 1 day, at: '02:00'")
    given = path({"daily": body}, more, "3 d")
    made = ran(given)
    assert np.all(made.course.begun % 86400 == 3 * 3600)  # nothing begins over what is down
    assert answer(made, given.workload).held_s["daily"]["down"] == pytest.approx(3 * 3600)
    assert made.outages[0].word == "down for maintenance: fibre work"


@pytest.mark.parametrize(("more", "message"), rows("simulation/fleet/tables", "faults_of_nothing"))
def test_faults_of_nothing(more, message):
    with pytest.raises(SpecError, match=message):
        outages(more)


def test_an_endpoint_within_which_nothing_can_begin():
    more = "endpoints: {yard: {hosts: ['a*', b], active: 1}}"
    text = HEAD.format(span="1 d", wan="10 Gb/s").rpartition("  endpoints:")[0]
    body = DAILY.replace("site:", "yard:").replace("'b:", "'yard:")
    given = spec.resolve(yamlio.loads(f"{text}  {more}\n  classes:\n    c: {body}\n", "yard.yaml"))
    with pytest.raises(SpecError, match="never lets a transfer begin that has both its ends here"):
        Fleet(given, Draw()).ready(1)
    two = given.changed(["workload.endpoints.yard.active=2"])
    made = ran(two)
    assert np.all(made.course.status == 4)
    assert all(made.course.ways[w].source != made.course.ways[w].target for w in made.course.way)


def test_globus_lets_a_user_have_three_at_once():
    body = DAILY.replace("every: 1 day", "start: 0 s, count: 9")
    made = Fleet(path({"c": body}, "service: globus"), Draw()).ready(1)
    made.course.run(1)
    assert int((made.course.status == 2).sum()) == 3


# -- answers, replicas, checkpoints ----------------------------------------------------------------

FAULTS = "growth: 40 %\nfailures: [{hosts: '*', mtbf: 3 d, mttr: 2 h}]"


def test_when_a_station_is_due():
    one = np.array([1.4]), np.array([1.0])
    assert due(0.4, *one, 0.8) == pytest.approx(math.log(2) / math.log(1.4))
    assert due(0.9, *one, 0.8) == 0
    assert due(1e-9, *one, 0.8) == math.inf
    assert due(0.4, np.array([1.0]), np.array([1.0]), 0.8) == math.inf
    both = due(0.4, np.array([2.0, 1.0]), np.array([0.5, 0.5]), 0.8)
    assert 0.5 * 2**both + 0.5 == pytest.approx(2.0)


def test_deadlines_are_counted():
    given = path(MIXED)
    made = ran(given)
    found = answer(made, given.workload)
    late = (made.course.ended - made.course.work.asked)[np.isfinite(made.course.work.due)] > 60
    assert found.groups[0].missed == int(late.sum()) > 0
    assert found.groups[0].with_deadline == found.groups[0].asked == 10
    assert found.groups[1].with_deadline == 0


@pytest.fixture(scope="module")
def mixed():
    return path(MIXED, FAULTS)


@pytest.fixture(scope="module")
def four(mixed):
    return fleet(mixed, replicas=4, seed=3, processes=1)


def test_a_seed_gives_the_same_answer_on_one_worker_and_on_two(mixed, four):
    again = fleet(mixed, replicas=4, seed=3, processes=2)
    assert again.runs == four.runs
    assert fleet(mixed, replicas=1, seed=4).runs[0] != four.runs[0]


def test_replicas_draw_arrivals_faults_and_parameters(four):
    assert len({r.total.size_B for r in four.runs}) == 4
    assert len({r.total.completion_s for r in four.runs}) == 4
    assert four.complete
    assert four.runs[1].pairs == ()
    low, middle, high = run.spread([r.total.completion_s[1] for r in four.runs])
    assert low <= middle <= high


def test_the_page_and_the_document_say_how_runs_differ(four, capsys):
    fleet_report.show(four, text.console())
    assert "(p10" not in capsys.readouterr().out  # of four runs there are no percentiles
    assert fleet_report.document(four)["total"]["over_replicas"]["completion_s"]["p95"]["p10"] is None
    # nothing of this yard is full within ten years, and what is due later is not told
    soon = [[replace(s, due_years=3 + n / 10) for s in r.stations[:2]] for n, r in enumerate(four.runs)]
    due = [[*some, *r.stations[2:]] for some, r in zip(soon, four.runs, strict=True)]
    runs = tuple(replace(r, stations=tuple(stations)) for r, stations in zip(four.runs, due, strict=True))
    four = replace(four, runs=runs * 2, wanted=8)
    fleet_report.show(four, text.console())
    page = capsys.readouterr().out
    for words in ("8 of 8 runs", "earliest (p10)", "p95 of completion over the runs", "like it: down", "given up"):
        assert words in page, words
    document = fleet_report.document(four)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    over = document["total"]["over_replicas"]["completion_s"]["p95"]
    assert over["p10"] <= over["p50"] <= over["p90"]


def test_a_checkpoint_goes_on_where_it_was_broken_off(mixed, four, tmp_path):
    file = tmp_path / "kept.jsonl"
    between = lambda now, share, done: math.isnan(now)  # noqa: E731 - two replicas
    part = fleet(mixed, replicas=4, seed=3, processes=1, checkpoint=file, progress=between)
    assert not part.complete
    assert 1 <= len(part.runs) < 4
    file.write_text(file.read_text() + '{"replica": 3, "ru')  # killed while it wrote
    whole = fleet(mixed, replicas=4, seed=3, processes=1, checkpoint=file)
    kept = file.read_bytes()
    again = fleet(mixed, replicas=4, seed=3, processes=1, checkpoint=file, transfers=True)
    assert again.first is not None  # its transfers are in no checkpoint: that run is done again
    assert (again.runs, file.read_bytes()) == (whole.runs, kept)
    assert repr(whole.runs) == repr(four.runs)
    assert whole.first is None
    kept = file.read_bytes()
    for at in range(kept.index(b"\n") + 1, len(kept), 1 + len(kept) // 100):  # a changed byte: that replica again
        file.write_bytes(kept[:at] + bytes([kept[at] ^ 0x81]) + kept[at + 1 :])
        store = CheckpointFile(file, json.loads(kept.split(b"\n")[0])["of"])
        assert all(repr(run) == repr(four.runs[number]) for number, run in store.runs.items())
    file.write_bytes(kept)
    with pytest.raises(InputError, match="is of another path, workload, seed"):
        fleet(mixed, replicas=4, seed=9, checkpoint=file)
    for foreign in ("hello\n", "[" * 100_000):
        file.write_text(foreign)
        with pytest.raises(InputError, match="is no checkpoint"):
            fleet(mixed, replicas=4, seed=3, checkpoint=file)
        assert file.read_text() == foreign


def test_stopped_runs_say_what_was_done():
    given = path({"u": MIXED["u"].replace("100 /day", "15000 /day")}, span="2 d")
    found = fleet(given, replicas=1, progress=lambda now, share, done: done > 5_000)
    assert not found.complete
    total = found.runs[0].total
    assert 5_000 < total.done < 25_000
    assert total.asked == total.done + total.open
    assert 0 < found.runs[0].end_s < 2 * 86400


def test_a_path_without_a_workload():
    with pytest.raises(SpecError, match=r"has no workload.*--workload"):
        fleet("examples/dtn-100g-xfs")
