"""Path files of many transfers, timed next to SimGrid (see the README here).

The flows are W1 of `tests/engine/workloads.py`, from memory to memory over 100 hosts and one WAN, written as a path.
SimGrid's program reads the same flows; it is run where DTNSIM_SIMGRID_BIN names it.
"""

import math
import os
import resource
import subprocess
import time
from typing import Any

import pytest
import yaml

from dtnsim.composition.plain import plain
from dtnsim.description import spec
from dtnsim.engine.fluid import Fluid
from dtnsim.ground import runtime, yamlio
from dtnsim.report import simulation as report, text as console
from dtnsim.simulation import simulate
from dtnsim.simulation.plain.columns import columns
from tests.engine import workloads
from tests.strategies import load

pytestmark = pytest.mark.long

SIMGRID = os.environ.get("DTNSIM_SIMGRID_BIN", "")
FAST = {"kind": "cpu", "cores": 256, "clock": "10 GHz"}, {"kind": "memory", "channels": 64, "rate": "20000 MT/s",
                                                          "size": "1 TiB"}  # fmt: skip


def flows(count: int) -> dict[str, Any]:
    """W1 as a path file: each host as fast as the slower of its link and its disk."""
    capacity, hosts = workloads.capacities(), workloads.HOSTS
    _, sizes, which, caps = workloads.w1(count)
    machines: dict[str, Any] = {}
    for side, first in (("s", 1), ("d", 1 + 2 * hosts)):
        for n in range(hosts):
            rate = 8 * min(capacity[first + 2 * n], capacity[first + 2 * n + 1])
            nic = {"kind": "nic", "rate": f"{rate} b/s", "mtu": "9000 B"}
            machines[f"{side}{n}"] = {"cpu": FAST[0], "memory": FAST[1], "nic": nic}
    transfers = [
        {
            "name": f"f{k}", "from": f"s{row // hosts}:memory", "to": f"d{row % hosts}:memory",
            "tool": {"name": "iperf3", "b": f"{8 * cap} b/s"}, "dataset": {"files": 1, "size": f"{size} B"},
        }
        for k, (size, row, cap) in enumerate(zip(sizes, which, caps, strict=True))
    ]  # fmt: skip
    return {"name": "W1", "hosts": machines, "wan": {"bandwidth": "100 Gb/s"}, "transfers": transfers}


def engine(count: int) -> None:
    """The same flows on the fluid engine alone."""
    fluid = Fluid(workloads.capacities())
    rows = [fluid.row(row) for row in workloads.rows()]
    for _, size, row, cap in zip(*workloads.w1(count), strict=True):
        fluid.start(fluid.flow(rows[row], size, 1.0, cap), 0.0)
    fluid.settle(0.0)
    while (now := fluid.next_time()) < math.inf:
        fluid.finished(now)
        fluid.settle(now)


def cpu(what: Any) -> float:
    """CPU seconds of a call."""
    began = time.process_time()
    what()
    return time.process_time() - began


def sizes(benchmark: Any, small: list[int], large: list[int]) -> list[int]:
    return small if benchmark.disabled else large


def test_flows_through_a_path_file(benchmark: Any) -> None:
    counts = sizes(benchmark, [30], [100, 1000, 10_000])
    for count in counts:
        text = yaml.safe_dump(flows(count), sort_keys=False)
        given: dict[str, Any] = {}
        with runtime.gc_paused():
            reading = cpu(lambda text=text, given=given: given.update(path=spec.resolve(yamlio.loads(text, "w1.yaml"))))
        composing = cpu(lambda given=given: columns(plain(given["path"])))
        whole = cpu(lambda given=given: given.update(answer=simulate(given["path"])))
        showing = cpu(lambda given=given: report.show(given["answer"], console.console()))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        with runtime.gc_paused():
            alone = cpu(lambda count=count: engine(count))
        ratio = (reading + whole + showing) / alone
        print(f"\n{count} flows: read {reading:.2f} s, simulate {whole:.2f} s (composing {composing:.2f} s)", end="")
        print(f", show {showing:.2f} s; engine alone {alone:.2f} s: {ratio:.1f} times; {memory} MB", end="")
        if SIMGRID:
            print(f"; SimGrid {_simgrid(count):.2f} s", end="")
    benchmark.pedantic(simulate, (load(flows(counts[0])),), rounds=1)


def _simgrid(count: int) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([SIMGRID, "w1", str(count)], check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
