"""UDT and FASP: published increase, ESnet's figure, insensitivity to the round trip."""

import pytest

from dtnsim.physics.tcp import ratebased as rb


def test_esnet_s_udt_is_bound_by_one_core():
    # ESnet test DTNs: 220 MB/s over a clean 10 Gb/s path; the cost of a packet is a prior with a factor 2
    for cycles, most in ((rb.UDT_CYCLES_PER_PACKET / 2, 1.0), (2 * rb.UDT_CYCLES_PER_PACKET, 1.0)):
        rate = rb.udt(1.25e9, 0.025, 0.0, clock_Hz=3e9, cycles_per_packet=cycles)
        assert rate < most * 1.25e9
    low = rb.udt(1.25e9, 0.025, 0.0, cycles_per_packet=2 * rb.UDT_CYCLES_PER_PACKET)
    high = rb.udt(1.25e9, 0.025, 0.0, cycles_per_packet=rb.UDT_CYCLES_PER_PACKET / 2)
    assert low < 220e6 < high


def test_udt_s_window_binds_on_very_long_paths():
    free = {"clock_Hz": 1e15}
    assert rb.udt(1.25e9, 0.5, 0.0, **free) == pytest.approx(8192 * 1456 / 0.51, rel=0.01)
