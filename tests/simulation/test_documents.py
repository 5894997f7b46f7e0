"""What the four documents tell of transfers in time, simulated: contention, verification, latency, caches, file sets.

The figures are those of ``calibration/*/cases.yaml``; how far they may be off is what `predict` says of itself.
"""

import functools
from collections.abc import Sequence

import pytest

import dtnsim
from dtnsim.evidence import cases
from dtnsim.ground import library
from dtnsim.simulation.results import Run, TransferRun

TREES = (
    "esnet/5MB-in-tiny-files", "esnet/5GB-in-small-files", "esnet/50GB-in-medium-files", "esnet/500GB-in-large-files",
)  # fmt: skip


@functools.cache
def site(name: str) -> dict[str, cases.Case]:
    return {c.id: c for c in cases.load(library.root("calibration") / name / "cases.yaml")}


def measured(name: str, case: str) -> float:
    found = site(name)[case].measured
    assert found > 0
    return found


def run(path: str, *overrides: str) -> Run:
    return dtnsim.simulate(path, overrides=overrides).runs[0]


def one(path: str, *overrides: str) -> TransferRun:
    (transfer,) = run(path, *overrides).transfers
    return transfer


def interval(path: str, overrides: Sequence[str] = ()) -> tuple[float, float]:
    """(shortest, longest) duration that eight in ten machines of this description would take [s]."""
    drawn = dtnsim.predict(path, overrides=overrides)
    return drawn.duration_s.p10, drawn.duration_s.p90


# -- NASA: two files on one array -------------------------------------------------------------------
def test_two_files_contend_for_the_heads_as_measured() -> None:
    """Test 3: 7.18 and 7.08 Gb/s where one file alone has 10.3."""
    both = run("nasa/nuttscp-3of7").transfers
    alone = one("nasa/nuttscp-1of7-put").throughput_Bps
    for transfer, case in zip(both, ("nuttscp-3of7-file1", "nuttscp-3of7-file2"), strict=True):
        assert transfer.throughput_Bps == pytest.approx(measured("nasa", case), rel=0.05)
        assert transfer.held[-1].station.endswith("disks")
    together = sum(t.throughput_Bps for t in both)
    assert together == pytest.approx(measured("nasa", "nuttscp-3of7"), rel=0.05)
    assert both[0].throughput_Bps < 0.8 * alone


def test_once_the_other_file_has_ended_the_heads_serve_one() -> None:
    """The second file is a quarter of the first: three quarters and more of that go on at the speed of a lone file."""
    first, second = run("nasa/nuttscp-3of7", "transfers.file2.dataset.size=16 GiB").transfers
    assert first.finished_s > 1.5 * second.finished_s
    shared = 16 * 2**30 / second.finished_s
    alone = (64 * 2**30 - shared * second.finished_s) / (first.finished_s - second.finished_s)
    assert alone == pytest.approx(one("nasa/nuttscp-1of7-put").throughput_Bps, rel=0.01)
    assert alone == pytest.approx(measured("nasa", "nuttscp-1of7-put"), rel=0.05)


# -- Venadi: verification, and the boot disks' cache ------------------------------------------------
def test_verification_reads_the_source_from_memory_and_speeds_add_as_times() -> None:
    """ "The paltry effective speed of 45.56 MB/s was mostly due to verifying file integrity": a third of the time here.

    The source is read again from its host's memory, so verification is faster than the document says: a miss that
    ``calibration/venadi/NOTES.md`` names. The transfer alone is within its interval.
    """
    task = one("venadi/globus-edison")
    moving = {p.name: p.moving_s for p in task.phases}
    assert 0.3 * moving["transfer"] < moving["verification"] < moving["transfer"]
    rates = {name: task.payload_B / seconds for name, seconds in moving.items()}
    assert 1 / task.throughput_Bps == pytest.approx(sum(1 / r for r in rates.values()), rel=1e-3)
    unverified = one("venadi/globus-edison", "transfer.tool.verify=false")
    assert unverified.throughput_Bps > 1.3 * task.throughput_Bps
    fast, slow = interval("venadi/globus-edison", ["transfer.tool.verify=false"])
    assert fast < unverified.payload_B / measured("venadi", "globus-edison-transfer") < slow


def test_dd_without_sync_ends_in_the_cache_and_with_fdatasync_on_the_disks() -> None:
    fast, slow = one("venadi/dd-boot-nosync"), one("venadi/dd-boot-fdatasync")
    assert fast.throughput_Bps == pytest.approx(measured("venadi", "dd-boot-nosync"), rel=0.15)
    assert slow.throughput_Bps == pytest.approx(measured("venadi", "dd-boot-fdatasync"), rel=0.05)
    assert fast.finished_s == fast.written_s
    assert slow.written_s < 0.2 * slow.finished_s  # most of it is waiting for the disks
    assert slow.held[-1].station.startswith("venadi.root")


# -- UCI: latency times operations ------------------------------------------------------------------
@pytest.mark.parametrize("case", ["untar-ucinet", "untar-lightpath"])
def test_an_untar_over_the_network_is_latency_times_operations(case: str) -> None:
    entry = site("uci")[case]
    path = f"{entry.path.parent.name}/{entry.path.stem}"
    tree = one(path)
    fast, slow = interval(path)
    assert fast < measured("uci", case) < slow
    assert tree.duration_s == pytest.approx(measured("uci", case), rel=0.25)
    assert tree.waiting_s > 0.95 * (tree.waiting_s + tree.moving_s)
    assert tree.files > 2000


# -- ESnet: the same tree at four sizes -------------------------------------------------------------
def test_four_trees_of_the_same_files_tell_metadata_from_data() -> None:
    """1,875 files each: the page gives no times, so what is held against it is what the trees were made for."""
    trees = [one("esnet/lbl-anl", f"transfer.dataset={name}") for name in TREES]
    assert {t.files for t in trees} == {1875}
    share = [t.waiting_s / (t.waiting_s + t.moving_s) for t in trees]
    assert share == sorted(share, reverse=True)
    assert share[0] > 0.99
    assert share[-1] < 0.5
    waiting = [t.waiting_s for t in trees]
    assert waiting == pytest.approx([waiting[0]] * 4, rel=0.05)  # files, not bytes (tiny ones hide no wait)
    for tree, name in zip(trees, TREES, strict=True):
        steady = dtnsim.predict("esnet/lbl-anl", overrides=[f"transfer.dataset={name}"], samples=0)
        assert tree.duration_s == pytest.approx(steady.duration_s.p50, rel=0.01)
