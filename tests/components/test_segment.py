"""Segments: bandwidth less what others use, in series, in both directions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.components.network_kinds import LONG, PRIORS
from dtnsim.components.segment import Background, Segment
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw
from tests.each import rows
from tests.lab import answer, journey, machine, problem, rate, sheet

FRAME = 9038 / 8948


def background(**given: object) -> Background:
    return Background.model_validate(given)


@pytest.mark.parametrize(("hour", "share"), [(15, 0.6), (3, 0.2), (9, 0.4), (21, 0.4)])
def test_others_leave_the_rest_of_a_daily_wave(hour: float, share: float) -> None:
    """0.4 (1 + 0.5 cos(2 pi (h - 15) / 24)): 0.6 at three in the afternoon, 0.2 at three in the morning."""
    others = {"share": "40 %", "diurnal": "50 %", "peak_hour": 15, "hour": hour}
    assert background(**others).share_taken(Draw()).value == pytest.approx(share)
    found = sheet(problem(journey(wan={"bandwidth": "10 Gb/s", "background": others})))
    assert found.capacity("network.wan") == pytest.approx((1 - share) * 1.25e9, rel=1e-3)


def test_an_unknown_hour_widens_the_spread() -> None:
    """A sine of amplitude a has variance a^2 / 2: spreads add in quadrature; the median stays."""
    found = background(share={"value": "40 %", "spread": 0.3}, diurnal="50 %")
    assert found.anytime.spread == pytest.approx((0.3**2 + 0.5**2 / 2) ** 0.5)
    assert found.share_taken(Draw()).value == pytest.approx(0.4)


def test_an_unknown_hour_is_the_same_hour_for_all_who_ask() -> None:
    """The segment and the TCP that crosses it must see one and the same load in every scenario."""
    found, draw = background(share="40 %", diurnal="50 %"), Draw(64, 1)
    first, second = found.share_taken(draw).value, found.share_taken(draw).value
    assert (first == second).all()  # type: ignore[union-attr]  # arrays
    assert first.std() > 0  # type: ignore[union-attr]


@settings(max_examples=10)
@given(st.integers(1, 400), st.integers(0, 95))
def test_never_more_than_what_is_left(gbps: int, percent: int) -> None:
    wan = {"bandwidth": f"{gbps} Gb/s", "rtt": "5 ms", "background": {"share": f"{percent} %"}}
    left = gbps * 1.25e8 * (1 - percent / 100)
    assert rate(journey(wan=wan, tool={"name": "iperf3", "P": 4})) <= left / FRAME * (1 + 1e-9)


@pytest.mark.parametrize(("given", "says"), rows("components/tables", "what_is_no_segment"))
def test_what_is_no_segment(given: dict[str, str], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        Segment.build({"kind": "segment", **given})


@pytest.mark.parametrize(
    "said", [{"bursts": {"rate": "1e-4", "length": "10"}}, {"retransmits": {"count": 1200, "moved": "100 GB"}}]
)
def test_who_says_what_is_lost_leaves_nothing_unstated(said):
    """Retransmits or bursts are what the path loses: the loss that nobody has measured does not come on top."""
    draw = Draw(64)
    bare, known = (Segment.model_validate({"bandwidth": "10 Gb/s", "rtt": "30 ms", **more}) for more in ({}, said))
    known.losses(draw)
    assert not draw.unstated
    bare.losses(draw)
    assert draw.unstated
    both = Segment.model_validate({"bandwidth": "10 Gb/s", "loss": "1e-3", **said})
    assert float(both.losses(Draw())[0]) > 1e-3


@pytest.mark.parametrize(("count", "starts", "own"), [(1200, 1, 1.0), (100_000, 1, 0.518), (1200, 0, 0.0)])
def test_a_slow_start_loses_as_much_as_pipe_and_queue_hold(count, starts, own):
    """10 Gb/s over 30 ms, and a pipe of queue: 51,796 segments of each start may say nothing of the path."""
    said = {"retransmits": {"count": count, "moved": "100 GB", "starts": starts}}
    segment = Segment.model_validate({"bandwidth": "10 Gb/s", "rtt": "30 ms", **said})
    assert segment.resent is not None
    assert float(segment.losses(Draw())[0]) == pytest.approx((1 - own / 2) * segment.resent.value, rel=1e-3)
    drawn = Draw(1000)
    part = np.asarray(segment.losses(drawn)[0]) / np.asarray(drawn(segment.resent))
    assert np.all((1 - own - 1e-3 < part) & (part < 1 + 1e-9))
    assert np.quantile(part, [0.25, 0.75]) == pytest.approx([1 - 0.8 * own, 1 - 0.25 * own], abs=0.02)


# -- what nobody states, by the kind of network ----------------------------------------------------
def drawn_losses(samples: int = 4000, *, mean: bool = False, **said: object) -> np.ndarray:
    segment = Segment.model_validate({"bandwidth": "10 Gb/s", "rtt": "100 ms", **said})
    return np.asarray(segment.losses(Draw(samples, 1, mean=mean))[0])


@pytest.mark.parametrize("medium", sorted(PRIORS))
def test_a_loss_that_nobody_states_is_that_of_the_medium(medium: str) -> None:
    """Log-normal: two thirds of routes within the factor; runs of a route differ too, unless the mean is asked for."""
    usual = PRIORS[medium].loss
    routes = np.log(drawn_losses(medium=medium, mean=True))
    assert np.exp(np.median(routes)) == pytest.approx(usual.value, rel=0.02)
    assert routes.std() == pytest.approx(np.sqrt(np.log1p(usual.spread**2)), rel=0.03)
    runs = np.log(drawn_losses(medium=medium))
    both = np.log1p(usual.spread**2) + np.log1p(PRIORS[medium].runs.spread ** 2)
    assert runs.std() == pytest.approx(np.sqrt(both), rel=0.05)
    assert drawn_losses(loss={"value": "1e-5", "spread": "0 %"}, medium=medium) == pytest.approx(1e-5)


def test_long_networks_lose_by_their_length() -> None:
    far, near = (np.median(drawn_losses(medium="internet", rtt=rtt)) for rtt in ("200 ms", "20 ms"))
    assert far / near == pytest.approx(10, rel=0.02)
    here, there = (np.median(drawn_losses(medium="mobile", rtt=rtt)) for rtt in ("200 ms", "20 ms"))
    assert here == there


def test_a_segment_of_an_unknown_kind_is_one_of_several() -> None:
    """Its distribution function is the mean of theirs; one that passes jumbo frames is not the internet."""
    for kinds, said in ((LONG, {}), (("backbone", "research"), {"mtu": "9000 B"})):
        each, mixed = [drawn_losses(medium=kind, mean=True) for kind in kinds], drawn_losses(mean=True, **said)
        for at in (1e-8, 1e-7, 1e-6, 3e-6, 1e-5):
            assert np.mean(mixed < at) == pytest.approx(np.mean([np.mean(e < at) for e in each]), abs=0.02)
    small = drawn_losses(mtu="1500 B", mean=True)
    assert (small == drawn_losses(mean=True)).all()
    slow = Segment.model_validate({"bandwidth": "100 Mb/s", "rtt": "100 ms"})  # has none, whatever its ends send
    assert (np.asarray(slow.between_jumbo_ends().losses(Draw(4000, 1, mean=True))[0]) == small).all()


def test_other_traffic_of_an_unknown_kind_is_that_of_its_length() -> None:
    """Within a site (1 ms, or no round trip stated) a campus or a lab, each in half of the draws; else a long one."""

    def shares(**said: object) -> np.ndarray:
        return np.asarray(Segment.model_validate({"bandwidth": "10 Gb/s", **said}).share_taken(Draw(4000, 1)).value)

    each = [shares(medium=kind) for kind in ("campus", "lab")]
    for here in (shares(rtt="0.3 ms"), shares(rtt="1 ms"), shares()):
        for at in (1e-3, 1e-2, 0.05, 0.1):
            assert np.mean(here < at) == pytest.approx(np.mean([np.mean(e < at) for e in each]), abs=0.02)
    assert np.median(shares(rtt="1.1 ms")) == pytest.approx(np.median(shares(rtt="100 ms")))
    assert (shares(rtt="0.3 ms") <= shares(rtt="20 ms")).all()  # a longer one is never the freer


def test_a_geostationary_satellite_loses_less_than_one_near_the_earth() -> None:
    """It is one by its round trip, 477 ms at least; DVB-S2 leaves 1e-7 of the packets of 188 B, Starlink 5e-4."""
    near, far = (np.median(drawn_losses(medium="satellite", rtt=rtt, mean=True)) for rtt in ("50 ms", "600 ms"))
    assert near == pytest.approx(5e-4, rel=0.2)
    assert far == pytest.approx(1e-7 * 1500 / 188, rel=0.2)


def test_one_word_narrows_an_interval() -> None:
    """Rate and round trip, then the kind of network, then the kind of hosts."""
    wide = journey(machine(tcp={}), machine(tcp={}), wan={"bandwidth": "10 Gb/s", "rtt": "100 ms"}, tool="iperf3")
    widths = []
    for changed, role in (({}, {}), ({"medium": "backbone"}, {}), ({}, {"role": "untuned"})):
        wide["wan"] = {**wide["wan"], **changed}
        wide["hosts"] = {name: {**host, **role} for name, host in wide["hosts"].items()}
        found = answer(wide, samples=256).throughput_Bps
        widths.append(found.p90 / found.p10)
    assert widths[0] > widths[1] > widths[2]


def test_a_loss_that_nobody_states_leaves_a_test_about_what_it_leaves_where_it_is_stated() -> None:
    """It comes out of slow start at 5 Gb/s and loses little in 10 s; in the end CUBIC would have a tenth of that."""
    big = machine(tcp={"cc": "cubic", "rmem_max": "180 MB", "wmem_max": "180 MB"})
    wan, loss = {"bandwidth": "5 Gb/s", "rtt": "60 ms", "mtu": "1500 B"}, 0.6 * PRIORS["backbone"].loss.value
    ways = (journey(big, big, wan=wan | said) for said in ({"medium": "backbone"}, {"loss": loss}))
    rates = [answer(way, samples=256).throughput_Bps.p50 for way in ways]
    assert rates[0] == pytest.approx(rates[1], rel=0.25)
