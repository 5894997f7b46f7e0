"""What a fit of one's own host does in a prediction: its values, drawn together, and its spreads of runs and days."""

from pathlib import Path

import numpy as np
import pytest

from dtnsim.description import spec
from dtnsim.evidence import fit_report
from dtnsim.evidence.calibrate import calibrate
from dtnsim.ground import yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.steady.discrepancy import UNIT, Discrepancy, Noise
from dtnsim.steady.prediction import predict
from dtnsim.steady.regime import Regime
from tests.evidence.test_fit_targets import HOST, dd
from tests.strategies import written

PATH = """name: x
hosts: {{box: {host}}}
calibration: {fitted}
transfer: {{from: 'box:/dev/zero', to: 'box:/fast', tool: {{name: dd, bs: 1 MiB, oflag: direct}},
  dataset: {{files: 1, size: 50 GB}}}}
"""


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fit of a host of one's own to two runs that wait for the drive and its latency in turn."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "my.yaml").write_text(HOST.format(name="my").replace("write: {value: 1 GB/s, spread: 10 %}",
        "write: {value: 1 GB/s, spread: 40 %}, latency_write: {value: 500 us, spread: 40 %}"))  # fmt: skip
    (folder / "dd.txt").write_text(dd("/fast/x", 330.0, "my") + dd("/fast/x", 331.0, "my"))
    fit_report.write(calibrate([folder / "dd.txt"], [str(folder / "my.yaml")]), folder / "fitted.yaml")
    return folder


def path(folder: Path, text: str | None = None) -> spec.PathSpec:
    made = folder / "fitted.yaml"
    if text is not None:
        made = written(folder / "changed.yaml", text)
    return spec.resolve(yamlio.loads(PATH.format(host=folder / "my.yaml", fitted=made), "x"))


def test_parameters_that_make_up_for_another_are_drawn_together(fitted: Path) -> None:
    given = path(fitted)
    ssd = given.hosts["box"].volumes["/fast"].array
    draw = Draw(2000, 1, given.correlation)
    write, latency = (np.log(draw(getattr(ssd, k))) for k in ("write", "latency_write"))
    keys = [k for k in given.correlation.keys if k.endswith((".write", ".latency_write"))]
    assert len(keys) == 2  # known by the host of the fit, whatever the path calls it
    both = given.correlation.factor @ given.correlation.factor.T
    i, j = (given.correlation.keys.index(k) for k in sorted(keys, reverse=True))
    assert both[i, j] > 0.5  # a slower drive makes up for a shorter latency
    assert np.corrcoef(write, latency)[0, 1] == pytest.approx(both[i, j], abs=0.05)


def test_runs_and_days_as_measured_are_in_the_interval(fitted: Path) -> None:
    text = (fitted / "fitted.yaml").read_text()
    assert "run_to_run" in text
    found = {}
    for run, day in (("1 %", "1 %"), ("30 %", "40 %")):
        head, _, _ = text.partition("repeats:")
        given = path(fitted, f"{head}repeats: {{run_to_run: {run}, day_to_day: {day}}}\n")
        found[run] = predict(given, samples=128).throughput_Bps
    # runs scatter as a t of four degrees, whose tenth percentile is at 1.533; parameters and model beside it; a
    # tenth is for the time that it spends elsewhere than at its drives, and on the fast side other parts hold it
    low, high = (np.log(found["1 %"].p50 / rate.p10) for rate in found.values())
    assert high > 0.9 * 1.533 * UNIT * 0.5 > low


def test_noise_that_was_measured_goes_before_the_usual() -> None:
    laws = Discrepancy(default_noise=Noise(0.05, 0.1))
    assert laws.noise(Regime("disk", "test")) == Noise(0.05, 0.1)
    assert laws.noise(Regime("disk", "test", False, (0.01, 0.02))) == Noise(0.01, 0.02)
    assert laws.noise(Regime("disk", "test", False, (0.01, None))) == Noise(0.01, 0.1)


def test_repeats_that_are_no_shares_are_refused(fitted: Path) -> None:
    head, _, _ = (fitted / "fitted.yaml").read_text().partition("repeats:")
    with pytest.raises(SpecError, match="give a file that 'dtnsim calibrate' wrote"):
        path(fitted, f"{head}repeats: {{run_to_run: often}}\n")
