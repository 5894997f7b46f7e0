"""Defaults without a spread: what the list says of another value is what comes of writing it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

from dtnsim.components import base, vm
from dtnsim.components.tuning import TcpTuning
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.simulation import simulate
from dtnsim.steady import defaults
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine, volume
from tests.strategies import load

TUNED = {"rmem_max": "1 GiB", "wmem_max": "1 GiB"}


def lossy(**nic: str) -> dict[str, Any]:
    host = machine(nic={"kind": "nic", "rate": "100 Gb/s", **nic}, tcp=TUNED)
    wan = {"rtt": "15 ms", "bandwidth": "100 Gb/s", "loss": "1e-5", "buffer": "100 MB"}
    return journey(host, host, wan=wan, tool={"name": "iperf3", "t": "30 s"})


def test_what_is_listed_is_what_writing_it_gives() -> None:
    bare = predict(load(lossy()))
    found = {a.key: a for a in bare.assumed}
    frames, control = "hosts.a.nics.nic.mtu and hosts.b.nics.nic.mtu", "hosts.a.tcp.cc"
    written = {
        frames: ("hosts.a.nic.mtu=9000 B", "hosts.b.nic.mtu=9000 B"),
        control: ("hosts.a.tcp.cc=bbr",),  # the sender's counts alone
    }
    for key, overrides in written.items():
        assert not found[key].ranges
        spec = load(lossy(), *overrides)
        again = predict(spec, samples=0).throughput_Bps.p50
        assert again / bare.ceiling == pytest.approx(found[key].at_low, rel=1e-3)
        assert key not in {a.key for a in predict(spec).assumed}


def test_frames_that_a_network_between_may_not_carry() -> None:
    """Both ends have jumbo frames; whether the WAN carries them nobody says."""
    bare = predict(load(lossy(mtu="9000 B")))
    found = {a.key: a for a in bare.assumed}["wan.mtu"]
    assert (found.value, found.low) == ("as large as the frames of its ends", "1500 B")
    spec = load(lossy(mtu="9000 B"), "wan.mtu=1500 B")
    again = predict(spec, samples=0).throughput_Bps.p50 / bare.ceiling
    assert again == pytest.approx(found.at_low, rel=1e-3)
    assert again < 0.5  # a loss-based connection has a sixth of the rate
    assert "wan.mtu" not in {a.key for a in predict(spec).assumed}


def test_what_moves_nothing_is_not_listed() -> None:
    """Frames of 9000 are written, and the window holds it: neither frames nor congestion control matter."""
    path = lossy(mtu="9000 B")
    path["wan"]["loss"] = "0"
    path["hosts"]["b"] = {**path["hosts"]["b"], "tcp": {"rmem_max": "1 MiB"}}
    assert {a.key for a in predict(load(path)).assumed} <= {"hosts.b.stack.kernel", "wan.background (other traffic)"}


def test_a_cache_that_may_be_larger() -> None:
    host = machine(
        memory={"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": "64 GiB"}, vm={},
        volumes={"/d": volume({"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s"})},
    )  # fmt: skip
    moved = {"from": "n:memory", "to": "n:/d", "tool": {"name": "dd", "bs": "1 MiB"}, "dataset": {"size": "15 GB"}}
    path = {"name": "t", "hosts": {"n": host}, "transfer": moved}
    found = {a.key: a for a in predict(load(path)).assumed}["hosts.n.vm.dirty_ratio"]
    now, then = (predict(load(path, *o), samples=0).throughput_Bps.p50 for o in ([], ["hosts.n.vm.dirty_ratio=40 %"]))
    assert then / now == pytest.approx(found.at_low)
    assert then > 2 * now


def test_simulate_lists_the_same() -> None:
    spec = load(lossy())
    assert {a.key: a.at_low for a in simulate(spec).assumed} == {a.key: a.at_low for a in predict(spec).assumed}


def test_every_other_value_fits_its_field_and_is_another() -> None:
    models = [*map(base.find_kind, base.kinds()), vm.Vm, TcpTuning]
    found = 0
    for model in models:
        for name, field in model.model_fields.items():
            for other in (m for m in field.metadata if isinstance(m, Otherwise)):
                value = defaults.read(model, name, other.text)
                assert TypeAdapter(Annotated[field.annotation, *field.metadata]).validate_python(value) == value
                assert value != field.default
                assert other.why
                found += 1
    assert found >= 10
