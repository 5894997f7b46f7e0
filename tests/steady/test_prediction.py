"""The answer: rates against closed forms, intervals from spreads, the ladder, cores that a loaded memory slows."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.composition.compose import compose
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Demand, Phase, Problem, Slowdown, Station, Transfer
from dtnsim.ground.uncertainty import Interval
from dtnsim.steady import solve
from dtnsim.steady.prediction import predict
from dtnsim.steady.scenarios import composed_and_drawn, interval
from tests.lab import FREE, answer, journey, machine, rate, sheet, volume
from tests.strategies import load

FRAME = 9038 / 8948
WIRE = 1.25e9 / FRAME


def narrow(**segment: Any) -> dict[str, Any]:
    return journey(wan={"bandwidth": "10 Gb/s", **segment})


# -- the rate ---------------------------------------------------------------------------------------
def test_the_least_capacity_over_demand() -> None:
    found = answer(narrow())
    assert found.throughput_Bps.p50 == pytest.approx(WIRE)
    assert found.bottleneck.station == "network.wan"
    assert found.stations[0].station.name == "network.wan"
    assert found.stations[0].utilization == pytest.approx(1.0)


def test_duration_is_bytes_over_rate() -> None:
    path = narrow()
    path["transfer"]["dataset"] = {"files": 3, "size": "90 GB"}
    found = answer(path)
    assert found.duration_s.p50 == pytest.approx(90e9 / WIRE)
    assert (found.transfers[0].files, found.transfers[0].payload_B) == (3, 90e9)


def test_equal_transfers_share_equally_and_streams_count() -> None:
    """Max-min: 3 streams of one beside 1 of the other take three quarters."""
    transfers = [
        {"name": f"t{p}", "from": "a:memory", "to": "b:memory", "tool": {"name": "iperf3", "P": p}} for p in (1, 3)
    ]
    path = journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers)
    one, three = answer(path).transfers
    assert one.throughput_Bps.p50 == pytest.approx(WIRE / 4)
    assert three.throughput_Bps.p50 == pytest.approx(3 * WIRE / 4)
    assert "shared with 1 other transfer" in one.bottleneck.reason


def test_what_one_leaves_the_other_takes() -> None:
    """A target of 2 Gb/s beside a greedy transfer: it gets 2, the other 8 (less framing)."""
    transfers = [
        {"name": "slow", "from": "a:memory", "to": "b:memory", "tool": {"name": "iperf3", "b": "2 Gb/s"}},
        {"name": "fast", "from": "a:memory", "to": "b:memory", "tool": "iperf3"},
    ]
    slow, fast = answer(journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers)).transfers
    assert slow.throughput_Bps.p50 == pytest.approx(0.25e9)
    assert fast.throughput_Bps.p50 == pytest.approx(WIRE - 0.25e9)
    assert slow.bottleneck.kind == "target"


# -- memory slows cores -----------------------------------------------------------------------------
def slowed(c: float, m: float, k: float, u0: float, clock: float, bandwidth: float) -> float:
    stations = (
        Station("h.cpu", "h", "cpu", "core", clock, "cycles"),
        Station("h.memory", "h", "memory", "memory", bandwidth, "B"),
    )
    row = Phase("p", (Demand("h.cpu", c, "work"), Demand("h.memory", m, "work")))
    slow = Slowdown("h.memory", ("h.cpu",), k, u0)
    made = Problem("t", stations, (Transfer("t", (row,), 1, 1e9, 1),), slowdowns=(slow,))
    return float(solve.solve(solve.matrices(made)).rate[0, 0])


@given(
    st.floats(0.5, 5),
    st.floats(1, 6),
    st.floats(0.05, 0.6),
    st.floats(0, 0.8),
    st.floats(1e9, 5e9),
    st.floats(5e9, 5e11),
)
def test_rate_and_slowdown_are_found_together(
    c: float, m: float, k: float, u0: float, clock: float, memory: float
) -> None:
    """c X (1 + k X m / M) / (1 + k U0) = C, a quadratic in X; the core is never faster than when it was measured."""
    a, b = c * k * m / memory / (1 + k * u0), c / (1 + k * u0)
    x = (-b + math.sqrt(b * b + 4 * a * clock)) / (2 * a)
    if x * m / memory <= u0:
        x = clock / c  # the memory is less loaded than it was then
    x = min(x, memory / m)  # or full
    if x * m / memory < u0:
        x = min(clock / c, u0 * memory / m)
    assert slowed(c, m, k, u0, clock, memory) == pytest.approx(x, rel=1e-6)


def test_a_core_that_does_not_wait_for_memory_is_not_slowed() -> None:
    assert slowed(2, 4, 0.0, 0.0, 3e9, 1e10) == pytest.approx(1.5e9)


def test_nasa_two_writers_on_two_arrays() -> None:
    """NASA GSFC: a receiver that writes a file takes 2.50 cycles a byte alone and 2.63 with another beside it.

    Two cores of 3.2 GHz, five crossings a byte of 19.5 GB/s, costs measured at a third of that load.
    """
    names = ("h.cpu1", "h.cpu2")
    stations = (*(Station(n, "h", n[2:], "core", 3.2e9, "cycles") for n in names),
                Station("h.memory", "h", "memory", "memory", 19.5e9, "B"))  # fmt: skip
    flows = tuple(
        Transfer(n, (Phase("p", (Demand(n, 2.5, "receive and write"), Demand("h.memory", 5.0, "copies"))),), 1, 1e9, 1)
        for n in names
    )
    alone = Problem("t", stations, flows[:1], slowdowns=(Slowdown("h.memory", names, 0.25, 0.33),))
    both = Problem("t", stations, flows, slowdowns=(Slowdown("h.memory", names, 0.25, 0.33),))
    one, two = (float(solve.solve(solve.matrices(p)).rate[0, 0]) for p in (alone, both))
    assert 3.2e9 / one == pytest.approx(2.50, rel=0.001)
    # the slope is a prior with a spread of 40 %: a rise of 5 % is known to 2 %
    assert 3.2e9 / two == pytest.approx(2.63, rel=0.02)


def test_the_slowdown_is_on_the_page() -> None:
    host = machine(stack={**FREE, "receive_byte": "10 cycles/B", "memory_stall": "0.5", "memory_reference": "0"},
                   memory={"kind": "memory", "channels": 1, "rate": "1000 MT/s", "size": "64 GiB"})  # fmt: skip
    found = answer(journey(destination=host))
    assert "slower under the load of memory" in found.bottleneck.reason
    core = next(u.station for u in found.stations if u.station.name == found.bottleneck.station)
    assert core.slowed == pytest.approx(1 - float(core.capacity) / 10e9)
    assert float(core.capacity) < 10e9


# -- intervals --------------------------------------------------------------------------------------


#: stated, so that nothing is drawn for it
QUIET = {"loss": "0", "background": {"share": {"value": "0 %", "spread": 0}}, "buffer": "1 GB"}


def of_parameters(path: dict[str, Any], samples: int) -> Interval:
    """The interval that nothing but the spreads of the parameters makes."""
    given = load(path)
    drawn = composed_and_drawn(given, samples, 1, mean=False)[1].parameters
    return interval(drawn.sum(axis=1))


def test_an_interval_is_that_of_the_parameter_that_binds() -> None:
    """10 Gb/s, log-normal with a spread of 0.2: quantiles at exp(-+1.2816 sigma), sigma = sqrt(ln 1.04)."""
    found = of_parameters(narrow(bandwidth={"value": "10 Gb/s", "spread": 0.2}, **QUIET), 2048)
    sigma = math.sqrt(math.log(1.04))
    # the stratum below the middle: half a stratum over the density of the normal there
    assert found.p50 == pytest.approx(WIRE * math.exp(-sigma * math.sqrt(2 * math.pi) / 2 / 2048), rel=1e-6)
    assert found.p10 == pytest.approx(WIRE * math.exp(-1.2816 * sigma), rel=0.005)
    assert found.p90 == pytest.approx(WIRE * math.exp(1.2816 * sigma), rel=0.005)


def test_what_does_not_bind_does_not_widen() -> None:
    path = journey(
        wan=[
            {"bandwidth": {"value": "10 Gb/s", "spread": 0}, **QUIET},
            {"bandwidth": {"value": "400 Gb/s", "spread": 0.3}, **QUIET},
        ]
    )
    found = of_parameters(path, 256)
    assert found.p90 / found.p10 == pytest.approx(1.0, abs=1e-6)


def test_the_weaker_of_two_uncertain_places_lowers_the_middle() -> None:
    """E[min] < min E: with two equal segments the p10 falls below that of one."""
    uncertain = {"bandwidth": {"value": "10 Gb/s", "spread": 0.3}}
    one, two = (answer(journey(wan=[dict(uncertain) for _ in range(n)]), samples=512) for n in (1, 2))
    for q in ("p10", "p50", "p90"):
        assert getattr(two.throughput_Bps, q) < getattr(one.throughput_Bps, q)
    assert two.ceiling == pytest.approx(one.ceiling)


def test_no_samples_no_interval() -> None:
    found = answer(narrow(bandwidth={"value": "10 Gb/s", "spread": 0.3}))
    i = found.throughput_Bps
    assert i.p10 == i.p50 == i.p90 == found.ceiling
    assert found.drawn is None


def test_the_seed_decides() -> None:
    given = load(narrow(bandwidth={"value": "10 Gb/s", "spread": 0.3}, background={"share": "30 %"}))
    a, b, c = (predict(given, samples=32, seed=s).throughput_Bps for s in (1, 1, 2))
    assert a == b
    assert a != c


def test_scenarios_have_a_rate_for_each_transfer() -> None:
    transfers = [{"name": n, "from": "a:memory", "to": "b:memory", "tool": "iperf3"} for n in "xyz"]
    given = load(journey(wan={"bandwidth": {"value": "10 Gb/s", "spread": 0.1}}, transfers=transfers))
    rates = composed_and_drawn(given, 16, 1, mean=False)[1].parameters
    assert rates.shape == (16, 3)
    assert np.allclose(rates, rates[:, :1])


# -- the ladder -------------------------------------------------------------------------------------
def test_the_ladder_names_what_binds_next() -> None:
    """1, 2 and 4 Gb/s in series: relieve one after the other."""
    path = journey(wan=[{"bandwidth": f"{g} Gb/s"} for g in (2, 1, 4)])
    rungs = [r for r in answer(path).ladder if r.station.startswith("network.wan")]
    assert [r.station for r in rungs] == ["network.wan.1", "network.wan.0", "network.wan.2"]
    assert [r.throughput_Bps for r in rungs] == pytest.approx([g * 1.25e8 / FRAME for g in (1, 2, 4)])


def test_a_phase_is_named_on_the_first_of_the_rungs_that_it_has() -> None:
    reasons = [r.reason for r in predict("examples/btrfs-compressed", samples=0).ladder]
    named = [r.partition(" (in the phase ")[2].partition(",")[0] for r in reasons]
    assert named[0] == "'copy: write-back'"
    assert all(a != b for a, b in pairwise(named) if a and b)


def test_a_rung_is_what_the_path_gives_once_that_place_is_relieved() -> None:
    second = answer(narrow()).ladder[1]
    assert rate(narrow(), "wan.bandwidth=1000 Tb/s") == pytest.approx(second.throughput_Bps)


def test_waiting_is_a_rung_too() -> None:
    drive = {"kind": "ssd", "read": "1 TB/s", "write": "1 TB/s", "link": "1 TB/s"}
    host = machine(volumes={"/d": volume(drive, {"kind": "xfs", "op_time": "1 ms"})})
    path = journey(host, host, start="a:/d", to="b:/d", tool="gridftp", wan={"bandwidth": "10 Gb/s", "rtt": "50 ms"},
                   dataset={"files": 10000, "size": "1 GB"})  # fmt: skip
    found = answer(path)
    assert found.bottleneck.kind == "latency"
    assert found.ladder[0].station == found.bottleneck.station == "transfer.workers"
    assert found.ladder[1].throughput_Bps > 10 * found.throughput_Bps.p50
    workers = next(u for u in found.stations if u.station.kind == "workers")
    assert workers.utilization == pytest.approx(1.0)


# -- what goes in -----------------------------------------------------------------------------------
def test_a_path_by_name_with_overrides() -> None:
    slow = predict("venadi/gridftp-gpfs", overrides=["wan.bandwidth=1 Gb/s"], samples=0)
    assert slow.throughput_Bps.p50 == pytest.approx(1.25e8 * 8948 / 9038, rel=0.02)
    # connection and segment allow exactly the same: the connection is named, and the segment as its narrowest place
    assert slow.bottleneck.station == "network.tcp.nersc-venadi[transfer]"
    assert "the narrowest place is wan" in slow.bottleneck.reason


def test_the_problem_of_the_answer_recomputes_it() -> None:
    """Demands and capacities of the answer's own problem give its throughput, workers included."""
    drive = {"kind": "ssd", "read": "600 MB/s", "write": "500 MB/s", "link": "1 GB/s"}
    host = machine(volumes={"/d": volume(drive)})
    found = answer(journey(host, start="a:/dev/zero", to="a:/d", tool={"name": "dd", "bs": "1 MiB", "oflag": "dsync"}))
    assert sheet(found.problem).bound == pytest.approx(found.throughput_Bps.p50, rel=1e-9)


def test_median_scenario_is_the_nominal_one() -> None:
    given = load(narrow())
    nominal = float(solve.solve(solve.matrices(compose(given, Draw()))).rate[0, 0])
    assert rate(narrow()) == nominal
