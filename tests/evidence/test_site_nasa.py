"""NASA's two C-systems: every line of the slides against the model of the machines."""

import re

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.evidence import cases
from dtnsim.ground import library, yamlio
from dtnsim.physics import hdd, hdd_streams

CASES = cases.load(library.root("calibration") / "nasa" / "cases.yaml")
BLIND = [c for c in CASES if c.role == "blind" and not c.withheld]


def run(path, *overrides, samples=0):
    return dtnsim.predict(path, overrides=overrides, samples=samples)


def use(prediction, station):
    return {u.station.name: u for u in prediction.stations}[station]


@pytest.fixture(scope="module")
def predictions():
    return {c.path: run(c.path) for c in CASES}


def predicted(prediction, case):
    which = next((t for t in prediction.transfers if t.name == case.transfer), None)
    bottleneck = (which or prediction).bottleneck
    if case.quantity == "cpu_share":
        return max(u.utilization for u in prediction.stations if re.search(case.pattern, u.station.name)), bottleneck
    return getattr(
        which or prediction, "throughput_Bps" if case.quantity == "throughput" else "duration_s"
    ).p50, bottleneck


# -- the document ---------------------------------------------------------------------------------
@pytest.mark.parametrize("case", [c for c in BLIND if c.quantity != "cpu_share"], ids=lambda c: c.id)
def test_blind_throughput(case, predictions):
    """Test 1 and the headline of test 6 from what the other tests taught (issue: 90 % of cases within 25 %)."""
    value, _ = predicted(predictions[case.path], case)
    assert value == pytest.approx(case.measured, rel=0.25)


@pytest.mark.parametrize("case", [c for c in CASES if c.stated is not None], ids=lambda c: c.id)
def test_stated_bottlenecks(case, predictions):
    """The receiving core (1), the write side (2), head contention of two files (3)."""
    _, bottleneck = predicted(predictions[case.path], case)
    assert case.stated.met_by(bottleneck)


@pytest.mark.parametrize("case", [c for c in CASES if c.quantity == "cpu_share"], ids=lambda c: c.id)
def test_cpu_shares(case, predictions):
    """%TX and %RX within 8 points (issue); test 6 within 12, whose cores wait for neighbouring stages (NOTES.md)."""
    value, _ = predicted(predictions[case.path], case)
    assert value == pytest.approx(case.measured, abs=0.12 if "6of7" in case.id else 0.08)


def test_the_fit_keeps_to_what_its_logs_say():
    """Every fitted number names its log lines, and none of tests 1 and 6."""
    fitted = yamlio.load(library.root("calibration") / "nasa" / "fitted.yaml")["parameters"]["nasa-c-system"]
    assert {"volumes./raid.array.window", "volumes./raid.array.of.of.rate"} <= set(fitted)
    for number in fitted.values():
        assert re.match(r"fit: nasa/(precursor|nuttscp-[23]of7)\.txt:\d+", number["source"])
        assert "1of7" not in number["source"]
        assert "6of7" not in number["source"]


# -- the machines ---------------------------------------------------------------------------------
def test_one_core_adds_its_work_up():
    """Receiving and writing share CPU1: 1/X is the sum of both (reference: 35.4 and 14.4 Gb/s give 10.2)."""
    both = run("nasa/nuttscp-1of7-put").throughput_Bps.p50
    host = spec.load("nasa/nuttscp-1of7-put").hosts["c2"]
    stack, clock = host.stack, host.cpu.clock.value
    receive = stack.receive_byte.value + stack.receive_packet.value / stack.aggregate.value
    write = stack.file_write_byte.value + stack.file_call.value / 65536
    assert both == pytest.approx(1 / (receive / clock + write / clock), rel=0.005)
    assert clock / receive * 8e-9 == pytest.approx(35.4, rel=0.01)
    assert clock / write * 8e-9 == pytest.approx(14.4, rel=0.01)


@pytest.mark.parametrize("test", ["nuttscp-3of7", "nuttscp-4of7"])
def test_two_files_share_the_heads(test):
    """R B / (B + R t_sw) on 28 data disks, whatever the network between the arrays looks like."""
    path = f"nasa/{test}"
    disk = spec.load(path).hosts["c1"].volumes["/raid"].array.of.of
    window = spec.load(path).hosts["c1"].volumes["/raid"].array.window.value
    rate = hdd.zone_rate(disk.position.value, disk.rate.value, disk.inner.value)
    apart = hdd.mean_distance(2 * disk.position.value, 2)  # the two files lie anywhere on what is filled
    seek = hdd.seek_time(apart, disk.track_seek.value, disk.seek.value)
    each = hdd_streams.interleaved_rate(2, rate, window / 28, seek + 0.5 / disk.spindle.value)
    assert run(path).throughput_Bps.p50 == pytest.approx(28 * float(each), rel=1e-3)


def test_larger_visits_cost_fewer_seeks_and_one_file_none():
    rates = []
    for window in ("4 MiB", "16 MiB", "64 MiB"):
        both = [f"hosts.{h}.volumes./raid.array.window={window}" for h in ("c1", "c2")]
        rates.append(run("nasa/nuttscp-3of7", *both).throughput_Bps.p50)
    assert rates == sorted(rates)
    assert rates[0] < 0.5 * rates[-1]
    assert "seeks" not in use(run("nasa/nuttscp-1of7-put"), "c2.raid.disks").station.formula


def test_individual_paths_use_a_port_each():
    """Test 4: file1 on port 0, file2 on port 1; tests 1 to 3 spread each file over both."""
    four, three = run("nasa/nuttscp-4of7"), run("nasa/nuttscp-3of7")
    for prediction in (three, four):
        for port in ("c1.eth.port0.tx", "c1.eth.port1.tx"):
            share = use(prediction, port).utilization
            assert share == pytest.approx(prediction.throughput_Bps.p50 / 2 * 8 * 9038 / 8948 / 10e9, rel=1e-3)
    on_port0 = {d.station for d in four.problem.transfers[0].phases[0].demands if "eth.port" in d.station}
    assert on_port0 == {"c1.eth.port0.tx", "c2.eth.port0.rx"}


def test_interrupts_of_two_controllers_move_to_cpu0():
    """Test 6 takes half of the controllers' interrupts off CPU2; nothing else changes on the cores."""
    five, six = run("nasa/nuttscp-5of7"), run("nasa/nuttscp-6of7")
    core = {n: [use(p, f"c2.cpu.core{n}").demand_per_byte for p in (five, six)] for n in range(4)}
    moved = spec.load("nasa/nuttscp-5of7").hosts["c2"].stack.storage_interrupt_byte.value / 2
    # 2 %: the bytes that are still in memory when the tool ends have raised no interrupt
    assert core[2][0] - core[2][1] == pytest.approx(moved, rel=0.02)
    assert core[0][1] - core[0][0] == pytest.approx(moved, rel=0.02)
    assert core[1][0] == pytest.approx(core[1][1]) == pytest.approx(core[3][0])


def test_direct_io_is_what_dd_must_have_used():
    """Through the page cache one core writes 1.65 GB/s; the slide says 2.56 GB/s."""
    buffered = run("nasa/dd-write", "transfer.tool.oflag=append").throughput_Bps.p50
    assert buffered < 0.7 * 68719476736 / 26.8676
    assert run("nasa/dd-write").throughput_Bps.p50 > 1.3 * buffered


# -- core behaviour these machines need ------------------------------------------------------------
