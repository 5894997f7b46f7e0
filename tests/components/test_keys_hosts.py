"""Every key of processors, memory, kernels, cards, devices, segments and placement moves an answer where it should."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from dtnsim.components.base import Model, find_kind
from dtnsim.components.cores import Placement
from dtnsim.components.segment import Background
from dtnsim.description.host import Host
from tests.lab import FREE, journey, machine, problem, volume

SSD = {"kind": "ssd", "read": "3 GB/s", "write": "3 GB/s", "link": "4 GB/s"}
CPU = {"kind": "cpu", "sockets": 2, "cores": 4, "clock": "3 GHz", "cache": "16 MiB", "core_cache": "1 MiB"}
MEMORY = {"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "64 GiB"}
NIC = {"kind": "nic", "rate": "100 Gb/s", "mtu": "9000 B"}
SLOTS = {n: {"kind": "slot", "generation": 3, "lanes": 16, "socket": s} for n, s in (("near", 0), ("far", 1))}
WAN = {"bandwidth": "40 Gb/s", "rtt": "20 ms"}
QAT = {"kind": "crypto-accelerator", "cipher": "50 Gb/s", "slot": "near"}
DPU = {"kind": "dpu", "cores": 8, "clock": "2.5 GHz", "nic": "nic"}
VPN = {"kind": "encryptor", "total": "10 Gb/s", "tunnel": "2 Gb/s"}
WALL = {"kind": "firewall", "engine": "5 Gb/s"}
SCP = {"name": "scp", "c": "aes-gcm"}


def path(
    *changes: tuple[str, Any], tool: Any = "gridftp", start: str = "a:/d", to: str = "b:/d", size: str = "400 GB"
) -> dict[str, Any]:
    """Two machines with drives, sockets and a WAN, and changes at dotted keys (None takes the key away)."""
    hosts = {
        name: machine(cpu=dict(CPU), memory=dict(MEMORY), stack={"kind": "stack"}, nic={**NIC, "slot": "near"},
                      slots={k: dict(v) for k, v in SLOTS.items()}, volumes={"/d": volume(SSD)})
        for name in "ab"
    }  # fmt: skip
    made = journey(hosts["a"], hosts["b"], wan=dict(WAN), start=start, to=to, tool=tool,
                   dataset={"files": 4, "size": "400 GB"})  # fmt: skip
    for key, value in changes:
        where, steps = made, key.split(".")
        for step in steps[:-1]:
            where = where.setdefault(step, {})
        if value is None:
            where.pop(steps[-1], None)
        else:
            where[steps[-1]] = deepcopy(value)
    return made


def answer(given: dict[str, Any]) -> list[Any]:
    """All that the solver is given: stations, demands, delays, workers' caches and connections."""
    made = problem(given)
    seen: list[Any] = [(s.name, float(np.ravel(s.capacity)[0])) for s in made.stations]
    for transfer in made.transfers:
        for phase in transfer.phases:
            seen += [(d.station, float(np.ravel(d.per_byte)[0])) for d in (*phase.demands, *phase.delays)]
        if transfer.cache is not None:
            seen.append(tuple(float(np.ravel(v)[0]) for v in (transfer.cache.size_B, transfer.cache.write_back_B)))
    seen += [(s.driver, float(np.ravel(s.slope)[0]), float(np.ravel(s.reference)[0])) for s in made.slowdowns]
    return sorted(seen, key=str)


IPERF = {"tool": "iperf3", "start": "a:memory", "to": "b:memory"}
SMALL = {"tool": {"name": "iperf3", "l": "1 KiB"}, "start": "a:memory", "to": "b:memory"}
ZERO = {"tool": {"name": "iperf3", "Z": True}, "start": "a:memory", "to": "b:memory"}
DD = {"tool": {"name": "dd", "bs": "4 MiB"}, "start": "b:/dev/zero", "to": "b:/d"}
DIRECT = {"tool": {"name": "dd", "bs": "4 MiB", "oflag": "direct"}, "start": "b:/dev/zero", "to": "b:/d"}
REWRITE = {"tool": {"name": "iozone", "test": "record-rewrite", "r": "64 KiB"}, "start": "b:memory", "to": "b:/d"}
PROGRAM = {"tool": "program", "start": "b:/d", "to": "b:memory"}
ZFS = (("hosts.b.volumes./d.filesystem", {"kind": "zfs"}),)
PINNED = (("hosts.b.placement", {"application": [5], "nic_interrupts": [0]}),)
STREAMS = {"tool": {"name": "gridftp", "p": 8}}
VERBS = {"tool": "perftest", "start": "b:memory", "to": "a:memory"}
BONDED = (("hosts.b.nic.ports", 4), ("hosts.b.nic.bonding", "hash"))

#: kind -> where it is -> key -> (other value, changes that let it matter, transfer)
CASES: dict[str, tuple[str, dict[str, tuple[Any, tuple[tuple[str, Any], ...], dict[str, Any]]]]] = {
    "cpu": ("hosts.b.cpu", {
        "sockets": (1, (), {}), "cores": (2, (), {}), "clock": ("2 GHz", (), {}), "per_cycle": (0.7, (), {}),
        "smt": (2, (), {}), "smt_gain": (1.4, (("hosts.b.cpu.smt", 2),), {}),
        "cache": ("1 MiB", ZFS, DD), "core_cache": ("64 KiB", ZFS, DD),
        "numa_penalty": (2.0, PINNED, {}),
        "numbering": ("alternate", (("hosts.b.placement", {"application": [1]}),), {}),
        "socket_link": ("8000 MT/s", PINNED, {}),
        "uncounted": (0.3, (), {}),
        "aes": (False, (("hosts.b.volumes./d.array", {"kind": "dm-crypt", "of": SSD}),), DD),
        "socket_links": (2, (*PINNED, ("hosts.b.cpu.socket_link", "8000 MT/s")), {}),
    }),
    "memory": ("hosts.b.memory", {
        "channels": (2, (), {}), "rate": ("1600 MT/s", (), {}), "efficiency": (0.5, (), {}), "ddio": (0.5, (), {}),
        "uncounted": (0.5, (), {}), "size": ("8 GiB", (("hosts.b.vm", {}),), DD),
    }),
    "stack": ("hosts.b.stack", {
        **{k: (f"9 {u}", (), {}) for k, u in (("receive_byte", "cycles/B"), ("receive_packet", "cycles"),
                                              ("interrupt_byte", "cycles/B"), ("file_write_byte", "cycles/B"),
                                              ("file_call", "cycles"))},
        "kernel": ("2.6.32", (("wan.rtt", "300 ms"), ("hosts.b.tcp", {"rmem_max": "6 MiB"})), {}),
        "memory_stall": (0.7, (), {}), "memory_reference": (0.1, (), {}), "aggregate": ("16 KiB", (), {}),
        "send_byte": ("9 cycles/B", (), {"start": "b:/d", "to": "a:/d"}),
        "send_packet": ("9 cycles", (), {"start": "b:/d", "to": "a:/d"}),
        "file_read_byte": ("9 cycles/B", (), {"start": "b:/d", "to": "a:/d"}),
        "sendfile_byte": ("9 cycles/B", (), {**ZERO, "start": "b:memory", "to": "a:memory"}),
        "socket_call": ("9 cycles", (), SMALL), "socket_block": ("2 KiB", (), SMALL),
        "direct_call": ("9 cycles", (), DIRECT),
        "write_back_byte": ("9 cycles/B", (), DD),
        "folio_write_back_byte": ("9 cycles/B", (("hosts.b.stack.kernel", "6.18"),), DD),
        "storage_interrupt_byte": ("9 cycles/B", (("hosts.b.hbas", {"h": {"kind": "hba", "slot": "far"}}),
                                                  ("hosts.b.volumes./d.via", ["h"])), {"start": "b:/d", "to": "a:/d"}),
        "verbs_call": ("9 cycles", (), VERBS),
        "hot_byte": ("9 cycles/B", ZFS, REWRITE), "zero_byte": ("9 cycles/B", (), DD),
        "miss_byte": ("9 cycles/B", (*ZFS, ("hosts.b.cpu.cache", "1 MiB")), DD),
        "far_byte": ("9 cycles/B", ZFS, DD),
        "file_miss_byte": ("9 cycles/B", (), {"start": "b:/d", "to": "a:/d"}), "unbacked_byte": ("9 cycles/B", (), {}),
        "unbacked": (0.1, (("hosts.b.stack.unbacked_byte", "9 cycles/B"),), {}),
        "page_fault": ("9 cycles", (), PROGRAM), "page": ("2 MiB", (), PROGRAM),
    }),
    "nic": ("hosts.b.nic", {
        "rate": ("10 Gb/s", (), {}), "ports": (2, BONDED, {}), "bonding": ("application", BONDED, {}),
        "mtu": ("1500 B", (), {}), "timestamps": (False, (), {}), "vlan": (True, (), {}), "offload": (False, (), {}),
        "gro": (False, (), {}), "tso": (False, (), {"start": "b:/d", "to": "a:/d"}), "queues": (1, (), STREAMS),
        "packets": ("1000 ops/s", (), {}), "slot": ("far", PINNED, {}), "more_slots": (["far"], (), {}),
        "protocol": ("infiniband", (("hosts.b.nics", {"nic": {**NIC}, "st": {**NIC}}), ("hosts.b.nic", None),
                                    ("hosts.b.volumes./d.via", ["st"])), {"where": "hosts.b.nics.st"}),
        "card_lanes": (4, (), {}), "card_generation": (1, (), {}),
        "allowance": ({"kind": "allowance", "flow": "1 Gb/s"}, (), {}),
        "credits": ("9 MiB", (("hosts.b.nic", {**NIC, "protocol": "infiniband"}),
                              ("transfer.nics", {"a": "nic", "b": "nic"})), VERBS),
    }),
    "background": ("wan.background", {
        "share": (0.5, (("wan.background", {"share": 0.2}),), {}),
        "diurnal": (0.5, (("wan.background", {"share": 0.2, "hour": 15}),), {}),
        "hour": (3, (("wan.background", {"share": 0.2, "diurnal": 0.5, "hour": 15}),), {}),
        "peak_hour": (3, (("wan.background", {"share": 0.2, "diurnal": 0.5, "hour": 15}),), {}),
    }),
    "segment": ("wan", {
        "bandwidth": ("1 Gb/s", (), {}), "rtt": ("90 ms", (), {}), "loss": (1e-4, (), {}), "buffer": ("10 kB", (), {}),
        "bursts": ({"rate": 1e-3, "length": 10}, (), {}), "retransmits": ({"count": 900, "moved": "10 GB"}, (), {}),
        "mtu": ("1500 B", (), {}), "background": ({"share": 0.5}, (), {}), "firewall": (WALL, (), {}),
        "policer": ({"kind": "policer", "rate": "1 Gb/s"}, (), {}), "boxes": ({"vpn": VPN}, (), {}),
    }),
    "firewall": ("wan.firewall", {
        "engine": ("1 Gb/s", (("wan.firewall", WALL),), {}), "total": ("20 Gb/s", (("wan.firewall", WALL),), {}),
        "buffer": ("4 KiB", (("wan.firewall", WALL),), {}),
        "strips_window_scaling": (True, (("wan.firewall", WALL),), {}),
    }),
    "policer": ("wan.policer", {
        key: (value, (("wan.policer", {"kind": "policer", "rate": "5 Gb/s"}),), {})
        for key, value in (("rate", "1 Gb/s"), ("burst", "10 MB"), ("action", "shape"))
    }),
    "encryptor": ("wan.boxes.vpn", {
        key: (value, (("wan.boxes", {"vpn": VPN}),), {"tool": {"name": "gridftp", "p": 8}})
        for key, value in (("total", "5 Gb/s"), ("tunnels", 4), ("tunnel", "1 Gb/s"), ("overhead", "99 B"))
    }),
    "crypto-accelerator": ("hosts.b.devices.x", {
        key: (value, (("hosts.b.nic.slot", "far"), ("hosts.b.devices", {"x": QAT})), {"tool": SCP})
        for key, value in (("cipher", "1 Gb/s"), ("algorithms", ["aes-ctr"]), ("engines", 2), ("request", "4 KiB"),
                           ("latency", "90 us"), ("in_flight", 9), ("submit", "99 cycles"), ("slot", None),
                           ("card_lanes", 1), ("card_generation", 1))
    }),
    "dpu": ("hosts.b.devices.x", {
        **{key: (value, (("hosts.b.devices", {"x": DPU}),), {})
           for key, value in (("takes_over", ["tls"]), ("cores", 2), ("clock", "1 GHz"), ("per_cycle", 0.4),
                              ("request", "4 KiB"), ("submit", "99 cycles"))},
        "crypto": ("1 Gb/s", (("hosts.b.devices", {"x": DPU}),), {"tool": {"name": "globus", "encrypt": True}}),
        "nic": ("eth1", (("hosts.b.devices", {"x": DPU}), ("hosts.b.nics", {"nic": NIC, "eth1": NIC}),
                         ("hosts.b.nic", None)), {}),
    }),
    "placement": ("hosts.b.placement", {
        "application": ([1], (), {}), "nic_interrupts": ([1], (), {}), "remote_socket": (0.5, (), {}),
        "storage_interrupts": ({"all": [1]}, (("hosts.b.hbas", {"h": {"kind": "hba", "slot": "far"}}),
                                              ("hosts.b.volumes./d.via", ["h"])), {"start": "b:/d", "to": "a:/d"}),
    }),
}  # fmt: skip

#: keys whose kind's file is another's, or that are fields of all kinds and are read elsewhere
ELSEWHERE = {
    # tests/composition/test_compose.py: links make a graph; tests/components/test_segment.py: what is drawn goes by it
    "segment": {"between", "medium"},
    "dpu": {"slot", "card_lanes", "card_generation"},  # its bytes pass the slot of its ports: a NIC's keys
    "crypto-accelerator": {"compression"},  # no tool compresses with deflate in a thread of its own yet
}


def model(kind: str) -> type[Model]:
    return {"placement": Placement, "background": Background}.get(kind) or find_kind(kind)


def documentation(kind: str) -> set[str]:
    """Keys that the schema marks as documentation only."""
    fields = model(kind).model_fields.items()
    return {
        n
        for n, f in fields
        if isinstance(f.json_schema_extra, dict) and f.json_schema_extra.get("x-documentation-only")
    }


@pytest.mark.parametrize("kind", CASES)
def test_every_key_is_tried(kind: str) -> None:
    known = set(model(kind).model_fields) - documentation(kind) - ELSEWHERE.get(kind, set())
    assert known == set(CASES[kind][1])


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, (_, keys) in CASES.items() for key in keys])
def test_a_key_moves_an_answer(kind: str, key: str) -> None:
    where, (value, changes, use) = CASES[kind][0], CASES[kind][1][key]
    use = dict(use)
    where = use.pop("where", where)
    assert answer(path(*changes, **use)) != answer(path(*changes, (f"{where}.{key}", value), **use))


def test_the_same_path_gives_the_same_answer() -> None:
    assert answer(path()) == answer(path())


def test_what_moves_nothing_is_marked() -> None:
    assert documentation("cpu") == {"part", "source", "price", "facts"}
    extra = Host.model_fields["source"].json_schema_extra
    assert isinstance(extra, dict)
    assert extra["x-documentation-only"]
    assert FREE["kind"] == "stack"
