"""Change points: steps that are there are found, and none where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from dtnsim.evidence.change_points import CHANCE, SMALLEST, shifted, steps

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
