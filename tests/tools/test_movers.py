"""ascp, FDT, wdt and HTCondor: movers with a protocol of their own."""

import pytest

from dtnsim.ground.errors import SpecError


def test_default_target_is_10_mbps(tool, job):
    """ascp command reference: -l, default 10000 Kbps."""
    net = tool("ascp").plan(job()).steps[0].net
    assert net.transport == "fasp"
    assert net.rate.value == pytest.approx(10e6 / 8)


def test_target_binds_whatever_the_round_trip(run):
    near, far = (run("{name: ascp, l: 1 Gb/s}", rtt=t).throughput_Bps.p50 for t in ("1 ms", "300 ms"))
    assert near == pytest.approx(far, rel=1e-3)
    assert near == pytest.approx(1e9 / 8, rel=0.02)


def test_no_encryption_with_T(tool, job):
    secret, plain = (tool("ascp", l="1 Gb/s", T=v).plan(job()).steps[0].cpu for v in ("false", "true"))
    assert {w.what for w in secret} == {"FASP cipher"}
    assert plain == ()


def test_resume_levels(tool):
    assert tool("ascp", k="1").k == 1
    for options, key in (({"k": "4"}, "k"), ({"l": "1G"}, "l"), ({"Q": "greedy"}, "Q")):
        with pytest.raises(SpecError, match=f"^{key}: "):
            tool("ascp", **options)


def test_fallback_is_one_stream_of_tcp(tool, job):
    udp, tcp = (tool("ascp", fallback=f).plan(job()).steps[0].net for f in ("false", "true"))
    assert (udp.transport, tcp.transport, tcp.streams) == ("fasp", "tcp", 1)


def test_defaults_of_the_manual(tool, job):
    """doc-fdt-ddcopy.md: -P 4, -bs 512K."""
    plan = tool("fdt").plan(job())
    assert (plan.steps[0].net.streams, plan.steps[0].read.block_B, plan.weight) == (4, 524288, 4)


def test_files_follow_each_other_without_waiting(run):
    data = "{files: 1000, each: 1 kB}"
    near, far = (run("{name: fdt}", rtt=t, data=data).duration_s.p50 for t in ("1 ms", "100 ms"))
    assert far - near < 3.0  # slow start of the connections only, no round trips for each of 1000 files


def test_window_limit_and_blocking_mode(tool, job):
    net = tool("fdt", ss="8 MiB", limit="100 MB/s", P="32", bio="true").plan(job()).steps[0].net
    assert (net.window.value, net.rate.value, net.sender.copies) == (8 * 2**20, 1e8, 32)
    assert tool("fdt", P="32").plan(job(cores=6)).steps[0].net.sender.copies == 6


def test_rejects(tool):
    with pytest.raises(SpecError, match=r"^P: "):
        tool("fdt", P="-4")


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


def test_wdt_rejects(tool):
    with pytest.raises(SpecError, match=r"^num_ports: "):
        tool("wdt", num_ports="0")


def test_jobs_at_once(tool, job):
    given = job(files=1000, payload_B=1e9, largest_B=1e6)
    assert tool("condor").plan(given).workers == 100
    few = tool("condor", files_per_job="50").plan(given)
    assert few.workers == 20
    assert few.steps[0].files.round_trips == pytest.approx(1 + 6 / 50)
    assert few.steps[0].files.fixed.value == pytest.approx(0.1 / 50)


def test_encryption_costs_both_ends(tool, job):
    plain, secret = (tool("condor", encrypt=v).plan(job()).steps[0].cpu for v in ("false", "true"))
    assert len(secret) == len(plain) + 2
