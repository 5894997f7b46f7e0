"""Speed of the TCP models: rows a second, simulated seconds a second, growth in streams, BDP and duration.

``pytest tests/benchmarks/test_tcp_speed.py -m long --benchmark-enable -s`` times; else each case runs once, small.
"""

import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from dtnsim.physics.tcp.outcome import simulate
from dtnsim.physics.tcp.path import path_goodput
from dtnsim.physics.tcp.rounds import Cases

pytestmark = pytest.mark.long


def mixed(rows: int) -> Cases:
    """Distinct cases over the range of the measured grid: no two rows are answered together."""
    rng = np.random.default_rng(0)
    rate = 10 ** rng.uniform(7, 9, rows) / 8
    trip = rng.choice([0.002, 0.01, 0.03, 0.06, 0.1, 0.2], rows)
    return Cases.of(
        rate_Bps=rate, rtt_s=trip, loss=rng.choice([0, 0, 1e-5, 1e-4, 1e-3, 1e-2], rows),
        cc=rng.choice(["reno", "cubic", "bbr"], rows), streams=rng.choice([1, 1, 1, 1, 2, 4, 8], rows), warmup_s=5.0,
        duration_s=20.0, buffer_B=rate * trip * rng.choice([0.1, 0.5, 1, 2], rows),
    )  # fmt: skip


def report(benchmark: Any, cases: Cases, what: str) -> None:
    begin = time.process_time()
    answers = benchmark.pedantic(simulate, args=(cases,), rounds=1)
    cpu = time.process_time() - begin
    assert np.isfinite(answers.goodput_Bps).all()
    if benchmark.disabled:
        return
    seconds = cpu  # of a shared machine the wall clock says little
    simulated = float((cases.warmup_s + cases.duration_s).sum())
    benchmark.extra_info.update(rows_per_s=len(cases.rtt_s) / seconds, simulated_per_s=simulated / seconds)
    print(
        f"\n{what}: {seconds:.3f} s of CPU, {len(cases.rtt_s) / seconds:.0f} rows/s, "
        f"{simulated / seconds:.0f} simulated seconds a second (times the replicas), "
        f"steps a lane {answers.steps.mean():.0f}"
    )


def test_a_table_of_a_thousand_rows(benchmark: Any) -> None:
    rows = 10 if benchmark.disabled else 1000
    report(benchmark, mixed(rows), f"{rows} rows")


@pytest.mark.parametrize("streams", [1, 4, 16, 64])
def test_growth_in_streams(benchmark: Any, streams: int) -> None:
    report(benchmark, Cases.of(rate_Bps=1.25e9, rtt_s=0.05, loss=1e-5, streams=streams), f"{streams} streams")


@pytest.mark.parametrize("rate_Gbps", [0.1, 1, 10, 100])
def test_growth_in_the_bandwidth_delay_product(benchmark: Any, rate_Gbps: float) -> None:
    report(benchmark, Cases.of(rate_Bps=rate_Gbps * 1.25e8, rtt_s=0.1, loss=1e-6), f"{rate_Gbps} Gb/s x 100 ms")


@pytest.mark.parametrize("duration", [10, 100, 1000, 10_000])
def test_growth_in_duration(benchmark: Any, duration: float) -> None:
    report(benchmark, Cases.of(rate_Bps=1.25e9, rtt_s=0.05, loss=1e-6, duration_s=float(duration)), f"{duration} s")


def test_a_hundred_gigabytes(benchmark: Any) -> None:
    report(benchmark, Cases.of(rate_Bps=1.25e9, rtt_s=0.05, size_B=1e11, mtu_B=9000, duration_s=80.0), "100 GB")


def test_two_flows(benchmark: Any) -> None:
    seconds = 5.0 if benchmark.disabled else 40.0
    cases = Cases.of(rate_Bps=1.25e7, rtt_s=0.03, cc="cubic", cc2="bbr", warmup_s=15.0, duration_s=seconds)
    report(benchmark, cases, "two flows")


def test_closed_form(benchmark: Any) -> None:
    loss = np.logspace(-7, -2, 100 if benchmark.disabled else 100_000)
    rates, _ = benchmark(lambda: path_goodput(rate_Bps=1.25e9, rtt_s=0.05, loss=loss, streams=8))
    assert rates.shape == loss.shape


def test_one_answer_from_the_command_line(benchmark: Any) -> None:
    command = [sys.executable, "-m", "dtnsim", "tcp", "--rate", "10Gb/s", "--rtt", "50ms", "--loss", "1e-5"]
    runs = 1 if benchmark.disabled else 7

    def best() -> float:
        taken = []
        for _ in range(runs):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            taken.append(time.perf_counter() - start)
        return min(taken)

    seconds = benchmark.pedantic(best, rounds=1)
    assert seconds > 0
    print(f"\ndtnsim tcp: {seconds:.2f} s")
