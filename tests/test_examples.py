"""The example paths: what an engineer would check on their predictions. There is no measurement to match."""

import functools
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from dtnsim import predict
from dtnsim.description import spec
from dtnsim.ground import library, units
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.term import without_words
from tests.each import cases, tables

NAMES = sorted(n for n in library.names("paths") if n.startswith("examples/"))
#: payload of a frame on the wire, MTU 9000 and 1500 with time stamps
JUMBO, PLAIN = 8948 / 9038, 1448 / 1538


@functools.cache
def rate(name: str, *overrides: str) -> float:
    with without_words():
        return predict(f"examples/{name}", samples=0, overrides=overrides).throughput_Bps.p50


def numbers(model: Any, key: str = "") -> Iterator[tuple[str, Quantity]]:
    if isinstance(model, Quantity):
        yield key, model
    elif isinstance(model, BaseModel):
        for name in type(model).model_fields:
            yield from numbers(getattr(model, name), f"{key}.{name}")
    elif isinstance(model, dict):
        for name, value in model.items():
            yield from numbers(value, f"{key}.{name}")
    elif isinstance(model, list | tuple):
        for number, value in enumerate(model):
            yield from numbers(value, f"{key}.{number}")


def test_the_paths_that_planners_ask_for_are_there() -> None:
    assert {n.removeprefix("examples/") for n in NAMES} >= {
        "dtn-100g-zfs", "dtn-100g-xfs", "dtn-400g", "lustre-cluster-globus", "campus-25g-firewall", "cloud-policed-10g",
        "lab-nas-nconnect", "lustre-1-client", "lustre-4-clients", "lustre-16-clients",
        "gpfs-1-client", "gpfs-4-clients", "gpfs-16-clients", "beegfs-scratch", "ceph-to-ceph",
        "smb-workstation", "s3-upload-nas",
        "small-files-40ms", "one-large-file", "nightly-sync", "nas-24-disks-1-reader", "nas-24-disks-16-writers",
        "nvme-dtn-local", "tape-recall", "cloud-to-campus", "rdma-100g",
        "nvme-of-100g", "iscsi-100g", "luks-lvm", "luks-one-request", "smb-on-zfs",
        "xrootd-site", "md-two-sockets", "rbd-volume", "ceph-on-its-own-nodes",
        "btrfs-compressed", "tmpfs-program", "vast-400g",
        "weka-dual-100g", "parallelstore-12tib",
        "dpu-encrypted", "qat-encrypted",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_a_source(name: str) -> None:
    for key, quantity in numbers(spec.load(name)):
        assert len(quantity.source) > 8, key
        if quantity.source.startswith("assumed") and ".facts." not in key:  # facts move no answer
            assert quantity.spread > 0, f"{name}{key}: {quantity} is assumed, so it needs a spread"


@pytest.mark.parametrize("name", NAMES)
def test_a_prediction_has_an_interval_and_a_ladder_with_remedies(name: str) -> None:
    answer = predict(name, samples=16)
    i = answer.throughput_Bps
    assert 0 < i.p10 < i.p50 <= i.p90
    for transfer in answer.transfers:
        # a program that reads from memory meets core and memory alone
        assert len(transfer.ladder) >= (4 if "program" in name else 5)
        assert all(a.throughput_Bps <= b.throughput_Bps * (1 + 1e-9) for a, b in pairwise(transfer.ladder))
        assert [rung.station for rung in transfer.ladder if not rung.remedy] == []
    assert all(u.utilization <= 1 + 1e-9 for u in answer.stations)


# -- 100 and 400 GbE ------------------------------------------------------------------------------
def test_pages_of_4_kib_are_written_back_by_one_core() -> None:
    """0.65 cycles a byte of one thread (Solidigm, KA-01862): less than a port of 100 Gb/s before Linux 6.6."""
    answer = predict("examples/dtn-100g-xfs", samples=0, overrides=("hosts.west.stack.kernel=5.15",))
    assert answer.bottleneck.station == "west.xfs.write-back"
    assert answer.throughput_Bps.p50 < 7.5e9


@pytest.mark.parametrize("pool", ["zfs", "xfs"])
def test_a_100g_dtn_fills_what_the_network_leaves(pool: str) -> None:
    answer = predict(f"examples/dtn-100g-{pool}", samples=0)
    assert answer.bottleneck.kind in ("tcp", "network")
    link = 12.5e9 * 0.9 * JUMBO  # a tenth is others' traffic
    # 100 files on 16 workers: in the last of seven rounds 12 workers have no file, and a worker's streams cannot open
    # up at once to what the others leave
    assert 100 / 112 * link <= answer.throughput_Bps.p50 <= link


def test_mirrors_write_twice_and_parity_a_third_more() -> None:
    """Eight drives of 3.5 GB/s: RAID10 keeps 14 GB/s, two raidz1 of four at most 21 GB/s."""
    quiet = ("wan.background.share=0", "wan.bandwidth=800 Gb/s")
    nics = tuple(f"hosts.{h}.nic.rate=400 Gb/s" for h in ("east", "west"))
    slots = tuple(f"hosts.{h}.slots.eth.lanes=32" for h in ("east", "west"))
    answer = predict("examples/dtn-100g-xfs", samples=0, overrides=(*quiet, *nics, *slots))
    assert answer.throughput_Bps.p50 == pytest.approx(8 * 3.5e9 / 2, rel=0.01)
    assert "xfs.ssds" in answer.bottleneck.station
    zfs = predict("examples/dtn-100g-zfs", samples=0)
    (drives,) = [u for u in zfs.stations if u.station.name == "west.zfs.ssds"]
    # 1 MiB in sectors of 4 KiB: 256 data, 86 parity sectors, a pad: 342 to 344 of 256 (OpenZFS, RAIDZ)
    assert drives.demand_per_byte == pytest.approx(342 / 256, rel=0.01)


def test_untuned_buffers_hold_a_long_path_to_a_window_a_round_trip() -> None:
    """Linux before 6.6 (6 MiB, of which half is window; 4 MiB to send): 32 x 3 MiB over 70 ms, 11.5 Gb/s at most."""
    kernels = [f"hosts.{h}.stack.kernel=5.15" for h in ("east", "west")]
    defaults = [f"hosts.{h}.tcp.{k}" for h in ("east", "west") for k in ("rmem_max=6 MiB", "wmem_max=4 MiB")]
    most = 32 * 3 * 2**20 / 0.070
    assert 100 / 112 * most <= rate("dtn-100g-zfs", *kernels, *defaults) <= most  # rounds of files as above


def test_400g_needs_gen_5_and_half_of_the_memory() -> None:
    answer = predict("examples/dtn-400g", samples=0)
    use = {u.station.name: u.utilization for u in answer.stations}
    assert use["left.memory"] > 0.5  # five crossings of 45 GB/s on twelve channels of DDR5-4800
    # a gen-4 slot carries half: 64 GB/s raw less headers, 208 to 220 Gb/s of payload (pcie-bench model)
    old = predict("examples/dtn-400g", samples=0, overrides=["hosts.right.slots.eth.generation=4"])
    assert 200e9 < 8 * old.throughput_Bps.p50 < 222e9
    assert "slot-eth" in old.bottleneck.station


# -- Lustre cluster -------------------------------------------------------------------------------
def test_four_pairs_share_the_way_and_the_file_systems() -> None:
    answer = predict("examples/lustre-cluster-globus", samples=0)
    assert len(answer.transfers) == 4
    names = [u.station.name for u in answer.stations]
    assert names.count("lustre-a.targets") == names.count("lustre-b.targets") == 1
    assert names.count("network.wan") == 1
    each = [t.throughput_Bps.p50 for t in answer.transfers]
    assert each == pytest.approx([each[0]] * 4)
    assert sum(each) < 12.5e9 * 0.8 * JUMBO


def test_verification_costs_more_than_the_transfer() -> None:
    """MD5 of two files at once: 2 x 3.6 GHz / 4.5 cycles; serial with the transfer of the same file."""
    with_ = predict("examples/lustre-cluster-globus", samples=0)
    assert "checksum" in with_.bottleneck.station
    off = [f"transfers.{p}.tool.verify=false" for p in ("pair1", "pair2", "pair3", "pair4")]
    assert rate("lustre-cluster-globus", *off) > 1.5 * with_.throughput_Bps.p50


def test_a_busy_lustre_holds_all_pairs_together() -> None:
    hosts = [f"{site}{n}" for site in "ab" for n in range(1, 5)]
    busy = [f"hosts.{h}.volumes./lustre.filesystem.share=0.02" for h in hosts]
    answer = predict("examples/lustre-cluster-globus", samples=0, overrides=busy)
    # eight files of four stripes on 64 targets meet 26 of them on average; of each a fiftieth of 4 GB/s is left
    used = 64 * (1 - (1 - 4 / 64) ** 8)
    left = used * 4e9 * 0.02
    # each byte is read once: a chunk is verified from memory as soon as it has been moved
    assert answer.throughput_Bps.p50 == pytest.approx(left, rel=0.1)
    assert answer.bottleneck.station.startswith("lustre-")


# -- campus firewall ------------------------------------------------------------------------------
def cubic_at_random_loss(loss: float, rtt: float) -> float:
    """Mean window [segments] of RFC 9438's curve, C = 0.4 and beta = 0.7, from one random loss to the next."""
    random = np.random.default_rng(1)
    top, at_loss = np.full(64, 500.0), np.full(64, 350.0)
    age, window = np.zeros(64), at_loss.copy()
    left, held = random.exponential(1 / loss, 64), []
    for step in range(10_000):  # of a round trip each
        age += rtt
        window = np.maximum(0.4 * (age - np.cbrt(0.3 * top / 0.4)) ** 3 + top, at_loss + 8 / 15 * age / rtt)
        left -= window
        lost = left < 0
        fallen = np.where(window < top, 0.85 * window, window)  # fast convergence
        top, at_loss = np.where(lost, fallen, top), np.where(lost, 0.7 * window, at_loss)
        age, left = np.where(lost, 0.0, age), np.where(lost, random.exponential(1 / loss, 64), left)
        if step > 2_000:
            held.append(window.mean())
    return float(np.mean(held))


def test_loss_holds_a_campus_server_and_then_the_firewall() -> None:
    answer = predict("examples/campus-25g-firewall", samples=0)
    assert "loss-limited" in answer.bottleneck.reason
    # CUBIC at 1e-5 over 30 ms: 427 segments where losses come at even distances, 490 where they are random
    stream = cubic_at_random_loss(1e-5, 0.030) * 1448 / 0.030
    (tcp,) = [u.station.capacity for u in answer.stations if u.station.kind == "tcp"]
    assert tcp == pytest.approx(2 * 4 * stream, rel=0.05)  # Globus' network use: two files, four streams each
    clean = predict("examples/campus-25g-firewall", samples=0, overrides=["wan.0.loss=0"])
    assert clean.throughput_Bps.p50 > 2 * answer.throughput_Bps.p50
    assert clean.throughput_Bps.p50 < 10e9 / 8 * PLAIN


def test_a_science_dmz_helps_a_campus_server() -> None:
    """The same machine before the firewall, jumbo frames, a tuned host, no loss."""
    behind = rate("campus-25g-firewall", "transfer.tool.verify=false")
    tuned = [f"hosts.campus.tcp.{k}=256 MiB" for k in ("rmem_max", "wmem_max")]
    dmz = ["wan.0.firewall=", "wan.0.loss=0", "wan.0.mtu=9000 B", "hosts.campus.nic.mtu=9000 B", *tuned]
    before = rate("campus-25g-firewall", "transfer.tool.verify=false", *dmz)
    assert before > 4 * behind
    assert before == pytest.approx(25e9 / 8 * JUMBO, rel=0.05)


# -- policer --------------------------------------------------------------------------------------
def test_a_policed_path_gives_a_stream_less_than_it_is_sold_for() -> None:
    memory = ["transfer.from=site:memory", "transfer.to=cloud:memory", "hosts.cloud.tcp.rmem_max=1 GiB"]
    stream = [*memory, "transfer.tool={name: iperf3, P: 1}"]
    one = predict("examples/cloud-policed-10g", samples=0, overrides=stream)
    assert one.bottleneck.kind == "policer"
    assert one.throughput_Bps.p50 == pytest.approx(0.85 * 1.25e9 * 1448 / 1500, rel=0.01)  # CUBIC keeps 0.7
    many = predict("examples/cloud-policed-10g", samples=0)
    assert 0.9 * 1.25e9 < many.throughput_Bps.p50 < 1.25e9 * 1448 / 1500
    assert rate("cloud-policed-10g", *stream, "wan.1.policer.action=shape") > 1.1 * one.throughput_Bps.p50


# -- NAS ------------------------------------------------------------------------------------------
def test_more_connections_help_a_nas_until_something_else_binds() -> None:
    mount, slow = "hosts.ws.volumes./nas.filesystem", "rpc_byte=2 cycles/B"  # of one connection to an appliance
    rates = [rate("lab-nas-nconnect", f"{mount}.nconnect={n}", f"{mount}.{slow}") for n in (1, 2, 4, 8, 16)]
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(rates))
    assert rates[0] < 0.95 * rates[-1]
    assert rates[-1] == pytest.approx(rates[-2], rel=0.01)


def test_the_usual_read_ahead_starves_a_reader() -> None:
    """Two windows of 128 KiB under way over 0.15 ms, the server's 46 us and the wire: 1.1 GB/s of a 25 GbE port.

    The next window is asked for on entering one, arrived or not (Linux mm/readahead.c, "readahead pipelining").
    """
    reading = ["transfer.from=ws:/nas", "transfer.to=ws:/scratch", "transfer.tool.sync=false"]
    usual = rate("lab-nas-nconnect", *reading, "hosts.ws.volumes./nas.filesystem.read_ahead=128 KiB")
    assert usual == pytest.approx(
        2 * 128 * 1024 / (0.15e-3 + 20e-6 + 128 * 1024 * (0.2e-9 + 8 / (25e9 * JUMBO))), rel=0.01
    )
    assert rate("lab-nas-nconnect", *reading) > 1.5 * usual


def test_more_memory_is_slower_only_by_what_gathers_in_it() -> None:
    """Write-back begins at a part of the memory (vm.dirty_background_ratio), so that more is left for the sync.

    Limits in bytes let no more gather, however large the memory.
    """
    fixed = ["hosts.ws.vm.dirty_background_bytes=200 MB", "hosts.ws.vm.dirty_bytes=1 GB"]
    doubled = "hosts.ws.memory.size=256 GiB"
    assert rate("lab-nas-nconnect", doubled) < 0.9 * rate("lab-nas-nconnect")
    assert rate("lab-nas-nconnect", *fixed, doubled) == pytest.approx(rate("lab-nas-nconnect", *fixed))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_more_delay_never_helps(name: str) -> None:
    if not spec.load(name).wan:
        pytest.skip("no network between")
    key = "wan.0.rtt" if isinstance(spec.load(name).wan, list) and len(spec.load(name).wan) > 1 else "wan.rtt"
    rates = [predict(name, samples=0, overrides=[f"{key}={t} ms"]).throughput_Bps.p50 for t in (0.1, 5, 50, 200)]
    assert all(a >= b * (1 - 1e-9) for a, b in pairwise(rates)), np.array(rates)


@cases("name, sets, published, within", tables("examples")["published"])
def test_a_rate_is_of_the_published_order(name: str, sets: list[str], published: Any, within: float) -> None:
    given = published if isinstance(published, list) else [published] * 2
    low, high = (units.parse(each, "B/s") for each in given)
    down, up = (1 / within, within) if within > 1 else (1 - within, 1 + within)
    assert low * down < rate(name, *sets) < high * up


@pytest.mark.parametrize("kind", ["lustre", "gpfs"])
def test_clients_of_a_file_system_share_it(kind: str) -> None:
    one, four, sixteen = (rate(f"{kind}-{n}-client{'s' if n > 1 else ''}") for n in (1, 4, 16))
    assert one < four <= sixteen <= 16 * one


@pytest.mark.parametrize("kind", ["reader", "writer"])
def test_a_nas_of_24_disks_is_of_the_published_order_however_many_use_it(kind: str) -> None:
    """Twice or thrice what disks of 4 TB gave (calomel.org: 0.43 to 1.38 GB/s), below the platters' 20 x 255 MB/s."""
    rates = [rate(f"nas-24-disks-{n}-{kind}{'s' if n > 1 else ''}") for n in (1, 4, 16)]
    assert all(1e9 < r < 0.8 * 20 * 255e6 for r in rates)
    assert rates[1] <= rates[2] <= rates[0] * 1.001  # turns cost something; swept, more of them cost less
    assert rates[2] > 0.7 * rates[0]


def test_small_prefetch_holds_readers_of_many_disks() -> None:
    """8 MiB before release 2.1: 400 KiB for each of 20 data disks."""
    old = "hosts.nas.volumes./pool.filesystem.version=0.8"
    one, four = rate("nas-24-disks-1-reader", old), rate("nas-24-disks-4-readers", old)
    assert four < one < 0.5 * rate("nas-24-disks-1-reader")
    assert 0.5e9 < four < 1.5e9


def test_a_tape_recall_is_of_the_published_order() -> None:
    """360 MB/s a drive once it streams (CTA, EPJ 251:02037): eight drives with locates in order and few mounts."""
    recalled = predict("examples/tape-recall", samples=0)
    assert recalled.bottleneck.station == "archive.tape.tape-drives"
    assert 0.5 * 8 * 360e6 < recalled.throughput_Bps.p50 < 8 * 360e6
    # asked for file by file in any order, each file costs a locate of 45 s
    key = "hosts.archive.volumes./tape.filesystem"
    assert rate("tape-recall", f"{key}.rao=false") < 0.45 * recalled.throughput_Bps.p50
    assert rate("tape-recall", f"{key}.staged=100 %") > 2 * recalled.throughput_Bps.p50


def test_rdma_is_of_the_published_order() -> None:
    """97 Gb/s of 100 in messages of 64 KiB (ConnectX-4, SN2700); two rails carry twice that."""
    one = predict("examples/rdma-100g", samples=0)
    assert one.throughput_Bps.p50 * 8 == pytest.approx(97e9, rel=0.02)
    cpu = {u.station.name: u.utilization for u in one.stations}["a.cpu"]
    assert cpu < 0.01
    rails = [f"hosts.{h}.nics.eth.{k}" for h in "ab" for k in ("ports=2", "bonding=application", "more_slots=[spare]")]
    both = rate("rdma-100g", *rails, "transfer.tool.qps=2", "wan.bandwidth=400 Gb/s")
    assert both == pytest.approx(2 * one.throughput_Bps.p50, rel=0.01)
    # over 50 ms 128 work requests of 64 KiB are 1.3 Gb/s; 1 MiB each fill what there is
    far = rate("rdma-100g", "wan.rtt=50 ms")
    assert far * 8 == pytest.approx(128 * 65536 * 8 / 0.050, rel=0.01)
    assert rate("rdma-100g", "wan.rtt=50 ms", "transfer.tool.size=1 MiB", "transfer.tool.qps=8") > 8 * far


def test_one_session_of_the_kernel_s_iscsi_is_a_core() -> None:
    """2 to 6 GB/s a core."""
    lun = "hosts.dtn.volumes./lun.array"
    one = predict("examples/iscsi-100g", samples=0, overrides=[f"{lun}.transport=tcp", f"{lun}.connections=1"])
    assert "lun.connections" in one.bottleneck.station
    assert 2e9 < one.throughput_Bps.p50 < 6e9


def test_encryption_is_of_the_published_order() -> None:
    """Small writes that are alone wait for the work queues (LKML, July 2020); dd meets its own core, not the cipher."""
    array, plain = "hosts.ws.volumes./scratch.array", "hosts.ws.volumes./scratch.array.of=micron-7450"
    small = ("transfer.tool={name: dd, bs: 4 KiB, oflag: direct}",)
    queued, bare = rate("luks-lvm", *small), rate("luks-lvm", *small, plain)
    inline = rate("luks-lvm", *small, f"{array}.of.workqueue=false")
    assert queued < bare / 4  # 20 us alone, some 110 with the queues
    assert 0.6 < inline / bare < 0.9
    assert rate("luks-lvm") == pytest.approx(rate("luks-lvm", plain), rel=0.02)


def test_a_small_cluster_is_as_fast_as_its_processors() -> None:
    name = "ceph-on-its-own-nodes"
    assert "hosts.node.cpu" in predict(f"examples/{name}", samples=0).bottleneck.remedy
    assert rate(name, "hosts.node.volumes./rbd.array.hyperconverged=false") > 1.2 * rate(name)


@pytest.mark.parametrize(
    ("compress", "ratio", "written", "read"),
    [("none", 1, 504, 686), ("lzo", 1.66, 398, 442), ("zstd", 2.57, 260, 383), ("zlib", 2.58, 65, 241)],
)
def test_btrfs_is_of_the_published_order(compress: str, ratio: float, written: float, read: float) -> None:
    """Linux commit 5c1aab1dd544 [MB/s]: within a factor of 2.3, since clock and drive of that laptop are guesses."""
    key = "hosts.vm.volumes./btrfs.filesystem"
    how = (f"{key}.compress={compress}", f"{key}.ratio={ratio}")
    back = ("transfer.from=vm:/btrfs", "transfer.to=vm:/dev/null", "transfer.tool=tar")
    for made, measured in ((rate("btrfs-compressed", *how), written), (rate("btrfs-compressed", *how, *back), read)):
        assert 1 / 2.3 < made / 1e6 / measured < 2.3


def test_parallelstore_is_of_the_published_order() -> None:
    """12 TiB of 1.15 and 0.5 GiB/s, 30,000 and 10,000 requests, 0.3 ms; docs.daos.io: dfuse 1.9 GB/s a node."""
    name, small = "parallelstore-12tib", ("bs=4 KiB", "numjobs=64", "iodepth=32")

    def moved(*given: str, library: str = "ioil") -> float:
        mount = f"hosts.vm.volumes./store.filesystem.library={library}"
        return rate(name, mount, *(f"transfer.tool.{one}" for one in given))

    assert moved() == pytest.approx(13.8 * 2**30, rel=0.1)
    assert moved("rw=write") == pytest.approx(6 * 2**30, rel=0.1)
    assert moved("rw=randread", *small) / 4096 == pytest.approx(360e3, rel=0.1)
    assert moved("rw=randwrite", *small) / 4096 == pytest.approx(120e3, rel=0.1)
    assert 4096 / moved("rw=randread", "bs=4 KiB", "numjobs=1", "iodepth=1") == pytest.approx(0.3e-3, rel=0.1)
    assert 1e9 < moved("numjobs=10", library="none") < 3e9


_WEKA = "hosts.client.volumes./weka.filesystem"
_ON_AWS = (
    "hosts.client.cpu.cores=18", "hosts.client.cpu.clock=3.4 GHz", f"{_WEKA}.num_cores=4", f"{_WEKA}.compute=4",
    f"{_WEKA}.drives=4", f"{_WEKA}.servers.port_rate=50 Gb/s", f"{_WEKA}.servers.ports=1",
    "hosts.client.nics.eth0.rate=50 Gb/s", "hosts.client.nics.eth1.rate=50 Gb/s",
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "large", "small", "alone_us"),
    [((), (21.4, 17.2), (563_667, 378_667), (145, 107)), (_ON_AWS, (8.9, 9.4), (393_333, 302_333), (272, 298))],
    ids=["supermicro", "aws"],
)
def test_a_weka_client_is_of_the_published_order(
    changes: tuple[str, ...], large: tuple[float, float], small: tuple[int, int], alone_us: tuple[float, float]
) -> None:
    """docs.weka.io, single client, GiB/s, requests of 4 KiB a second, microseconds; costs lie between both clients."""

    def moved(*given: str) -> float:
        return rate("weka-dual-100g", *changes, *(f"transfer.tool.{one}" for one in given))

    for number, way in enumerate(("read", "write")):
        assert moved(f"rw={way}") == pytest.approx(large[number] * 2**30, rel=0.4)
        many = moved(f"rw=rand{way}", "bs=4 KiB", "numjobs=64", "iodepth=8")
        assert many == pytest.approx(small[number] * 4096, rel=0.15)
        one = moved(f"rw=rand{way}", "bs=4 KiB", "numjobs=1")
        assert 0.5 < 4096 / one * 1e6 / alone_us[number] < 2


@pytest.mark.parametrize(("name", "low", "high"), [("dpu-encrypted", 85, 100), ("qat-encrypted", 40, 50)])
def test_cards_cipher_at_the_rate_they_are_sold_with(name: str, low: float, high: float) -> None:
    """BlueField-2: its ports' 100 Gb/s, of which the path leaves 90 %; QAT 8950: 50 Gb/s [Gb/s]."""
    answer = predict(f"examples/{name}", samples=0)
    assert low <= answer.throughput_Bps.p50 * 8 / 1e9 <= high * (1 + 1e-9)
    work = {u.station.name: u.utilization for u in answer.stations}
    bare = [f"hosts.{h}.devices={{}}" for h in "ab"]
    without = {u.station.name: u for u in predict(f"examples/{name}", samples=0, overrides=bare).stations}
    (busy,) = [u for n, u in without.items() if n.startswith("a.cpu.gridftp sender")]
    (less,) = [w for n, w in work.items() if n.startswith("a.cpu.gridftp sender")]
    assert less < busy.utilization
