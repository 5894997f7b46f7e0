"""Closed form or rounds: each rule on both sides of it, and what the rounds answer."""

import numpy as np
import pytest

from dtnsim.physics.tcp import path, response
from dtnsim.physics.tcp.choice import correction, why_rounds
from dtnsim.physics.tcp.outcome import simulate
from dtnsim.physics.tcp.rounds import Cases

PATH = {"rate_Bps": 1.25e8, "rtt_s": 0.02}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, ""),
        ({"loss": 1e-4}, ""),
        ({"buffer_B": 1e6}, ""),
        ({"buffer_B": 2e4}, "bursts"),
        ({"buffer_B": 2e4, "line_Bps": 1.25e8}, ""),  # a port no faster than the bottleneck queues nothing there
        ({"buffer_B": 2e4, "streams": 64}, ""),  # two segments each
        ({"buffer_B": 2e4, "cc": "bbr"}, ""),
        ({"loss": 0.02}, "few segments"),
        ({"loss": 0.02, "cc": "bbr"}, ""),
        ({"loss": 0.08}, "timeouts"),
        ({"loss": 1e-5, "cc": "htcp", "rate_Bps": 1.25e9}, "H-TCP"),
        ({"cc": "htcp"}, ""),
        ({"window_B": 1e4}, ""),  # W / T is exact however small
    ],
)
def test_where_the_closed_form_holds(more, says):
    why = why_rounds(**(PATH | more))
    assert says in why
    assert bool(says) == bool(why)
    assert (correction(**(PATH | more)) is None) == (not says)


def test_the_factor_leads_to_what_the_simulation_gives():
    given = {"rate_Bps": 1.25e7, "rtt_s": 0.01, "buffer_B": 12500.0}
    closed, _ = path.path_goodput(**given)
    found = correction(**given)
    seen = simulate(Cases.of(**given, warmup_s=20.0, duration_s=20.0)).goodput_Bps[0]
    assert found is not None
    assert found.factor * float(closed) == pytest.approx(seen, rel=0.03)
    # a measured run over this path (Linux 6.18, CUBIC, 100 Mb/s, 10 ms, 0.1 BDP) had 57.9 Mb/s; the sawtooth has 92
    assert found.factor * float(closed) * 8e-6 == pytest.approx(57.9, rel=0.08)
    assert float(closed) * 8e-6 > 85
    assert correction(**given) is found


def test_htcp_under_random_loss_against_random_gaps():
    # an independent sawtooth with exponential gaps between losses, round by round
    loss, rtt = 1e-5, 0.1
    rng = np.random.default_rng(3)
    window, age, area, rounds = 300.0, 0.0, 0.0, 0
    for _ in range(60_000):
        if rng.random() < 1 - np.exp(-loss * window):
            window, age = window * 0.8, 0.0
        past = max(age - 1, 0.0)
        window += 2 * 0.2 * (max((1 + 10 * past + past * past / 4) * min(max(rtt / 0.1, 0.1), 2), 1) if past else 1)
        age += rtt
        area, rounds = area + window, rounds + 1
    found = correction(rate_Bps=1.25e10, rtt_s=rtt, loss=loss, cc="htcp")
    assert found is not None
    assert found.factor > 1
    assert found.factor * float(response.htcp(loss, rtt, 1.0)) * rtt == pytest.approx(area / rounds, rel=0.25)
