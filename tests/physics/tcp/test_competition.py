"""Groups of streams at one bottleneck: equal shares, a published case, weights that keep their mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics.tcp.competition import MOST_GROUPS, Group, weights

PATH = {"rate": 8e4, "buffer": 1600.0, "loss": 0.0, "warmup_s": 5.0, "duration_s": 20.0}


def test_like_groups_have_equal_weights() -> None:
    assert weights([Group("bbr", 0.05, 1e9, n) for n in (1, 4, 9)], **PATH) == (1.0, 1.0, 1.0)


def test_a_shorter_round_trip_wins_with_reno_and_less_so_with_cubic() -> None:
    """RFC 9438, section 3.3: CUBIC's fairness between round trips is better than Reno's, whose share goes as 1/RTT."""
    gains = {}
    for cc in ("reno", "cubic"):
        short, far = weights([Group(cc, 0.02, 1e9, 1), Group(cc, 0.08, 1e9, 1)], **{**PATH, "duration_s": 40.0})
        gains[cc] = short / far
    assert gains["reno"] > 4 * 0.5
    assert gains["cubic"] > 1


@settings(max_examples=6, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["reno", "cubic", "bbr"]), st.floats(0.02, 0.2), st.integers(1, 30)),
        min_size=2, max_size=12,
    )
)  # fmt: skip
def test_weights_keep_their_mean_and_their_order_does_not_matter(drawn: list[tuple[str, float, int]]) -> None:
    groups = [Group(cc, rtt, 1e9, n) for cc, rtt, n in drawn]
    short = {**PATH, "warmup_s": 0.5, "duration_s": 1.0}
    found = np.array(weights(groups, **short))
    assert found @ [g.streams for g in groups] == pytest.approx(sum(g.streams for g in groups))
    assert np.all(found > 0)
    assert len(set(found)) <= MOST_GROUPS
    assert weights(groups[::-1], **short)[::-1] == pytest.approx(tuple(found))
