"""robocopy: threads, and a look-up for every file that is the same."""

import pytest

from tests.lab import answer, journey, machine, volume


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
