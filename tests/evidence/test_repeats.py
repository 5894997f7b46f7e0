"""Repeats over days: their spreads, a change, a drift, and what of it enters a fit."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dtnsim.evidence import dates, repeats
from dtnsim.evidence.calibrate import calibrate
from dtnsim.evidence.figures import Figure
from dtnsim.logs.measurement import Measurement
from dtnsim.report import calibration, text
from tests.evidence.test_fit import case, figures
from tests.evidence.test_fit_targets import HOST

DAY = datetime(2020, 2, 20, 12, tzinfo=UTC)


def test_a_steady_fall_is_a_drift_and_its_size_is_right() -> None:
    days = np.arange(0.0, 60.0, 3.0)
    month, p = repeats.drifting(days, -0.1 * days / 30.4375 + 0.001 * np.cos(7 * days), 0.01) or (0.0, 1.0)
    assert month == pytest.approx(math.expm1(-0.1), rel=0.02)
    assert p < 1e-6
    assert repeats.drifting(days, np.cos(days), 0.01) is None


def run(rate: float, when: datetime | None, number: int) -> Figure:
    transfer = '{"tool": {"name": "dd", "bs": "1 MiB"}, "from": "a:/dev/zero", "to": "a:/data"}'
    made = replace(case("write", rate), log=(Path("dd.txt"), number), overrides=(transfer,))
    return replace(figures()[0], case=made, when=when)


def runs(
    days: int, each: int, s_run: float, s_day: float, factor_from: tuple[int, float] = (10**6, 1.0)
) -> list[Figure]:
    rng = np.random.default_rng(5)
    made = []
    for day in range(days):
        shift = s_day * rng.standard_normal()
        for number in range(each):
            level = factor_from[1] if day >= factor_from[0] else 1.0
            rate = 1e9 * level * math.exp(shift + s_run * rng.standard_normal())
            made.append(run(rate, DAY + timedelta(days=day, minutes=number), 10 * day + number))
    return made


def test_runs_and_days_are_separated_and_weigh_together_what_their_mean_does() -> None:
    figures_, (told,) = repeats.weighed(runs(40, 4, 0.02, 0.05))
    assert told.run_to_run == pytest.approx(0.02, rel=0.15)
    assert told.day_to_day == pytest.approx(0.05, rel=0.25)
    together = 1 / math.sqrt(sum(1 / f.case.spread**2 for f in figures_))
    assert together == pytest.approx(math.sqrt(told.day_to_day**2 / 40 + told.run_to_run**2 / 160), rel=1e-9)


def test_one_run_errs_as_figures_are_assumed_to() -> None:
    (figure,), told = repeats.weighed(runs(1, 1, 0.0, 0.0))
    assert (figure.case.spread, told) == (pytest.approx(0.03), [])


def test_a_change_is_dated_and_only_what_came_after_fits() -> None:
    found, (told,) = repeats.weighed(runs(20, 3, 0.015, 0.03, (12, 0.8)))
    (change,) = told.changes
    assert change.since.isoformat() == "2020-03-03"
    assert change.factor == pytest.approx(0.8, abs=0.04)
    assert change.p < 1e-6  # two-sample t above 10 with 18 degrees of freedom
    assert f"; since 3 March 2020 18% slower (p = {change.p:.2g}); fitted to the last 24 runs" in told.words
    assert len(found) == told.used == 24
    undated, (plain,) = repeats.weighed([replace(f, when=None) for f in runs(20, 3, 0.015, 0.03, (12, 0.8))])
    assert (len(undated), plain.changes, plain.day_to_day) == (60, (), None)
    some, (mixed,) = repeats.weighed([*runs(20, 3, 0.015, 0.03, (12, 0.8)), run(2e9, None, 9999)])
    assert mixed.changes == told.changes  # a run without a date hides none
    assert len(some) == 24


@pytest.mark.parametrize(
    ("text", "is_"),
    [
        ("job: (groupid=0, jobs=1): err= 0: pid=9: Tue Mar  3 10:11:12 2020", "2020-03-03T10:11:12"),
        ("Tue Mar  3 10:11:12 CET 2020", "2020-03-03T10:11:12"),
        ("Tue 3 Mar 2020 10:11:12", "2020-03-03T10:11:12"),
        ("2020-03-03 10:11 started", "2020-03-03T10:11:00"),
        ('  "timestamp" : 1583230272,', "2020-03-03T10:11:12"),
        ("1048576 bytes copied, 2020 s", None),
        ("2020-13-45T10:11:12", None),
    ],
)
def test_stamps(text: str, is_: str | None) -> None:
    found = dates.stamp_of(text)
    assert (found.isoformat()[:19] if found else None) == is_


def test_the_stamp_before_a_figure_and_the_one_in_the_name(tmp_path: Path) -> None:
    log = tmp_path / "fio-20200305.log"
    log.write_text("x\nTue Mar  3 10:11:12 UTC 2020\nresult\nWed Mar  4 10:11:12 UTC 2020\nresult\n")

    def day(line: int, **more: str) -> int:
        found = dates.when(Measurement("dd", "throughput", 1.0, "B/s", file=str(log), line=line, conditions=more))
        assert found is not None
        return found.day

    assert [day(1), day(3), day(5), day(5, end="20200306101112")] == [5, 3, 4, 6]
    assert dates.stamp_of_name("dd-2020-03-03T101112.log") == datetime(2020, 3, 3, 10, 11, 12, tzinfo=UTC)
    assert dates.stamp_of_name("sda12345678.log") is None


def test_a_fit_says_since_when_and_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, host = tmp_path / "dd.txt", tmp_path / "my.yaml"
    host.write_text(HOST.format(name="my"))
    lines = []
    for figure in runs(20, 1, 0.01, 0.01, (12, 0.8)):
        rate = 0.9 * figure.case.measured
        stamp = f"{figure.when:%a %b %d %H:%M:%S UTC %Y}"
        lines += [stamp, "$ dd if=/dev/zero of=/fast/x bs=1M count=204800 oflag=direct"]
        lines.append(f"214748364800 bytes (215 GB) copied, {214748364800 / rate:.4f} s, {rate / 1e6:.0f} MB/s")
    log.write_text("\n".join([*lines, ""]))
    found = calibrate([log], [str(host)])
    assert len(found.figures) == 8
    calibration.show(found, [], text.console())
    calibration.plot(found, text.console())
    shown = capsys.readouterr().out
    assert "since 3 March 2020 " in shown
    assert "% slower" in shown
    assert "measured [MB/s]" in shown
    made = calibration.page(found, [])
    assert "2020-03-03" in made
    assert "Runs over days" in made


def test_a_fit_without_runs_over_days_says_nothing_of_them() -> None:
    assert calibration._repeats(SimpleNamespace(repeats=())) == []
    runs = repeats.Repeats("fio", (1.0, 1.1), (None, None), (), None, 0.05, None, 2, "here")
    said = ["run to run 5.0%; days are not known, or one day only (all tests together)"]
    assert calibration._repeats(SimpleNamespace(repeats=(runs,))) == said
