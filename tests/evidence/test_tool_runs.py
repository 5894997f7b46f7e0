"""Runs of tools as paths beside what was published of them, and one round-trip time left out at a time."""

import csv
import statistics
from pathlib import Path
from typing import Any

import pytest

from dtnsim.evidence import tool_runs
from dtnsim.evidence.tool_runs import Answer
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from tests.each import rows
from tests.scripts import CI, script

TRUTH = Path(__file__).parents[3] / "shared" / "tools-truth" / "public.csv"
ROW = rows("evidence/tables", "tool_runs")["ROW"]


def seconds(**changes: str) -> float:
    return tool_runs.answer(tool_runs.run_of({**ROW, **changes}), samples=0).p50_s


REFUSED = [
    *((t, "within one host") for t in ("robocopy", "dd", "msrsync", "tar")),
    *((t, "volume") for t in ("fio", "ior", "iozone", "bonnie")),
]


@pytest.mark.parametrize(("key", "why"), REFUSED)
def test_a_tool_that_copies_within_one_host_is_refused(key, why):
    with pytest.raises(SpecError, match=why):
        seconds(tool_key=key)


@pytest.mark.parametrize("key", sorted(tool_runs.KEYS.keys() - {t for t, _ in REFUSED}))
def test_every_key_is_a_path_that_can_be_predicted(key):
    # 500 kB at 100 Mb/s; RDMA opens with no messages, NTttcp with one round trip
    least = 0.04 if key in ("perftest", "ntttcp") else 0.1
    try:
        found = seconds(tool_key=key, direction="get")
    except SpecError as error:
        pytest.fail(f"{key}: {error}. A tool that works within one host belongs into REFUSED of this file")
    assert least < found < 60


def test_messages_wait_a_round_trip_each():
    near, far = seconds(rtt_s="0.02"), seconds(rtt_s="0.2")
    # 50 files of OPEN, WRITE, FSETSTAT and CLOSE, and some twenty messages before them
    assert (far - near) / 0.18 == pytest.approx(4 * 50 + 20, rel=0.02)


def test_an_empty_folder_takes_the_log_in_alone():
    assert 1.0 < seconds(files="0", total_bytes="0", dataset="Z0") < 1.6


@pytest.mark.parametrize("tool", ["scp", "sftp", "rsync", "rclone-sftp"])
def test_an_empty_folder_is_answered_whatever_the_release(tool):
    row = {k: v for k, v in ROW.items() if k != "version"} | {"tool_key": tool, "files": "0", "total_bytes": "0"}
    assert 0.2 < tool_runs.answer(tool_runs.run_of(row), samples=0).p50_s < 2.5


def test_the_old_protocol_waits_half_as_often():
    assert seconds(options="-O") < 0.6 * seconds()


@pytest.mark.parametrize(("column", "value"), [("tool_key", "warp-drive"), ("rtt_s", "soon"), ("rate_bps", "-1")])
def test_what_cannot_be_used_is_an_error_that_names_the_column(column, value):
    with pytest.raises(SpecError):
        tool_runs.run_of({**ROW, column: value})


def test_an_option_that_is_not_known_is_left_out_and_named():
    run = tool_runs.run_of({**ROW, "options": "-C --warp 9"})
    assert run.left_out == ("--warp",)
    assert seconds(options="--warp 9") == seconds()


@pytest.mark.parametrize(("tool", "transport", "key"), rows("evidence/tables", "a_tool_and_its_transport_are_a_key"))
def test_a_tool_and_its_transport_are_a_key(tool, transport, key):
    assert tool_runs.key_of({"tool": tool, "transport": transport}) == key


@pytest.mark.skipif(not TRUTH.exists(), reason="the measured runs are not here")
def test_most_of_the_measured_runs_are_met():
    with TRUTH.open() as file:
        rows = list(csv.DictReader(file))
    points: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        points.setdefault(row["point"], []).append(row)
    some = [(same, tool_runs.run_of(same[0])) for same in list(points.values())[::3]]
    tool_runs.ahead(run for _, run in some)
    errors = []
    for same, run in some:
        measured = statistics.median(float(r["wall_s"]) for r in same)
        errors.append(abs(tool_runs.answer(run, samples=0).p50_s / measured - 1))
    assert statistics.median(errors) < 0.05
    assert statistics.quantiles(errors, n=10)[-1] < 0.20


_FOLDS = script(CI / "tool_folds.py")
Run: Any = _FOLDS.Run
choices, folds, runs, together = _FOLDS.choices, _FOLDS.folds, _FOLDS.runs, _FOLDS.together


def made(rtt: float, measured: float, predicted: float, width: float = 0.1, *, empty: bool = False) -> Any:
    told = Answer(predicted, predicted * (1 - width), predicted / (1 - width), "")
    return Run("scp", f"{rtt} {empty} {predicted}", rtt, empty, measured, told)


def test_work_that_the_other_round_trips_lack_is_added():
    given = [made(0.001, 1.2, 1.0, empty=True), made(0.05, 5.2, 5.0), made(0.2, 9.2, 9.0)]
    found = {f.low_s: f for f in folds(given)}
    assert found[0.05].error == pytest.approx(0.0, abs=1e-9)  # 5 s and the 0.2 s of the empty run at 1 ms
    assert found[0.05].error_in == pytest.approx(1 - 5 / 5.2)
    assert found[0.001].error == found[0.001].error_in  # nobody else moved an empty folder


def test_a_width_is_judged_on_runs_that_it_has_not_seen():
    narrow = [made(0.05, 5 * (1 + 0.05 * n), 5.0, 0.01) for n in range(10)]
    wide = [made(0.2, 9.0, 9.0, 0.01) for _ in range(10)]
    found = {f.low_s: f for f in folds([*narrow, *wide])}
    assert found[0.05].held == pytest.approx(0.1)  # the runs at 200 ms never scatter
    assert found[0.2].held == 1.0


def test_a_choice_needs_three_tools_and_is_judged_by_what_was_measured():
    def run(tool: str, measured: float, predicted: float) -> Any:
        told = Answer(predicted, predicted, predicted, "")
        return Run(tool, tool, 0.05, False, measured, told, ("50 ms", "A"), tool)

    two = [run("scp", 9.0, 8.0), run("rsync", 4.0, 5.0)]
    assert choices(two) == []
    (choice,) = choices([*two, run("tar-ssh", 5.0, 4.0)])
    assert (choice.tools, choice.chosen, choice.behind) == (3, "tar-ssh", 1.25)


@pytest.mark.long
def test_the_measured_runs_are_met_by_those_of_other_round_trips_and_the_fastest_tool_is_named():
    """The bars: median 3 %, 90 % of the points within 15 %, 75 to 88 % of the runs inside, 90 % of the choices."""
    with (library.root("calibration") / "tools-truth" / "public.csv").open() as file:
        given = runs(list(csv.DictReader(file)))
    error, last, held = together(folds(given))
    assert error <= 0.03
    assert last <= 0.15
    assert 0.75 <= held <= 0.88
    chosen = choices(given)
    assert len(chosen) >= 15
    assert sum(choice.behind <= 1.1 for choice in chosen) >= 0.9 * len(chosen)
