"""The way of each transfer through the graph, and what firewalls, policers and the narrowest place of it leave."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dtnsim
from dtnsim.components.middlebox import Firewall, Policer
from dtnsim.components.nic import Nic
from dtnsim.components.segment import Background, Segment
from dtnsim.composition import route
from dtnsim.composition.resolved_transfer import ways
from dtnsim.composition.route import Framing, Route
from dtnsim.description.host import build_host
from dtnsim.ground.quantity import Draw
from dtnsim.physics.tcp import controls
from tests.lab import journey, machine
from tests.strategies import load

FRAME = Framing(9000.0, 8948.0, 9038.0)
NIC = Nic.build({"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B"})


def way(*segments: dict[str, Any], backwards: bool = False, **tcp: str) -> Route:
    a, b = build_host("a", machine(tcp=tcp)), build_host("b", machine())
    hops = tuple((f"s{n}", Segment.build({"kind": "segment", **s}), not backwards) for n, s in enumerate(segments))
    return Route(a, b, hops[::-1] if backwards else hops)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_delays_add(delays: list[float]) -> None:
    made = way(*({"bandwidth": "1 Gb/s", "rtt": f"{d!r} ms"} for d in delays))
    assert float(made.rtt(Draw())) == pytest.approx(sum(delays) * 1e-3)
    assert made.nominal_rtt == pytest.approx(sum(delays) * 1e-3)


def test_the_narrowest_place_and_its_buffer() -> None:
    """Of equally narrow places the one with the smallest buffer; a sender's own queue is as large as it likes."""
    segments = [{"bandwidth": "40 Gb/s", "buffer": "1 MB"}, {"bandwidth": "5 Gb/s", "buffer": "9 MB"},
                {"bandwidth": "5 Gb/s", "buffer": "3 MB"}]  # fmt: skip
    rate, buffer = route.narrowest(way(*segments), FRAME, [NIC, NIC], 1, Draw())
    assert (float(rate), float(buffer)) == pytest.approx((0.625e9 * 9000 / 9038, 3e6))  # IP bytes of the wire's
    tied = way(segments[0], {"bandwidth": "10 Gb/s", "buffer": "9 kB"})
    found = [route.narrowest(replace(tied, lone=n), FRAME, [NIC], 1, Draw()) for n in (True, False)]
    assert np.array(found) == pytest.approx(np.array([[1.25e9 * 9000 / 9038, np.inf], [1.25e9 * 9000 / 9038, 9e3]]))


def test_background_narrows_a_wide_segment() -> None:
    busy = {"bandwidth": "10 Gb/s", "background": {"share": "80 %"}}
    rate, _ = route.narrowest(way(busy, {"bandwidth": "5 Gb/s"}), FRAME, [], 1, Draw())
    assert float(rate) == pytest.approx(0.25e9 * 9000 / 9038)


@given(st.floats(0, 0.999), st.floats(0, 1), st.floats(0, 23.9))
def test_a_share_is_a_share(share: float, wave: float, hour: float) -> None:
    found = Background.model_validate({"share": repr(share), "diurnal": repr(wave), "hour": hour})
    assert 0 <= float(found.share_taken(Draw()).value) < 1


def test_a_firewall_of_unknown_total_is_one_engine() -> None:
    wall = Firewall.build({"kind": "firewall", "engine": "1 GB/s"})
    assert float(route.wall_rate(Draw(), wall, 64).value) == 1e9


def test_a_burst_arrives_at_the_rate_of_the_slowest_link_before() -> None:
    segments = [{"bandwidth": "40 Gb/s"}, {"bandwidth": "1 Gb/s"}, {"bandwidth": "100 Gb/s"}]
    there, back = way(*segments), way(*segments, backwards=True)
    assert [float(route.line_rate(there, n, [NIC], Draw())) * 8e-9 for n in range(3)] == pytest.approx([10, 10, 1])
    # from the other end the last segment comes first: 100, 1, 40 Gb/s
    assert [float(route.line_rate(back, n, [NIC], Draw())) * 8e-9 for n in range(3)] == pytest.approx([10, 10, 1])


def test_paced_streams_and_bbr_send_no_bursts() -> None:
    wall = {
        "bandwidth": "10 Gb/s",
        "rtt": "10 ms",
        "firewall": {"kind": "firewall", "engine": "1 Gb/s", "buffer": "16 KiB"},
    }
    draw, sent = Draw(), (1, None)
    assert np.isfinite(route.burst_rate(way(wall), 0, FRAME, [NIC], "cubic", sent, draw))
    assert np.isinf(route.burst_rate(way(wall), 0, FRAME, [NIC], "bbr", sent, draw))
    assert np.isinf(route.burst_rate(way(wall, pacing="1 Gb/s"), 0, FRAME, [NIC], "cubic", sent, draw))


@pytest.mark.parametrize("cc", controls.names(by_loss=True))
def test_loss_based_streams_get_a_part_of_a_policer(cc: str) -> None:
    """A shallow bucket holds a Reno stream to 3/4 of the rate: the sawtooth between half and whole."""
    shallow = Policer.build({"kind": "policer", "rate": "1 Gb/s", "burst": "1500 B"})
    share = float(np.ravel(route.policed_share(shallow, 20e-3, 1448.0, cc, 1, Draw()))[0])
    assert share == pytest.approx((1 + controls.find(cc).leaves) / 2, abs=0.02)


def test_shapers_and_bbr_get_it_all() -> None:
    shaper = Policer.build({"kind": "policer", "rate": "1 Gb/s", "action": "shape"})
    assert route.policed_share(shaper, 20e-3, 1448.0, "cubic", 1, Draw()) == 1.0
    policer = Policer.build({"kind": "policer", "rate": "1 Gb/s"})
    assert route.policed_share(policer, 20e-3, 1448.0, "bbr", 1, Draw()) == 1.0


def test_a_shipped_path_from_volume_to_volume() -> None:
    (found,) = ways(dtnsim.load("venadi/gridftp-gpfs"))
    assert found.nodes[0] == "nersc.project"
    assert found.nodes[-1] == "venadi.bigdata"
    assert "network.wan" in found.single_points
    assert "venadi.bigdata" not in found.single_points
    assert found.cut.nodes == ("venadi.eth",)
    assert found.cut.rate_Bps == 40e9 / 8


def test_memory_to_memory_and_within_one_host() -> None:
    (found,) = ways(load(journey()))
    assert found.nodes == ("a.memory", "a.nic", "network.wan", "b.nic", "b.memory")
    (local,) = ways(dtnsim.load("nasa/dd-write"))
    assert local.nodes[0].endswith(".memory")
    assert math.isinf(local.cut.rate_Bps) or local.cut.nodes
