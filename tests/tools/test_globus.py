import pytest

from dtnsim.ground.errors import SpecError


@pytest.mark.parametrize(
    ("mean", "chosen"), [(1e6, (2, 2, 20)), (49.9e6, (2, 2, 20)), (100e6, (2, 4, 5)), (1e9, (2, 8, 5))]
)
def test_the_service_tunes_by_mean_file_size(mean, chosen, tool, job):
    assert tool("globus").chosen(job(files=1000, payload_B=1000 * mean)) == chosen


def test_one_file_cannot_be_concurrent(tool, job):
    plan = tool("globus").plan(job(files=1))
    assert (plan.workers, plan.weight) == (1, 8)


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
    assert transfer.net.streams == 8
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
    both = run("{name: globus}").throughput_Bps.p50
    alone = run("{name: globus, verify: false}").throughput_Bps.p50
    md5 = 9e9 / (4.058 + 0.45 + 3000 / 2**20)  # OpenSSL MD5 and the read of 1 MiB calls on the same core [B/s]
    assert 1 / both == pytest.approx(1 / alone + 1 / md5, rel=0.01)


def test_encryption_costs_both_ends(tool, job):
    plain, secret = (tool("globus", encrypt=v).plan(job()).steps[0].cpu for v in ("false", "true"))
    assert len(secret) == len(plain) + 2


def test_rejects(tool):
    with pytest.raises(SpecError, match=r"^concurrency: "):
        tool("globus", concurrency="0")
