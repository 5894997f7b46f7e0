"""GridFTP, Globus and FTS."""

import pytest


def test_only_gridftp_in_stream_mode_opens_connections_for_each_file(tool, job):
    makes = {"gridftp": True, "scp": False, "rsync": False, "bbcp": False, "globus": False, "rclone": False}
    for name, anew in makes.items():
        plans = tool(name).plan(job(files=100))
        assert any(s.net is not None and s.net.reopened for s in plans.steps) is anew, name
    assert not tool("gridftp", fast="true").plan(job()).steps[0].net.reopened


def test_normal_network_use(tool, job):
    """Two files for each server are preferred and four allowed; four streams, and eight."""
    given = job(files=1000, payload_B=1e9, largest_B=1e6)
    assert tool("globus").chosen(given)[:2] == (2, 4)
    assert tool("globus", servers="3").chosen(given)[:2] == (6, 4)
    assert tool("globus", servers="3", concurrency="99", parallelism="99").chosen(given)[:2] == (12, 8)


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


@pytest.mark.parametrize("kind", ["globus", "condor"])
def test_encryption_costs_both_ends(tool, job, kind):
    plain, secret = (tool(kind, encrypt=v).plan(job()).steps[0].cpu for v in ("false", "true"))
    assert len(secret) == len(plain) + 2
