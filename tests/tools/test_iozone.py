import pytest

from dtnsim.ground.errors import SpecError


def _step(tool, job, **options):
    given = {"source": "memory", "payload_B": 8 * 2**30, "rtt_s": 0.0}
    return tool("iozone", **options).plan(job(**given)).steps[0]


def test_a_write_ends_in_the_cache_unless_flush_is_timed(tool, job):
    assert _step(tool, job).write.finish == "none"
    assert _step(tool, job, e="true").write.finish == "fdatasync"
    assert _step(tool, job, o="true").write.finish == "dsync"
    assert _step(tool, job, I="true").write.finish == "direct"


def test_record_length_is_the_size_of_a_call(tool, job):
    assert _step(tool, job).write.block_B == 4096
    assert _step(tool, job, reclen="1 MiB").write.block_B == 2**20


def test_reads_come_from_memory_while_the_file_is_less_than_half_of_it(tool, job):
    small = tool("iozone", test="read").plan(job(source="memory", payload_B=63e9, rtt_s=0.0)).steps[0]
    large = tool("iozone", test="read").plan(job(source="memory", payload_B=65e9, rtt_s=0.0)).steps[0]
    direct = tool("iozone", test="read", I="true").plan(job(source="memory", payload_B=63e9, rtt_s=0.0)).steps[0]
    assert (small.reread.cached, large.reread.cached, direct.reread.cached) == (True, False, False)


def test_reads_work_at_either_end(tool, job):
    step = tool("iozone", test="read").plan(job(destination="memory", rtt_s=0.0)).steps[0]
    assert step.read is not None
    assert step.reread is None


def test_rewrite_and_random_access(tool, job):
    assert _step(tool, job, test="rewrite").write.rewrite
    random = _step(tool, job, test="random-write").write
    assert random.random
    assert random.rewrite
    assert not _step(tool, job).write.rewrite


def test_throughput_mode(tool, job):
    plan = tool("iozone", t="4").plan(job(rtt_s=0.0))
    assert plan.workers == 4
    assert plan.steps[0].write.thread.copies == 4


def test_writing_needs_a_volume(tool, job):
    with pytest.raises(SpecError, match=r"test\.to: iozone needs a volume here \(got 'null'\)"):
        tool("iozone").plan(job(destination="null", rtt_s=0.0))


def test_larger_records_are_faster_and_saturate(run):
    """t = a + s/R: the time of a record is affine in its size."""
    times = []
    for record in (4, 8, 16):
        rate = run(f"{{name: iozone, r: {record} KiB}}", data="{files: 1, size: 1 GiB}", start="a:memory", to="a:/data")
        times.append(record * 1024 / rate.throughput_Bps.p50)
    assert times[2] - times[1] == pytest.approx(2 * (times[1] - times[0]), rel=1e-6)
    assert times[0] < times[1] < times[2]
