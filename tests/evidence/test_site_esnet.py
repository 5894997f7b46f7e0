"""ESnet's test DTNs: sample throughput, and the test data sets that tell metadata from data movement."""

import math

import pytest

import dtnsim
from dtnsim.composition.transport import UDT_HEADERS_B, UDT_PACKET, UDT_PACKET_B
from dtnsim.description import spec
from dtnsim.evidence import cases
from dtnsim.ground import library
from tests.each import rows

CASES = cases.load(library.root("calibration") / "esnet" / "cases.yaml")
PATHS = [p for p in library.names("paths") if p.startswith("esnet/")]
SETS = [d for d in library.names("datasets") if d.startswith("esnet/")]
TREES = rows("evidence/tables", "site_esnet")["TREES"]


def run(path, *overrides, samples=0):
    return dtnsim.predict(path, overrides=overrides, samples=samples)


@pytest.mark.parametrize("case", [c for c in CASES if not c.withheld], ids=lambda c: c.id)
def test_sample_throughput(case):
    """Nothing was fitted here: hosts from ESnet's reference DTN, the round trip from geography."""
    assert run(case.path).throughput_Bps.p50 == pytest.approx(case.measured, rel=0.25)


def test_disk_to_memory_is_only_slightly_slower_than_memory_to_memory():
    """The page: "gives only slightly lower results"."""
    ratio = run("esnet/anl-bnl-disk-mem-4").throughput_Bps.p50 / run("esnet/anl-bnl-mem-mem-4").throughput_Bps.p50
    assert 0.8 < ratio < 1.0


def test_hosts_read_over_8_gbps_from_one_namespace():
    prediction = run("esnet/anl-bnl-disk-mem-4", "transfer.dataset=esnet/500G")
    assert prediction.throughput_Bps.p50 * 8 > 8e9
    assert prediction.throughput_Bps.p50 * 8 <= 10e9 * 8948 / 9038  # jumbo frames with timestamps


@pytest.mark.parametrize("path", PATHS)
def test_round_trip_times_follow_geography(path):
    """Between the shortest fibre (1.3) and the usual one (2.1 times the straight line), 80 % of draws."""
    segment = spec.load(path).wan[0]
    line_km = float(segment.rtt.source.partition(": ")[2].partition(" km")[0])
    least = 2 * line_km * 1.468 / 299_792.458
    assert 1.3 < segment.rtt.value / least < 2.1
    assert segment.rtt.value / least == pytest.approx(1.65, rel=0.01)
    assert math.exp(1.2816 * segment.rtt.spread) == pytest.approx(math.sqrt(2.1 / 1.3), rel=0.01)


# -- the test data sets -----------------------------------------------------------------------------
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("path", ["esnet/lbl-anl", "esnet/lbl-anl-globus"])
def test_every_set_runs(path, name):
    prediction = run(path, f"transfer.dataset={name}")
    assert prediction.transfers[0].payload_B > 0
    assert 0 < prediction.duration_s.p50 < 86400


def test_trees_tell_metadata_from_data():
    """Same directories and files: what differs in duration is the data alone, at the path's own rate."""
    seconds = [run("esnet/lbl-anl", f"transfer.dataset={t}").duration_s.p50 for t in TREES]
    payload = [5e6, 5e9, 50e9, 500e9]
    assert seconds == sorted(seconds)
    assert seconds[0] == pytest.approx(seconds[1], rel=0.05)  # 5 MB and 5 GB: all metadata
    rate = (payload[3] - payload[2]) / (seconds[3] - seconds[2])
    assert rate == pytest.approx(run("esnet/lbl-anl", "transfer.dataset=esnet/500G").throughput_Bps.p50, rel=0.15)


def test_metadata_of_a_tree_is_files_times_round_trips():
    """1875 files x 2 control round trips, one after the other: the rest is file and directory operations."""
    path = spec.load("esnet/lbl-anl")
    waiting = 1875 * 2 * path.wan[0].rtt.value
    tiny = run("esnet/lbl-anl", f"transfer.dataset={TREES[0]}").duration_s.p50
    assert waiting < tiny < 1.1 * waiting
    far = run("esnet/lbl-anl", f"transfer.dataset={TREES[0]}", "wan.rtt=95 ms").duration_s.p50
    assert far == pytest.approx(2 * tiny, rel=0.05)


# -- core behaviour these paths need ------------------------------------------------------------------
def test_udt_costs_a_core_its_packets_once():
    """Rate of one core: clock over cycles a packet, plus copy and event loop; counted in one place."""
    prediction = run("esnet/anl-bnl-mem-mem-udt", "transfer.dataset.size=100 GB")
    demand = {u.station.name: u.demand_per_byte for u in prediction.stations}["bnl.cpu.gridftp receiver[transfer]"]
    stack = spec.load("esnet/anl-bnl-mem-mem-udt").hosts["bnl"].stack
    packets = UDT_PACKET.value / (UDT_PACKET_B - UDT_HEADERS_B)
    assert demand == pytest.approx(packets + stack.receive_byte.value + 0.2, rel=1e-6)


def test_one_stream_is_held_by_its_window_and_four_are_not():
    one, four = run("esnet/anl-bnl-mem-mem-1"), run("esnet/anl-bnl-mem-mem-4")
    assert "window-limited" in one.bottleneck.reason
    assert "window-limited" not in four.bottleneck.reason
