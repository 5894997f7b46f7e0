"""Groups of streams at one bottleneck: equal shares, a published case, weights that keep their mean."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics.tcp.competition import MOST_GROUPS, Group, Shares, race, shares
from dtnsim.physics.tcp.shared import Link

LINK = Link(8e4, 1600.0)
PATH = {"link": LINK, "warmup_s": 5.0, "duration_s": 20.0}


def test_like_groups_have_equal_weights() -> None:
    assert shares([Group("bbr", 0.05, 1e9, n) for n in (1, 4, 9)], **PATH) == Shares((1.0, 1.0, 1.0), 1.0)


def test_a_shorter_round_trip_wins_with_reno_and_less_so_with_cubic() -> None:
    """RFC 9438, section 3.3: CUBIC's fairness between round trips is better than Reno's, whose share goes as 1/RTT."""
    gains = {}
    for cc in ("reno", "cubic"):
        groups = [Group(cc, 0.02, 1e9, 1), Group(cc, 0.08, 1e9, 1)]
        short, far = shares(groups, Link(8e3, 160.0), warmup_s=5.0, duration_s=20.0).weights
        gains[cc] = short / far
    assert gains["reno"] > 4 * 0.5
    assert 1 < gains["cubic"] < gains["reno"]


@settings(max_examples=6)
@given(
    st.lists(
        st.tuples(st.sampled_from(["reno", "cubic", "bbr"]), st.floats(0.02, 0.2), st.integers(1, 30)),
        min_size=2, max_size=12,
    )
)  # fmt: skip
def test_weights_keep_their_mean_and_their_order_does_not_matter(drawn: list[tuple[str, float, int]]) -> None:
    groups = [Group(cc, rtt, 1e9, n) for cc, rtt, n in drawn]
    short = {**PATH, "warmup_s": 0.5, "duration_s": 1.0}
    found = np.array(shares(groups, **short).weights)
    assert found @ [g.streams for g in groups] == pytest.approx(sum(g.streams for g in groups))
    assert np.all(found > 0)
    assert len(set(found.round(9))) <= MOST_GROUPS
    assert shares(groups[::-1], **short).weights[::-1] == pytest.approx(tuple(found))


def test_a_race_gives_what_the_shares_are_of() -> None:
    groups = [Group("cubic", 0.05, 1e9, 2), Group("bbr", 0.03, 1e9, 1)]
    run = race(groups, **PATH)
    found = shares(groups, **PATH)
    got = np.median(run.rate, axis=0)
    assert got == pytest.approx(LINK.rate * found.carried * np.array(found.weights) * [2, 1] / 3)
    assert np.all(run.rate.sum(axis=1) <= LINK.rate * (1 + 1e-9))
    assert race(groups[::-1], **PATH).rate[:, ::-1] == pytest.approx(run.rate)


def test_streams_count_however_many_there_are() -> None:
    """BBR v1's part does not depend on how many CUBIC streams there are (Ware et al. 2019), a CUBIC stream's does."""
    found = [
        shares([Group("cubic", 0.04, 1e9, n), Group("bbr", 0.04, 1e9, 1)], **PATH | {"duration_s": 10.0})
        for n in (2, 48)
    ]
    bbr = [s.weights[1] / (n + 1) for s, n in zip(found, (2, 48), strict=True)]
    assert min(bbr) > 0.1
    assert bbr[0] > bbr[1] > 1 / 49


def test_a_buffer_too_small_for_two_leaves_some_of_the_link() -> None:
    groups = [Group("reno", 0.02, 1e9, 1), Group("reno", 0.06, 1e9, 1)]
    small = shares(groups, Link(8e3, 16.0), warmup_s=5.0, duration_s=10.0)
    assert small.carried < 0.97
    assert shares(groups, Link(8e3, 320.0), warmup_s=5.0, duration_s=10.0).carried > small.carried
