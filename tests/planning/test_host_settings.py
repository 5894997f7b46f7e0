"""Settings of mounts, cards and interrupts: each is one that the kernel has, and is taken where it helps."""

from __future__ import annotations

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.planning import host_settings, tuning

LAB = "examples/lab-nas-nconnect"
ONE = ["hosts.ws.volumes./nas.filesystem.nconnect=1"]


def test_a_mount_with_one_connection_gets_more() -> None:
    made = dtnsim.plan(LAB, target="14Gb/s", allow=["tuning"], overrides=ONE, samples=16)
    (win,) = (w for w in made.wins if w.together)
    assert win.setting.what == "ws: nconnect of /nas"
    assert "mount -o nconnect=4" in win.setting.commands[0]  # 16 bring no more
    assert made.tuned.rate == pytest.approx(dtnsim.predict(LAB, samples=16).throughput_Bps.p50, rel=0.01)


def test_what_is_off_is_switched_on_and_bound_interrupts_let_go() -> None:
    overrides = ["hosts.c1.nics.eth.gro=false", "hosts.c1.nics.eth.queues=1"]
    given = spec.load("nasa/nuttscp-3of7", overrides)
    found = {s.what: s for s in host_settings.settings(given, ["c1"])}
    assert found["c1: offloads of eth"].commands == ("ethtool -K eth gro on",)
    assert found["c1: receive queues of eth"].commands == ("ethtool -L eth combined 4",)
    assert found["c1: interrupts"].overrides == (
        "hosts.c1.placement.nic_interrupts=[]",
        "hosts.c1.placement.storage_interrupts={}",
    )
    for setting in found.values():
        given.changed(setting.overrides)
    assert not list(host_settings.settings(given, []))


def test_a_mount_is_not_read_twice_to_be_read_faster() -> None:
    """Two copies share the connections of one mount, which the path describes once for each transfer."""
    found = tuning.settings(spec.load(LAB), ["ws"], 1e9)
    assert not [s for s in found if "runs at once" in s.what]
    both = tuning.settings(spec.load("nasa/nuttscp-1of7-put", ["transfer.dataset={files: 2, each: 1 GB}"]), ["c1"], 1e9)
    assert [s.overrides for s in both if "runs at once" in s.what] == [("transfer.runs=2",)]


def test_a_software_array_gets_threads_for_its_parity() -> None:
    """One thread of md computes the parity of ten NVMe drives, which it does not keep up with."""
    new = ["hosts.ours=esnet-dtn-2023"]
    given = spec.load("examples/dtn-100g-to-buy", new)
    (found,) = (s for s in host_settings.settings(given, ["ours"]) if "parity" in s.what)
    assert "group_thread_cnt" in found.commands[0]
    before, after = (dtnsim.predict(given.changed(o), samples=0) for o in ((), found.overrides))
    assert before.bottleneck.station == "ours.data.raid5d"
    assert "group_thread_cnt" in before.bottleneck.remedy
    assert after.throughput_Bps.p50 > 1.5 * before.throughput_Bps.p50


def test_requests_at_once_of_a_bucket_far_away() -> None:
    """One request after the other over 130 ms: more of them, by the mount or by the tool's own configuration."""
    from tests.composition.test_beyond import far
    from tests.strategies import load

    wan = {"bandwidth": "10 Gb/s", "rtt": "130 ms", "loss": 0, "background": {"share": 0}}
    mounted = dtnsim.plan(load(far({"kind": "s3", "concurrency": 1}, wan=wan)), target="1 Gb/s", samples=8)
    typed = [c for win in mounted.wins for c in win.setting.commands]
    assert any("parallel_count=64" in c for c in typed)
    tool = {"name": "aws-s3", "client": "destination", "max_concurrent_requests": 2, "overhead": "0.1 cycles/B"}
    asked = dtnsim.plan(load(far({"kind": "s3"}, wan=wan, tool=tool)), target="1 Gb/s", samples=8, allow=["tuning"])
    typed = [c for win in asked.wins for c in win.setting.commands]
    assert any(c.startswith("aws configure set default.s3.max_concurrent_requests") for c in typed)
