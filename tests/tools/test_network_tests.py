"""iperf, netperf, NTttcp, nuttcp and ib_write_bw: time or bytes, threads, rails, distance and loss."""

from typing import Any

import numpy as np
import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.steady.scenarios import composed_and_drawn
from tests.each import rows
from tests.lab import FREE, answer, journey, load, machine, problem, rate, sheet

GB = 1e9 / 8
IB = {"kind": "nic", "rate": "100 Gb/s", "protocol": "infiniband", "mtu": "4096 B"}
ROCE = {"kind": "nic", "rate": "100 Gb/s", "mtu": "9000 B"}


def path(nic: dict[str, Any], *, rtt: str = "1 us", loss: str = "0", stack: Any = None, **tool: Any) -> dict[str, Any]:
    host = machine(nic=nic, stack=stack or FREE)
    made = journey(
        host, host, tool={"name": "perftest", **tool},
        wan={"bandwidth": "1 Tb/s", "rtt": rtt, "loss": loss, "background": {"share": "0 %"}},
    )  # fmt: skip
    made["transfer"]["nics"] = {"a": "nic", "b": "nic"}
    return made


@pytest.mark.parametrize(
    ("nic", "mtu", "share"),
    [(IB, 4096, 4096 / 4122), (IB, 2048, 2048 / 2074), (ROCE, 9000, 4096 / 4178), (ROCE, 1500, 1024 / 1106)],
)
def test_what_a_port_carries(nic: dict[str, Any], mtu: int, share: float) -> None:
    """The headers of InfiniBand (26 B) and RoCEv2 (82 B with Ethernet) are all that is missing."""
    assert rate(path({**nic, "mtu": f"{mtu} B"})) == pytest.approx(100 * GB * share, rel=1e-3)


def test_no_core_touches_the_bytes_and_requests_of_small_messages_cost_one() -> None:
    """500 cycles each: of 64 KiB far below TCP's half a cycle a byte, of 64 B 9.7 million a second at 4.86 GHz."""
    made = sheet(problem(path(IB, stack="linux-modern")))
    assert made.demand("a.cpu.perftest client[transfer]") == pytest.approx(500 / 65536)
    assert not made.has("b.cpu.perftest server[transfer]")
    small = answer(path({**IB, "rate": "400 Gb/s"}, stack="linux-modern", size="64 B", depth=4096))
    assert "perftest client" in small.bottleneck.station


@pytest.mark.parametrize(("rails", "bonding"), [(2, "application"), (4, "application")])
def test_rails_add_up(rails: int, bonding: str) -> None:
    """Multi-rail: a program that spreads its queue pairs over equal adapters."""
    one, many = path(IB), path({**IB, "ports": rails, "bonding": bonding}, qps=rails)
    assert rate(many) == pytest.approx(rails * rate(one), rel=1e-3)


def test_rails_of_slots_are_charged_apart() -> None:
    nic = {**IB, "ports": 2, "bonding": "application", "slot": "x", "more_slots": ["y"], "card_lanes": 16}
    slots = {k: {"kind": "slot", "generation": 3, "lanes": 16} for k in "xy"}
    made = path(nic, qps=2)
    for host in made["hosts"].values():
        host["slots"] = slots
    both = rate(made)
    assert both == pytest.approx(2 * rate(path(IB)), rel=0.01)  # EDR fits gen 3 x16
    half = rate(path({**IB, "rate": "200 Gb/s"})) / 2
    assert both == pytest.approx(2 * half, rel=0.01)


def test_requests_in_flight_bound_a_long_way() -> None:
    """128 x 64 KiB over 10 ms: 839 MB/s; reads have 16 open."""
    write = rate(path(ROCE, rtt="10 ms"))
    assert write == pytest.approx(128 * 65536 / (0.010 + 2e-6), rel=0.01)
    assert rate(path(ROCE, rtt="10 ms", verb="read")) == pytest.approx(write / 8, rel=0.01)
    assert rate(path(ROCE, rtt="10 ms", qps=8)) == pytest.approx(8 * write, rel=0.02)


def test_a_lost_packet_costs_what_is_in_flight() -> None:
    """10 ms at 12.25 GB/s are 29,900 packets of 4 KiB: at 1e-5 a quarter is sent twice, at 1e-3 hardly any is left."""
    sizes = {"rtt": "10 ms", "depth": 4096, "qps": 1}
    clean = rate(path(ROCE, **sizes))
    flying = clean * (0.010 + 2e-6) / 4096
    for loss in (1e-5, 1e-3):
        assert rate(path(ROCE, loss=str(loss), **sizes)) == pytest.approx(
            clean * (1 - loss) / (1 - loss + flying * loss), rel=0.01
        )
    # eight queue pairs go back by an eighth each
    assert rate(path(ROCE, loss="1e-4", **{**sizes, "qps": 8})) > 2 * rate(path(ROCE, loss="1e-4", **sizes))


def test_infiniband_needs_credits_for_its_length() -> None:
    far = answer(path(IB, rtt="1 ms", depth=4096))
    assert "credits" in far.bottleneck.station
    assert far.throughput_Bps.p50 == pytest.approx(256 * 1024 / 1e-3)
    extended = {**IB, "credits": "64 MiB"}
    assert rate(path(extended, rtt="1 ms", depth=4096)) > 40 * far.throughput_Bps.p50


def test_infiniband_alone_wants_to_be_named() -> None:
    made = path(IB)
    del made["transfer"]["nics"]
    with pytest.raises(SpecError, match=r"transfer: \{nics: \{a: nic\}\}"):
        problem(made)


@pytest.mark.parametrize(("key", "value", "around"), rows("tools/tables", "options that move an answer"))
def test_an_option_moves_the_answer(key: str, value: Any, around: dict[str, Any]) -> None:
    assert rate(path(ROCE, **{**around, key: value})) != pytest.approx(rate(path(ROCE, **around)), rel=1e-3)


def test_the_receiving_core_pays_for_network_and_file(run):
    """Times of one core add: 1/X = 1/X_receive + 1/X_write (the effect that NASA's C-systems show)."""
    both = run("{name: nuttcp}", rtt="0.11 ms", start="a:memory", to="b:/data")
    receive = run("{name: nuttcp}", rtt="0.11 ms", start="a:memory", to="b:memory")

    def receiver(prediction):
        demands = prediction.problem.transfers[0].phases[0].demands
        return [d.per_byte for d in demands if "nuttcp receiver" in d.station]

    terms, alone = receiver(both), receiver(receive)
    assert len(terms) == 2
    assert alone == pytest.approx([t for t in terms if t == pytest.approx(alone[0])])
    assert both.throughput_Bps.p50 == pytest.approx(9e9 / sum(terms), rel=0.01)
    assert "nuttcp receiver" in both.bottleneck.station


def test_ten_seconds_unless_said_and_long_names_are_the_same_options(tool):
    """netperf(1): -l, default 10 seconds; the header of NTttcp: 60."""
    assert tool("netperf").timing(sized=False).seconds == 10
    assert tool("ntttcp").timing(sized=False).seconds == 60
    assert tool("netperf").timing(sized=True) is None
    with pytest.raises(SpecError, match="not both"):
        tool("netperf", seconds="5 s").timing(sized=True)
    assert tool("iperf3", parallel="4", window="4 MiB").P == tool("iperf3", P="4").P == 4


def test_threads_of_iperf3_are_drawn_where_nobody_states_the_release():
    """A thread a stream since 3.16; one of the four releases around today's is older (3.9), and all are of 2017."""

    def rates(*overrides: str, **tool: object) -> np.ndarray:
        stack = {**FREE, "send_byte": "0.001 cycles/B", "receive_byte": "4 cycles/B"}
        core = {"kind": "cpu", "cores": 16, "clock": "2 GHz", "per_cycle": {"value": 1, "spread": "0 %"}}
        host = machine(cpu=core, stack=stack)
        wan = {"bandwidth": "100 Tb/s", "rtt": "1 us", "loss": "0", "background": {"share": "0 %"}}
        made = journey(host, host, wan=wan, tool={"name": "iperf3", "P": 8, **tool})
        return composed_and_drawn(load(made, *overrides), 256, 1, mean=False)[1].parameters[:, 0]

    alone, each = (np.median(rates(version=release)) for release in ("3.9", "3.17"))
    assert each == pytest.approx(8 * alone, rel=0.1)
    assert np.mean(rates() < each / 4) == pytest.approx(0.25, abs=0.03)
    assert (rates("hosts.a.year=2017", "hosts.b.year=2017") < each / 4).all()
    assert (rates(P=1) < each / 4).all()
