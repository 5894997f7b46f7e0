import pytest

from dtnsim.ground.errors import SpecError


@pytest.mark.parametrize(
    ("engine", "direct", "depth"),
    [("psync", True, 1), ("libaio", False, 1), ("libaio", True, 32), ("io_uring", False, 32)],
)
def test_depth_is_what_the_engine_can_keep(engine, direct, depth, tool, job):
    """libaio without O_DIRECT runs one request after the other (fio HOWTO, iodepth)."""
    made = tool("fio", rw="randread", ioengine=engine, direct=str(direct), iodepth="32", numjobs="2")
    plan = made.plan(job(source="memory", rtt_s=0.0))
    assert plan.workers == 2 * depth
    assert plan.steps[0].reread.queue_depth == depth
    assert plan.steps[0].reread.thread.copies == 2


def test_mixed_load_shares_the_bytes(tool, job):
    plan = tool("fio", rw="randrw", rwmixread="70").plan(job(rtt_s=0.0))
    assert [s.name for s in plan.steps] == ["read", "write"]
    assert [s.share for s in plan.steps] == pytest.approx([0.7, 0.3])
    assert [s.name for s in tool("fio", rw="rw", rwmixread="100").plan(job(rtt_s=0.0)).steps] == ["read"]


@pytest.mark.parametrize(
    ("options", "finish"),
    [({}, "none"), ({"end_fsync": "1"}, "fdatasync"), ({"fdatasync": "1"}, "dsync"), ({"direct": "1"}, "direct")],
)
def test_what_a_write_waits_for(options, finish, tool, job):
    assert tool("fio", rw="write", **options).plan(job(rtt_s=0.0)).steps[0].write.finish == finish


def test_rejects(tool):
    with pytest.raises(SpecError, match="rwmixread"):
        tool("fio", rwmixread="101")
    with pytest.raises(SpecError, match="rw"):
        tool("fio", rw="sideways")


@pytest.mark.parametrize(("invalidate", "cached"), [("true", False), ("false", True)])
def test_reads_come_from_the_drives_unless_the_cache_is_kept(invalidate, cached, tool, job):
    """fio HOWTO, invalidate: drop the files' pages before the run begins (default true)."""
    plan = tool("fio", rw="randread", invalidate=invalidate).plan(job(destination="null", payload_B=1e9, memory_B=64e9))
    assert plan.steps[0].read.cached is cached


@pytest.mark.parametrize(("rw", "first"), [("read", "open"), ("randread", "open"), ("write", "create")])
def test_every_file_is_opened(rw, first, tool, job):
    """160,000 files of a byte cost 160,000 opens and closes, not the time of 160 kB."""
    step = tool("fio", rw=rw).plan(job(files=160_000)).steps[0]
    assert (step.files.destination or step.files.source) == (first, "close")


def test_files_of_a_mixed_load_are_opened_once(tool, job):
    read, write = tool("fio", rw="randrw").plan(job(files=10)).steps
    assert read.files.destination
    assert not write.files.destination
