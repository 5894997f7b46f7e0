"""Repeats over days: their spreads, a change, a drift, and what of it enters a fit."""

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
from dtnsim.evidence.repeats import CHANCE, SMALLEST, shifted, steps
from dtnsim.logs.measurement import Measurement
from dtnsim.report import calibration, text
from tests.each import rows
from tests.evidence.test_fit import case, figures
from tests.evidence.test_fit_targets import HOST
from tests.strategies import written

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


@pytest.mark.parametrize(("text", "is_"), rows("evidence/tables", "stamps"))
def test_stamps(text: str, is_: str | None) -> None:
    found = dates.stamp_of(text)
    assert (found.isoformat()[:19] if found else None) == is_


def test_the_stamp_before_a_figure_and_the_one_in_the_name(tmp_path: Path) -> None:
    log = written(
        tmp_path / "fio-20200305.log", "x\nTue Mar  3 10:11:12 UTC 2020\nresult\nWed Mar  4 10:11:12 UTC 2020\nresult\n"
    )

    def day(line: int, **more: str) -> int:
        found = dates.when(Measurement("dd", "throughput", 1.0, "B/s", file=str(log), line=line, conditions=more))
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


#: annual flow of the Nile at Aswan, 1871 to 1970 [1e8 m3] (Cobb, Biometrika 1978); it falls from 1899 on
NILE = """1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100
1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824
702 1120 1100 832 764 821 768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010
771 676 649 846 812 742 801 1040 860 874 848 890 744 749 838 1050 918 986 797 923 975 815 1020 906
901 1170 912 746 919 718 714 740"""


def test_the_nile_falls_in_1899() -> None:
    flow = np.log([float(x) for x in NILE.split()])
    found = shifted(flow, 0.01)
    assert [1871 + n for n, _ in found] == [1899]
    assert found[0][1] < 0.001


@pytest.mark.parametrize("days", [8, 10, 30, 90])
@pytest.mark.parametrize("noise", ["normal", "heavy tails", "spikes", "days alike"])
def test_noise_changes_no_more_often_than_promised(days: int, noise: str) -> None:
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((500, days))
    if noise == "heavy tails":
        rows = rng.standard_t(3, rows.shape)
    elif noise == "spikes":
        rows[rng.random(rows.shape) < 0.05] -= 10
    elif noise == "days alike":
        for day in range(1, days):
            rows[:, day] = 0.3 * rows[:, day - 1] + np.sqrt(1 - 0.3**2) * rows[:, day]
    _, size, p = steps(0.05 * rows)
    alarms = (p <= CHANCE) & (np.abs(size) >= SMALLEST)
    assert alarms.sum() <= 10  # 2 % of 500
    if noise == "normal":
        assert ((p <= 0.05).sum()) <= 40  # the bound itself: 25 expected of 500; more than 40 has 1 in 500


@pytest.mark.parametrize("before", [3, 5, 7])
def test_a_step_is_found_in_ten_days_and_dated(before: int) -> None:
    rows = 0.02 * np.random.default_rng(4).standard_normal((500, 10))
    rows[:, before:] += np.log(0.7)
    at, size, p = steps(rows)
    found = (p <= CHANCE / 50) & (at == before)  # one of fifty series
    assert found.mean() >= 0.98
    assert np.exp(np.median(size)) == pytest.approx(0.7, abs=0.01)


def test_one_day_that_stands_out_neither_makes_nor_hides_a_step() -> None:
    quiet = 0.02 * np.random.default_rng(5).standard_normal(20)
    one = quiet + np.where(np.arange(20) == 12, -2.0, 0.0)
    assert shifted(one, CHANCE) == []
    assert [at for at, _ in shifted(one + np.where(np.arange(20) >= 9, -0.3, 0.0), CHANCE)] == [9]


def test_too_few_days_and_too_small_a_change_say_nothing() -> None:
    assert shifted(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), 0.5) == []
    steady = np.tile([0.0, 1e-4], 10) + np.repeat([0.0, 0.01], 10)
    assert shifted(steady, 0.5) == []  # 1 % is not worth a word, however sure
