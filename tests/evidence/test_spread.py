"""`simulate`, `validate` and `calibrate` on a Dask scheduler with two worker processes; a killed worker loses nothing.

`dtnsim.simulation.replicas`, `dtnsim.evidence.fit_model`, `dtnsim.ground.cluster.Session`.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import dtnsim
from dtnsim.evidence.calibrate import calibrate
from dtnsim.evidence.cases import load_all
from dtnsim.evidence.validate import validate
from dtnsim.ground import library
from dtnsim.ground.errors import InputError
from dtnsim.simulation.replicas import Task

distributed = pytest.importorskip("dask.distributed")

PATH = "venadi/gridftp-gpfs"


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as made:
        yield made


@pytest.mark.long
def test_replicas_are_the_same_on_workers_of_which_one_is_killed(local: Any) -> None:
    here = dtnsim.simulate(PATH, replicas=90, seed=3, processes=1)
    pids, killed = [w.pid for w in local.workers.values()], list[int]()

    def kill(now: float, share: float) -> bool:
        if share > 0.3 and not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)
        return False

    there = dtnsim.simulate(PATH, replicas=90, seed=3, scheduler=local.scheduler_address, progress=kill)
    assert killed
    assert there.complete
    assert [r.end_s for r in there.runs] == [r.end_s for r in here.runs]
    assert there.spread(0) == here.spread(0)


@pytest.mark.long
def test_a_validation_is_the_same_on_workers(local: Any) -> None:
    cases = load_all([library.root("calibration") / "nasa"])[:14]
    here = validate(cases, samples=64, leave_one_out=True)
    there = validate(cases, samples=64, leave_one_out=True, scheduler=local.scheduler_address)
    assert there.as_dict() == here.as_dict()


@pytest.mark.long
def test_a_calibration_is_the_same_on_workers(local: Any) -> None:
    folder = library.root("calibration") / "nasa"
    here = calibrate([folder], ["nasa-c-system"])
    there = calibrate([folder], ["nasa-c-system"], scheduler=local.scheduler_address)
    assert there.u.tolist() == here.u.tolist()
    assert there.covariance.tolist() == here.covariance.tolist()


def test_a_task_is_a_path_a_seed_and_numbers() -> None:
    """No table of draws travels: ten thousand replicas cost what two do."""
    given = dtnsim.load(PATH)
    few, many = (len(pickle.dumps(Task(given, n, 1, 1e9, 10**6))) for n in (2, 10_000))
    assert abs(many - few) < 10


@pytest.mark.parametrize("call", [dtnsim.simulate, lambda p, **k: validate(scheduler=k["scheduler"], cases=[])])
def test_what_is_no_address_is_refused(call: Any) -> None:
    with pytest.raises(InputError, match="is no address"):
        call(PATH, scheduler="login1")
