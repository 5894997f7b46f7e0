"""The ladder is worked out for who reads it, and for nobody else."""

import pytest

from dtnsim.report.document import prediction_document
from dtnsim.steady import ladder, solve
from tests.lab import answer, journey, machine


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


@pytest.mark.parametrize(
    ("wan", "tcp", "overrides"),
    [
        ({"bandwidth": "40 Gb/s"}, "1 GiB", ["wan.bandwidth=1000 Tb/s"]),  # then the ports hold it
        ({"bandwidth": "10 Gb/s", "loss": "1e-3"}, "1 GiB", ["wan.loss=0"]),
        ({"bandwidth": "40 Gb/s"}, "16 MiB", None),  # the windows: as the line below the answer says
    ],
)
def test_what_relieves_a_connection_gives_what_writing_it_gives(wan, tcp, overrides):
    host = machine(nic={"kind": "nic", "rate": "100 Gb/s", "mtu": "9000 B"}, tcp={"rmem_max": tcp, "wmem_max": tcp})
    data = {"files": 100, "size": "200 GB"}  # of twelve and a half rounds for eight workers
    path = journey(host, host, wan={"rtt": "50 ms", **wan}, tool={"name": "gridftp", "cc": 8}, dataset=data)
    made = answer(path)
    assert made.bottleneck.kind == "tcp"
    if overrides is None:
        station = next(u.station for u in made.stations if u.station.name == made.bottleneck.station)
        overrides = list(station.changes[0][1])
    then = answer(path, *overrides).throughput_Bps.p50
    assert then > 1.05 * made.throughput_Bps.p50
    assert made.transfers[0].ladder[1].throughput_Bps == pytest.approx(then)
