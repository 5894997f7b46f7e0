import pytest


def test_chunks_of_8_kib_and_single_bytes(tool, job):
    twice = job(source="memory", payload_B=252 * 2**30, rtt_s=0.0)
    assert tool("bonnie").plan(twice).steps[0].write.block_B == 8192
    assert tool("bonnie", test="char-write").plan(twice).steps[0].write.block_B == 1
    assert tool("bonnie", test="char-read").plan(twice).steps[0].reread.block_B == 1


def test_twice_the_memory_is_steady_and_less_is_flushed_at_close(tool, job):
    assert tool("bonnie").plan(job(payload_B=256e9, rtt_s=0.0)).steps[0].write.finish == "steady"
    assert tool("bonnie").plan(job(payload_B=8e9, rtt_s=0.0)).steps[0].write.finish == "fdatasync"
    assert tool("bonnie", b="true").plan(job(rtt_s=0.0)).steps[0].write.finish == "dsync"
    assert tool("bonnie", D="true").plan(job(rtt_s=0.0)).steps[0].write.finish == "direct"


def test_rewrite_reads_and_writes_each_byte_in_the_same_process(tool, job):
    (step,) = tool("bonnie", test="rewrite").plan(job(payload_B=256e9, rtt_s=0.0)).steps
    assert step.reread.thread == step.write.thread
    assert step.write.rewrite
    assert step.reread.block_B == step.write.block_B


def test_rewrite_takes_the_time_of_reading_and_writing_where_one_core_limits(run):
    """The same core does both: 1/X = 1/X_read + 1/X_write."""
    data = "{files: 1, size: 4 TiB}"
    rate = {
        t: run(f"{{name: bonnie, test: {t}}}", data=data, start="a:memory", to="a:/data").throughput_Bps.p50
        for t in ("block-write", "block-read", "rewrite")
    }
    assert 1 / rate["rewrite"] == pytest.approx(1 / rate["block-write"] + 1 / rate["block-read"], rel=1e-6)


def test_every_tenth_seek_writes(tool, job):
    plan = tool("bonnie", test="seeks").plan(job(rtt_s=0.0))
    seek, update = plan.steps
    assert plan.workers == 5
    assert seek.reread.random
    assert update.write.random
    assert update.share == 0.1


def test_seeks_of_a_volume_that_is_only_read(tool, job):
    (seek,) = tool("bonnie", test="seeks", seekers="3").plan(job(destination="memory", rtt_s=0.0)).steps
    assert seek.read.own_streams == 3
