"""Work on a cluster: a worker that dies loses nothing, and what cannot be reached is named."""

from __future__ import annotations

import csv
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.ground import cluster
from dtnsim.ground.errors import DtnsimError, InputError

pytestmark = pytest.mark.long

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("dask.distributed")

HERE = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}

PATH = "venadi/dd-zfs-fdatasync"
ARRAY = "hosts.venadi.volumes./bigdata.array"
VARY = [f"{ARRAY}.disks=4,5,6,7,8,9,10,11", f"{ARRAY}.groups=1,2,3"]


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """Two worker processes of this machine."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **HERE) as made:
        yield made


def test_a_sweep_survives_a_worker_that_is_killed(local: Any, tmp_path: Path) -> None:
    workers = [w.pid for w in local.workers.values()]
    killed: list[int] = []

    def kill(done: int, of: int) -> None:
        if done >= of // 4 and not killed:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    out = tmp_path / "rows.csv"
    found = dtnsim.sweep(PATH, VARY, out=out, scheduler=local.scheduler_address, progress=kill)
    assert killed
    assert found.rows == dtnsim.sweep(PATH, VARY).rows
    with out.open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    assert Counter(tuple(r[:2]) for r in rows) == Counter({r[:2]: 1 for r in found.rows})


def test_what_a_piece_raises_comes_out(local: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        list(cluster.spread(divided, 1, [1, 0], local.scheduler_address))


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
def test_an_address_where_nobody_answers(address: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        next(cluster.spread(divided, 1, [1], address, patience_s=0.3))


def test_a_scheduler_without_workers() -> None:
    with (
        distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp", **HERE) as made,
        pytest.raises(InputError, match="has no workers"),
    ):
        next(cluster.spread(divided, 1, [1], made.scheduler_address, patience_s=0.3))
