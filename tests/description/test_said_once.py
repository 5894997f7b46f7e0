"""Notes on names: the same of like hosts is one line, and so are drives that were told by their names."""

from __future__ import annotations

from dtnsim import predict
from dtnsim.description.said_once import folded
from tests.strategies import load

TAKEN = "is not in the library: taken from its name: part"


def test_the_same_of_like_hosts_is_one_line() -> None:
    card = "{}.nic: 'Chelsio' is not in the library: drawn from those of its years"
    notes = [f"hosts.{card.format(name)}" for name in ("a", "b")]
    assert folded(notes) == (f"{notes[0]} (b alike)",)
    five = folded(f"hosts.{card.format(name)}" for name in "abcde")
    assert five == (f"{notes[0]} (b, c and 2 others alike)",)
    other = "wan.bandwidth: not said"
    assert folded([notes[0], other, other]) == (notes[0], other)


def test_several_drives_are_one_line() -> None:
    one, two = (
        f"hosts.a.volumes./d.array: 'WD Red' {TAKEN} any-disk",
        f"hosts.b.volumes./e.array: 'OCZ' {TAKEN} any-ssd",
    )
    assert folded([one, "medium: lan is taken as campus"]) == (one, "medium: lan is taken as campus")
    line, last = folded([one, two, "medium: lan is taken as campus"])
    assert "hosts.a.volumes./d.array 'WD Red' as any-disk; hosts.b.volumes./e.array 'OCZ' as any-ssd" in line
    assert last == "medium: lan is taken as campus"


def test_copies_of_a_host_are_warned_of_once() -> None:
    """Each of them has a card without a slot; the line names the first and how many more."""
    far = {"year": 2015, "role": "dtn", "count": 4, "nic": "40GbE", "volumes": {"/d": {"filesystem": "lustre"}}}
    move = {"from": "a:/d", "to": "b:/d", "tool": "globus", "dataset": {"files": 100, "size": "1 TB"}}
    path = load({"hosts": {"a": far, "b": far}, "wan": {"bandwidth": "100 Gb/s", "rtt": "60 ms"}, "transfer": move})
    said = [w for w in predict(path, samples=0).warnings if "no slot is described" in w]
    assert len(said) == 1
    assert said[0].startswith("a and 7 others: no slot is described for nic")
