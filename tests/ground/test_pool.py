"""Pieces of work: the same results whoever does them, and what goes wrong comes out."""

import pickle
from typing import Any

import pytest

import dtnsim
from dtnsim.evidence.validate import validate
from dtnsim.ground.errors import DtnsimError, InputError, SpecError
from dtnsim.ground.pool import Pool, in_order
from dtnsim.simulation.replicas import Task
from dtnsim.simulation.run_path import Limits
from tests.ground.pieces import divided, gone, local, refused


@pytest.mark.parametrize("processes", [1, 2])
def test_every_piece_is_done_once_and_comes_in_order(processes: int) -> None:
    asked: list[int] = []

    def pieces():
        for n in range(1, 8):
            asked.append(n)
            yield n

    with Pool(divided, 12, pieces(), processes) as workers:
        assert len(asked) == (2 if processes == 2 else 0)  # asked for as they are begun
        assert list(in_order(workers.results())) == [12 / n for n in range(1, 8)]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_the_work_raises_comes_out(processes: int) -> None:
    with Pool(divided, 1, [1, 0], processes) as workers, pytest.raises(ZeroDivisionError):
        list(workers.results())
    with Pool(refused, "wan.rate", [3, 4], processes) as workers, pytest.raises(SpecError) as raised:
        list(workers.results())
    assert raised.value.key == "wan.rate"
    assert "is no rate" in str(raised.value)


def test_an_error_that_cannot_travel_is_told_in_words() -> None:
    with Pool(local, None, [1, 2], 2) as workers, pytest.raises(DtnsimError, match="ValueError: not to be sent"):
        list(workers.results())


def test_a_child_that_is_killed_is_a_sentence() -> None:
    with Pool(gone, None, [1, 2], 2) as workers, pytest.raises(DtnsimError, match="ended from outside"):
        list(workers.results())


def test_work_ends_when_somebody_says_so() -> None:
    with Pool(divided, 1, [1, 2, 3], 2) as workers:
        assert list(workers.results(lambda: True)) == []


def test_a_task_is_a_path_a_seed_and_numbers() -> None:
    """No table of draws travels: ten thousand replicas cost what two do."""
    given = dtnsim.load("venadi/gridftp-gpfs")
    few, many = (len(pickle.dumps(Task(given, n, 1, Limits(1e9)))) for n in (2, 10_000))
    assert abs(many - few) < 10


@pytest.mark.parametrize("call", [dtnsim.simulate, lambda p, **k: validate(scheduler=k["scheduler"], cases=[])])
def test_what_is_no_address_is_refused(call: Any) -> None:
    pytest.importorskip("dask.distributed")
    with pytest.raises(InputError, match="is no address"):
        call("venadi/gridftp-gpfs", scheduler="login1")
