"""Replicas: the same bytes whoever makes them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from dtnsim.simulation import simulate
from tests.simulation.slow import SLOW, make

EVENTS = [{"at": "30 s", "set": {"wan.loss": "1e-4"}, "until": "60 s"}]


def figures(processes: int | Executor | None) -> list[tuple[float, int]]:
    runs = simulate(make(SLOW, events=EVENTS), replicas=4, seed=3, processes=processes).runs
    return [(r.transfers[0].duration_s, r.events) for r in runs]


@pytest.fixture(scope="module")
def alone() -> list[tuple[float, int]]:
    return figures(1)


@pytest.mark.parametrize("processes", [None, 2])
def test_the_same_in_one_process_and_in_several(alone: list[tuple[float, int]], processes: int | None) -> None:
    assert figures(processes) == alone
    assert len({d for d, _ in alone}) == 4


@pytest.mark.long
@pytest.mark.parametrize("elsewhere", [ThreadPoolExecutor, lambda: ProcessPoolExecutor(2, get_context("spawn"))])
def test_an_executor_makes_them_elsewhere(alone: list[tuple[float, int]], elsewhere: Callable[[], Executor]) -> None:
    with elsewhere() as executor:
        assert figures(executor) == alone


def test_a_cluster_of_dask_makes_them(alone: list[tuple[float, int]]) -> None:
    distributed = pytest.importorskip("dask.distributed", reason="the extra 'dask' is not installed")
    with distributed.Client(processes=False, dashboard_address=None) as client:
        assert figures(client.get_executor()) == alone
