"""Connections that open up in time: against the closed form, in the series of a run, and what does not matter."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.composition import tcp
from dtnsim.composition.compose import compose
from dtnsim.composition.tcp import answered
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Connection
from dtnsim.physics.tcp import outcome
from dtnsim.physics.tcp.rounds import Cases
from dtnsim.simulation import simulate
from dtnsim.simulation.opening import Ramp, ramp_of
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine, volume
from tests.simulation.slow import FAST, make
from tests.strategies import load


def lost_s(ramp: Ramp) -> float:
    """What the opening costs a transfer that nothing else holds back [s]."""
    steps = zip((0.0, *ramp.ends_s[:-1]), ramp.ends_s, ramp.shares, strict=True)
    return sum((end - begin) * (1 - share / ramp.last) for begin, end, share in steps)


def streams(rate: float = 1.25e9, rtt: object = 0.05, loss: float = 0.0, count: int = 1) -> Connection:
    drawn, nominal = (
        Connection(rate, trip, rate * float(np.ravel(rtt)[0]), loss, 1e9, 9000.0, 8948.0, count, "cubic")
        for trip in (rtt, float(np.ravel(rtt)[0]))
    )
    return answered(drawn, nominal, Draw())


@settings(max_examples=12)
@given(st.floats(1e8, 1e10), st.floats(2e-3, 0.2), st.integers(1, 16))
def test_costs_what_the_closed_form_of_slow_start_costs(rate: float, rtt: float, count: int) -> None:
    """Without loss and with a buffer of a bandwidth-delay product the window doubles until the path is full."""
    ramp = ramp_of(streams(rate, rtt, 0.0, count))
    each, first = rate * 8948 / 9000 / count, 10 * 8948.0
    window = max(each * rtt, first)
    lost = rtt * np.log2(window / first) - (window - first) / np.log(2) / each
    if ramp is None:  # a window of ten segments fills it
        assert rate * rtt < 40 * 9000 * count
        return
    assert lost_s(ramp) == pytest.approx(float(lost), abs=2.5 * rtt)
    assert list(ramp.ends_s) == sorted(ramp.ends_s)
    assert all(0 < s <= 1.02 for s in ramp.shares)


@pytest.mark.parametrize("size", ["2.5 GB", "20 GB"])
def test_the_overshoot_before_the_first_loss_is_that_of_the_rounds(size: str) -> None:
    """10 Gb/s, 50 ms, 1e-4, MTU 9000, 180 MB of buffer: slow start passes what loss leaves; `dtnsim tcp --size`."""
    wan = {"bandwidth": "10.044444 Gb/s", "rtt": "50 ms", "loss": "1e-4", "mtu": "9000 B", "buffer": "180 MB"}
    path = load(journey(machine(), machine(), wan=wan, tool="iperf3", dataset={"files": 1, "size": size}))
    amount = float(size.split(maxsplit=1)[0]) * 1e9
    case = Cases.of(rate_Bps=1.25e9, rtt_s=0.05, loss=1e-4, mtu_B=9000.0, buffer_B=180e6, size_B=amount)
    took = outcome.simulate(case).completion_s[0]
    assert simulate(path).runs[0].transfers[0].duration_s == pytest.approx(took, rel=0.05)
    assert predict(path, samples=0).duration_s.p50 == pytest.approx(took, rel=0.05)


@pytest.mark.parametrize(("size_B", "rounds"), [(80e3, 0), (250e3, 1), (500e3, 2)])
def test_a_file_with_a_connection_of_its_own_waits_for_the_windows_before_its_last(size_B: float, rounds: int) -> None:
    """Ten segments of 8948 B leave at once, then twice and four times as many: 89, 268, 626 kB after 0, 1, 2 trips."""

    def seconds(size: float) -> float:
        wan = {"bandwidth": "1 Gb/s", "rtt": "20 ms", "loss": 0}
        data = {"files": 50, "size": f"{50 * size} B"}
        path = journey(machine(), machine(), wan=wan, tool={"name": "gridftp", "p": 1, "cc": 1}, dataset=data)
        return float(simulate(load(path)).runs[0].transfers[0].duration_s) / 50

    last_B = size_B - 10 * 8948 * (2**rounds - 1)  # what was sent before is acknowledged a round trip later
    assert seconds(size_B) - seconds(1e3) == pytest.approx(rounds * 20e-3 + last_B / 124e6, abs=0.5e-3)


def test_at_another_round_trip_a_connection_opens_nearly_as_its_own_course_has_it() -> None:
    """A window comes a round trip, so that rates of slow start fall as the trip grows: 14 % off where they stayed."""
    drawn = streams(rtt=np.array([0.05, 0.025, 0.1]))
    for n, trip in enumerate((0.05, 0.025, 0.1)):
        here, own = (lost_s(ramp or Ramp((), ())) for ramp in (ramp_of(drawn, n), ramp_of(streams(rtt=trip))))
        assert here == pytest.approx(own, rel=0.08)


def test_what_is_left_of_it_at_an_age() -> None:
    ramp = ramp_of(streams())
    assert ramp is not None
    assert ramp_of(streams(rtt=tcp.LEAST_RTT_S / 2)) is None  # no round trip, no opening
    assert list(ramp.after(ramp.ends_s[-1])) == []
    assert sum(s for s, _ in ramp.after(0.0)) == pytest.approx(ramp.ends_s[-1])
    assert sum(s for s, _ in ramp.after(0.3)) == pytest.approx(ramp.ends_s[-1] - 0.3)


def far(size: str = "20 GB") -> dict[str, object]:
    return {"wan__rtt": "100 ms", "transfer__dataset__size": size}


def test_the_rate_rises_round_trip_by_round_trip() -> None:
    path = make(FAST, **far("4 GB"))
    (run,) = simulate(path).runs
    rate, edges = run.series.rate_Bps[:, 0], run.series.edge_s
    moving = rate[rate > 0]
    assert moving[0] < 0.1 * moving.max()
    assert np.all(np.diff(moving[:-1]) > -0.06 * moving.max())
    assert (np.diff(edges) * rate).sum() == pytest.approx(4e9, rel=1e-9)
    (network,) = (n for n in compose(path, Draw()).connections)
    assert run.transfers[0].held[0].station in ("waiting", network)


def test_connections_are_opened_once_where_they_stay_open_and_for_every_file_where_not() -> None:
    one, kept, anew = (
        simulate(make(FAST, **far(), transfer__dataset__files=n, transfer__tool__fast=fast)).runs[0].transfers[0]
        for n, fast in ((1, True), (100, True), (100, False))
    )
    assert kept.moving_s == pytest.approx(one.moving_s, rel=1e-6)
    ramp = ramp_of(next(iter(compose(make(FAST, **far()), Draw()).connections.values())))
    assert ramp is not None
    assert anew.moving_s - kept.moving_s == pytest.approx(99 * lost_s(ramp), rel=1e-3)


@pytest.mark.parametrize("files", [2, 10, 100, 400])
def test_a_connection_ages_by_what_it_moves_not_by_what_it_waits(files: int) -> None:
    """Slow start passes what loss leaves a Reno sender in the end: that is spent by bytes, not by waits."""
    wan = {"bandwidth": "10 Gb/s", "rtt": "66.5 ms", "loss": "1e-5", "mtu": "1500 B", "buffer": "20 MB"}
    reno = machine(tcp={"cc": "reno", "rmem_max": "1 GiB", "wmem_max": "1 GiB"})
    data = {"files": files, "size": f"{7.5 * files} MB"}
    path = load(journey(reno, reno, wan=wan, tool="curl", dataset=data))
    run = simulate(path).runs[0].transfers[0]
    assert run.duration_s == pytest.approx(predict(path, samples=0).duration_s.p50, rel=0.05)
    (streams,) = compose(path, Draw()).connections.values()
    assert run.waiting_s >= files * 0.0665
    assert run.moving_s == pytest.approx(float(streams.course.time_of(7.5e6 * files)), rel=0.2)


@pytest.mark.parametrize("tool", ["curl", "gridftp"])
def test_what_opens_for_long_before_a_drive_costs_what_the_drive_misses(tool: str) -> None:
    """5 GB at 245 MB/s, and less than a second in which less comes, whatever changes; 13 s more are the cache's."""
    disk = machine(volumes={"/d": volume({"kind": "hdd", "rate": "250 MB/s"})})
    wan, data = {"bandwidth": "10 Gb/s", "rtt": "20 ms", "buffer": "1 MB"}, {"files": 1, "size": "5 GB"}
    once = {"events": [{"at": "2 s", "set": {"hosts.b.memory.size": "2 TiB"}}]}
    paths = [load(journey(None, disk, to="b:/d", wan=wan, tool=tool, dataset=data, **more)) for more in ({}, once)]
    said, run = predict(paths[0], samples=0).duration_s.p50, simulate(paths[0]).runs[0].transfers[0].duration_s
    assert (said, run) == (pytest.approx(21.1, abs=0.6), pytest.approx(said, rel=0.005))
    assert simulate(paths[1]).runs[0].transfers[0].duration_s == pytest.approx(run, rel=1e-6)


@pytest.mark.parametrize("workers", [1, 2])
def test_small_files_with_connections_of_their_own_meet_the_first_rounds_alone(workers: int) -> None:
    """128 KB over 33 ms: ten segments, twenty, forty, the rest; beside a 10 Gb/s link these are next to nothing."""
    tool = {"name": "gridftp", "p": 1, "cc": workers}
    wan = {"bandwidth": "10 Gb/s", "rtt": "33 ms", "mtu": "1500 B"}
    one = load(journey(machine(), machine(), wan=wan, tool=tool, dataset={"files": 200, "size": "25.6 MB"}))
    run = simulate(one).runs[0].transfers[0]
    assert run.phases[0].moving_s / 200 == pytest.approx(3 * 0.033, rel=0.1)
    assert run.duration_s == pytest.approx(predict(one, samples=0).duration_s.p50, rel=0.05)


@pytest.mark.parametrize("workers", [2, 4])
def test_the_last_file_of_open_connections_has_the_link_to_itself(workers: int) -> None:
    """Windows hold who opens up, the link those that fill it: what the others leave is taken, bytes over rate."""
    wan = {"bandwidth": "10 Gb/s", "rtt": "44.8 ms", "loss": 0, "buffer": "10 MB"}
    tool = {"name": "gridftp", "p": 4, "cc": workers}

    def seconds(files: int) -> float:
        data = {"files": files, "size": f"{files * 0.5} GB"}
        path = load(journey(machine(), machine(), wan=wan, tool=tool, dataset=data), "hosts.a.tcp.fq=true")
        return float(simulate(path).runs[0].transfers[0].duration_s)

    between = 2 * 44.8e-3  # trips before a file
    assert seconds(workers + 1) - seconds(workers) == pytest.approx(0.5e9 / 1.2e9 + between, rel=0.05)
