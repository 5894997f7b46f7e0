"""iperf2 and iperf3: threads, streams, releases, time or bytes."""

import pytest

from dtnsim.ground.errors import SpecError


def test_streams_window_and_congestion_control(tool, job):
    plan = tool("iperf3", P="4", w="4 MiB", C="htcp", Z="true").plan(job())
    (step,) = plan.steps
    assert (step.net.streams, step.net.window.value, step.net.cc, step.net.sendfile) == (4, 2**22, "htcp", True)
    assert plan.weight == 4
    assert step.read is step.write is None
    assert step.files.round_trips == 0


def test_long_names_are_the_same_options(tool):
    assert tool("iperf3", parallel="4", window="4 MiB").P == tool("iperf3", P="4").P == 4


def test_one_thread_serves_all_streams_before_3_16(tool, job):
    """Release notes of iperf 3.16: multithreading, a thread a stream."""
    copies = {v: tool("iperf3", P="8", version=v).plan(job()).steps[0].net.receiver.copies for v in ("3.15", "3.16")}
    assert copies == {"3.15": 1, "3.16": 8}


def test_bit_rate_is_for_each_stream(tool, job):
    assert tool("iperf3", P="4", b="1 Gb/s").plan(job()).steps[0].net.rate.value == pytest.approx(5e8)
    udp = tool("iperf3", u="true").plan(job()).steps[0].net
    assert udp.transport == "udp"
    assert udp.rate.value == pytest.approx(1e6 / 8)  # iperf3(1)


def test_reverse_is_said_not_guessed(tool, job):
    assert "client runs at 'to'" in tool("iperf3", R="true").plan(job()).warnings[0]


def test_a_fixed_window_limits_by_the_round_trip(run):
    """Half of a buffer that Linux doubles is the window: 4 MiB / 3.12 ms = 10.75 Gb/s."""
    rate = run("{name: iperf3, w: 4 MiB}", rtt="3.12 ms", start="a:memory", to="b:memory").throughput_Bps.p50
    # two segments are held back by a delayed ACK, and the hosts add 0.1 ms
    assert rate == pytest.approx((4 * 2**20 - 2 * 8948) / 3.22e-3, rel=0.01)


def test_rejects(tool):
    for options, key in (({"P": "0"}, "P"), ({"C": "vegas"}, "C"), ({"w": "4"}, "w"), ({"version": "new"}, "version")):
        with pytest.raises(SpecError, match=f"^{key}: "):
            tool("iperf3", **options)
    with pytest.raises(SpecError, match="parallel: is not a key"):
        tool("iperf3", P="2", parallel="3")


def test_a_thread_for_each_stream(tool, job):
    net = tool("iperf2", P="4", b="1 Gb/s").plan(job(source="memory", destination="memory")).steps[0].net
    assert (net.streams, net.sender.copies, net.receiver.copies) == (4, 4, 4)
    assert net.rate.value == pytest.approx(4 * 125e6)
    assert tool("iperf2", u="true").plan(job()).steps[0].net.transport == "udp"


def test_it_gives_what_iperf3_gives_since_it_has_threads(run):
    """The same streams, threads and calls of 128 KiB."""
    two, three = (
        run(f"{{name: {name}, P: 4}}", start="a:memory", to="b:memory").throughput_Bps.p50
        for name in ("iperf2", "iperf3")
    )
    assert two == pytest.approx(three)
