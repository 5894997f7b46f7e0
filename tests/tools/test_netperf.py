"""netperf: one stream, by time or by bytes."""

import pytest

from dtnsim.ground.errors import SpecError


def test_ten_seconds_unless_said(tool):
    """netperf(1): -l, default 10 seconds."""
    assert tool("netperf").timing(sized=False).seconds == 10
    assert tool("netperf").timing(sized=True) is None
    with pytest.raises(SpecError, match="not both"):
        tool("netperf", seconds="5 s").timing(sized=True)


def test_the_smaller_socket_is_the_window(tool, job):
    net = tool("netperf", s="1 MiB", S="256 KiB").plan(job()).steps[0].net
    assert net.window.value == 2**18
    assert tool("netperf").plan(job()).steps[0].net.window is None


def test_the_test_names_what_is_copied(tool, job):
    def net(name):
        return tool("netperf", t=name).plan(job()).steps[0].net

    assert net("TCP_SENDFILE").sendfile
    assert net("UDP_STREAM").transport == "udp"
    assert tool("netperf", t="TCP_MAERTS").plan(job()).warnings
