"""GridFTP, Globus and FTS."""

import pytest


def test_without_fast_every_file_starts_slowly(run):
    """MODE S closes the data connection with the file: two round trips more, and a slow start for each."""
    data = "{files: 100, each: 20 MB}"
    plain, fast, one = (
        run(f"{{name: gridftp, {o}}}", rtt="50 ms", data=d).duration_s.p50
        for o, d in (("p: 1", data), ("fast: true", data), ("fast: true", "{files: 1, each: 20 MB}"))
    )
    # a window of 10 segments of 8948 B doubles in ceil(log2(20e6 / 89480 + 1)) = 8 rounds, seven gaps between them;
    # the machines of these tests send a round in next to no time
    stall = 7 * 0.05
    assert plain - fast == pytest.approx(100 * (2 * 0.05 + stall), rel=0.03)
    assert fast - 100 * 2 * 0.05 < 2 * one  # connections that stay open start slowly once


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


def test_verification_follows_the_transfer(run):
    """Serial in the same worker: 1/X = 1/X_transfer + 1/X_verify."""
    both = run("{name: globus, chunked: false}").throughput_Bps.p50
    alone = run("{name: globus, chunked: false, verify: false}").throughput_Bps.p50
    md5 = 9e9 / (4.058 + 0.45 + 3000 / 2**20)  # OpenSSL MD5 and the read of 1 MiB calls on the same core [B/s]
    assert 1 / both == pytest.approx(1 / alone + 1 / md5, rel=0.01)


@pytest.mark.parametrize("kind", ["globus", "condor"])
def test_encryption_costs_both_ends(tool, job, kind):
    plain, secret = (tool(kind, encrypt=v).plan(job()).steps[0].cpu for v in ("false", "true"))
    assert len(secret) == len(plain) + 2
