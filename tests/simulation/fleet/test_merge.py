"""Pairs of hosts that differ in numbers alone are composed at once, and say what they say one by one."""

import numpy as np
import pytest

from dtnsim.description import spec
from dtnsim.ground import yamlio
from dtnsim.ground.quantity import Draw
from dtnsim.simulation.fleet import merge
from dtnsim.simulation.fleet.build import Fleet

MACHINE = (
    "{{cpu: {{kind: cpu, cores: 16, clock: {clock} GHz}}, "
    "nic: {{kind: nic, rate: {rate} Gb/s, mtu: 9000 B, card_lanes: 16}}, "
    "memory: {{kind: memory, channels: 8, rate: 3200 MT/s, size: {size} GiB}}}}"
)


def fleet(other: str = "", rtt: str = "1 us") -> Fleet:
    hosts = [
        f"  {side}{n}: {MACHINE.format(clock=2 + n, rate=(1, 25, 100)[n], size=64 * (n + 1))}"
        for side in "sd"
        for n in range(3)
    ]
    text = ["name: unlike", "hosts:", *hosts, other, f"wan: {{bandwidth: 40 Gb/s, rtt: {rtt}}}"]
    more = ', "x:memory"' if other else ""
    sources, targets = (", ".join(f'"{side}{n}:memory"' for n in range(3)) for side in "sd")
    text += [
        "workload:",
        "  span: 1 d",
        "  classes:",
        f"    c: {{from: [{sources}{more}], to: [{targets}], tool: iperf3, rate: 2000 /day,",
        "        each: 1 GB, size: {median: 3 GB, sigma: 1}}",
    ]
    return Fleet(spec.resolve(yamlio.loads("\n".join(line for line in text if line) + "\n", "unlike.yaml")), Draw())


def test_all_pairs_at_once_say_what_each_says_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = (one_by_one := fleet()).ready(1)
    monkeypatch.setattr(merge, "WORTH", 2)
    quick = (at_once := fleet()).ready(1)
    assert len({ends for _, ends, _, _ in at_once.reduction.made.values()}) == 1  # all of them as the first pair
    assert len({ends for _, ends, _, _ in one_by_one.reduction.made.values()}) == 9
    assert quick.names == slow.names
    assert quick.course.capacity == pytest.approx(slow.course.capacity, rel=1e-12)
    assert len({w.reduced.demands for w in quick.course.ways}) > 8  # they differ
    for mine, theirs in zip(quick.course.ways, slow.course.ways, strict=True):
        assert [k for k, _ in mine.reduced.demands] == [k for k, _ in theirs.reduced.demands]
        for a, b in ((mine.reduced, theirs.reduced),):
            assert [d for _, d in a.demands] == pytest.approx([d for _, d in b.demands], rel=1e-12)
            assert a.times_s == pytest.approx(b.times_s, rel=1e-12)
            assert (a.own, a.weight, a.workers, a.sizes_B) == (b.own, b.weight, b.workers, b.sizes_B)


def test_hosts_of_another_build_are_composed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "WORTH", 2)
    mixed = fleet("  x: example-dtn-100g")
    hosts = [mixed.given.hosts[name] for name in ("s0", "x")]
    assert merge.varied(hosts, "~") is None
    assert np.isfinite(mixed.ready(1).alone_s).all()


def test_where_a_pair_alone_says_otherwise_none_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """How connections open is worked out for the first pair alone, and matters over 30 ms: each pair has its own."""
    plain = fleet(rtt="30 ms").ready(1)
    monkeypatch.setattr(merge, "WORTH", 2)
    doubted = fleet(rtt="30 ms").ready(1)
    assert [w.reduced for w in doubted.course.ways] == [w.reduced for w in plain.course.ways]


def test_what_is_tried_has_every_host() -> None:
    pairs = [(f"s{a}", f"d{b}") for a in range(30) for b in range(20)]
    chosen = [pairs[n] for n in merge.tried(pairs)]
    assert {a for a, _ in chosen} == {a for a, _ in pairs}
    assert {b for _, b in chosen} == {b for _, b in pairs}
    assert len(chosen) < 45
