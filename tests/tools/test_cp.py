import pytest

from dtnsim.ground.errors import SpecError


def test_cp_and_sync_waits_for_the_medium(tool, job):
    assert tool("cp").plan(job(rtt_s=0.0)).steps[0].write.finish == "none"
    assert tool("cp", sync="true").plan(job(rtt_s=0.0)).steps[0].write.finish == "fdatasync"


def test_one_process_reads_and_writes_in_128_kib(tool, job):
    (step,) = tool("cp").plan(job(rtt_s=0.0)).steps
    assert step.read.thread == step.write.thread
    assert step.read.block_B == step.write.block_B == 131072
    assert step.net is None


def test_preserving_attributes_costs_another_operation(tool, job):
    plain = tool("cp").plan(job(rtt_s=0.0)).steps[0].files
    kept = tool("cp", a="true").plan(job(rtt_s=0.0)).steps[0].files
    assert kept.destination == (*plain.destination, "setattr")


def test_two_hosts_need_a_mounted_volume(tool, job):
    with pytest.raises(SpecError, match="mount the other end"):
        tool("cp").plan(job(rtt_s=0.01))


def test_small_files_over_nfs_cost_four_round_trips_each(run):
    """RFC 1813: LOOKUP, exclusive CREATE with its SETATTR, WRITE at close; 1-byte files, so only latency counts."""
    data = "{files: 3065, each: 1 B}"
    duration = run("{name: cp}", rtt="10 ms", data=data, start="a:/data", to="a:/nfs").duration_s.p50
    local = run("{name: cp}", rtt="10 ms", data=data, start="a:/data", to="a:/data").duration_s.p50
    assert duration - local == pytest.approx(3065 * 4 * 0.010, rel=0.02)
