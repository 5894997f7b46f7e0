"""Leave one round-trip time out: tool_folds on runs whose truth is known."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from dtnsim.evidence.tool_runs import Answer
from dtnsim.ground import library

_SPEC = importlib.util.spec_from_file_location("tool_folds", Path(__file__).parents[2] / ".ci" / "tool_folds.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_FOLDS = sys.modules[_SPEC.name] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_FOLDS)
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
