"""Where figures that agree contradict what a part is said to do, its prior gives way; a single figure does not win."""

import math
import statistics
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dtnsim.evidence import fit, fit_model, fit_report, fit_search
from dtnsim.evidence.figures import Figure
from dtnsim.evidence.fit_model import Parameter
from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import InputError, ModelError
from dtnsim.ground.quantity import Quantity
from tests.each import cases, rows
from tests.evidence.test_fit import case, figures

#: 200 GB with fdatasync onto eight disks: nothing but their rate holds it
DISKS = figures()[2]
RATE = "volumes./data.array.of.rate"


@cache
def stated() -> float:
    """What the stated rate gives."""
    model = fit_model.Model([DISKS], ["bench"])
    return math.exp(float(model.ratios([[0.0] * len(model.parameters)])[0, 0]))


def measured(factor: float, *, log: Path | None = None, number: int = 0) -> Figure:
    """The run that the disks hold, measured so many times as fast as the stated rate gives."""
    made = case(f"run {number}", stated() * factor, spread=0.03)
    return replace(DISKS, case=replace(made, log=(log, number + 1) if log else None))


def value(found: fit.Fit, key: str) -> float:
    return float(found.values[[p.key for p in found.parameters].index(key)])


@pytest.mark.parametrize("factor", [0.2, 0.1])
def test_two_that_agree_win_over_the_part(factor: float) -> None:
    found = fit.fit([measured(factor), measured(factor * 1.02, number=1)], ["bench"])
    assert [r.parameter.key for r in found.released] == [RATE]
    assert value(found, RATE) == pytest.approx(150e6 * factor, rel=0.05)
    assert fit_report.not_followed(found) == []
    words = fit_report.contradiction(found, found.released[0])
    assert words.startswith("your drive is not as the host file says: the figures need volumes./data.array.of.rate = ")
    assert "the host file says 150 MB/s ± 25%" in words


def test_one_alone_is_not_believed_and_says_what_it_takes() -> None:
    found = fit.fit([measured(0.03)], ["bench"])
    assert found.released == ()
    assert found.suspect.parameter.key == RATE
    assert found.suspect.value == pytest.approx(150e6 * 0.03, rel=0.1)
    with pytest.raises(
        ModelError, match=r"the only figure is not followed.*free it \(--free rate\), choose another part"
    ):
        fit_report.check_followed(found)


def test_what_is_freed_follows_one_figure() -> None:
    found = fit.fit([measured(0.03)], ["bench"], ["rate"])
    assert value(found, RATE) == pytest.approx(150e6 * 0.03, rel=0.05)
    assert found.released == ()
    fit_report.check_followed(found)
    with pytest.raises(InputError, match=r"--free writ: no parameter of the host is called that; write one of .*rate"):
        fit.fit([measured(0.03)], ["bench"], ["writ"])


def test_what_figures_of_one_log_share_is_no_scatter() -> None:
    """Five runs that agree on a fifth of the stated rate: their log is not badly described, the disks are others."""
    log = Path("dd.txt")
    runs = [measured(0.2 * (1 + 0.01 * (n % 3)), log=log, number=n) for n in range(5)]
    found = fit.fit(runs, ["bench"])
    assert [r.parameter.key for r in found.released] == [RATE]
    assert abs(math.log(value(found, RATE) / 30e6)) < 0.05


def test_what_no_parameter_explains_is_said() -> None:
    """Disks fifty times as fast as stated, which cores do not let through: two runs agree, and nothing fits."""
    fast = [measured(50.0), measured(50.5, number=1)]
    same = [replace(f, case=replace(f.case, overrides=("same",))) for f in fast]
    found = fit.fit([*same, measured(1.0, number=2)], ["bench"])
    (line,) = fit_report.unexplained(found)
    assert line.startswith("2 runs like bench/run 0 agree on ")
    assert "another kind of part is built in" in line


def test_agreement_with_the_description_releases_nothing() -> None:
    found = fit.fit([measured(1.2), measured(1.21, number=1)], ["bench"])
    assert found.released == ()
    model = fit_model.Model([DISKS], ["bench"])
    rate = [p.key for p in model.parameters].index(RATE)
    search = fit_search.Search(model, np.array([rate]))
    assert search.releasing(rate).low[0] < search.low[0]
    assert list(found.prior_sd) == [1.0] * len(found.parameters)


def parameter(key: str, spread: float) -> Parameter:
    return Parameter("bench", key, Quantity(1e8, "B/s", spread))


def test_leaving_a_sure_description_costs_more() -> None:
    prices = [fit_search.price(parameter("volumes./data.array.of.write", s)) for s in (0.02, 0.1, 0.3, 1.0)]
    assert prices == sorted(prices, reverse=True)
    # limit: what is as uncertain as the choice of the part costs the odds alone
    assert fit_search.price(parameter("volumes./data.array.of.write", 3.0)) == pytest.approx(math.log(19))
    # ln(19) + ln(1.1 / 0.0998): a spread of 10 % beside SSDs that lie 1.1 apart
    assert prices[1] == pytest.approx(2.944 + 2.400, abs=0.001)


class Uplink:
    """Two runs over drives behind an uplink that holds until the drives are a tenth slower than stated."""

    parameters = (parameter("volumes./data.array.of.rate", 0.06), parameter("volumes./data.array.of.position", 0.5))

    def ratios(self, u: np.ndarray) -> np.ndarray:
        drives = math.log(1.1) + self.parameters[0].sigma * u[..., 0] - 1e-4 * u[..., 1]
        rate: np.ndarray = np.minimum(drives, -1e-3 * u[..., 1])
        return rate[..., None] - math.log(0.7) + np.array([-0.01, 0.01])


def test_what_is_freed_is_found_behind_another_limit() -> None:
    """From where it is stated the freed rate moves nothing, and the wide prior's own steps jump over the answer."""
    error = np.full(2, 0.035)
    search = fit_search.Search(Uplink(), np.arange(2), {0: 3 * fit_search.scale(Uplink.parameters[0])})
    u = search.minimum(np.zeros(2), error, firm=True)
    assert Uplink.parameters[0].value(u[0]) == pytest.approx(1e8 * 0.7 / 1.1, rel=0.01)


def test_what_stays_where_it_is_stated_does_not_give_way() -> None:
    """A search that has not come to the freed rate yet must not say that another parameter is not as described."""
    error = np.full(2, 0.035)
    search = fit_search.Search(Uplink(), np.arange(2), {0: 3 * fit_search.scale(Uplink.parameters[0])})
    found, u, gone = fit_search.give_way(search, np.zeros(2), error)
    assert gone == []
    assert not fit_search.is_missed(found.at(u)[0], error).any()


class Twins:
    """Two runs at half of what is stated, which the drives of either of two volumes explain alike."""

    parameters = (parameter("volumes./a.array.of.rate", 0.06), parameter("volumes./b.array.of.rate", 0.06))

    def ratios(self, u: np.ndarray) -> np.ndarray:
        rate: np.ndarray = self.parameters[0].sigma * (u[..., 0] + u[..., 1])
        return rate[..., None] - math.log(0.5) + np.array([-0.01, 0.01])


def test_what_explains_it_as_well_is_named_beside_it() -> None:
    search = fit_search.Search(Twins(), np.arange(2), {})
    found = fit_search.suspect(search, np.zeros(2), np.full(2, 0.035))
    assert {found.parameter.name, *found.instead} == {p.name for p in Twins.parameters}


@cases("family, kind, keys", rows("evidence/tables", "how_far_parts_lie_apart_is_that_of_the_library"))
def test_how_far_parts_lie_apart_is_that_of_the_library(family: str, kind: str, keys: list[str]) -> None:
    parts = [yamlio.load(f) for f in sorted((library.root("models") / "parts" / kind).glob("*.yaml"))]
    spreads = []
    for key in keys:
        given = [p[key] for p in parts if key in p]
        texts = [str(g["value"]) if isinstance(g, dict) else str(g) for g in given]
        spreads.append(statistics.stdev(math.log(units.read(t)[0]) for t in texts))
    assert fit_search.APART[family] == pytest.approx(statistics.fmean(spreads), rel=0.15)
