"""Firewalls and policers on a path: what they leave to a transfer, against closed forms."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dtnsim import Prediction
from dtnsim.physics.tcp import controls
from tests import lab
from tests.each import cases, rows, tables
from tests.lab import expect, journey, machine
from tests.strategies import load

few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])

#: framing of MTU 9000 with time stamps: payload and wire bytes of a packet
MSS, WIRE = 8948.0, 9038.0


def answer(
    segment: dict[str, Any], *, nic: str = "25 Gb/s", tool: dict[str, Any] | None = None, **tcp: str
) -> Prediction:
    port, buffers = {"kind": "nic", "rate": nic, "mtu": "9000 B"}, {"rmem_max": "2 GiB", "wmem_max": "2 GiB"}
    ends = (machine(nic=port, tcp={**buffers, **own}) for own in (tcp, {}))
    wan = {"bandwidth": "100 Gb/s", "rtt": "20 ms", **segment}
    data = {"files": 1, "size": "10 TB"}
    return lab.answer(journey(*ends, wan=wan, tool={"name": "iperf3", **(tool or {})}, dataset=data))


def rate(*args: Any, **more: Any) -> float:
    return answer(*args, **more).throughput_Bps.p50


def wall(engine: str, buffer: str, **more: str) -> dict[str, Any]:
    return {"firewall": {"engine": engine, "buffer": buffer, **more}}


def test_trains_that_overflow_a_firewall_shrink_until_they_fit() -> None:
    got = answer(wall("2 Gb/s", "32 KiB"))
    fit = 32 * 1024 / (1 - 2 / 25)  # what passes on meanwhile leaves room for more than the buffer
    assert got.bottleneck.kind == "firewall"
    assert "bursts" in got.bottleneck.station
    assert got.throughput_Bps.p50 == pytest.approx(0.85 * fit / 1e-3 * MSS / WIRE, rel=2e-4)  # 717/1024


def test_a_paced_sender_a_slow_port_and_a_large_buffer_lose_no_trains() -> None:
    burst = rate(wall("2 Gb/s", "32 KiB"))
    for path in (
        answer(wall("2 Gb/s", "32 KiB"), pacing="1.9 Gb/s"),
        answer(wall("2 Gb/s", "32 KiB"), tool={"C": "bbr"}),
        answer(wall("2 Gb/s", "32 KiB"), nic="1 Gb/s"),
        answer(wall("2 Gb/s", "1 MiB")),
    ):
        assert not any("bursts" in u.station.name for u in path.stations)
        assert path.throughput_Bps.p50 > 2 * burst


@cases("segment, tool, figures", tables("composition/tables")["what_a_box_leaves"])
def test_what_a_box_leaves(segment: dict[str, Any], tool: dict[str, Any], figures: dict[str, Any]) -> None:
    found = answer(segment, tool=tool)
    own = {"rate": found.throughput_Bps.p50, "kind": found.bottleneck.kind}
    expect(own.__getitem__, figures)


@pytest.mark.long
@few
@given(st.sampled_from(["buffer", "engine"]), st.integers(1, 8), st.sampled_from(["1 Gb/s", "10 Gb/s", "100 Gb/s"]))
def test_a_better_firewall_never_hurts(key: str, flows: int, nic: str) -> None:
    ladder = {
        "buffer": ["4 KiB", "16 KiB", "60 KiB", "70 KiB", "128 KiB", "1 MiB", "64 MiB"],
        "engine": ["100 Mb/s", "500 Mb/s", "1 Gb/s", "3 Gb/s", "9 Gb/s", "12 Gb/s", "40 Gb/s"],
    }[key]
    base = {"engine": "2 Gb/s", "buffer": "100 KiB"}
    rates = [rate({"firewall": {**base, key: v}}, nic=nic, tool={"P": flows}) for v in ladder]
    assert all(a <= b * 1.02 for a, b in pairwise(rates))  # the rounds leave a little chance


@pytest.mark.long
@few
@given(st.sampled_from(controls.names()), st.integers(1, 16))
def test_a_deeper_bucket_never_hurts_and_a_longer_path_never_helps(cc: str, streams: int) -> None:
    tool = {"C": cc, "P": streams}
    deep = [rate({"policer": {"rate": "5 Gb/s", "burst": b}}, tool=tool) for b in ("2 kB", "1 MB", "30 MB", "1 GB")]
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(deep))
    far = [
        rate({"policer": {"rate": "5 Gb/s", "burst": "8 MB"}, "rtt": t}, tool=tool)
        for t in ("1 ms", "10 ms", "40 ms", "160 ms")
    ]
    assert all(a >= b * (1 - 1e-9) for a, b in pairwise(far))


@pytest.mark.parametrize("key", ["wan.1", "wan.cenic-uci-lax"])
def test_an_override_reaches_into_a_segment_that_is_a_part(key: str) -> None:
    def segments(*overrides: str) -> Any:
        return load(journey(wan=[{"bandwidth": "10 Gb/s", "rtt": "1 ms"}, "cenic-uci-lax"]), *overrides).wan

    assert segments(f"{key}.rtt=7 ms")[1].rtt.value == pytest.approx(0.007)
    assert segments(f"{key}.background.share=50 %")[1].background.share.value == 0.5
    assert segments(f"{key}.rtt=7 ms")[1].bandwidth.value == segments()[1].bandwidth.value


@pytest.mark.parametrize(("segment", "place"), rows("composition/tables", "the_narrowest_place_is_named"))
def test_the_narrowest_place_is_named(segment: dict[str, Any], place: str) -> None:
    reasons = [d.what for t in answer(segment).problem.transfers for p in t.phases for d in p.demands]
    (words,) = [w for w in reasons if "narrowest place" in w]
    assert words.endswith(f"is {place}") or f"({place}) is smaller than the sawtooth needs, and windows above" in words
