"""Sawtooth over a drop-tail buffer: limits, the published table, a sawtooth run round by round."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics.tcp import droptail as d
from dtnsim.physics.tcp.droptail import bursts_fit
from dtnsim.physics.tcp.setting import Setting
from tests.each import rows


def by_rounds(b, beta, bdp=20_000.0):
    """Utilisation of a window that grows by one a round from beta (1 + b) BDP to (1 + b) BDP."""
    w = np.arange(np.ceil(beta * (1 + b) * bdp), (1 + b) * bdp)
    return np.minimum(w, bdp).sum() / bdp / len(w) if b == 0 else w.sum() / np.maximum(w, bdp).sum()


@given(b=st.floats(0, 2), beta=st.sampled_from([0.5, 0.7, 0.8]))
@settings(max_examples=30)
def test_the_formula_is_the_sawtooth(b, beta):
    assert d.sawtooth_utilisation(b, beta) == pytest.approx(by_rounds(b, beta), abs=2e-3)


def test_a_full_buffer_is_one_over_beta_less_one():
    for beta in (0.5, 0.7, 0.8):
        assert d.sawtooth_utilisation((1 - beta) / beta, beta) == pytest.approx(1.0)
        assert d.sawtooth_utilisation(0.9 * (1 - beta) / beta, beta) < 1


PATH = Setting(1.25e7, 0.01, 0.0, 1500.0, np.inf, 1, "cubic", np.inf)


@pytest.mark.parametrize(("more", "fit"), rows("physics/tcp/tables", "bursts_of_a_millisecond"))
def test_bursts_of_a_millisecond(more, fit):
    # 100 Mb/s: 1.2 x 8333 / 1024 = 9.6 segments a burst, and 1.5 more
    assert bursts_fit(1.2e7, replace(PATH, **more)) is fit
    assert bursts_fit(0.0, replace(PATH, **more))
