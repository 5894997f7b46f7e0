"""Fleets by size, and beside SimGrid on its own workloads; claims are in README.md, nothing here is asserted on time.

`pytest tests/benchmarks/test_fleet_speed.py -m long --benchmark-enable -s`: three minutes; once and small without it.
"""

import resource
import time
from pathlib import Path

import numpy as np
import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.ground import yamlio
from tests.each import tables
from tests.engine import workloads
from tests.simulation.fleet.yard import course, ended

pytestmark = pytest.mark.long


@pytest.mark.parametrize("days", [0.366, 3.66, 36.6, 366])
def test_a_year_of_a_facility(days: float, request: pytest.FixtureRequest) -> None:
    if days > 1 and not request.config.getoption("--benchmark-enable"):
        pytest.skip("small without --benchmark-enable")
    began = time.process_time()
    given = spec.resolve(
        yamlio.loads(tables("benchmarks/tables")["million"], "million.yaml"), [f"workload.span={days} d"]
    )
    total = dtnsim.fleet(given, replicas=1).runs[0].total
    used = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"\n{total.asked} transfers over {days} days: {used:.2f} s CPU, {peak:.0f} MB so far")
    assert total.done > 0.9 * total.asked


@pytest.mark.parametrize(("name", "n"), [("w1", 1000), ("w1", 10_000), ("w2", 1000), ("w2", 10_000), ("w2", 100_000)])
def test_beside_simgrid(name: str, n: int, request: pytest.FixtureRequest) -> None:
    if n > 1000 and not request.config.getoption("--benchmark-enable"):
        pytest.skip("small without --benchmark-enable")
    starts, sizes, which, caps = (np.array(column) for column in getattr(workloads, name)(n))
    order = np.argsort(starts, kind="stable")
    began = time.process_time()
    made = course(
        workloads.capacities(), starts[order], sizes[order], rows=workloads.rows(), own=1e300,
        lane=which[order], cap=caps[order],
    )  # fmt: skip
    assert np.isfinite(ended(made)).all()
    print(f"\n{name}, {n}: {time.process_time() - began:.2f} s CPU")


#: what a byte of payload takes of a wire with an MTU of 9000 B: the rates of the path files are those of payload
WIRE = 1.0100581135449263


def path_file(name: str, n: int, folder: Path) -> Path:
    """W1 or W2 as a path file and a trace: a host is as fast as the slower of its link and its disk."""
    capacity, hosts = workloads.capacities(), workloads.HOSTS
    starts, sizes, which, caps = getattr(workloads, name)(n)
    lines = ["start,source,destination,bytes,files,cap_bps"]
    for k in sorted(range(n), key=starts.__getitem__):
        source, target = divmod(which[k], hosts)
        lines.append(f"{starts[k]!r},s{source},d{target},{sizes[k]},1,{caps[k]!r}")
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    machine = (
        "{{cpu: {{kind: cpu, cores: 256, clock: 10 GHz}}, nic: {{kind: nic, rate: {rate!r} b/s, mtu: 9000 B}}, "
        "memory: {{kind: memory, channels: 64, rate: 20000 MT/s, size: 1 TiB}}}}"
    )
    text = ["name: peers", "hosts:"]
    for side, first in (("s", 1), ("d", 1 + 2 * hosts)):
        for i in range(hosts):
            rate = 8 * min(capacity[first + 2 * i], capacity[first + 2 * i + 1]) * WIRE
            text.append(f"  {side}{i}: {machine.format(rate=rate)}")
    ends = [", ".join(f'"{side}{i}:memory"' for i in range(hosts)) for side in "sd"]
    text += [
        f"wan: {{bandwidth: {8 * capacity[0] * WIRE!r} b/s, rtt: 1 us}}", "workload:", "  span: 100 days", "  classes:",
        f"    w: {{from: [{ends[0]}], to: [{ends[1]}], trace: {name}.csv, tool: iperf3}}",
    ]  # fmt: skip
    (folder / f"{name}.yaml").write_text("\n".join(text) + "\n")
    return folder / f"{name}.yaml"


@pytest.mark.parametrize(("name", "n"), [("w1", 1000), ("w2", 1000), ("w1", 10_000), ("w2", 100_000)])
def test_path_files_beside_simgrid(name: str, n: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A path file and a trace give SimGrid's finish times."""
    if n > 1000 and not request.config.getoption("--benchmark-enable"):
        pytest.skip("small without --benchmark-enable")
    file = path_file(name, n, tmp_path)
    began = time.process_time()
    answer = dtnsim.fleet(file, replicas=1)
    print(f"\n{name}, {n} through a path file: {time.process_time() - began:.2f} s CPU")
    if n == 1000:
        with (Path(__file__).parents[1] / "engine" / "data" / "simgrid_332_1000.csv").open() as table:
            rows = [line.split(",") for line in table if line[0].isdigit()]
        found = [float(row[("w1", "w2").index(name)]) for row in rows]
        assert np.sort(answer.first.course.ended) == pytest.approx(np.sort(found), rel=1e-6, abs=1e-5)


def test_two_processes(request: pytest.FixtureRequest) -> None:
    """CPU in all of one process over that of the longer of two: what two idle cores gain."""
    small = not request.config.getoption("--benchmark-enable")
    days, replicas = (1, 2) if small else (120, 24)
    used = []
    for processes in (1, 2):
        began, before = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        dtnsim.fleet(
            "examples/facility-year", overrides=[f"workload.span={days} d"], replicas=replicas, processes=processes
        )
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        used.append((time.process_time() - began) + children)
    print(
        f"\n{replicas} replicas: {used[0]:.1f} s CPU in one process, {used[1]:.1f} s in two: "
        f"x{2 * used[0] / used[1]:.2f}"
    )
