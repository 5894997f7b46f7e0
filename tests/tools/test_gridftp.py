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
