"""robocopy: threads, and a look-up for every file that is the same."""

import pytest


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
