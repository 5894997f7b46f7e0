"""iperf 2: a thread a stream."""

import pytest


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
