"""Work on a Dask scheduler with two worker processes: the same answers as here, and a worker that dies loses nothing.

`dtnsim.ground.pool`, `dtnsim.simulation.replicas`, `dtnsim.simulation.fleet.run`, `dtnsim.evidence.fit_model`.
"""

import csv
import os
import pickle
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.evidence.calibrate import calibrate
from dtnsim.evidence.cases import load_all
from dtnsim.evidence.validate import validate
from dtnsim.ground import library, pool, yamlio
from dtnsim.ground.errors import DtnsimError, InputError
from dtnsim.simulation.fleet.run import Task, fleet
from tests.each import tables

pytestmark = pytest.mark.long

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("dask.distributed")

HERE = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}

PATH = "venadi/dd-zfs-fdatasync"
ARRAY = "hosts.venadi.volumes./bigdata.array"
VARY = [f"{ARRAY}.disks=4,5,6,7,8,9,10,11", f"{ARRAY}.groups=1,2,3"]
YARD = tables("tables")["yard"]


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """Two worker processes of this machine."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **HERE) as made:
        yield made


def killer(local: Any) -> tuple[list[int], Callable[[bool], bool]]:
    """Who was killed, and what kills a worker once it is due; no run is to end for it."""
    pids, killed = [w.pid for w in local.workers.values()], list[int]()

    def kill(due: bool) -> bool:
        if due and not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)
        return False

    return killed, kill


def test_a_sweep_survives_a_worker_that_is_killed(local: Any, tmp_path: Path) -> None:
    killed, kill = killer(local)
    out = tmp_path / "rows.csv"
    found = dtnsim.sweep(
        PATH, VARY, out=out, scheduler=local.scheduler_address, progress=lambda done, of: kill(done >= of // 4)
    )
    assert killed
    assert found.rows == dtnsim.sweep(PATH, VARY).rows
    with out.open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    assert Counter(tuple(r[:2]) for r in rows) == Counter({r[:2]: 1 for r in found.rows})


def test_what_a_piece_raises_comes_out(local: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        list(pool.spread(divided, 1, [1, 0], local.scheduler_address))


def divided(shared: int, piece: int) -> float:
    return shared / piece


def test_a_scheduler_that_dies_is_named_and_finished_rows_stay(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", **HERE) as made,
    ):
        done: list[int] = []

        def stop(count: int, of: int) -> None:
            done.append(count)
            if count == 4:
                made.sync(made.scheduler.close)

        with pytest.raises(DtnsimError, match=r"was lost; what was done is kept") as lost:
            dtnsim.sweep(PATH, VARY[:1], out=out, scheduler=made.scheduler_address, progress=stop)
    assert lost.value.exit_code == 1
    assert len(out.read_text().splitlines()) == 1 + done[-1] < 9
    assert dtnsim.sweep(PATH, VARY[:1], out=out).kept == done[-1]


@pytest.mark.parametrize(
    ("address", "words"), [("login1", "is no address"), ("tcp://127.0.0.1:9", "nobody answers at tcp://127.0.0.1:9")]
)
def test_an_address_where_nobody_answers(monkeypatch: pytest.MonkeyPatch, address: str, words: str) -> None:
    monkeypatch.setattr(pool, "PATIENCE_S", 0.3)
    with pytest.raises(InputError, match=words):
        next(pool.spread(divided, 1, [1], address))


def test_a_scheduler_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "PATIENCE_S", 0.3)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp", **HERE) as made,
        pytest.raises(InputError, match="has no workers"),
    ):
        next(pool.spread(divided, 1, [1], made.scheduler_address))


def test_replicas_are_the_same_on_workers_of_which_one_is_killed(local: Any) -> None:
    path, (killed, kill) = "venadi/gridftp-gpfs", killer(local)
    here = dtnsim.simulate(path, replicas=90, seed=3, processes=1)
    there = dtnsim.simulate(
        path, replicas=90, seed=3, scheduler=local.scheduler_address, progress=lambda now, share: kill(share > 0.3)
    )
    assert killed
    assert there.complete
    assert [r.end_s for r in there.runs] == [r.end_s for r in here.runs]
    assert there.spread(0) == here.spread(0)


def test_a_fleet_is_the_same_on_workers_of_which_one_is_killed(local: Any) -> None:
    given, (killed, kill) = spec.resolve(yamlio.loads(YARD, "yard.yaml")), killer(local)
    here = fleet(given, replicas=7, seed=5, processes=1)
    there = fleet(
        given, replicas=7, seed=5, scheduler=local.scheduler_address, progress=lambda now, share, _: kill(share > 0.2)
    )
    assert killed
    assert there.complete
    assert repr(there.runs) == repr(here.runs)


def test_a_task_of_a_fleet_is_a_path_a_seed_and_an_index() -> None:
    """No table of draws travels: a thousand replicas cost what two do."""
    given = spec.resolve(yamlio.loads(YARD, "yard.yaml"))
    few, many = (len(pickle.dumps(Task(given, 1, count))) for count in (2, 1000))
    assert abs(many - few) < 10


def test_a_validation_is_the_same_on_workers(local: Any) -> None:
    cases = load_all([library.root("calibration") / "nasa"])[:14]
    here = validate(cases, samples=64, leave_one_out=True)
    there = validate(cases, samples=64, leave_one_out=True, scheduler=local.scheduler_address)
    assert there.as_dict() == here.as_dict()


def test_a_calibration_is_the_same_on_workers(local: Any) -> None:
    folder = library.root("calibration") / "nasa"
    here = calibrate([folder], ["nasa-c-system"])
    there = calibrate([folder], ["nasa-c-system"], scheduler=local.scheduler_address)
    assert there.u.tolist() == here.u.tolist()
    assert there.covariance.tolist() == here.covariance.tolist()
