"""Globus: network use of endpoints, chunks, verification."""

import pytest

from dtnsim.ground.errors import SpecError


def test_normal_network_use(tool, job):
    """Two files for each server are preferred and four allowed; four streams, and eight."""
    given = job(files=1000, payload_B=1e9, largest_B=1e6)
    assert tool("globus").chosen(given)[:2] == (2, 4)
    assert tool("globus", servers="3").chosen(given)[:2] == (6, 4)
    assert tool("globus", servers="3", concurrency="99", parallelism="99").chosen(given)[:2] == (12, 8)


def test_globus_connect_personal_has_what_is_preferred(tool, job):
    made = tool("globus", personal="true", concurrency="8", parallelism="8")
    assert made.chosen(job(files=1000))[:2] == (2, 4)
    assert "concurrency 8 is cut to 2" in made.plan(job(files=1000)).warnings[0]


def test_a_large_file_is_cut_and_a_small_one_is_not(tool, job):
    """100 GB are 200 chunks of 500 MB: as many movers, and threads that verify, as are preferred."""
    plan = tool("globus").plan(job(files=1))
    assert (plan.workers, plan.weight, plan.divided) == (2, 8, True)
    assert plan.steps[1].cpu[0].thread.copies == 2
    whole = tool("globus", chunked="false").plan(job(files=1))
    assert (whole.workers, whole.weight, whole.divided) == (1, 4, False)
    assert tool("globus").plan(job(files=1, payload_B=4e8, largest_B=4e8)).workers == 1


def test_endpoint_limits_hold(tool, job):
    made = tool("globus", concurrency="16", parallelism="32", max_concurrency="8")
    assert made.chosen(job(files=1000))[:2] == (8, 8)


def test_verification_reads_both_ends_and_sums_each(tool, job):
    transfer, check = tool("globus").plan(job()).steps
    assert check.name == "verification"
    assert check.net is None
    assert check.read is not None
    assert check.reread is not None
    assert {w.end for w in check.cpu} == {"source", "destination"}
    assert transfer.net.streams == 2 * 4
    assert len(tool("globus", verify="false").plan(job()).steps) == 1


def test_what_was_just_written_is_read_from_memory_only_where_it_fits(tool, job):
    small = tool("globus").plan(job(files=2, payload_B=20e9)).steps[1]
    large = tool("globus").plan(job(files=2, payload_B=200e9)).steps[1]
    assert (small.reread.cached, large.reread.cached) == (True, False)
    assert (small.read.cached, large.read.cached) == (True, False)
    assert small.read.again
    one_end = tool("globus").plan(job(files=2, payload_B=20e9, file_memory_B=(128e9, 16e9))).steps[1]
    assert (one_end.read.cached, one_end.reread.cached) == (True, False)


def test_nothing_is_summed_where_there_is_no_file(tool, job):
    check = tool("globus").plan(job(source="zero")).steps[1]
    assert check.read is None
    assert [w.end for w in check.cpu] == ["destination"]


def test_verification_follows_the_transfer(run):
    """Serial in the same worker: 1/X = 1/X_transfer + 1/X_verify."""
    both = run("{name: globus, chunked: false}").throughput_Bps.p50
    alone = run("{name: globus, chunked: false, verify: false}").throughput_Bps.p50
    md5 = 9e9 / (4.058 + 0.45 + 3000 / 2**20)  # OpenSSL MD5 and the read of 1 MiB calls on the same core [B/s]
    assert 1 / both == pytest.approx(1 / alone + 1 / md5, rel=0.01)


def test_encryption_costs_both_ends(tool, job):
    plain, secret = (tool("globus", encrypt=v).plan(job()).steps[0].cpu for v in ("false", "true"))
    assert len(secret) == len(plain) + 2


def test_rejects(tool):
    with pytest.raises(SpecError, match=r"^concurrency: "):
        tool("globus", concurrency="0")
