"""HPN-SSH: no channel window in the way."""

import pytest


def test_hpn_lifts_the_window_of_openssh(run):
    """HPN-README; 2 MiB over 53 ms are 39.6 MB/s."""
    bound, free = (run(f"{{name: hpnscp, hpn: {flag}}}").throughput_Bps.p50 for flag in ("false", "true"))
    assert bound == pytest.approx(2**21 / 0.053, rel=0.01)
    assert free > 5 * bound


def test_requests_in_flight(tool, job):
    """sftp-client.c of hpn-ssh: 1024 requests of 128 KiB."""
    assert tool("hpnscp").plan(job()).steps[0].net.channel.value == 2**27
    assert tool("hpnscp", R=16).plan(job()).steps[0].net.channel.value == 2**21
