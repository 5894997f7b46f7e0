"""UDT and FASP: published increase, ESnet's figure, insensitivity to the round trip."""

import math

import pytest

from dtnsim.physics.tcp import ratebased as rb


@pytest.mark.parametrize(
    # draft-gg-udt-03 section 6: increase in packets per SYN by free bandwidth, 1500-byte packets
    ("free_Mbps", "packets"),
    [(10_000, 10), (1_000, 1), (100, 0.1), (10, 0.01), (1, 0.001)],
)
def test_the_increase_table_of_the_draft(free_Mbps, packets):
    assert rb.udt_increase(free_Mbps * 1e6 / 8, 1500) == pytest.approx(packets, rel=0.01)


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


def test_fasp_takes_what_the_path_leaves_whatever_the_round_trip():
    assert rb.fasp(1.25e7, 0.0) == pytest.approx(1.25e7)
    assert rb.fasp(1.25e7, 0.05) == pytest.approx(0.95 * 1.25e7)
    # one core of 3 GHz at 1e4 cycles a packet and 2 a byte does not carry 10 Gb/s
    assert rb.fasp(1.25e9) < 0.5e9


def test_what_is_sent_again_may_be_lost_again():
    assert rb.sent([0.0, 0.5, 1.0]) == pytest.approx([1.0, 2.0, math.inf])


def test_udt_on_one_wire_is_held_by_its_core():
    """A path that leaves without bound: what the cores can send, as from a very wide one."""
    assert rb.udt(math.inf, 1e-3, 1e-3) == pytest.approx(float(rb.udt(1e15, 1e-3, 1e-3)), rel=1e-9)
    assert 0 < rb.udt(math.inf, 0.0, 0.0) < math.inf
