"""The ladder is worked out for who reads it, and for nobody else."""

import pytest

from dtnsim.report.document import prediction_document
from dtnsim.steady import ladder, solve
from tests.lab import answer, journey


def many(count):
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": "1 ms"})
    one = path.pop("transfer")
    return {**path, "transfers": [{**one, "name": f"t{n}"} for n in range(count)]}


@pytest.fixture
def solutions(monkeypatch):
    """What is relieved for ladders, one entry a rung."""
    done, real = [], solve.relieved

    def relieved(m, **how):
        done.append(how)
        return real(m, **how)

    monkeypatch.setattr(solve, "relieved", relieved)
    return done


def test_nobody_pays_for_what_is_not_read(solutions):
    found = answer(many(3))
    assert not solutions
    assert len(found.transfers[1].ladder) > 2
    assert {how["transfer"] for how in solutions} == {1}
    before = len(solutions)
    assert found.transfers[1].ladder[0].throughput_Bps == pytest.approx(found.transfers[1].throughput_Bps.p50)
    assert len(solutions) == before


def test_ladders_of_many_transfers_are_shown_for_the_first_alone():
    few, more = (prediction_document(answer(many(n)))["transfers"] for n in (2, ladder.SHOWN + 1))
    assert all(t["ladder"] for t in few)
    assert more[0]["ladder"]
    assert not any(t["ladder"] for t in more[1:])
