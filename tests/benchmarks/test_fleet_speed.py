"""Fleets by size, and beside SimGrid on its own workloads; claims are in README.md, nothing here is asserted on time.

`pytest tests/benchmarks/test_fleet_speed.py -m long --benchmark-enable -s`: three minutes; once and small without it.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.ground import yamlio

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "engine"), str(TESTS / "simulation" / "fleet")]

import workloads  # noqa: E402
from yard import course, ended  # noqa: E402

pytestmark = pytest.mark.long

#: 2,740 transfers a day between twenty DTNs and twenty at other sites, hosts and the link failing
MILLION = """
name: a million transfers in a year
hosts:
  dtn{01..20}: example-dtn-100g
  site{01..20}: example-dtn-100g
wan: {bandwidth: 400 Gb/s, rtt: 50 ms}
workload:
  service: globus
  endpoints:
    facility: {hosts: "dtn*", choose: least loaded, active: 80}
    sites: {hosts: "site*", active: 80}
  users: {operations: {active: 40}}
  classes:
    out: {from: "facility:/xfs", to: "sites:/xfs", rate: 1400 /day, diurnal: {wave: 60 %}, each: 2 GB, tool: globus,
          size: {median: 40 GB, sigma: 1.5, most: 10 TB}, user: [a, b, c, d, e, f, g, h, i, j, k, l]}
    in: {from: "sites:/xfs", to: "facility:/xfs", rate: 1340 /day, each: 1 GB, tool: {name: gridftp, p: 4, cc: 4},
         size: {median: 10 GB, sigma: 1.5, most: 10 TB}, user: operations}
  failures:
    - {hosts: "*", mtbf: 180 days, mttr: 4 h}
    - {links: wan, mtbf: 45 days, mttr: 40 min}
"""


@pytest.mark.parametrize("days", [0.366, 3.66, 36.6, 366])
def test_a_year_of_a_facility(days: float, request: pytest.FixtureRequest) -> None:
    if days > 1 and not request.config.getoption("--benchmark-enable"):
        pytest.skip("small without --benchmark-enable")
    began = time.process_time()
    given = spec.resolve(yamlio.loads(MILLION, "million.yaml"), [f"workload.span={days} d"])
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
