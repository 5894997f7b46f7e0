"""cp, rm and robocopy: copies within a host and to its mounts."""

import pytest

from tests.lab import journey, machine, rate, volume


def test_small_files_over_nfs_cost_four_round_trips_each(run):
    """RFC 1813: LOOKUP, exclusive CREATE with its SETATTR, WRITE at close; 1-byte files, so only latency counts."""
    data = "{files: 3065, each: 1 B}"
    duration = run("{name: cp}", rtt="10 ms", data=data, start="a:/data", to="a:/nfs").duration_s.p50
    local = run("{name: cp}", rtt="10 ms", data=data, start="a:/data", to="a:/data").duration_s.p50
    assert duration - local == pytest.approx(3065 * 4 * 0.010, rel=0.02)


def test_rm_over_nfs_removes_each_file_and_opens_each_directory(run):
    """RFC 1813: a REMOVE a file, a READDIRPLUS for 16 names; GETATTR, ACCESS, READDIRPLUS and RMDIR a directory."""
    data = "{files: 3200, size: 49 MB, directories: 100}"
    duration = run("{name: rm}", rtt="10 ms", data=data, start="a:memory", to="a:/nfs").duration_s.p50
    assert duration == pytest.approx((3200 * (1 + 1 / 16) + 100 * 4) * 0.010, rel=1e-3)


def test_small_files_over_a_share_go_with_the_threads(run):
    data = "{files: 3200, each: 4 kB}"
    one, many = (
        run(f"{{name: robocopy, MT: {n}}}", data=data, start="a:/data", to="a:/nfs").duration_s.p50 for n in (1, 32)
    )
    assert one / many == pytest.approx(32, rel=0.1)


def test_threads_over_a_share_with_several_channels():
    """SMB multichannel: a file's credits are of each channel, so that large files of many threads have them all."""
    far = machine(volumes={"/d": volume()})

    def through(channels: int) -> float:
        share = {"filesystem": {"kind": "smb", "channels": channels, "credits": 8}, "server": "b:/d"}
        made = journey(machine(volumes={"/d": volume(), "/s": share}), far, start="a:/d", to="a:/s",
                       tool={"name": "robocopy", "MT": 16}, dataset={"files": 64, "each": "1 GB"},
                       wan={"bandwidth": "100 Gb/s", "rtt": "20 ms"})  # fmt: skip
        return rate(made)

    assert 2 < through(4) / through(1) < 4.2
