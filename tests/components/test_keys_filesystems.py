"""Every parameter of the file systems moves an answer on a path where it should matter, or is refused."""

from __future__ import annotations

from typing import Any

import pytest

from dtnsim.components.base import Component, find_kind
from dtnsim.components.metadata_servers import MetadataServers
from dtnsim.components.servers import Servers
from dtnsim.ground.errors import SpecError
from tests.lab import FREE, journey, machine, rate, volume

HUGE = {"files": 1, "size": "100 TB"}
SMALL = {"files": 10_000, "each": "10 KB", "directories": 3}
FILES = {"files": 100, "each": "10 MiB", "directories": 3}
MANY = {"files": 4_000_000, "each": "100 B"}
SSD = {"kind": "ssd", "read": "1 GB/s", "write": "1 GB/s", "link": "2 GB/s"}
HDD = {"kind": "raid", "level": 0, "disks": 4, "of": {"kind": "hdd", "rate": "200 MB/s"}}
COMMON = set(Component.model_fields)

#: what a transfer does: (reads the volume, tool, data set)
READ = (True, {"name": "dd", "bs": "1 MiB"}, HUGE)
STREAMS = (True, {"name": "iozone", "test": "read", "r": "1 MiB", "t": 64}, {"files": 64, "size": "100 TB"})
WRITE = (False, {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, HUGE)
SYNC = (False, {"name": "dd", "bs": "1 MiB", "oflag": "dsync"}, HUGE)
PACED = (False, {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, {"files": 1, "size": "20 GB"})
RM = (False, {"name": "rm"}, SMALL)
TAR = (False, {"name": "tar"}, SMALL)
CP = (False, {"name": "cp"}, FILES)

#: kind -> parameter -> (transfer, what else holds, other value)
Case = tuple[tuple[bool, dict[str, Any], dict[str, Any]], dict[str, Any], Any]
LOCAL: dict[str, Case] = {
    "op_time": (RM, {}, "5 ms"),
    "change_time": (RM, {}, "5 ms"),
    "sync_latency": (SYNC, {}, "50 ms"),
    "read_ahead": (STREAMS, {}, "64 MiB"),
    "extent": (READ, {}, "256 KiB"),
    "log_size": ((False, {"name": "fio", "rw": "write", "bs": "4 KiB", "numjobs": 16}, MANY), {}, "1 MiB"),
}
CREATE = ((False, {"name": "fio", "rw": "write", "bs": "4 KiB", "numjobs": 64}, MANY), {"logbsize": "16 KiB"})
SHARED: dict[str, Case] = {
    "sync_latency": (SYNC, {}, "50 ms"),
    "servers": (READ, {}, {"rate": "10 MB/s"}),
    "share": (READ, {"servers": {"rate": "10 MB/s"}}, "0.1"),
    "system": (READ, {}, "other"),
}
CASES: dict[str, dict[str, Case]] = {
    "xfs": {
        **LOCAL,
        "logbufs": (*CREATE, 2),
        "logbsize": (*CREATE, "256 KiB"),
        "log_record": (*CREATE, "4 KiB"),
    },
    "ext4": {
        **LOCAL,
        "data": (WRITE, {}, "journal"),
        "delalloc": (PACED, {"paced": True}, False),
        "commit": (PACED, {"paced": True, "delalloc": False}, "1 s"),
    },
    "lustre": {
        **SHARED,
        "stripe_count": (READ, {}, 4),
        "stripe_size": ((True, {"name": "cp"}, FILES), {"stripe_count": 8}, "8 MiB"),
        "layout": (READ, {}, [{"until": "1 MiB"}, {"stripe_count": 8}]),
        "targets": (STREAMS, {"target_rate": "10 MB/s"}, 7),
        "target_rate": (READ, {}, "1 MB/s"),
        "target_write": (WRITE, {}, "1 MB/s"),
        "stream": (READ, {}, "1 MB/s"),
        "client_byte": (READ, {"stream": "1 TB/s", "share": "1", "target_rate": "1 TB/s"}, "500 cycles/B"),
        "checksums": (READ, {"checksum_byte": "50000 cycles/B"}, False),
        "checksum_byte": (READ, {}, "50000 cycles/B"),
        "rpcs": (READ, {"latency": "1 s"}, 1),
        "rpc_size": (READ, {"latency": "1 s"}, "1 MiB"),
        "max_dirty": (WRITE, {"latency": "1 s"}, "1 MiB"),
        "read_ahead": (READ, {"latency": "1 s", "rpcs": 256}, "4 MiB"),
        "latency": (READ, {}, "10 s"),
        "client_rate": (READ, {}, "1 MB/s"),
        "metadata_time": (RM, {}, "50 ms"),
        "metadata_rpcs": ((True, {"name": "gridftp", "cc": 64}, SMALL), {}, 1),
        "modifying_rpcs": ((False, {"name": "gridftp", "cc": 64}, SMALL), {"metadata_rpcs": 256}, 1),
    },
    "gpfs": {
        **SHARED,
        "block": (READ, {}, "64 KiB"),
        "allocation": (READ, {"servers": {"positioning": "1 s"}}, "cluster"),
        "prefetch": (READ, {"latency": "1 s"}, 1),
        "prefetch_share": (READ, {"latency": "1 s"}, "0.02"),
        "pagepool": (READ, {"latency": "1 s"}, "8 MiB"),
        "latency": (READ, {}, "10 s"),
        "nsds": (READ, {"nsd_rate": "1 MB/s"}, 3),
        "nsd_rate": (READ, {}, "200 kB/s"),
        "nsd_write": (WRITE, {}, "200 kB/s"),
        "metadata_time": (RM, {}, "50 ms"),
        "op_time": (RM, {"metadata_time": "0 s"}, "5 s"),
        "change_time": (RM, {}, "50 ms"),
        "create_time": (CP, {}, "50 ms"),
        "contended": (RM, {}, "1"),
    },
    "smb": {
        **SHARED,
        "system": (READ, {"servers": {"rate": "10 MB/s"}}, "other"),
        "op_time": (RM, {"server": True}, "5 ms"),
        "change_time": (RM, {"server": True}, "5 ms"),
        "rsize": (READ, {"server": True}, "64 KiB"),
        "wsize": (
            (False, {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, HUGE),
            {"server": True, "threads": 1},
            "64 KiB",
        ),
        "read_ahead": (READ, {"server": True}, "4 KiB"),
        "threads": (WRITE, {"server": True, "service": "100 ms"}, 1),
        "service": (READ, {"server": True}, "100 ms"),
        "credits": (WRITE, {"server": True, "service": "100 ms"}, 64),
        "channels": (WRITE, {"server": True, "smb_byte": "500 cycles/B"}, 4),
        "warm": (READ, {"servers": {"read": "10 MB/s"}}, True),
        "sign": (READ, {"server": True, "sign_byte": "500 cycles/B"}, True),
        "encrypt": (READ, {"server": True, "cipher_byte": "500 cycles/B"}, True),
        "smb_byte": (READ, {"server": True}, "500 cycles/B"),
        "smbd_byte": (READ, {"server": True}, "500 cycles/B"),
        "cipher_byte": (READ, {"server": True, "encrypt": True}, "500 cycles/B"),
        "sign_byte": (READ, {"server": True, "sign": True}, "500 cycles/B"),
    },
    "s3": {
        **SHARED,
        "part_size": (READ, {}, "64 KiB"),
        "concurrency": (READ, {}, 1),
        "latency": (READ, {}, "2 s"),
        "stream": (READ, {}, "1 MB/s"),
        "prefixes": (READ, {"part_size": "1 KiB", "concurrency": 1000, "latency": "1 us"}, 2),
        "get_rate": (READ, {}, "2 ops/s"),
        "put_rate": (WRITE, {}, "2 ops/s"),
        "commit": (WRITE, {"servers": {"rate": "10 GB/s"}}, "10 s"),
        "replicas": (WRITE, {"servers": {"rate": "10 MB/s"}}, 3),
        "data": (WRITE, {"servers": {"rate": "10 MB/s"}, "coding": 2}, 4),
        "coding": (WRITE, {"servers": {"rate": "10 MB/s"}, "data": 4}, 2),
        "system": (READ, {"get_rate": "2 ops/s"}, "other"),
    },
    "beegfs": {
        **SHARED,
        "numtargets": (READ, {"target_rate": "1 MB/s"}, 1),
        "chunksize": ((True, {"name": "cp"}, FILES), {"target_rate": "1 MB/s"}, "8 MiB"),
        "targets": (STREAMS, {"target_rate": "1 MB/s"}, 5),
        "target_rate": (READ, {}, "1 MB/s"),
        "target_write": (WRITE, {}, "1 MB/s"),
        "mirror": (WRITE, {"target_rate": "1 MB/s"}, True),
        "connections": (STREAMS, {"latency": "1 s"}, 1),
        "buffer": (READ, {"chunksize": "8 MiB"}, "8 MiB"),
        "latency": (READ, {}, "1 s"),
        "metadata_time": (RM, {}, "50 ms"),
    },
    "cephfs": {
        **SHARED,
        "system": (READ, {"servers": {"rate": "10 MB/s"}}, "other"),
        "object_size": ((True, {"name": "cp"}, FILES), {"osd_read": "1 MB/s"}, "64 KiB"),
        "osds": (STREAMS, {"osd_read": "1 MB/s"}, 5),
        "osd_read": (READ, {}, "1 MB/s"),
        "osd_write": (WRITE, {}, "1 MB/s"),
        "replicas": (WRITE, {"osd_write": "1 MB/s"}, 1),
        "data": (WRITE, {"osd_write": "1 MB/s", "coding": 2}, 4),
        "coding": (WRITE, {"osd_write": "1 MB/s", "data": 4}, 2),
        "read_ahead": (READ, {}, "64 KiB"),
        "write_back": (WRITE, {}, 1),
        "latency": (READ, {}, "1 s"),
        "metadata_time": (RM, {}, "50 ms"),
        "contended": (RM, {}, "1"),
        "shared": (READ, {}, True),
    },
    "nfs": {
        **SHARED,
        "system": (READ, {"servers": {"rate": "10 MB/s"}}, "other"),
        "op_time": (RM, {"server": True}, "5 ms"),
        "change_time": (RM, {"server": True}, "5 ms"),
        "warm": (READ, {"servers": {"read": "10 MB/s"}}, True),
        "export": (RM, {"server": True}, "async"),
        "proto": (READ, {"server": True, "rpc_byte": "500 cycles/B"}, "rdma"),
        "pnfs": (READ, {"servers": {"count": 4, "rate": "10 MB/s"}}, True),
        "rsize": (READ, {"server": True}, "4 KiB"),
        "wsize": (WRITE, {"server": True}, "4 KiB"),
        "read_ahead": (READ, {"server": True}, "4 KiB"),
        "slots": (WRITE, {"server": True, "wsize": "4 KiB"}, "1"),
        "nconnect": (WRITE, {"server": True, "wsize": "4 KiB", "slots": "1"}, 4),
        "threads": (WRITE, {"server": True, "wsize": "4 KiB"}, 1),
        "service": (READ, {"server": True}, "100 ms"),
        "acdirmin": (RM, {"server": True}, "0.1 s"),
        "depth": (RM, {"server": True, "acdirmin": "1 s"}, 50),
        "rpc_byte": (READ, {"server": True}, "500 cycles/B"),
        "rdma_byte": (READ, {"server": True, "proto": "rdma"}, "500 cycles/B"),
        "stable": (RM, {"server": True}, "50 ms"),
    },
}


def built(kind: str, case: Case, given: dict[str, Any]) -> dict[str, Any]:
    reads, tool, data = case[0]
    more = {**case[1], **given}
    server = more.pop("server", False)
    # a writer of 2 GB/s with room in the page cache
    host = {"vm": {}, "stack": {**FREE, "file_write_byte": "5 cycles/B"}} if more.pop("paced", False) else {}
    array = HDD if kind in ("xfs", "ext4") else None
    filesystem = {"kind": kind, **more}
    if "system" not in filesystem and kind not in ("xfs", "ext4"):
        filesystem["system"] = "s"
    mine = volume(array, filesystem, **({"server": "b:/export"} if server else {}))
    other = {**mine, "filesystem": {**filesystem, "system": "s"}} if "system" in filesystem else mine
    hosts = machine(volumes={"/v": mine}, **host), machine(volumes={"/export": volume(SSD), "/v": other})
    ends = ("a:/v", "a:/dev/null") if reads else ("a:memory", "a:/v")
    if tool["name"] == "gridftp":
        ends = ("a:/v", "b:memory") if reads else ("b:memory", "a:/v")
    made = journey(*hosts, start=ends[0], to=ends[1], tool=tool, dataset=data,
                   wan={"bandwidth": "100 Tb/s", "rtt": "1 ms"})  # fmt: skip
    if "system" in given:  # who shares the servers is seen by two
        both = [{"name": h, "from": f"{h}:/v", "to": f"{h}:/dev/null", "tool": tool, "dataset": data} for h in "ab"]
        made["transfers"] = both
        del made["transfer"]
    return made


@pytest.mark.parametrize(("kind", "field"), [(k, f) for k in CASES for f in CASES[k]])
def test_a_parameter_moves_the_answer(kind: str, field: str) -> None:
    case = CASES[kind][field]
    before = built(kind, case, {"system": "s"} if field == "system" else {})
    after = built(kind, case, {field: case[2]})
    assert rate(after) != pytest.approx(rate(before), rel=1e-4)


@pytest.mark.parametrize("kind", list(CASES))
def test_every_parameter_is_tried_or_refused(kind: str) -> None:
    fields = set(find_kind(kind).model_fields) - COMMON
    refused = set(getattr(find_kind(kind), "refused", {}))
    assert fields == set(CASES[kind]) | refused
    for field in refused:
        with pytest.raises(SpecError, match="has no meaning"):
            rate(built(kind, CASES[kind]["share"], {field: "1 ms"}))


#: parameter of ``servers`` -> (kind, transfer, what else holds, other value)
IN_SERVERS: dict[str, tuple[str, Any, dict[str, Any], Any]] = {
    "count": ("gpfs", READ, {"rate": "10 MB/s"}, 3),
    "ports": ("gpfs", READ, {"port_rate": "10 Mb/s"}, 3),
    "port_rate": ("gpfs", READ, {}, "10 Mb/s"),
    "port_share": ("gpfs", READ, {"port_rate": "10 Mb/s"}, "0.5"),
    "rate": ("gpfs", READ, {}, "10 MB/s"),
    "arrays": ("gpfs", READ, {"read": "10 MB/s"}, 2),
    "read": ("gpfs", READ, {}, "10 MB/s"),
    "write": ("gpfs", WRITE, {}, "10 MB/s"),
    "mirrored": ("gpfs", WRITE, {"mirror_rate": "10 MB/s"}, True),
    "mirror_rate": ("gpfs", WRITE, {"mirrored": True}, "10 MB/s"),
    "controllers": ("gpfs", READ, {"read": "10 MB/s"}, 1),
    "cache": ("nfs", STREAMS, {"read": "100 MB/s", "positioning": "1 s"}, "100 GiB"),
    "positioning": ("nfs", STREAMS, {"read": "100 MB/s"}, "1 s"),
    "failed": ("gpfs", READ, {"rate": "10 MB/s", "count": 4}, 1),
    "metadata": ("gpfs", RM, {}, {"remove": "2 ops/s"}),
}
IN_METADATA: dict[str, tuple[str, Any, dict[str, Any], Any]] = {
    "count": ("gpfs", RM, {"remove": "2 ops/s"}, 2),
    "create": ("gpfs", TAR, {}, "2 ops/s"),
    "stat": ("gpfs", TAR, {}, "2 ops/s"),
    "remove": ("gpfs", RM, {}, "2 ops/s"),
    "striped": ("gpfs", RM, {"remove": "2 ops/s", "count": 16}, True),
}


@pytest.mark.parametrize("field", list(IN_SERVERS))
def test_a_parameter_of_the_servers_moves_the_answer(field: str) -> None:
    kind, transfer, base, other = IN_SERVERS[field]
    before, after = (built(kind, (transfer, {"servers": s}, None), {}) for s in (base, {**base, field: other}))
    assert rate(after) != pytest.approx(rate(before), rel=1e-4)


@pytest.mark.parametrize("field", list(IN_METADATA))
def test_a_parameter_of_the_metadata_servers_moves_the_answer(field: str) -> None:
    kind, transfer, base, other = IN_METADATA[field]
    before, after = (
        built(kind, (transfer, {"servers": {"metadata": m}}, None), {}) for m in (base, {**base, field: other})
    )
    assert rate(after) != pytest.approx(rate(before), rel=1e-4)


def test_every_parameter_of_the_servers_is_tried() -> None:
    assert set(Servers.model_fields) == set(IN_SERVERS)
    assert set(MetadataServers.model_fields) == set(IN_METADATA)
