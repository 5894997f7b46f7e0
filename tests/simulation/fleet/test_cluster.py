"""A fleet's replicas on a Dask scheduler with two worker processes, one of which is killed."""

from __future__ import annotations

import os
import pickle
import signal

import pytest

from dtnsim.description import spec
from dtnsim.ground import yamlio
from dtnsim.simulation.fleet import run
from dtnsim.simulation.fleet.run import fleet

pytestmark = pytest.mark.long

distributed = pytest.importorskip("dask.distributed")

YARD = """
name: a yard
hosts: {a: example-dtn-100g, b: example-dtn-100g}
wan: {bandwidth: 10 Gb/s, rtt: 20 ms}
workload:
  span: 2 d
  classes:
    u: {from: "a:/xfs", to: "b:/xfs", tool: scp, size: 20 GB, rate: 100 /day}
  failures: [{links: wan, mtbf: 12 h, mttr: 1 h}]
"""


def test_a_worker_that_is_killed_loses_nothing() -> None:
    given = spec.resolve(yamlio.loads(YARD, "yard.yaml"))
    alone = fleet(given, replicas=7, seed=5, processes=1)
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as local:
        pids = [w.pid for w in local.workers.values()]

        def kill(now: float, share: float, done: int) -> bool:
            if share > 0.2 and not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)
            return False

        spread = fleet(given, replicas=7, seed=5, scheduler=local.scheduler_address, progress=kill)
    assert killed
    assert spread.complete
    assert repr(spread.runs) == repr(alone.runs)


def test_a_task_is_a_path_a_seed_and_an_index() -> None:
    """No table of draws travels: a thousand replicas cost what two do."""
    given = spec.resolve(yamlio.loads(YARD, "yard.yaml"))
    few, many = (len(pickle.dumps(run.Task(given, 1, count))) for count in (2, 1000))
    assert abs(many - few) < 10
