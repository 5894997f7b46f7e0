"""Layers over block devices (device_mapper: dm-crypt, lvm; linux_md), devices behind a network (remote_block; rbd)."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.ground.errors import SpecError
from dtnsim.physics import md
from tests import lab
from tests.each import cases, rows, tables
from tests.lab import (
    FREE,
    KiB,
    MiB,
    access,
    all_tried,
    device,
    expect,
    journey,
    machine,
    moves,
    of_path,
    problem,
    served,
    sheet,
    volume,
)

GIVEN = rows("components/layers", "given")

SSD, DISK = (GIVEN[name] for name in ("SSD", "DISK"))
TCP = {**FREE, "receive_byte": "0.6 cycles/B", "send_byte": "0.4 cycles/B"}
CPU = {"kind": "cpu", "cores": 16, "clock": "3 GHz"}

READ, WRITE = (GIVEN[name] for name in ("READ", "WRITE"))
ALONE = ({"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True}, "a:/d", "a:/d")
WAITS = GIVEN["WAITS"]


def path(array: dict[str, Any], load: Any, nic: dict[str, Any] | None = None, **host: Any) -> dict[str, Any]:
    card = nic or {"kind": "nic", "rate": "1 Tb/s", "mtu": "9000 B"}
    made = machine(nics={"st": card}, volumes={"/d": volume(array, via=["st"])}, **{"cpu": CPU, "stack": TCP, **host})
    del made["nic"]
    tool, start, to = load
    return journey(made, start=start, to=to, tool=tool, dataset={"files": 8, "size": "1 TB"})


def rate(*given: Any, **more: Any) -> float:
    return lab.rate(path(*given, **more))


def test_a_target_is_reached_through_the_only_card() -> None:
    """Nothing has to be named where there is no choice; of two cards each could be it, and the file has to say."""
    made = path({"kind": "iscsi", "of": SSD}, READ, {"kind": "nic", "rate": "1 Gb/s"})
    named = lab.rate(made)
    assert named < 125e6
    volumes = made["hosts"]["a"]["volumes"]
    del volumes["/d"]["via"]
    assert lab.rate(made) == pytest.approx(named)


# -- dm-crypt -------------------------------------------------------------------------------------
CRYPT, MIRROR, MD = (GIVEN[name] for name in ("CRYPT", "MIRROR", "MD"))


@pytest.mark.parametrize(("array", "threads"), rows("components/layers", "md_below_a_layer_has_its_parity_threads"))
def test_md_below_a_layer_has_its_parity_threads(array: dict[str, Any], threads: int) -> None:
    """A thread does 3 GHz / 2 cycles a byte, whatever lies over the array."""
    found = sheet(problem(path(array, WRITE)))
    rates = [found.rate("d.raid5d") for name in found.stations if name.endswith("raid5d")]
    assert rates == ([pytest.approx(threads * 1.5e9)] if threads else [])


CHARGES = {f"{of}: {name}": row for of in ("cipher", "remote block", "rbd")
           for name, row in rows("components/layers", f"what a {of} charges").items()}  # fmt: skip


@cases("array, load, what, expected", CHARGES)
def test_what_a_layer_charges(array: dict[str, Any], load: Any, what: str, expected: float) -> None:
    assert sheet(problem(path(array, load))).figure(what) == pytest.approx(expected)


@cases("given, figures", tables("components/layers")["what_layers_give"])
def test_what_layers_give(given: dict[str, Any], figures: dict[str, Any]) -> None:
    expect(of_path(path(**given)), figures)


def test_work_queues_cost_small_requests_most_of_their_rate() -> None:
    """RAM disk, 4 KiB, one at a time, null cipher (LKML, July 2020): 533 MB/s raw, 84.5 queued, 309 inline."""
    raw = {**SSD, "latency_read": "10.8 us", "latency_write": "10.7 us", "read": "90 GB/s", "write": "90 GB/s"}
    null = {**CRYPT, "of": raw, "cipher": "0 cycles/B"}
    rates = [rate(a, ALONE) / 1e6 for a in (raw, null, {**null, "workqueue": False})]
    assert rates == pytest.approx([533, 84.5, 309], rel=0.06)
    assert rate(null, WAITS) / 1e6 == pytest.approx(42.4, rel=0.06)
    # a hundred requests at once hide the wait
    many = ({**ALONE[0], "numjobs": 16}, *ALONE[1:])
    assert rate(null, many) > 10 * rate(null, ALONE)


def _depth(n: int, rw: str = "read", **tool: Any) -> Any:
    return {"name": "fio", "rw": rw, "bs": "1 MiB", "direct": True, "iodepth": n, "ioengine": "io_uring", **tool}, *(
        ("a:/d", "a:/d") if rw == "read" else ("a:memory", "a:/d")
    )


def test_one_request_waits_for_the_drive_and_then_for_one_core() -> None:
    """1 MiB alone: 80 us, 1 MiB at 3 GB/s, 40 us of queues, 1 MiB at a cycle a byte of 3 GHz (commit 0d815e3400e6)."""
    drive, cipher, waits = MiB / 3e9, MiB / 3e9, 120e-6
    assert rate(CRYPT, _depth(1)) == pytest.approx(MiB / (drive + cipher + waits), rel=0.02)
    split = {**CRYPT, "request": "128 KiB"}
    assert rate(split, _depth(1)) == pytest.approx(MiB / (drive + cipher / 8 + waits), rel=0.02)
    assert rate(CRYPT, _depth(32)) == pytest.approx(3e9, rel=0.02)  # the drive's own rate
    for kernel, same in (("5.8", split), ("5.9", CRYPT), ("6.10", CRYPT), ("6.11", split)):
        assert rate(CRYPT, _depth(1), stack={**TCP, "kernel": kernel}) == pytest.approx(rate(same, _depth(1)))


def test_a_reader_behind_a_cipher_has_two_windows_under_way() -> None:
    """128 KiB (read_ahead_kb) pass 80 us and 3 GB/s, 40 us of queues, and a core of 3 GHz at a cycle a byte.

    From Linux 4.10 on calls of 1 MiB have windows of their own size (commit 9491ae4aade6).
    """
    for kernel, window in (("4.9", 128 * KiB), ("4.10", MiB)):
        waits = 80e-6 + 40e-6 + 2 * window / 3e9
        found = rate({**CRYPT, "request": "1 MiB"}, READ, stack={**TCP, "kernel": kernel})
        assert found == pytest.approx(2 * window / waits, rel=0.02)


@pytest.mark.parametrize(
    ("kernel", "groups", "pools"), [("5.15", 4, 2), ("6.6", 1, 2), ("6.6", 4, 8), ("7.1", 1, 4), ("7.1", 4, 8)]
)
def test_more_encrypted_drives_bring_no_more_small_requests(kernel: str, groups: int, pools: int) -> None:
    """Two sockets of 16 cores: a lock for each socket, cache, or eight cores, however many volumes there are."""
    host = {"cpu": {"kind": "cpu", "sockets": 2, "cores": 16, "clock": "9 GHz", "cache_groups": groups}}
    crypt = {**CRYPT, "queue_rate": "90000 ops/s", "of": {**SSD, "iops_read": "9M IOPS", "read": "90 GB/s"}}
    jobs = {"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True, "ioengine": "io_uring", "iodepth": 64}
    load = ({**jobs, "numjobs": 32}, "a:/d", "a:/d")
    many = {"kind": "raid", "level": 0, "disks": 12, "of": crypt}
    for array in (crypt, many):
        found = rate(array, load, stack={**TCP, "kernel": kernel}, **host)
        assert found == pytest.approx(pools * 90e3 * 4 * KiB, rel=0.02)
    free = rate({**many, "of": {**crypt, "workqueue": False}}, load, stack={**TCP, "kernel": kernel}, **host)
    assert free > 5 * pools * 90e3 * 4 * KiB


#: reads of 4 KiB that one array does a second: RAID 6 of NVMe drives and of RAM disks (Linux commit 97ae27252f49), RAID
#: 10 on Xeons 8380 and on one node of a Kunpeng 920 (commit b9b083f9044a: 7.0 and 6.9 GiB/s); RAM disks without it
LOCKED = [(6, "5.13", 1.6e6), (6, "5.13", 2.0e6), (10, "6.0", 1.835e6), (10, "6.0", 1.809e6), (6, "6.8", 4.0e6)]


@pytest.mark.parametrize(("level", "kernel", "published"), LOCKED)
def test_each_request_took_a_lock_of_its_array(level: int, kernel: str, published: float) -> None:
    fast = {**SSD, "iops_read": "9M IOPS", "read": "90 GB/s"}
    jobs = {"name": "fio", "rw": "randread", "bs": "4 KiB", "direct": True, "ioengine": "io_uring", "iodepth": 256}
    host = {"cpu": {"kind": "cpu", "sockets": 2, "cores": 48, "clock": "9 GHz"}}
    array, load = {"kind": "raid", "level": level, "disks": 8, "of": fast}, ({**jobs, "numjobs": 64}, "a:/d", "a:/d")
    found = rate(array, load, stack={**TCP, "kernel": kernel}, **host)
    assert found / 4096 == pytest.approx(published, rel=0.15)
    assert kernel == "6.8" or rate(array, load, stack={**TCP, "kernel": "6.8"}, **host) > 2 * found
    halves = {"kind": "raid", "level": 0, "disks": 2, "of": {**array, "disks": 4}}
    assert rate(halves, load, stack={**TCP, "kernel": kernel}, **host) == pytest.approx(2 * found, rel=0.01)


@pytest.mark.parametrize(("kernel", "blocks", "gain"), [("5.4", 1, 1 / 1.65), ("6.12", 1, 1.46), ("6.12", 2, 2.12)])
def test_kernels_cipher_at_their_own_pace(kernel: str, blocks: int, gain: float) -> None:
    """Sectors of 512 B on one core: retpolines to 5.11, AVX and VAES from 6.10 on; a cipher that is stated is that."""
    inline, cpu = (
        {"kind": "dm-crypt", "of": {**SSD, "write": "20 GB/s"}, "workqueue": False},
        {**CPU, "aes_blocks": blocks},
    )

    def found(release: str, **more: str) -> float:
        return rate({**inline, **more}, _depth(64, "write"), cpu=cpu, stack={**TCP, "kernel": release})

    assert found(kernel) / found("5.15") == pytest.approx(gain, rel=0.02)
    assert found(kernel, cipher="3 cycles/B") == pytest.approx(found("5.15", cipher="3 cycles/B"))


def test_what_encryption_costs_a_data_centre_drive() -> None:
    """Sovereign Cloud Stack, Performance impact of disk encryption using LUKS: PM983, 67 % at depth 1, 2 % at 32."""
    plain = {**SSD, "read": "3.2 GB/s", "latency_read": "85 us"}  # as the library's PM983
    for depth, lost, within in ((1, 0.67, 0.22), (32, 0.02, 0.03)):
        rates = [rate(a, _depth(depth)) for a in (plain, {"kind": "dm-crypt", "of": plain})]
        assert 1 - rates[1] / rates[0] == pytest.approx(lost, abs=within)


def test_small_writes_wait_for_bits_of_a_bitmap_unless_its_chunks_are_large() -> None:
    """Flush and write past the cache, 0.8 ms each, before nearly every write in parts of 64 MiB, not of 1 GiB."""
    five = {"kind": "raid", "level": 5, "disks": 5, "chunk": "64 KiB", "of": {**SSD, "flush": "0.8 ms"}}
    made = ({"bitmap": False}, {"bitmap": True}, {"bitmap": True, "bitmap_chunk": "1 GiB"})
    paths = [path({**five, **more}, WAITS) for more in made]
    for each in paths:
        each["transfer"]["dataset"] = {"files": 1, "size": "8 TB"}
    none, small, large = (lab.rate(each) for each in paths)
    clear = float(md.bitmap_clear_share(4 * KiB / none, 1.6e-3, 8e12 / 4 / (64 * MiB), 1))
    assert clear > 0.8
    assert small == pytest.approx(4 * KiB / (4 * KiB / none + clear * 1.6e-3), rel=0.03)
    assert large == pytest.approx(none, rel=1e-3)


def test_write_back_to_a_mirror_writes_a_page_of_bits_for_every_thirty_two_blocks() -> None:
    """On both disks, as each block (md-bitmap.c: all dirty pages before a batch)."""
    load = ({**WAITS[0], "numjobs": 8, "direct": False}, *WAITS[1:])
    without, kept = (rate({**MIRROR, "of": DISK, "bitmap": bits}, load) for bits in (False, True))
    assert without / kept == pytest.approx(1 + 1 / 32)


@pytest.mark.parametrize(("kernel", "low", "high"), [("3.10", 35, 60), ("5.15", 40, 70)])
def test_flushes_of_an_old_array_come_one_after_the_other(kernel: str, low: float, high: float) -> None:
    """Ten disks of 7200 rpm in RAID 6, eight threads that write 4 KiB at random: 35 to 41 a second (584acdd49cd2).

    Where flushes overlap (5a409b4f56d5), one for all that wait (2bc13b83e629), two commits of disks' turns hold.
    """
    six = {"kind": "raid", "level": 6, "disks": 10, "chunk": "64 KiB", "of": {**DISK, "rate": "150 MB/s"}}
    load = ({**WAITS[0], "direct": False, "sync": True, "numjobs": 8}, *WAITS[1:])
    assert low < rate(six, load, stack={**TCP, "kernel": kernel}) / (4 * KiB) < high
    one = [rate(six, ({**load[0], "numjobs": 1}, *WAITS[1:]), stack={**TCP, "kernel": k}) for k in (kernel, "5.15")]
    assert one[0] == pytest.approx(one[1])


@cases("more, kernel, has", rows("components/layers", "large_arrays_have_a_bitmap_that_nobody_states"))
def test_large_arrays_have_a_bitmap_that_nobody_states(more: dict[str, Any], kernel: str, has: bool) -> None:
    """mdadm(8): devices of 100G or larger; "automatically enabling write-intent bitmap on large array" (Create.c)."""
    array = {"kind": "raid", "level": 5, "disks": 4, "of": DISK, **more}
    made, stack = (array, {**array, "bitmap": False}), {**TCP, "kernel": kernel}
    rates, large = ([rate(each, load, stack=stack) for each in made] for load in (WAITS, WRITE))
    assert (rates[0] < 0.8 * rates[1]) is has
    assert has or rates[0] == rates[1]
    assert large[0] <= large[1]


def test_large_sectors_of_the_default_cipher() -> None:
    """A byte in sectors of 512 B costs half as much again (systemd issue 24382)."""
    told = ({"kind": "dm-crypt", "of": SSD, "sector": n} for n in ("512 B", "4096 B"))
    slow, fast = (sheet(problem(path(volume, READ))).demand("d.crypt") for volume in told)
    assert slow / fast == pytest.approx(1.5, rel=0.01)


# -- LVM ------------------------------------------------------------------------------------------
def test_a_linear_volume_has_a_file_on_one_drive_and_stripes_on_all() -> None:
    one = access(streams=1)
    linear, striped = (device(kind="lvm", type=t, disks=4, of=SSD) for t in ("linear", "striped"))
    assert served(linear, one).rate("d.ssds") == pytest.approx(3e9)
    assert served(striped, one).rate("d.ssds") == pytest.approx(12e9)
    assert (linear.drives, striped.data_disks) == (4, 4)
    assert served(device(kind="lvm", of=SSD), one).demands == served(device(**SSD), one).demands


def test_a_thin_volume_zeroes_what_small_writes_leave() -> None:
    use = access("write", random=True, block_B=4 * KiB, finish="direct")
    thin = {"kind": "lvm", "thin": True, "of": SSD}
    plain, first, kept = (
        served(device(**made), u).demand("d.ssds")
        for made, u in ((SSD, use), (thin, use), (thin, use.but(rewrite=True)))
    )
    assert first == pytest.approx(16 * plain)
    assert kept == plain
    assert served(device(**{**thin, "zero": False}), use).demand("d.ssds") == plain


def test_chunks_that_alternate_make_disks_position() -> None:
    """Of four volumes filled together the head passes by three chunks; of a hundred it is faster to position."""
    alone, four, many = ({"kind": "lvm", "thin": True, "interleaved": i, "of": DISK} for i in (1, 4, 100))
    rates = [served(device(**made), access()).bound for made in (alone, four, many)]
    assert rates[1] == pytest.approx(rates[0] / 4, rel=0.1)
    assert rates[0] / 100 < rates[2] < rates[1]
    assert served(device(**{**many, "chunksize": "4 MiB"}), access()).bound > 3 * rates[2]


# -- NVMe over Fabrics and iSCSI ------------------------------------------------------------------
FABRIC = GIVEN["FABRIC"]


def test_the_network_adds_to_a_request_alone() -> None:
    """4 KiB one at a time: 80 us at the drive; 15, 32 and 100 us more."""
    local = 1 / rate(SSD, ALONE)
    for kind, transport, us in (("nvme-of", "rdma", 15), ("nvme-of", "tcp", 32), ("iscsi", "tcp", 100)):
        away = 1 / rate({"kind": kind, "of": SSD, "transport": transport}, ALONE)
        assert (away - local) * 4096 == pytest.approx(us * 1e-6, rel=0.02), kind


# -- RBD ------------------------------------------------------------------------------------------
RBD = GIVEN["RBD"]
RELEASES = ("nautilus", "octopus", "pacific")


def test_a_node_reads_its_own_part_without_its_port() -> None:
    """Two thirds come in over the wire; of what is written two thirds go out, and two copies of the other third."""
    sheets = {
        (name, here): sheet(problem(path({**RBD, "hyperconverged": here}, load)))
        for name, load in (("rx", READ), ("tx", WRITE))
        for here in (False, True)
    }
    wires = {key: found.demand(f"st.port0.{key[0]}") for key, found in sheets.items()}
    assert wires["rx", True] / wires["rx", False] == pytest.approx(2 / 3)
    assert wires["tx", True] / wires["tx", False] == pytest.approx(4 / 3)
    assert [sheets["tx", here].demand("d.node-ports") for here in (False, True)] == pytest.approx([3.0, 3.0 - 1 / 3])


@cases("load, release, osds, copies, printed", rows("components/layers", "small_requests_of_flash_as_printed"))
def test_small_requests_of_flash_as_printed(load: Any, release: str, osds: int, copies: int, printed: float) -> None:
    """Micron, Ceph Storage and NVMe SSDs; ceph.io, RocksDB Tuning Deep-Dive (2022), Reef Freeze (2023).

    Writes are within a tenth; reads of one cluster that are printed twice differ by two, and lie about their middle.
    """
    pool = {**RBD, "osds": osds, "replicas": copies, "release": release}
    made = sheet(problem(path(pool, load))).rate("d.osd-requests") / 4096
    assert made == pytest.approx(printed, rel=0.1 if load is WAITS else 0.5)


@cases("load, chart", rows("components/layers", "releases_on_the_same_hardware"))
def test_releases_on_the_same_hardware(load: Any, chart: list[float]) -> None:
    """ceph.io, Reef - 1 or 2 OSDs per NVMe? (2023): one OSD a drive; Nautilus with Micron's Luminous."""
    each = [sheet(problem(path({**RBD, "release": name}, load))).rate("d.osd-requests") for name in RELEASES]
    assert each[1] / each[2] == pytest.approx(chart[1] / chart[2], rel=0.02)
    assert each[0] / each[2] == pytest.approx(chart[0] / chart[2], rel=0.4)


@pytest.mark.parametrize(("load", "given", "seconds"), rows("components/layers", "a_node_works_for_its_own_osds"))
def test_a_node_works_for_its_own_osds(load: Any, given: dict[str, Any], seconds: float) -> None:
    """Time of a core of 3 GHz, the copies too: of three nodes a third is here. What is stated of reads is for all."""
    free = {"receive_byte": "0 cycles/B", "send_byte": "0 cycles/B"}
    pool = {**RBD, "byte": "0 cycles/B", **given}
    apart, here = (
        sheet(problem(path({**pool, "hyperconverged": there}, load, stack={**FREE, **free}))) for there in (False, True)
    )
    assert here.demand("cpu") - apart.demand("cpu") == pytest.approx(seconds * 3e9 / 3, rel=1e-6)


def test_a_reader_has_two_objects_on_their_way() -> None:
    wire = 1 / 12.5e9
    many = sheet(problem(path({**RBD, "osds": 100_000}, READ)))
    assert many.rate("d.in-flight") == pytest.approx(2 * 4 * MiB / (0.25e-3 + 4 * MiB * (1 / 1.5e9 + wire)), rel=1e-4)
    found = sheet(problem(path(RBD, READ)))  # now and then both are on one of 12 OSDs
    assert 0.92 < found.rate("d.in-flight") / many.rate("d.in-flight") < 0.99
    assert found.rate("d.osds") == pytest.approx(18e9)


# -- what holds for all ---------------------------------------------------------------------------
def test_a_striped_volume_needs_two() -> None:
    with pytest.raises(SpecError, match="at least 2"):
        device(kind="lvm", type="striped", of=SSD)
    with pytest.raises(SpecError, match="thin"):
        device(kind="lvm", interleaved=2, of=SSD)


CASES = tables("components/keys")["layers"]["kinds"]


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in CASES for key in CASES[kind]["keys"]])
def test_a_key_moves_the_answer(kind: str, key: str) -> None:
    value, load, around = CASES[kind]["keys"][key]
    made = {name: given for name, given in {**CASES[kind]["base"], **around}.items() if given is not None}
    cpu = made.pop("cpu", CPU)
    assert moves(path(made, load, cpu=cpu), path({**made, key: value}, load, cpu=cpu))


@pytest.mark.parametrize("kind", list(CASES))
def test_every_key_is_tried(kind: str) -> None:
    all_tried(kind, CASES[kind]["keys"], "keys")


@settings(max_examples=10)
@given(st.integers(1, 64), st.integers(1, 64), st.sampled_from(["nvme-of", "iscsi"]))
def test_more_connections_or_depth_never_hurt(connections: int, depth: int, kind: str) -> None:
    def here(c: int, d: int) -> float:
        return served(device(kind=kind, of=SSD, connections=c, depth=d), access("write", streams=4)).bound

    assert here(connections + 1, depth) >= here(connections, depth) * (1 - 1e-12)
    assert here(connections, depth + 1) >= here(connections, depth) * (1 - 1e-12)
