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
