"""How long a prediction takes: the whole command against an empty interpreter, and scenarios in bulk.

python -m pytest tests/benchmarks/test_predict_speed.py -m long --benchmark-enable -s
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from dtnsim.composition.compose import compose
from dtnsim.description import spec
from dtnsim.ground.quantity import Draw
from dtnsim.steady.prediction import predict
from dtnsim.steady.scenarios import scenarios as drawn

pytestmark = pytest.mark.long

PATH = "venadi/gridftp-gpfs"


def seconds(*command: str, runs: int) -> float:
    """Best of some runs, so that what else the machine does matters least."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True)
        best = min(best, time.perf_counter() - start)
    return best


def test_command_against_an_empty_interpreter(benchmark: Any) -> None:
    runs = 1 if benchmark.disabled else 9
    whole = benchmark.pedantic(lambda: seconds("-m", "dtnsim", "predict", PATH, runs=runs), rounds=1)
    nothing = seconds("-c", "pass", runs=runs)
    assert 0 < nothing < whole
    benchmark.extra_info.update(command_s=whole, empty_s=nothing, ratio=whole / nothing)
    print(f"\npredict {whole:.3f} s, python -c pass {nothing:.3f} s, ratio {whole / nothing:.1f}")


def test_prediction_once_loaded(benchmark: Any) -> None:
    given = spec.load(PATH)
    assert benchmark(lambda: predict(given)).transfers


@pytest.mark.parametrize("scenarios", [100, 1_000, 10_000, 100_000])
def test_scenarios_in_bulk(benchmark: Any, scenarios: int) -> None:
    given = spec.load(PATH)
    nominal = compose(given, Draw())
    rates = benchmark(lambda: drawn(given, nominal, scenarios).parameters)
    assert rates.shape == (scenarios, 1)
