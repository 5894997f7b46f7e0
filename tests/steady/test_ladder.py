"""The ladder is worked out for who reads it, and for nobody else."""

import pytest

import dtnsim
from dtnsim.ground import units
from dtnsim.report.document import prediction_document
from dtnsim.steady import ladder, solve
from tests.each import cases, rows
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


@cases("wan, tcp, overrides", rows("steady/tables", "what_relieves_a_connection_gives_what_writing_it_gives"))
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


def test_a_buffer_is_no_larger_than_the_next_rung_needs():
    """The window is the buffer's share over the round trip: a tenth less carries a tenth less, whatever binds next."""
    host = machine(nic={"kind": "nic", "rate": "40 Gb/s"}, tcp={"rmem_max": "16 MiB", "wmem_max": "16 MiB"})
    path = journey(host, host, wan={"bandwidth": "100 Gb/s", "rtt": "50 ms"}, tool={"name": "gridftp"})
    made = answer(path, samples=0)
    held, then = made.ladder[:2]
    assert "wmem_max" in held.remedy + "".join(held.overrides)
    assert made.bottleneck.remedy == held.remedy
    assert answer(path, *held.overrides, samples=0).throughput_Bps.p50 == pytest.approx(then.throughput_Bps)
    sizes = [(key, 0.9 * units.parse(size, "B")) for key, _, size in (o.partition("=") for o in held.overrides)]
    less = answer(path, *(f"{key}={size:.0f} B" for key, size in sizes), samples=0)
    assert less.throughput_Bps.p50 < 0.99 * then.throughput_Bps
    assert [b.throughput_Bps for b in made.ladder] == sorted(b.throughput_Bps for b in made.ladder)


def test_a_place_that_something_else_holds_too_is_no_rung_again():
    """An allowance is not the port's rate: raising that brings nothing, and the ladder goes on to the next rung."""
    rungs = dtnsim.predict("examples/cloud-to-campus", samples=0).ladder
    assert len({r.station for r in rungs}) > 4
    assert rungs[-1].throughput_Bps > 2 * rungs[0].throughput_Bps


def test_the_engines_of_a_firewall_and_the_connection_that_they_hold_are_one_rung() -> None:
    wan = {"bandwidth": "100 Gb/s", "rtt": "2 ms", "firewall": "campus-stateful-10g"}
    tool = {"name": "gridftp", "p": 2, "third_party": True}
    rungs = (
        answer(journey(machine(), machine(), start="a:memory", to="b:memory", tool=tool, wan=wan)).transfers[0].ladder
    )
    assert rungs[0].station.startswith("network.tcp.")
    assert "firewall" in rungs[0].reason
    assert not rungs[1].station.startswith("network.wan.firewall-engine")
    assert rungs[1].throughput_Bps > 1.05 * rungs[0].throughput_Bps
