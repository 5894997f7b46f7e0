"""What a byte costs on a segment, and the shares of unlike TCP streams there; formulas are the calculation."""

from typing import Any

import numpy as np
import pytest

from dtnsim.description import spec
from dtnsim.physics.tcp import outcome, rounds
from dtnsim.simulation.runs import simulate
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.formulas import evaluate
from tests.lab import journey, problem, sheet
from tests.strategies import load

GIVEN = rows("composition/tables", "segments")

RATE, RTT, BUFFER = "1 Gb/s", "20 ms", "2.5 MB"
HOST = GIVEN["HOST"]


def path(tools: list[dict[str, Any]], delays: list[str] | None = None, loss: str = "0") -> spec.PathSpec:
    """A transfer for each tool, all over one segment, each from a host of its own with a delay of its own."""
    wan = {"bandwidth": RATE, "rtt": RTT, "buffer": BUFFER, "loss": loss, "between": ["near", "far"]}
    delays = delays or ["0 ms"] * len(tools)
    links: dict[str, Any] = {"wan": wan, "end": {"bandwidth": "100 Gb/s", "between": ["far", "sink"]}}
    transfers, hosts = [], {"sink": {**HOST, "nic": {"kind": "nic", "rate": "100 Gb/s"}}}
    for n, (tool, delay) in enumerate(zip(tools, delays, strict=True)):
        hosts[f"h{n}"] = HOST
        links[f"l{n}"] = {"bandwidth": "10 Gb/s", "rtt": delay, "buffer": "100 MB", "between": [f"h{n}", "near"]}
        test = {"name": "iperf3", "t": "30 s", "O": "5 s", **tool}
        ends = {"from": f"h{n}:memory", "to": "sink:memory"}
        transfers.append({"name": f"t{n}", **ends, "start": f"{n / 2} s", "tool": test})
    whole = {"name": "shared", "hosts": hosts, "links": links, "transfers": transfers}
    return load(whole)


def rates(given: spec.PathSpec) -> list[float]:
    """While all run: tests that begin later have the link to themselves at their end."""
    return [t.all_run_Bps for t in predict(given, samples=0).transfers]


def pair(cc: str, other: str, rtt: float, other_rtt: float, streams: int = 1) -> tuple[float, float]:
    """The two flows as `dtnsim tcp` has them [B/s]."""
    case = rounds.Cases.of(
        rate_Bps=1.25e8 * 1500 / 1538, rtt_s=rtt, buffer_B=2.5e6, streams=streams, cc=cc, cc2=other, rtt2_s=other_rtt,
        start2_s=0.5, warmup_s=5.0, duration_s=30.0,
    )  # fmt: skip
    found = outcome.simulate(case, seed=1)
    return float(found.goodput_Bps[0]), float(found.second_Bps[0])


@pytest.mark.long
@pytest.mark.parametrize(("cc", "other", "extra"), [("cubic", "bbr", 0), ("cubic", "cubic", 40), ("reno", "htcp", 0)])
def test_pairs_share_in_predict_and_simulate_as_in_tcp(cc: str, other: str, extra: int) -> None:
    whole = pair(cc, other, 0.02, 0.02 + extra / 1000)
    given = path([{"C": cc}, {"C": other}], ["0 ms", f"{extra} ms"])
    link = 1.25e8 * 1448 / 1538
    found = rates(given)
    assert abs(found[0] - found[1]) > 0.2 * link  # what equal shares would miss
    assert 0.9 * link < sum(found) <= link * (1 + 1e-9)
    assert found == pytest.approx(whole, rel=1e-3)
    run = [t.throughput_Bps for t in simulate(given).runs[0].transfers]
    assert run == pytest.approx(found, abs=0.02 * link)  # the second has the link to itself for half a second
    drawn, without = (predict(given, samples=n).transfers for n in (16, 0))
    assert [t.ceiling for t in drawn] == [t.ceiling for t in without]


def test_like_streams_share_equally_and_by_their_number() -> None:
    link = 1.25e8 * 1448 / 1538
    assert rates(path([{}, {}, {}])) == pytest.approx([link / 3] * 3)
    assert rates(path([{"P": 3}, {"P": 1}])) == pytest.approx([link * 3 / 4, link / 4])


def test_a_transfer_alone_and_streams_that_fill_nothing_are_untouched() -> None:
    alone = rates(path([{"C": "bbr"}]))
    assert rates(path([{"C": "bbr"}, {"C": "cubic", "w": "16 KiB"}]))[0] == pytest.approx(alone[0], rel=1e-12)
    small = path([{"C": "bbr", "w": "64 KiB"}, {"C": "cubic", "w": "64 KiB"}])
    each = [rates(path([{"C": cc, "w": "64 KiB"}]))[0] for cc in ("bbr", "cubic")]
    assert rates(small) == pytest.approx(each, rel=1e-12)


def test_shares_that_no_measurement_has_judged_say_so() -> None:
    answer = predict(path([{"C": "bbr3"}, {"C": "cubic"}]), samples=0)
    assert any("bbr3 gets beside others is modelled" in w for w in answer.warnings)
    young, old = (t.throughput_Bps.p50 for t in answer.transfers)
    assert young > 1.2 * old  # one bandwidth-delay product of buffer


WAN = GIVEN["WAN"]


def test_what_others_firewall_and_policer_leave() -> None:
    found = sheet(problem(journey(wan=WAN, tool={"name": "iperf3", "P": 4})))
    assert found.capacity("network.wan") == pytest.approx(1.25e9 * (1 - 0.3 * 1.5))
    assert found.capacity("firewall-engine") == pytest.approx(2.734375 * 0.125e9)
    assert found.capacity("wan.firewall") == pytest.approx(0.5e9)
    assert found.demand("wan.policer") == pytest.approx(9000 / 8948)


def test_the_formulas_of_hosts_and_networks_are_the_calculation() -> None:
    kinds = {"memory", "core", "cpu", "nic", "ib", "network", "firewall", "policer"}
    path = journey(wan=WAN, tool={"name": "iperf3", "P": 4, "length": "1 KiB"})
    path["hosts"]["a"]["nic"] |= {"ports": 4, "bonding": "hash", "packets": "1000000 ops/s"}
    made = problem(path)
    mine = {s.name: s for s in made.stations if s.kind in kinds and "bursts" not in s.name and "loss" not in s.name}
    assert {s.kind for s in mine.values()} >= kinds - {"ib"}
    for station in mine.values():
        assert evaluate(station.formula) == pytest.approx(float(np.ravel(station.capacity)[0]), rel=1e-5)
        assert station.source or station.kind in ("core", "cpu"), station.name
    for demand in made.transfers[0].phases[0].demands:
        if demand.station in mine:
            assert evaluate(demand.formula) == pytest.approx(float(np.ravel(demand.per_byte)[0]), rel=1e-5)


def test_crossings_of_memory_are_not_from_the_data_sheet_of_a_module() -> None:
    made = problem(journey())
    (demand,) = (d for d in made.transfers[0].phases[0].demands if d.station == "a.memory")
    assert "physics.memory.crossings" in demand.source
    assert "SPRAD45A" not in demand.source
