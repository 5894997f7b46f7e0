"""The closed-form front: monotone in everything a planner can turn, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.tcp import ALGORITHMS, LIMITS, path_goodput

CASE = {
    "rate_Bps": st.floats(1e5, 5e10),
    "rtt_s": st.floats(1e-4, 0.4),
    "loss": st.one_of(st.just(0.0), st.floats(-8, -1).map(lambda e: 10**e)),
    "buffer_B": st.floats(6e3, 1e10),
    "streams": st.integers(1, 64),
    "window_B": st.one_of(st.just(np.inf), st.floats(1e4, 1e10)),
    "background_share": st.floats(0, 0.95),
}
UP = ("rate_Bps", "window_B", "buffer_B", "streams")
DOWN = ("loss", "rtt_s", "background_share")


@pytest.mark.parametrize("cc", ALGORITHMS)
@given(case=st.fixed_dictionaries(CASE), factor=st.floats(1.0, 30.0))
@settings(max_examples=60, deadline=None)
def test_monotone(cc, case, factor):
    base, limit = path_goodput(cc=cc, **case)
    assert 0 <= base <= case["rate_Bps"] * (1 - case["background_share"]) * 1448 / 1500 * (1 + 1e-12)
    assert limit in LIMITS
    for key in UP:
        more = path_goodput(cc=cc, **(case | {key: case[key] * factor}))[0]
        assert more >= base * (1 - 1e-9), key
    for key in DOWN:
        top = {"loss": 1.0, "rtt_s": 10.0, "background_share": 0.99}[key]
        worse = path_goodput(cc=cc, **(case | {key: min(case[key] * factor, top)}))[0]
        assert worse <= base * (1 + 1e-9), key
