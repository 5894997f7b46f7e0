"""Other people's transfers: Poisson arrivals, and traces that are read or refused."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from dtnsim.components.base import validate
from dtnsim.description.events import Others
from dtnsim.ground.errors import InputError
from dtnsim.ground.yamlio import loads
from dtnsim.simulation.scenario import poisson, read_trace


def others(text: str) -> Others:
    return validate(Others, loads(text, "o.yaml"))


def test_arrivals_have_the_rate_and_sizes_asked_for() -> None:
    given = others("{stations: [x], rate: 2 /s, size: 1 GB, sigma: 1}")
    drawn = np.array(list(islice(poisson(given, np.random.default_rng(1)), 20_000)))
    gaps = np.diff(drawn[:, 0])
    # standard error of the mean of 20,000 exponential gaps is 0.7 %: four of them
    assert gaps.mean() == pytest.approx(0.5, rel=0.03)
    assert np.median(drawn[:, 1]) == pytest.approx(1e9, rel=0.05)
    assert np.all(gaps >= 0)


def test_a_daily_wave_brings_more_at_its_peak() -> None:
    given = others("{stations: [x], rate: 1 /s, diurnal: 1, peak_hour: 15}")
    times = np.array([t for t, _ in islice(poisson(given, np.random.default_rng(2)), 86_000)])
    hour = (times / 3600) % 24
    busy, idle = np.sum(np.abs(hour - 15) < 1), np.sum(np.abs(hour - 3) < 1)
    assert busy > 20 * idle  # 1 + cos is 2 at the peak and nearly 0 twelve hours later


def test_the_same_seed_brings_the_same_people() -> None:
    given = others("{stations: [x], rate: 2 /s}")
    a, b = (list(islice(poisson(given, np.random.default_rng(7)), 50)) for _ in range(2))
    assert a == b


def test_a_trace_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("time_s,bytes\n0,1e6\n2.5,3000\n")
    assert list(read_trace(path)) == [(0.0, 1e6), (2.5, 3000.0)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,size\n1,2\n", "needs the columns"),
        ("time_s,bytes\n1,x\n", ":2: is not two numbers"),
        ("time_s,bytes\n1,-2\n", "must be 0 or more"),
        ("time_s,bytes\n1,nan\n", "must be 0 or more"),
        ("time_s,bytes\n2,1\n1,1\n", "before the line above"),
    ],
)
def test_bad_traces(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        list(read_trace(path))


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_trace(tmp_path / "absent.csv"))
