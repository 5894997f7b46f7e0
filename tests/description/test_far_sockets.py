"""Drives and cards on the other socket, behind a chipset's uplink, behind a switch, in a slot that is taken."""

from typing import Any

import pytest

from dtnsim.description.host import build_host
from dtnsim.ground.errors import SpecError
from tests.lab import FREE, answer, journey, machine, problem, rate, volume

DRIVE = {"kind": "ssd", "read": "7 GB/s", "write": "5 GB/s", "link": "8 GB/s", "iops_read": "100M IOPS"}
FOUR = {"kind": "raid", "level": 0, "disks": 4, "chunk": "128 KiB", "of": DRIVE}
#: PCIe 3.0 x4, as a chipset hangs on it (DMI 3): 7.88 GB/s of lanes both ways, headers left out about 3.5 one way
DMI = {"kind": "slot", "generation": 3, "lanes": 4}
CARD = {"kind": "nic", "rate": "25 Gb/s", "mtu": "9000 B", "card_lanes": 8, "card_generation": 3}
FIO = {"name": "fio", "rw": "read", "bs": "1 MiB", "ioengine": "libaio", "iodepth": 64, "direct": True, "numjobs": 8}
DATA = {"files": 8, "size": "8 TB"}


def reading(host: dict[str, Any], **tool: Any) -> float:
    return rate(journey(host, start="a:/d", to="a:/dev/null", tool={**FIO, **tool}, dataset=DATA))


def at_once(host: dict[str, Any], *transfers: dict[str, Any]) -> float:
    """What passes while all run [B/s]."""
    return sum(t.all_run_Bps for t in answer(journey(host, transfers=list(transfers))).transfers)


def drives(*via: str, **slots: dict[str, Any]) -> dict[str, Any]:
    return machine(slots=slots, volumes={"/d": volume(FOUR, via=list(via))})


def test_drives_behind_a_chipset_share_its_uplink() -> None:
    """Z490 and its like hang on DMI 3.0: two fast drives in RAID 0 read 3.5 GB/s there, as one does."""
    own = {n: {"kind": "slot", "generation": 4, "lanes": 4} for n in "abcd"}
    behind = {n: {**slot, "behind": "dmi"} for n, slot in own.items()}
    assert reading(drives(*"abcd", **own)) == pytest.approx(28e9)
    found = reading(drives(*"abcd", **behind, dmi=DMI))
    assert found == pytest.approx(3.52e9, rel=0.01)
    assert reading(drives("a", a=behind["a"], dmi=DMI)) == pytest.approx(found)
    switch = {"kind": "slot", "generation": 4, "lanes": 16}
    assert reading(drives(*"abcd", **behind, dmi=switch)) == pytest.approx(27.4e9, rel=0.01)


def test_a_card_and_drives_meet_on_a_chipset_s_uplink_only_in_one_direction() -> None:
    behind: dict[str, Any] = {n: {"kind": "slot", "generation": 3, "lanes": 8, "behind": "dmi"} for n in ("d", "n")}
    host = drives("d", **behind, dmi=DMI)
    host["nics"] = {"n": {**CARD, "slot": "n"}}
    del host["nic"]
    take = {"name": "take", "from": "a:/d", "to": "a:/dev/null", "tool": FIO, "dataset": DATA}
    put = {"name": "put", "from": "b:memory", "to": "a:memory", "tool": {"name": "iperf3", "P": 8}}
    both = at_once(host, take, put)
    assert both == pytest.approx(3.52e9, rel=0.02)  # disk reads and what the card receives go in together
    put |= {"from": "a:memory", "to": "b:memory"}
    assert at_once(host, take, put) > 1.6 * both


def sockets(drives_on: int | None, cores: list[int], **cpu: Any) -> dict[str, Any]:
    wide = {"kind": "slot", "generation": 5, "lanes": 32, **({} if drives_on is None else {"socket": drives_on})}
    made = {"kind": "cpu", "sockets": 2, "cores": 4, "clock": "3 GHz", "numa_penalty": "1.4", "per_cycle": 1, **cpu}
    host = drives("s", s=wide)
    return {**host, "cpu": made, "placement": {"application": cores}, "stack": {**FREE, "direct_call": "30000 cycles"}}


@pytest.mark.parametrize(("drives_on", "cores", "factor"), [(0, [1], 1), (1, [1], 1.4), (1, [5], 1), (None, [5], 1)])
def test_direct_requests_to_drives_of_the_other_socket_cost_more(
    drives_on: int | None, cores: list[int], factor: float
) -> None:
    """30 000 cycles for 64 KiB at 3 GHz are 6.6 GB/s. Dell, NSS-HA with PowerEdge 12th generation, p. 13: 4 GB/s
    where cards are on the right sockets, 3.3 GB/s where they are not: 1.2 times, and not all of that work is direct."""
    found = reading(sockets(drives_on, cores), bs="64 KiB", numjobs=1)
    assert found == pytest.approx(65536 * 1e5 / factor, rel=0.01)


@pytest.mark.parametrize("cores", [[1], [5], [1, 5]])
def test_direct_requests_to_drives_of_both_sockets_cost_half_of_that(cores: list[int]) -> None:
    host = sockets(0, cores)
    host["slots"] = {n: {"kind": "slot", "generation": 5, "lanes": 32, "socket": k} for k, n in enumerate("st")}
    host["volumes"] = {"/d": volume({**FOUR, "disks": 8}, via=["s", "t"])}
    found = reading(host, bs="64 KiB", numjobs=len(cores))
    assert found == pytest.approx(len(cores) * 65536 * 1e5 / 1.2, rel=0.01)


def test_bytes_of_drives_cross_the_link_between_sockets() -> None:
    """One QPI link of 8 GT/s carries 16 GB/s in one direction (Intel, 2009)."""
    link = {"socket_link": "8000 MT/s", "clock": "10 GHz"}
    assert reading(sockets(0, [0, 1, 2, 3], **link)) == pytest.approx(28e9)
    assert reading(sockets(1, [0, 1, 2, 3], **link)) == pytest.approx(16e9)
    assert reading(sockets(1, [0, 1, 2, 3], **link, socket_links=2)) == pytest.approx(28e9)
    assert reading(sockets(1, [0, 1, 4, 5], **link)) == pytest.approx(28e9)  # half of them cross


def test_threads_that_nobody_places_are_on_both_sockets() -> None:
    """Half of the bytes cross a link of 8 GB/s, all one way where the drives are on one socket, else half each way."""
    host = sockets(1, [], socket_link="4000 MT/s", clock="10 GHz")
    assert reading(host) == pytest.approx(16e9)
    host["slots"] = {n: {"kind": "slot", "generation": 5, "lanes": 32, "socket": k} for k, n in enumerate("st")}
    host["volumes"] = {"/d": volume({**FOUR, "disks": 8}, via=["s", "t"])}
    assert reading(host) == pytest.approx(32e9)
    host["placement"] = {"application": [0, 1, 2, 3]}  # the half of the second socket alone
    assert reading(host) == pytest.approx(16e9)
    host["placement"] = {"remote_socket": 0}
    assert reading(host) == pytest.approx(56e9, rel=0.01)


def test_what_is_read_and_what_is_written_cross_in_opposite_directions() -> None:
    host = sockets(1, [0, 1, 2, 3], socket_link="2000 MT/s", clock="10 GHz")
    take = {"name": "take", "from": "a:/d", "to": "a:/dev/null", "tool": FIO, "dataset": DATA}
    put = {"name": "put", "from": "a:memory", "to": "a:/d", "tool": {**FIO, "rw": "write"}, "dataset": DATA}
    assert at_once(host, take) == pytest.approx(4e9)
    assert at_once(host, take, put) == pytest.approx(8e9)


def test_an_adapter_on_the_other_socket_crosses_it_too() -> None:
    host = sockets(None, [0, 1], socket_link="4000 MT/s", clock="10 GHz")
    host["slots"] = {"s": {"kind": "slot", "generation": 5, "lanes": 32, "socket": 1}}
    host["hbas"] = {"h": {"kind": "hba", "slot": "s", "engine": "1 TB/s", "lane": "1 TB/s", "iops": "100M IOPS",
                          "card_lanes": 16, "card_generation": 5}}  # fmt: skip
    host["volumes"] = {"/d": volume(FOUR, via=["h"])}
    assert reading(host) == pytest.approx(8e9)
    host["slots"]["s"]["socket"] = 0
    assert reading(host) == pytest.approx(28e9)


def test_a_slot_with_a_card_holds_no_drives() -> None:
    host = drives("s", s={"kind": "slot", "generation": 4, "lanes": 16})
    host["hbas"] = {"h": {"kind": "hba", "slot": "s"}}
    with pytest.raises(SpecError, match=r"has a card in it, hbas.h, and so cannot hold drives"):
        build_host("h", host).check_wiring()


def test_drives_in_a_slot_that_is_not_split_are_taken_to_be_on_a_switch() -> None:
    """A board shows one drive of four in a slot that it does not split; a card with a switch shows all."""
    wide = {"kind": "slot", "generation": 4, "lanes": 16}
    for split, warned in ((1, True), (2, True), (4, False)):
        host = drives("s", s={**wide, "bifurcation": split})
        found = problem(journey(host, start="a:/d", to="a:/dev/null", tool=FIO, dataset=DATA)).warnings
        assert any("4 drives hang on slot s" in w for w in found) == warned
