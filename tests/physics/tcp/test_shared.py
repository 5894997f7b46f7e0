"""Competing flows: the link is shared out, round trips and algorithms count as theory says."""

import numpy as np
import pytest

from dtnsim.physics.tcp import controls, shared
from dtnsim.physics.tcp.controls import cubic, westwood


def run(trips, codes, bdp=1.0, rate=4000.0, seconds=40.0, seed=3, loss=0.0):
    link = shared.Link(rate, rate * float(np.mean(trips)) * bdp, loss)
    senders = [shared.Sender(cc, t, 1e9, t * 1.5 + 0.4 * n) for n, (cc, t) in enumerate(zip(codes, trips, strict=True))]
    out = shared.run(senders, link, 10.0, 10.0 + seconds, seed * 7919 + 12345)
    return out[:, 0] / seconds / rate, out


def test_the_link_is_full_and_shared():
    equal = (["reno", "reno"], ["cubic", "cubic"], ["bbr", "bbr"])
    unlike = (["htcp", "cubic"], ["reno", "bbr"], ["scalable", "cubic"], ["westwood", "reno"], ["illinois", "bbr"])
    for codes in (*equal, *unlike):
        share, _ = run([0.04, 0.04], codes)
        assert 0.93 < share.sum() <= 1.0 + 1e-9, codes
        assert share.min() > 0.02, codes
    for codes in (["bbr", "cubic"], ["bbr3", "bbr"]):  # a queue of seconds behind a round trip that is no slice of it
        assert 0.9 < run([0.0014, 0.0014], codes, bdp=1000.0)[0].sum() <= 1.001, codes


def test_equals_share_about_equally():
    mean = np.mean([run([0.04, 0.04], ["reno", "reno"], seed=s)[0] for s in (1, 2, 3)], axis=0)
    assert mean == pytest.approx([0.5, 0.5], abs=0.12)


def test_the_shorter_round_trip_wins_with_reno_and_loses_with_bbr():
    # Lakshman and Madhow 1997: between 1/T and 1/T^2, T with the queue; BBR v1 favours the longer path
    (short, long), out = run([0.02, 0.08], ["reno", "reno"], bdp=0.5)
    ratio = out[1, 2] / out[0, 2]
    assert ratio**0.8 < short / long < ratio**3
    short, long = run([0.02, 0.08], ["bbr", "bbr"], bdp=2.0)[0]
    assert short < 0.6 * long


def test_bbr_takes_nearly_all_of_a_shallow_buffer_and_less_of_a_deep_one():
    shallow = run([0.04, 0.04], ["cubic", "bbr"], bdp=0.2)[0][1]
    deep = run([0.04, 0.04], ["cubic", "bbr"], bdp=4.0)[0][1]
    assert shallow > 0.85
    assert deep < shallow - 0.2


def test_random_loss_holds_a_lone_reno_flow_near_mathis():
    reno, link = [shared.Sender("reno", 0.05, 1e9, 0.05)], shared.Link(4000.0, 200.0, 2e-3)
    rate = np.mean([shared.run(reno, link, 10.0, 130.0, s)[0, 0] for s in (1, 2)]) / 120
    # sqrt(1.5/p)/T = 548/s; whole segments and recovery take some 10 %
    assert rate == pytest.approx(548, rel=0.25)


def test_the_same_seed_gives_the_same_numbers():
    a, b = run([0.04, 0.04], ["cubic", "bbr"], seconds=5)[1], run([0.04, 0.04], ["cubic", "bbr"], seconds=5)[1]
    assert (a == b).all()


@pytest.mark.parametrize(
    ("law", "values"),
    [
        *((controls.find(cc).growth, (20, 5, 1, 1, 0.1, 0.1)) for cc in controls.names(by_loss=True)),
        *((controls.find(cc).kept, (20, 1, 0.1, 0.1)) for cc in controls.names(by_loss=True)),
        (controls.cut, (1000, 1)), (cubic.plateau, (100, 100)), (cubic.cube, (100, 10)), (cubic.new_top, (100, 100)),
        (cubic.gain, (100, 150, 1, 0.01)), (cubic.climb, (100, 100, 10, 150, 1, 0.01)), (cubic.hystart_delay, (0.3,)),
        (westwood.filtered, (100, 200, 0.1, 0.2)), (westwood.returned, (100,)),
    ],
)  # fmt: skip
def test_a_law_has_the_same_digits_for_numbers_and_for_arrays(law, values):
    """One source: what like flows do in arrays, flows that compete do one by one."""
    drawn = np.random.default_rng(3).random((200, len(values))) * np.array(values, float)
    one = np.array([law(*row.tolist()) for row in drawn]).T
    many = np.broadcast_to(np.asarray(controls.on_arrays(law)(*drawn.T)), one.shape)
    assert many == pytest.approx(one, rel=1e-15, abs=0)


@pytest.mark.parametrize(("bold", "loss"), [("scalable", 0.0), ("westwood", 1e-3), ("illinois", 1e-3)])
def test_who_yields_less_has_more_of_the_link(bold, loss):
    """Scalable gives up an eighth; Westwood returns to what has passed; Illinois grows by ten where nothing queues."""
    share = np.mean([run([0.04, 0.04], [bold, "reno"], loss=loss, seed=s)[0] for s in (1, 2)], axis=0)
    assert share[0] > 1.5 * share[1]


def test_westwood_finds_what_is_in_flight_without_a_queue():
    estimate = 0.0
    for _ in range(2000):
        estimate = westwood.filtered(estimate, 160.0, 0.01, 0.04)
    assert estimate == pytest.approx(160.0, rel=1e-3)
