"""ZFS: whole records, its own cache, what checksums and compression cost and save."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.zfs import Zfs
from dtnsim.description.host import Host, build_host
from dtnsim.physics.core_rates import CORE_RATES
from dtnsim.steady.prediction import predict
from tests.each import cases, rows, tables, worked_out
from tests.lab import GiB, KiB, MiB, Sheet, access, charged, expect, journey, machine, problem, rate, sheet, volume

GIVEN = rows("components/zfs", "given")

SSD = GIVEN["SSD"]
#: nothing but the medium costs anything
BARE = {"kind": "zfs", "checksum": "off", "pipeline_byte": "0 cycles/B", "sync_passes": "0"} | {
    n: "0 cycles/B" if n.endswith("byte") else "0 cycles"
    for n in ("write_byte", "write_call", "record_call", "read_byte", "read_call", "fresh_byte", "rest_byte",
              "jump_call", "fetch_record")
}  # fmt: skip


def pool(**given: object) -> Zfs:
    return Zfs.build({**BARE, **given})


def host(filesystem: dict[str, Any] | None = None, array: dict[str, Any] | None = None) -> dict[str, Any]:
    return machine(volumes={"/z": volume(array or SSD, {**BARE, **(filesystem or {})})})


def built(filesystem: dict[str, Any] | None = None, array: dict[str, Any] | None = None) -> Host:
    return build_host("h", host(filesystem, array))


def below(use: Any, filesystem: dict[str, Any] | None = None, array: dict[str, Any] | None = None) -> Sheet:
    """What an access charges below the cache."""
    made = built(filesystem, array)
    return charged(lambda row: made.volumes["/z"].filesystem.medium(row, use, made, "/z"))


def cycles(use: Any, **given: object) -> float:
    found: list[float] = []
    made = built()
    charged(lambda row: found.append(float(pool(**given).cycles(row, use, made.stack).value)))
    return found[0]


CALL = {"write_byte": "0.75 cycles/B", "write_call": "12000 cycles", "record_call": "20000 cycles"}
FETCH = {"read_byte": "0.4 cycles/B", "read_call": "5000 cycles", "fetch_record": "100000 cycles"}
FRESH, REST = {"fresh_byte": "0.3 cycles/B"}, {"rest_byte": "0.36 cycles/B"}
#: a read of 8 KiB without what it fetches
READ_8K = 0.4 + 5000 / (8 * KiB)


@cases("use, given, expected", {
    **{f"a part of a record costs its transaction, {n:g} KiB": (
        access("write", block_B=n * KiB, rewrite=True), CALL, 0.75 + 12000 / (n * KiB)) for n in (4, 16, 64)},
    **{f"whole records one each however they come, {n:g} KiB": (
        access("write", block_B=n * KiB), CALL, 0.75 + 20000 / (128 * KiB)) for n in (128, 1024)},
    "first writes cost their pages": (access("write", block_B=4 * KiB), FRESH, 0.3),
    "later ones do not": (access("write", block_B=4 * KiB, rewrite=True), FRESH, 0.0),
    "random ones copy 31 other blocks of 32": (
        access("write", block_B=4 * KiB, rewrite=True, random=True), REST, 31 * 0.36),
    "a read from the ARC": (access("read", block_B=8 * KiB, cached=True), FETCH, READ_8K),
    "from the pool its share of a record": (access("read", block_B=8 * KiB), FETCH, READ_8K + 1e5 / (128 * KiB)),
    "of a large record less": (access("read", block_B=8 * KiB), {**FETCH, "recordsize": "1 MiB"}, READ_8K + 1e5 / MiB),
    "one that jumps fetches a record for each call": (
        access("read", block_B=8 * KiB, random=True), FETCH, 0.4 + 105000 / (8 * KiB)),
})  # fmt: skip
def test_cycles_of_a_byte(use: Any, given: dict[str, str], expected: float) -> None:
    """c_byte + c_call / s, the law of every record sweep."""
    assert cycles(use, **given) == pytest.approx(expected)


@cases("checksum, operation", {
    "fletcher4 by default: 8.4 to 8.8 GB/s (openzfs issue 11788)": ("on", "fletcher4_ssse3"),
    "fletcher4 by name": ("fletcher4", "fletcher4_ssse3"),
    "sha256: 1.7 GB/s": ("sha256", "sha256_ni"),
})  # fmt: skip
def test_a_write_is_summed(checksum: str, operation: str) -> None:
    found = below(access("write"), {"checksum": checksum})
    assert found.demand("cpu") == pytest.approx(CORE_RATES[operation].cycles_per_byte)


@cases("given, figures", tables("components/zfs")["below_the_cache"])
def test_what_an_access_charges_below_the_cache(given: dict[str, Any], figures: dict[str, Any]) -> None:
    found = below(access(**worked_out(given["use"], {})), given.get("filesystem"), given.get("array"))
    expect(lambda what: found.bound if what == "bound" else found.figure(what), figures)


def test_random_reads_on_raidz_are_not_amplified_twice() -> None:
    plain = {"kind": "raid", "level": 0, "disks": 7, "of": SSD}
    raidz = {"kind": "raidz", "parity": 1, "disks": 8, "of": SSD}
    use = access("read", block_B=4 * KiB, random=True, queue_depth=64)
    striped, checked = (below(use, array=a).rate("z.ssds") for a in (plain, raidz))
    assert checked == pytest.approx(striped * 8 / 7)  # reads leave the parity out


def written(size: float, tool: dict[str, str], **given: str) -> float:
    filesystem = {"op_time": "0 s", "write_byte": "5 cycles/B", **given}
    path = journey(
        host(filesystem),
        start="a:memory",
        to="a:/z",
        tool={"name": "dd", "bs": "1 MiB", **tool},
        dataset={"files": 1, "size": f"{size} B"},
    )
    return size / rate(path)


@pytest.mark.parametrize("gigabytes", [2, 10, 100])
def test_writers_are_free_up_to_the_dirty_limit(gigabytes: int) -> None:
    """F at 2 GB/s (10 GHz / 5 cycles), the rest at the pool's 0.5: V/R_mem + (V - F)(1/R_pool - 1/R_mem).

    D is where the delay of a 128-KiB record lets in 0.5 GB/s: q = 131072 / 0.5e9 / 500 us, (0.6 + q)/(1 + q) of it.
    The pool drains from a fifth of the limit on, at a quarter of the writer's rate: F = L/5 + (D - L/5) x 2/(2 - 0.5).
    """
    q = 131072 / 0.5e9 / 500e-6
    size, limit = gigabytes * 1e9, 4 * GiB * (0.6 + q) / (1 + q)
    free = 0.8 * GiB + (limit - 0.8 * GiB) * 2.0 / 1.5
    expected = size / 2e9 + max(size - free, 0) * (1 / 0.5e9 - 1 / 2e9)
    assert written(size, {}, dirty_max="4 GiB") == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("given", "lead"), [({}, 0.2 * 4 * GiB), ({"sync_at": "64 MiB"}, 64 * MiB)])
def test_a_transaction_group_starts_early(given: dict[str, str], lead: float) -> None:
    """At 20 % of the limit since release 0.8, at 64 MiB before (zfs_dirty_data_sync): lead/R_mem + V/R_pool."""
    size = 20e9
    expected = lead / 2e9 + size / 0.5e9
    assert written(size, {"conv": "fdatasync"}, dirty_max="4 GiB", **given) == pytest.approx(expected, rel=1e-6)


def test_a_part_of_a_cold_record_is_read_before_it_is_changed() -> None:
    """Each 128-KiB record: latency and its bytes, before the 32 writes of 4 KiB into it."""
    drive = {**SSD, "latency_read": "100 us"}
    made = host(array=drive)
    tool = {"name": "iozone", "test": "rewrite", "r": "4 KiB", "e": True}
    path = journey(made, start="a:memory", to="a:/z", tool=tool, dataset={"files": 1, "size": "10 TB"})
    delays = [d for p in problem(path).transfers[0].phases for d in p.delays]
    assert {d.what for d in delays} == {"reading each record before a part of it is changed"}
    # the drive writes what is in the cache meanwhile, and is not the slower of the two
    assert 1 / rate(path) == pytest.approx((100e-6 - 4096 / 560e6) / (128 * KiB) + 1 / 500e6, rel=1e-3)


def test_random_reads_wait_for_whole_records() -> None:
    """One reader: 100 us, less 4 KiB over SATA, and 128 KiB at 500 MB/s for each 4 KiB."""
    made = host(array={**SSD, "latency_read": "100 us"})
    tool = {"name": "iozone", "test": "random-read", "r": "4 KiB"}
    path = journey(made, start="a:/z", to="a:memory", tool=tool, dataset={"files": 1, "size": "10 TB"})
    assert rate(path) == pytest.approx(4 * KiB / (100e-6 - 4096 / 560e6 + 128 * KiB / 500e6), rel=1e-6)


@settings(max_examples=10)
@given(st.sampled_from([1.0, 1.5, 2.0, 10.0]), st.sampled_from(["lz4", "zstd", "gzip"]))
def test_more_compressible_data_never_write_slower(ratio: float, compression: str) -> None:
    def bound(r: float) -> float:
        return below(access("write"), {"compression": compression, "ratio": repr(r)}).bound

    assert bound(ratio * 1.1) >= bound(ratio)


def test_checksums_are_charged_once_a_byte_on_the_way_through() -> None:
    made = journey(host({"checksum": "sha256"}), start="a:/z", tool="gridftp")
    free = journey(host(), start="a:/z", tool="gridftp")
    cost = sheet(problem(made)).demand("a.cpu") - sheet(problem(free)).demand("a.cpu")
    assert cost == pytest.approx(CORE_RATES["sha256_ni"].cycles_per_byte)


def test_disks_sort_only_what_the_pool_hands_them() -> None:
    """64 readers of 4-KiB records: a disk of 32 places sorts ten (zfs_vdev_sync_read_max_active), or all of them."""
    disk = {"kind": "hdd", "rate": "200 MB/s", "ncq": 32}
    use = access("read", block_B=4 * KiB, random=True, queue_depth=64)
    ten, all_of_them = (
        below(use, {"recordsize": "4 KiB", "sync_read_max_active": n}, disk).rate("z.disks") for n in (10, 100)
    )
    assert 1.2 * ten < all_of_them < 2.5 * ten
    assert below(use, {"recordsize": "4 KiB"}, disk).rate("z.disks") == pytest.approx(ten)


def test_unjoined_columns_fill_the_adapter() -> None:
    """24 disks in raidz2: a column of a 128-KiB record is 5.8 KiB; 10k requests a second carry 60 MB/s of those."""
    wide = {"kind": "raidz", "parity": 2, "disks": 24, "of": {"kind": "hdd", "rate": "200 MB/s"}}

    def bound(**given: str) -> float:
        made = machine(
            slots={"s": "pcie-gen4-x16"},
            hbas={"h": {"kind": "hba", "slot": "s", "iops": "10k IOPS"}},
            volumes={"/z": {**volume(wide, {**BARE, **given}), "via": ["h"]}},
        )
        found = build_host("h", made)
        return charged(lambda row: found.volumes["/z"].filesystem.medium(row, access("read"), found, "/z")).rate(
            "engine"
        )

    assert bound(aggregation_limit="0 B") == pytest.approx(1e4 * 128 * KiB / 22)
    assert bound() > 50 * bound(aggregation_limit="0 B")


@cases("filesystem, array, seconds", rows("components/zfs", "a_synchronous_write_waits_for_the_intent_log"))
def test_a_synchronous_write_waits_for_the_intent_log(filesystem: Any, array: Any, seconds: float) -> None:
    made, found = built(filesystem, array), []
    use = access("write", block_B=4 * KiB, finish="dsync")
    charged(lambda row: found.append(made.volumes["/z"].filesystem.flush_wait(row, use, made, "/z")))
    assert float(found[0]) == pytest.approx(seconds)


def test_direct_requests_are_not_copied_and_parts_of_records_are_not_direct() -> None:
    """OpenZFS 2.3: O_DIRECT bypasses the ARC, for writes of whole records; before, it is ignored."""
    costs = {"write_byte": "0.75 cycles/B", "read_byte": "0.4 cycles/B", "read_call": "0 cycles", "version": "2.3"}
    whole, part = access("write", finish="direct", block_B=MiB), access("write", finish="direct", block_B=4 * KiB)
    assert cycles(whole, **costs) < 0.1 < 0.75 <= cycles(whole.but(finish="steady"), **costs)
    assert pool(**costs).sees(whole).finish == "direct"
    assert pool(**costs).sees(part).finish == "steady"
    assert pool(**{**costs, "version": "2.2"}).sees(whole).finish == "steady"


CELLS = {("write", 4): 850821, ("rewrite", 64): 5910142, ("read", 8): 4057049, ("random-write", 16): 262065,
         ("record-rewrite", 1024): 15393947, ("fwrite", 128): 5570094, ("stride-read", 256): 8444927}  # fmt: skip


def iozone_rate(test: str, record_k: int, *more: str, path: str = "venadi/iozone-8g") -> float:
    options = (f"transfer.tool.test={test}", f"transfer.tool.r={record_k} KiB", *more)
    return predict(path, overrides=options, samples=0).throughput_Bps.p50


@pytest.mark.parametrize(("cell", "measured"), CELLS.items())
def test_iozone_cells(cell: tuple[str, int], measured: int) -> None:
    # these cells took part in the fit of some twelve parameters to 130: it is the law that is checked
    assert iozone_rate(*cell) == pytest.approx(measured * 1024, rel=0.2)


def test_a_random_write_costs_its_record() -> None:
    # the rest of the record is copied: per operation nearly the same time from 4 to 64 KiB, as measured (58 to 62 us)
    times = [k * 1024 / iozone_rate("random-write", k) for k in (4, 16, 64)]
    assert max(times) < 1.15 * min(times)
    small = iozone_rate("random-write", 4, "hosts.venadi.volumes./bigdata.filesystem.recordsize=4 KiB")
    assert small > 3 * iozone_rate("random-write", 4)


def test_what_is_new_in_memory_costs_more() -> None:
    assert iozone_rate("rewrite", 64) > 1.2 * iozone_rate("write", 64)
    assert iozone_rate("rewrite", 2048) == pytest.approx(iozone_rate("write", 2048), rel=0.05)  # whole records are lent


def test_a_buffer_beyond_the_processors_caches_is_slower() -> None:
    assert iozone_rate("read", 16384) < 0.8 * iozone_rate("read", 2048) < 0.8 * iozone_rate("read", 64) * 1.1
    assert iozone_rate("read", 16384, "hosts.venadi.cpu.cache=1 TiB") > 1.3 * iozone_rate("read", 16384)


def test_part_of_a_record_that_is_not_in_memory_is_read_first() -> None:
    new, old = (iozone_rate(t, 4, path="venadi/iozone-256g") for t in ("write", "rewrite"))
    assert iozone_rate("rewrite", 4) > iozone_rate("write", 4)  # in memory
    assert old < new  # from the pool
    # 60 us and 1 MiB at the rate of seven drives, one record after another
    wait = 1 / old - 1 / iozone_rate("rewrite", 4)
    assert wait == pytest.approx((60e-6 + 2**20 / (7 * 540e6)) / 2**20, rel=0.15)


def test_a_read_from_the_pool_costs_more_than_one_from_memory() -> None:
    assert iozone_rate("read", 8, path="venadi/iozone-256g") < iozone_rate("read", 8)
