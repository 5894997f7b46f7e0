"""The fluid engine next to SimGrid, process by process: ``pytest tests/benchmarks -k engine --benchmark-enable -s``.

User CPU of the whole process is compared, start-up included; the least of some runs, the two programs in turn.
SimGrid is optional: set ``DTNSIM_SIMGRID_BIN`` to the program built from ``sg.cpp`` (README.md says how).
Without ``--benchmark-enable`` small inputs are run once, to see that the programs work and agree.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
SIMGRID = os.environ.get("DTNSIM_SIMGRID_BIN")
QUIET = "--log=xbt_cfg.thres:warning"


def load_workloads():
    spec = importlib.util.spec_from_file_location("workloads", HERE.parent / "engine" / "workloads.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Writes a workload as the files that SimGrid's program reads; returns their paths."""
    folder, workloads = tmp_path_factory.mktemp("inputs"), load_workloads()

    def write(name, n):
        if name == "w3":
            path = folder / f"w3_{n}.csv"
            path.write_text("id,bytes\n" + "".join(f"{i},{s}\n" for i, s in enumerate(workloads.w3(n))))
            return [str(path)]
        platform, path = folder / "platform.csv", folder / f"{name}_{n}.csv"
        wan, *rates = workloads.capacities()
        lines = [f"wan,w,0,{wan:.1f}\n"]
        for at in range(0, len(rates), 2):
            side, host = "sd"[at // (2 * workloads.HOSTS)], at // 2 % workloads.HOSTS
            lines += [f"link,{side},{host},{rates[at]:.1f}\n", f"disk,{side},{host},{rates[at + 1]:.1f}\n"]
        platform.write_text("kind,side,index,bytes_per_s\n" + "".join(lines))
        flows = zip(*getattr(workloads, name)(n), strict=True)
        path.write_text(
            "id,src,dst,start,bytes,cap\n"
            + "".join(
                f"{i},{pair // workloads.HOSTS},{pair % workloads.HOSTS},{start:.6f},{size},{cap:.1f}\n"
                for i, (start, size, pair, cap) in enumerate(flows)
            )
        )
        return [str(platform), str(path)]

    return write


@pytest.fixture
def timing(pytestconfig):
    """Whether timings were asked for; otherwise small inputs are run once."""
    off, on = (pytestconfig.getoption(f"benchmark_{x}", default=x == "disable") for x in ("disable", "enable"))
    return on or not off


def timed(command):
    """Runs a program; returns (user CPU s, its JSON)."""
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = program.stdout.read()
    _, status, use = os.wait4(program.pid, 0)
    program.stdout.close()
    program.returncode = os.waitstatus_to_exitcode(status)
    assert program.returncode == 0, command
    lines = [line for line in output.splitlines() if line.startswith("{")]
    return use.ru_utime, json.loads(lines[-1])


def ours(*arguments):
    return [sys.executable, str(HERE / "engine_runs.py"), *arguments]


def side_by_side(name, mine, theirs, rounds):
    """Least user CPU of both, in turn; (ours, our result, SimGrid's or None)."""
    best, other = [], []
    for _ in range(rounds):
        if SIMGRID and theirs:
            other.append(timed([SIMGRID, *theirs, QUIET]))
        best.append(timed(mine))
    user, result = min(best, key=lambda run: run[0])
    line = f"\n{name}: dtnsim {user:.2f} s, {result['peak_MB']:.0f} MB, ends at {result['end_s']:.6f} s"
    if other:
        least = min(other, key=lambda run: run[0])
        line += f"; SimGrid {least[0]:.2f} s, ends at {least[1]['sim_end']:.6f} s"
        line += f"; ratio {user / least[0]:.3f}"
    print(line)
    return user, result, min(run[0] for run in other) if other else None


CASES = [
    # workload, flows or files, runs, at most this part of SimGrid's user CPU, user CPU [s] and memory [MB] at most
    ("w1", 1_000, 3, None, None, None),
    ("w1", 10_000, 1, 1 / 20, None, None),
    ("w1", 100_000, 1, None, 60.0, None),
    ("w2", 10_000, 5, 1.0, None, None),
    ("w2", 100_000, 1, 1 / 2, None, None),
    ("w3", 1_000_000, 3, 1.0, None, 150.0),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c[0]}-{c[1]}" for c in CASES])
def test_engine_next_to_simgrid(timing, inputs, case):
    name, n, rounds, part, most_s, most_mb = case
    if not timing:
        n, rounds = min(n, 200), 1
    files = inputs(name, n)
    theirs = None if n >= 100_000 and name == "w1" else [name, *files]
    user, result, simgrid = side_by_side(f"{name} {n}", ours(name, *files), theirs, rounds)
    assert result["n"] == n
    if not timing:
        return
    if simgrid is not None and part is not None:
        assert user <= part * simgrid
    assert most_s is None or user <= most_s
    assert most_mb is None or result["peak_MB"] <= most_mb


@pytest.mark.parametrize("name", ["w1", "w2"])
def test_engine_ends_every_flow_when_simgrid_does(timing, inputs, tmp_path, name):
    if not SIMGRID:
        pytest.skip("DTNSIM_SIMGRID_BIN is not set; the suite has a table of SimGrid's for 1,000 flows")
    files = inputs(name, 10_000 if timing else 200)
    timed(ours(name, *files, "--out", str(tmp_path / "ours")))
    timed([SIMGRID, name, *files, "--out", str(tmp_path / "theirs"), QUIET])
    mine, theirs = np.loadtxt(tmp_path / "ours"), np.loadtxt(tmp_path / "theirs", delimiter=",")[:, 1]
    assert np.max(np.abs(mine / theirs - 1)) < 1e-6


@pytest.mark.parametrize(("block", "streams"), [(1 << 20, 1), (64 << 20, 1), (1 << 20, 8), (1 << 10, 8)])
def test_engine_moves_100_gb_by_blocks(timing, block, streams):
    """W5: the cost must not depend on the size of blocks; SimGrid's 1 MiB run has 286,104 activities."""
    theirs = ["w5", "--block", str(block), "--streams", str(streams)] if block >= 1 << 20 else None
    if not timing:
        theirs = None
    _, result, _ = side_by_side(
        f"w5 {block} B, {streams} streams", ours("w5", "100e9", str(block), str(streams)), theirs, 1
    )
    print(f"   model {result['model_cpu_s'] * 1e3:.1f} ms, {result['events']} events, {result['Gb_per_s']:.3f} Gb/s")
    assert result["Gb_per_s"] == pytest.approx(10.0, rel=1e-6)
    assert not timing or result["model_cpu_s"] < 0.05


def test_engine_moves_a_billion_equal_files(timing):
    user, result, _ = side_by_side("1e9 equal files", ours("homogeneous", "1000000000"), None, 1)
    assert result["n"] == 10**9
    assert not timing or user < 1.0


def test_engine_runs_a_year_of_a_laboratory(timing):
    n = 1_000_000 if timing else 1_000
    user, result, _ = side_by_side(f"year of {n} transfers", ours("year", str(n)), None, 1)
    print(f"   {result['under_way']:.1f} under way in the mean, {result['most']} at most")
    assert result["n"] == pytest.approx(n, rel=0.2)
    assert not timing or (user < 120.0 and result["peak_MB"] < 1000.0)
