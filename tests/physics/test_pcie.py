"""PCIe against the published pcie-bench table, the specification's tables and known cards."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.physics import pcie
from tests.each import rows

GBIT = 1e9 / 8

TABLE = rows("physics/tables", "pcie")["TABLE"]


@pytest.mark.parametrize(
    ("gen", "lanes", "mps", "symbols"),
    # PCIe Base Specification tables 3-7..3-9
    rows("physics/tables", "acknowledge_interval_is_the_specifications_table"),
)  # fmt: skip
def test_acknowledge_interval_is_the_specifications_table(gen, lanes, mps, symbols):
    assert np.floor(pcie.ack_interval(gen, lanes, mps)) == symbols


def _reads(gen, lanes, mps, mrrs=512.0, striping=0.0):
    """Payload rate of a device that only reads host memory."""
    busiest = np.maximum(pcie.request_bytes(gen, mrrs), pcie.completion_bytes(gen, mps))
    return pcie.tlp_rate(gen, lanes, mps, striping) / busiest


@pytest.mark.parametrize(("gen", "lanes", "raw", "pairs", "tol"), TABLE)
def test_published_table(gen, lanes, raw, pairs, tol):
    assert pcie.raw_rate(gen, lanes) / GBIT == pytest.approx(raw, abs=max(tol, 0.06))
    mps = np.array([128, 256, 512])
    # The specification's tables truncate N to an integer (67.75 -> 67); the closed form does not:
    # at most 1/48 of the 2*8/N share, 0.7 % of the rate on the widest link.
    write, read = pcie.write_rate(gen, lanes, mps) / GBIT, _reads(gen, lanes, mps) / GBIT
    np.testing.assert_allclose(write, [w for w, _ in pairs], atol=tol, rtol=0.004)
    np.testing.assert_allclose(read, [r for _, r in pairs], atol=tol, rtol=0.004)


def test_known_cards():
    # A two-port 10 GbE card that carried 19.8 Gb/s cannot have sat on gen 1 x8; gen 2 x8 takes it.
    assert _reads(1, 8, 256) < 19.8 * GBIT < _reads(2, 8, 128)
    # A vendor puts FDR InfiniBand on gen 3 x8 at 52-53 Gb/s.
    assert 52 * GBIT < pcie.write_rate(3, 8, 256) < _reads(3, 8, 256) < 54 * GBIT


def test_limits():
    # 32 tags of 512 B over 500 ns: 32.8 GB/s, above gen 3 x16: latency does not bind there.
    assert pcie.read_latency_rate(32, 512, 500e-9) > _reads(3, 16, 512)
    with pytest.raises(IndexError):
        pcie.raw_rate(7, 8)


@given(
    gen=st.integers(1, 6),
    lanes=st.sampled_from([1, 2, 4, 8, 16]),
    mps=st.sampled_from([128, 256, 512, 1024, 4096]),
    striping=st.floats(0, 1),
)
def test_properties(gen, lanes, mps, striping):
    raw = pcie.raw_rate(gen, lanes)
    tlp = pcie.tlp_rate(gen, lanes, mps, striping)
    write, read = pcie.write_rate(gen, lanes, mps, striping), _reads(gen, lanes, mps, 512, striping)
    assert 0 < write < read < tlp < raw  # a completion's header is smaller than a write's
    assert pcie.tlp_share(gen, lanes, mps, 1.0) >= pcie.tlp_share(gen, lanes, mps, striping) - 1e-12
    assert pcie.write_rate(gen, 2 * lanes, mps, striping) > write
    if gen < 6:
        assert pcie.write_rate(gen + 1, lanes, mps, striping) > write


@given(rate=st.floats(1e6, 8e10))
def test_a_cards_link_carries_its_ports_and_no_older_one_does(rate: float) -> None:
    lanes, generation = pcie.card_link(rate)
    assert generation == 6 or float(pcie.write_rate(generation, lanes, 256)) >= rate
    older = (lanes, generation - 1) if generation > 3 else (8, 3)
    assert (lanes, generation) == (8, 3) or float(pcie.write_rate(older[1], older[0], 256)) < rate
