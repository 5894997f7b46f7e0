"""How long paths take in time: against the prediction, with replicas, with very many files, over a year.

``pytest tests/benchmarks/test_simulation_speed.py -m long --benchmark-enable -s`` prints figures (three minutes);
without it small inputs are run once, to see that the programs work and what they give is right.
"""

import os
import subprocess
import sys
import time
from typing import Any, NamedTuple

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.simulation import chunks, simulate
from tests.simulation.slow import FAST, make

pytestmark = pytest.mark.long

PATH = "venadi/gridftp-gpfs"
TOOL = {"name": "gridftp", "p": 4, "cc": 4, "pp": True}
YEAR_S = 365 * 86400.0


class Cost(NamedTuple):
    """What a program took: elapsed and user CPU time [s], most memory of any of its processes [MB]."""

    wall_s: float
    user_s: float
    memory_MB: float


def cost(*arguments: str) -> Cost:
    """Runs the command line as a process of its own, start-up included."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "dtnsim", *arguments, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stderr is not None
    with process.stderr as told:
        assert process.returncode == 0, told.read()
    return Cost(time.perf_counter() - began, used.ru_utime, used.ru_maxrss / 1024)


def test_command_against_predict(benchmark: Any) -> None:
    """The whole command, least of several runs in turn."""
    runs = 1 if benchmark.disabled else 7
    pairs = benchmark.pedantic(lambda: [(cost("simulate", PATH), cost("predict", PATH)) for _ in range(runs)], rounds=1)
    mine, other = (min(p[n].wall_s for p in pairs) for n in range(2))
    print(f"\nsimulate {mine:.2f} s, predict {other:.2f} s, ratio {mine / other:.2f}; {pairs[0][0].memory_MB:.0f} MB")


@pytest.mark.parametrize("path", [PATH, "esnet/lbl-anl", "uci/cp-135g-lightpath"])
def test_run_once_loaded_against_prediction(benchmark: Any, path: str) -> None:
    given = spec.load(path)
    made = benchmark(lambda: simulate(given))
    began = time.perf_counter()
    told = dtnsim.predict(given)
    took = time.perf_counter() - began
    assert made.runs[0].transfers[0].throughput_Bps == pytest.approx(told.ceiling, rel=0.02)
    if benchmark.stats is not None:
        print(f"\n{path}: {made.runs[0].events} events, ratio to predict with its interval "
              f"{benchmark.stats['min'] / took:.2f}")  # fmt: skip


@pytest.mark.parametrize("replicas", [10, 50, 500, 5000])
def test_replicas(benchmark: Any, replicas: int) -> None:
    if benchmark.disabled and replicas > 10:
        pytest.skip("with --benchmark-enable")
    used = benchmark.pedantic(lambda: cost("simulate", PATH, "--replicas", str(replicas)), rounds=1)
    print(f"\n{replicas} replicas: {used.wall_s:.1f} s ({used.user_s:.1f} s CPU), {used.memory_MB:.0f} MB")


@pytest.mark.parametrize("files", [1_000, 10_000, 100_000, 1_000_000, 10**9])
@pytest.mark.parametrize("kind", ["equal", "log-normal"])
def test_files(benchmark: Any, kind: str, files: int) -> None:
    """Growth with the number of files: one by one up to `chunks.MAX_FILES`, in batches above."""
    sizes = {"size": f"{files} MB"} if kind == "equal" else {"median": "1 MiB", "sigma": 2}
    path = make(FAST, transfer__dataset={"files": files, **sizes}, transfer__tool=TOOL)
    run = benchmark.pedantic(lambda: simulate(path), rounds=1).runs[0]
    assert run.transfers[0].files == files
    if benchmark.stats is not None:
        print(f"\n{files} {kind} files: {benchmark.stats['min']:.2f} s, {run.events} events")


def test_batches_against_one_by_one(benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    files = 25_000 if benchmark.disabled else 1_000_000
    path = make(FAST, transfer__dataset={"files": files, "size": f"{files} MB"}, transfer__tool=TOOL)
    batched = simulate(path).runs[0]
    monkeypatch.setattr(chunks, "MAX_FILES", files)
    single = benchmark.pedantic(lambda: simulate(path), rounds=1).runs[0]
    assert batched.end_s == pytest.approx(single.end_s, rel=1e-4)  # the waits of files are drawn, of a batch together
    if benchmark.stats is not None:
        print(f"\n{files} files one by one: {benchmark.stats['min']:.1f} s, {single.events} events; "
              f"in batches {batched.events}: {batched.end_s / single.end_s - 1:.1e} apart")  # fmt: skip


def test_other_peoples_year(benchmark: Any) -> None:
    """A million transfers of a heavy tail over the days of a year, beside one of the path's own."""
    until = 0.01 * YEAR_S if benchmark.disabled else YEAR_S
    others = [{"stations": ["network.wan"], "rate": f"{1e6 / YEAR_S} /s", "size": "1 GB", "sigma": 2,
               "diurnal": 0.5, "peak_hour": 15}]  # fmt: skip
    path = make(FAST, transfer__dataset={"files": 1, "size": "100 PB"}, others=others)
    run = benchmark.pedantic(lambda: simulate(path, until=until), rounds=1).runs[0]
    assert run.end_s == until
    if benchmark.stats is not None:
        print(f"\na year: {benchmark.stats['min']:.1f} s, {run.events} events")
