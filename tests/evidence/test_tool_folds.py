"""Leave one round-trip time out: tool_folds on runs whose truth is known."""

from __future__ import annotations

import pytest

from dtnsim.evidence.tool_folds import Run, folds
from dtnsim.evidence.tool_runs import Answer


def made(rtt: float, measured: float, predicted: float, width: float = 0.1, *, empty: bool = False) -> Run:
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
