import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping
from dtnsim.tools.plan import Tool


def test_streams_in_lockstep_use_a_bond_less_well(run):
    """Reference, section 8, k = 4: four free streams use 2.73 links, four equal ones 1.88."""
    rates = {}
    for name in ("{name: bbcp}", "{name: gridftp, p: 4}"):
        prediction = run(name, rtt="1 ms", nic="{rate: 10 Gb/s, ports: 4, bonding: hash, mtu: 9000 B}")
        rates[name] = prediction.throughput_Bps.p50 * 8 / 9.90e9  # payload of a port at MTU 9000
    assert rates["{name: gridftp, p: 4}"] == pytest.approx(2.73, rel=0.01)
    assert rates["{name: bbcp}"] == pytest.approx(1.88, rel=0.01)


def test_a_fixed_window_stays_traceable_to_its_line():
    given = Mapping("path.yaml", 3)
    given.put("kind", "bbcp", "path.yaml", 3)
    given.put("w", Scalar("=8", "path.yaml", 4), "path.yaml", 4)
    with pytest.raises(SpecError, match=r"path\.yaml:4: w: .*no unit"):
        Tool.build(given)


def test_documented_default_window_would_be_173_mb_per_s(run):
    """4 x 128 KiB / 3.02 ms: what bbcp would do if its window did not grow (reference, section 12).

    In whole segments of 8948 B, less the two that a delayed ACK holds back, 12 of the 14.6.
    """
    rate = run('{name: bbcp, w: "=128 KiB"}', rtt="3.02 ms").throughput_Bps.p50
    assert rate == pytest.approx(173.5e6 * 12 / 14.65, rel=0.06)


def test_threads_of_their_own_for_reading_streams_and_writing(tool, job):
    step = tool("bbcp", e="true").plan(job()).steps[0]
    names = {step.read.thread.name, step.write.thread.name, step.net.sender.name, step.net.receiver.name}
    assert len(names) == 4
    assert (step.net.sender.copies, step.read.thread.copies) == (4, 1)
    sums = [w for w in step.cpu if w.what == "MD5"]
    assert {w.thread for w in sums} == {step.net.sender, step.net.receiver}  # -e sums each block as it is sent
    assert 4.9e9 / sums[0].cycles.value == pytest.approx(0.6e9)  # MD5 on an i7-9700K (xxHash README)


def test_options_that_change_no_rate(tool, job):
    plain, dressed = tool("bbcp"), tool("bbcp", z="true", P="10", r="true")
    assert plain.plan(job()) == dressed.plan(job())
