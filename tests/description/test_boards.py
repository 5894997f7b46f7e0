"""Boards and chassis: slots and expanders that they bring, and what does not fit."""

import re
from typing import Any

import pytest

from dtnsim.description import boards
from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import SpecError
from dtnsim.planning import catalog
from dtnsim.planning.fitting import Shop, options
from dtnsim.planning.money import exchange
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.strategies import load

BOARD = rows("description/tables", "boards")["BOARD"]
CHASSIS = {"kind": "chassis", "source": "a test", "holds": {"3.5 inch": 24}}
EXPANDER = {"kind": "expander", "source": "a test", "lanes": 36, "uplink_lanes": 4}


def host(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "cpu": {"part": "amd-epyc-7443p", "facts": {"fits": "SP3"}},
        "memory": "ddr4-3200-8ch-256g",
        "board": BOARD,
        "chassis": CHASSIS,
        "nics": {"eth": {"part": "connectx-5-100g", "slot": "s1"}},
        "hbas": {"sas": {"part": "lsi-9300-8i", "slot": "s3"}},
        "volumes": {"/d": {"filesystem": {"kind": "xfs"}, "array": array(12), "via": ["sas"]}},
    }
    return {**made, **changes}


def array(disks: int, **drive: Any) -> dict[str, Any]:
    one = {"part": "seagate-exos-x16", "facts": {"fits": "3.5 inch"}, **drive}
    return {"kind": "raid", "level": 6, "disks": disks, "of": one}


def path(**changes: Any) -> PathSpec:
    transfer = {
        "from": "a:/d",
        "to": "/dev/null",
        "tool": {"name": "fio", "rw": "read", "bs": "1 MiB", "iodepth": 64, "direct": True, "ioengine": "libaio"},
        "dataset": {"files": 1, "size": "1 TB"},
    }
    transfer["to"] = "a:/d"
    return load({"name": "t", "hosts": {"a": host(**changes)}, "transfer": transfer})


def rate(given: PathSpec) -> float:
    return predict(given, samples=0).transfers[0].throughput_Bps.p50


def test_a_host_has_the_slots_of_its_board_and_changes_single_keys_of_them() -> None:
    made = path(slots={"s2": {"lanes": 8}, "riser": {"generation": 3, "lanes": 4}}).hosts["a"]
    assert set(made.slots) == {"s1", "s2", "s3", "riser"}
    assert (made.slots["s2"].generation, made.slots["s2"].lanes, made.slots["s1"].lanes) == (4, 8, 16)
    assert set(made.free_slots()) == {"s2", "riser"}
    assert made.channels == 8


def test_another_board_brings_other_slots_also_from_the_command_line() -> None:
    other = {**BOARD, "slots": {"s1": {"generation": 5, "lanes": 16}, "s3": {"generation": 5, "lanes": 16}}}
    assert path(board=other).hosts["a"].slots["s1"].generation == 5
    given = path().changed(["hosts.a.slots.s1.generation=3"]).hosts["a"]
    assert given.slots["s1"].generation == 3
    changed = path().changed(["hosts.a.board.slots.s1.generation=5"]).hosts["a"]
    assert (changed.slots["s1"].generation, changed.slots["s2"].generation) == (5, 4)


def test_hosts_that_are_alike_follow_the_board() -> None:
    hosts = {"a": host(), "b": {"like": "a", "board": {"slots": {"s1": {"generation": 5}}}}}
    transfer = {"from": "a:/d", "to": "b:/d", "tool": "scp", "dataset": {"files": 1, "size": "1 GB"}}
    made = load({"name": "t", "hosts": hosts, "wan": {"rtt": "1 ms", "bandwidth": "1 Gb/s"}, "transfer": transfer})
    assert [made.hosts[n].slots["s1"].generation for n in "ab"] == [4, 5]


def test_the_expander_of_the_chassis_binds_all_its_drives() -> None:
    # four lanes of 12 Gb/s that run at the drives' 6 Gb/s, unless the expander buffers: 2.4 and 4.8 GB/s
    wired = {"volumes": {"/d": {"filesystem": {"kind": "xfs"}, "array": array(24), "via": ["sas"]}}}
    free = rate(path(**wired))
    slow = rate(path(**wired, chassis={**CHASSIS, "expander": EXPANDER}))
    buffered = rate(path(**wired, chassis={**CHASSIS, "expander": {**EXPANDER, "buffered": True}}))
    old = rate(path(**wired, chassis={**CHASSIS, "expander": {**EXPANDER, "buffered": True, "lane": "300 MB/s"}}))
    assert slow == pytest.approx(2.4e9, rel=0.02)
    assert buffered == pytest.approx(min(free, 4.8e9), rel=0.02)
    assert old == pytest.approx(1.2e9, rel=0.02)
    assert free > slow
    own = {"sas": {"part": "lsi-9300-8i", "slot": "s3", "uplink_lanes": 8}}
    said = rate(path(**wired, hbas=own, chassis={**CHASSIS, "expander": EXPANDER}))
    assert said == pytest.approx(min(free, 4.8e9), rel=0.02), "what the host says of its adapter counts"


def test_drives_of_12_gb_do_not_slow_the_uplink() -> None:
    fast = array(24, part="samsung-pm1643-30tb", facts={"fits": "3.5 inch"})
    wired = {"volumes": {"/d": {"filesystem": {"kind": "xfs"}, "array": fast, "via": ["sas"]}}}
    assert rate(path(**wired, chassis={**CHASSIS, "expander": EXPANDER})) == pytest.approx(4.8e9, rel=0.02)


def test_two_adapters_share_the_lanes_of_the_expander() -> None:
    two = {n: {"part": "lsi-9300-8i", "slot": s} for n, s in (("sas", "s3"), ("sas2", "s2"))}
    volumes = {"/d": {"filesystem": {"kind": "xfs"}, "array": array(12), "via": ["sas", "sas2"]}}
    made = path(hbas=two, volumes=volumes, chassis={**CHASSIS, "expander": EXPANDER}).hosts["a"]
    assert [h.uplink_lanes for h in made.hbas.values()] == [2, 2]


@pytest.mark.parametrize(("changes", "says"), rows("description/refused", "parts that do not fit"))
def test_what_does_not_fit_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=re.escape(says)):
        path(**changes)


def test_bays_that_no_drive_takes_are_free_and_alternatives_share_theirs() -> None:
    assert boards.free_bays(path().hosts["a"]) == {"3.5 inch": 12, "M.2": 1}
    both = {
        m: {"filesystem": {"kind": k}, "array": array(12), "via": ["sas"]} for m, k in (("/d", "xfs"), ("/e", "ext4"))
    }
    assert boards.free_bays(path(volumes=both).hosts["a"])["3.5 inch"] == 12
    said = path(chassis={**CHASSIS, "bays": {"3.5 inch": 3}}).hosts["a"]
    assert boards.free_bays(said) == {"3.5 inch": 3}, "what the host says itself counts"


def test_plan_buys_into_the_slots_of_the_board_and_the_bays_of_the_chassis() -> None:
    offered = options(Shop(path(), catalog.read(), exchange([]), "USD"), ["a"])
    assert offered.stock["hosts.a.slots.s2"] == 1
    assert offered.stock["hosts.a.bays.3.5 inch"] == 12
    grown = [o for o in offered.choices["hosts.a.volumes./d.array"] if "in RAID 6" in o.what]
    assert max(o.uses[0][1] for o in grown) == 4, "sixteen disks are the widest prudent RAID 6"
    seats = [o.what for o in offered.choices["hosts.a.hbas.sas"]]
    assert any("slot s2" in w for w in seats)
    assert not any("s1" in w for w in seats), "the network card sits there"
