"""Whole paths over NFS: read-ahead, slots, close-to-open, what a page cache does before the server sees a byte."""

from typing import Any

import pytest

from dtnsim import Prediction, predict
from tests.lab import volume
from tests.strategies import load

#: framing of MTU 9000 with time stamps
MSS, WIRE = 8948.0, 9038.0


def answer(
    mount: dict[str, Any],
    tool: dict[str, Any],
    *,
    write: bool,
    size: str = "1 TB",
    files: int = 1,
    null: bool = False,
    stack: str = "linux-modern",
    **wan: Any,
) -> Prediction:
    host = {
        "cpu": {"kind": "cpu", "cores": 64, "clock": "5 GHz"},
        "memory": {"kind": "memory", "channels": 16, "rate": "5000 MT/s", "size": "100 GiB"},
        "nic": {"kind": "nic", "rate": "100 Gb/s", "mtu": "9000 B"},
        "tcp": {"rmem_max": "2 GiB", "wmem_max": "2 GiB"},
        "stack": stack,
    }
    disk = {"kind": "ssd", "read": "200 MB/s", "write": "200 MB/s", "link": "20 GB/s"}
    mount = {"kind": "nfs", "service": "0 s", "op_time": "0 s", **mount}
    client = {**host, "volumes": {
        "/nfs": {"filesystem": mount, "server": "s:/export"},
        "/disk": {"filesystem": {"kind": "xfs", "op_time": "0 s"}, "array": disk},
    }}  # fmt: skip
    server = {**host, "volumes": {"/export": volume()}}
    path = {
        "name": "nfs",
        "hosts": {"c": client, "s": server},
        "wan": {"bandwidth": "100 Gb/s", "rtt": "10 ms", **wan},
        "transfer": {
            "from": "c:/disk" if write else "c:/nfs",
            "to": "c:/dev/null" if null else "c:/nfs" if write else "c:/disk",
            "tool": tool,
            "dataset": {"files": files, "size": size},
        },
    }
    return predict(load(path), samples=0)


def test_close_sends_what_the_cache_took() -> None:
    """A file below the dirty limits is read first and sent at close: 1/X = 1/disk + 1/network."""
    slots = {"wsize": "1 MiB", "slots": "1"}  # 1 MiB a round trip of 10 ms: 105 MB/s
    plain = answer(slots, {"name": "cp"}, write=True, size="2 GB").throughput_Bps.p50
    assert 1 / plain == pytest.approx(1 / 200e6 + 0.010 / 2**20, rel=0.02)
    synced = answer(slots, {"name": "cp", "sync": True}, write=True, size="2 GB").throughput_Bps.p50
    assert synced == pytest.approx(plain, rel=1e-9)  # nfs(5): close has done what sync would


def test_write_back_begins_after_thirty_seconds() -> None:
    """vm.dirty_expire_centisecs = 3000: 10 % of 100 GiB would take 54 s at 200 MB/s, the pages' age comes first."""
    slots = {"wsize": "1 MiB", "slots": "1"}
    seconds = answer(slots, {"name": "cp", "sync": True}, write=True, size="100 GB").duration_s.p50
    assert seconds == pytest.approx(30 + 100e9 * 0.010 / 2**20, rel=0.01)


def test_answers_to_a_read_ahead_overflow_a_small_firewall() -> None:
    """The server answers 15 requests at line rate: what the buffer takes travels each round trip, less the sawtooth."""
    wall = {"engine": "1 Gb/s", "buffer": "128 KiB"}
    got = answer({"rsize": "64 KiB"}, {"name": "cp"}, write=False, stack="linux-3.10", firewall=wall)
    fit = 128 * 1024 / (1 - 1 / 100)
    assert got.bottleneck.kind == "firewall"
    assert got.throughput_Bps.p50 == pytest.approx(0.85 * fit / 0.010 * MSS / WIRE, rel=1e-3)
    # what the client writes is a bulk stream: trains of 64 KiB fit, and the engine decides
    out = answer({"wsize": "64 KiB"}, {"name": "cp"}, write=True, firewall=wall, size="100 GB")
    assert out.throughput_Bps.p50 > 6 * got.throughput_Bps.p50


def test_each_file_is_flushed_before_the_next_is_begun() -> None:
    """Ten files of 2 GB take ten times as long as one: close waits, and a process has one file open."""
    slots = {"wsize": "1 MiB", "slots": "1"}
    one = answer(slots, {"name": "cp"}, write=True, size="2 GB").duration_s.p50
    ten = answer(slots, {"name": "cp"}, write=True, files=10, size="20 GB").duration_s.p50
    assert ten == pytest.approx(10 * one, rel=1e-6)


def test_one_connection_is_one_core() -> None:
    """Clock over what requests (0.6, and 24,000 cycles each) and TCP (0.44) cost a byte; eight fill the link."""
    quick = {"rsize": "1 MiB", "read_ahead": "1 GiB", "slots": "10000"}
    rates = []
    for connections in (1, 8):
        mount, dd = {**quick, "nconnect": connections}, {"name": "dd", "bs": "1 MiB"}
        rates.append(answer(mount, dd, write=False, null=True, rtt="0.1 ms").throughput_Bps.p50)
    assert rates[0] == pytest.approx(5e9 / (0.6 + 24e3 / 2**20 + 0.44), rel=0.01)
    assert rates[1] == pytest.approx(12.5e9 * MSS / WIRE, rel=0.01)


@pytest.mark.parametrize(("file_B", "requests"), [(10_000, 1), (3 * 2**16, 3)])
def test_a_connection_pays_for_every_request_of_a_file(file_B: int, requests: int) -> None:
    """The name, each READ, which holds no more than a file (RFC 1813, section 3.3.6), and the close."""
    mount = {"warm": True, "rsize": "64 KiB", "call": "1000000 cycles", "service_byte": "0 s/B"}
    size = f"{1000 * file_B} B"
    got = answer(mount, {"name": "program"}, write=False, null=True, files=1000, size=size, rtt="1 ns")
    least = 1000 * (2 + requests) * 1e6 / 5e9
    assert got.bottleneck.station.startswith("c.cpu.kernel NFS")
    assert got.duration_s.p50 == pytest.approx(least, rel=0.05)
