"""GridFTP, Globus and FTS."""

import pytest

from dtnsim.ground.errors import SpecError


def test_streams_are_parallel_times_concurrent(tool, job):
    plan = tool("gridftp", p="8", cc="4").plan(job(files=100))
    assert (plan.workers, plan.weight, plan.steps[0].net.streams) == (4, 32, 32)
    assert plan.steps[0].net.sender.copies == 4
    assert plan.steps[0].read.own_streams == 4


def test_one_file_has_one_worker(tool, job):
    plan = tool("gridftp", p="8", cc="4", fast="true").plan(job(files=1))
    assert (plan.workers, plan.steps[0].net.streams) == (1, 8)


def test_a_process_reads_and_sends(tool, job):
    (step,) = tool("gridftp", p="8").plan(job()).steps
    assert step.read.thread == step.net.sender
    assert step.write.thread == step.net.receiver
    assert step.read.block_B == 262144


def test_stripes_multiply_processes_not_files(tool, job):
    plan = tool("gridftp", p="2", stripe="4").plan(job(files=1))
    assert plan.workers == 1
    assert (plan.steps[0].net.sender.copies, plan.steps[0].net.streams) == (4, 8)


def test_tcp_bs_fixes_the_window_and_udt_is_a_transport(tool, job):
    assert tool("gridftp", **{"tcp-bs": "8 MiB"}).plan(job()).steps[0].net.window.value == 8 * 2**20
    assert tool("gridftp", udt="true").plan(job()).steps[0].net.transport == "udt"


def test_pipelining_hides_control_round_trips(run):
    """N small files: the control round trips vanish, the time of the files themselves stays."""
    data = "{files: 1875, size: 5 MB}"
    plain, fast, piped = (
        run(f"{{name: gridftp, {o}}}", rtt="50 ms", data=data).duration_s.p50
        for o in ("p: 1", "fast: true", "fast: true, pp: true")
    )
    assert plain - fast == pytest.approx(1875 * 2 * 0.05, rel=0.01)
    assert fast - piped == pytest.approx(1875 * 2 * 0.05 * (1 - 1 / 20), rel=0.01)


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


def test_concurrency_divides_the_time_of_small_files(run):
    data = "{files: 1000, each: 1 kB}"
    one, four = (run(f"{{name: gridftp, cc: {n}}}", data=data).duration_s.p50 for n in (1, 4))
    assert one / four == pytest.approx(4.0, rel=0.02)  # log-in and lists come on top


def test_rejects(tool):
    for options, key in (
        ({"p": "-1"}, "p"),
        ({"cc": "0"}, "cc"),
        ({"tcp-bs": "fast"}, "tcp-bs"),
        ({"udt": "perhaps"}, "udt"),
    ):
        with pytest.raises(SpecError, match=f"^{key}: "):
            tool("gridftp", **options)
    with pytest.raises(SpecError, match=r"did you mean 'parallel'|known keys"):
        tool("gridftp", parallell="8")


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


def test_globus_rejects(tool):
    with pytest.raises(SpecError, match=r"^concurrency: "):
        tool("globus", concurrency="0")


def test_steps_of_a_file(tool, job):
    """UrlCopyProcess.cpp: checksum at the source, copy, checksum at the destination."""
    names = {
        mode: [s.name for s in tool("fts", checksum=mode).plan(job()).steps] for mode in ("both", "none", "target")
    }
    assert names == {
        "both": ["checksum at source", "transfer", "checksum at destination"],
        "none": ["transfer"],
        "target": ["transfer", "checksum at destination"],
    }


def test_two_files_at_once_unless_the_optimizer_says_more(tool, job):
    """OptimizerConstants.h: DEFAULT_MIN_ACTIVE 2."""
    given = job(files=100, payload_B=1e11, largest_B=1e9)
    assert tool("fts").plan(given).workers == 2
    assert tool("fts", active=60).plan(given).workers == 60
    assert tool("fts", active=60, reuse=True).plan(given).workers == 1


def test_small_files_cost_a_process_each(run):
    data = "{files: 600, each: 1 MB}"
    alone, kept = (run(f"{{name: fts, active: 1, reuse: {r}}}", data=data).duration_s.p50 for r in ("false", "true"))
    assert alone - kept == pytest.approx(600 * (0.5 + 2 * 0.053), rel=0.1)
