import pytest

from dtnsim.ground.errors import SpecError


def test_blocks_put_all_ports_to_work_on_one_file(tool, job):
    """WdtOptions.h: 8 ports, blocks of 16 MiB, buffers of 256 KiB."""
    plan = tool("wdt").plan(job(files=1))
    assert (plan.workers, plan.steps[0].net.streams, plan.steps[0].read.block_B) == (8, 8, 262144)
    assert tool("wdt", block_size_mbytes="-1").plan(job(files=1)).workers == 1
    assert tool("wdt").plan(job(files=1, payload_B=20e6)).workers == 2


def test_a_port_is_a_thread_that_reads_and_sends(tool, job):
    (step,) = tool("wdt").plan(job()).steps
    assert step.read.thread == step.net.sender
    assert step.net.sender.copies == 8


def test_checksum_only_where_the_cipher_does_not_authenticate(tool, job):
    words = {
        e: {w.what for w in tool("wdt", encryption_type=e).plan(job()).steps[0].cpu} for e in ("none", "aes128gcm")
    }
    assert words == {"none": {"CRC32C"}, "aes128gcm": {"aes128gcm"}}


def test_rate_in_mebibytes(tool, job):
    assert tool("wdt", avg_mbytes_per_sec="100").plan(job()).steps[0].net.rate.value == 100 * 2**20
    assert tool("wdt").plan(job()).steps[0].net.rate is None


def test_rejects(tool):
    with pytest.raises(SpecError, match=r"^num_ports: "):
        tool("wdt", num_ports="0")
