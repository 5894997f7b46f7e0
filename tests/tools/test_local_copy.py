"""cp, rm and robocopy: copies within a host and to its mounts."""

import pytest

from dtnsim.ground.errors import SpecError
from tests.lab import answer, journey, machine, volume


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


def test_rm_moves_no_byte(tool, job):
    (step,) = tool("rm").plan(job(rtt_s=0.0)).steps
    assert step.read is step.net is step.write is None
    assert step.cpu == ()


def test_rm_over_nfs_removes_each_file_and_opens_each_directory(run):
    """RFC 1813: a REMOVE a file, a READDIRPLUS for 16 names; GETATTR, ACCESS, READDIRPLUS and RMDIR a directory."""
    data = "{files: 3200, size: 49 MB, directories: 100}"
    duration = run("{name: rm}", rtt="10 ms", data=data, start="a:memory", to="a:/nfs").duration_s.p50
    assert duration == pytest.approx((3200 * (1 + 1 / 16) + 100 * 4) * 0.010, rel=1e-3)


def test_rm_works_on_the_source_where_to_is_no_volume(tool, job):
    (step,) = tool("rm").plan(job(destination="null", rtt_s=0.0)).steps
    assert step.files.source[0] == "remove"
    with pytest.raises(SpecError, match=r"test\.from: rm needs a volume here"):
        tool("rm").plan(job(source="zero", destination="null", rtt_s=0.0))


def test_threads(tool, job):
    """robocopy.md: /MT without a number is 8; no /MT is one thread."""
    given = job(files=100, rtt_s=0.0)
    assert tool("robocopy").plan(given).workers == 1
    assert tool("robocopy", MT=8).plan(given).workers == 8


def test_a_mirror_of_what_is_there_only_looks(tool, job):
    plan = tool("robocopy", changed="0").plan(job(rtt_s=0.0))
    assert [s.name for s in plan.steps] == ["scan"]
    assert plan.steps[0].files.destination == ("lookup", "stat")


def test_small_files_over_a_share_go_with_the_threads(run):
    data = "{files: 3200, each: 4 kB}"
    one, many = (
        run(f"{{name: robocopy, MT: {n}}}", data=data, start="a:/data", to="a:/nfs").duration_s.p50 for n in (1, 32)
    )
    assert one / many == pytest.approx(32, rel=0.1)


def test_threads_over_a_share_with_several_channels():
    """SMB multichannel: a file's credits are of each channel, so that large files of many threads have them all."""
    far = machine(volumes={"/d": volume()})

    def rate(channels: int) -> float:
        share = {"filesystem": {"kind": "smb", "channels": channels, "credits": 8}, "server": "b:/d"}
        made = journey(machine(volumes={"/d": volume(), "/s": share}), far, start="a:/d", to="a:/s",
                       tool={"name": "robocopy", "MT": 16}, dataset={"files": 64, "each": "1 GB"},
                       wan={"bandwidth": "100 Gb/s", "rtt": "20 ms"})  # fmt: skip
        return answer(made).throughput_Bps.p50

    assert 2 < rate(4) / rate(1) < 4.2
