"""Congestion control by name: the published constants, and what each does to random loss."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pydantic import TypeAdapter, ValidationError

from dtnsim.components.tuning import CongestionControl
from dtnsim.physics.tcp import controls, outcome, path
from dtnsim.physics.tcp.controls import htcp, illinois
from dtnsim.physics.tcp.rounds import Cases


def test_shares_kept_after_a_loss():
    # RFC 5681, RFC 9438, Kelly 2003, draft-leith-tcp-htcp-06, Liu et al. 2008
    assert [controls.find(cc).leaves for cc in ("reno", "cubic", "scalable", "htcp", "illinois")] == pytest.approx(
        [0.5, 0.7, 0.875, 0.8, 0.875], abs=1e-3
    )
    assert htcp.kept(1e9, 1.0, 1.0, 1.0) == controls.find("htcp").sawtooth(1.0) == 0.5
    assert htcp.kept(1e9, 1.0, 0.5, 1.0) == pytest.approx(1 / 1.5)
    assert controls.find("bbr").leaves == 1  # no loss is congestion to it
    assert controls.find("westwood").leaves == pytest.approx(0.95)
    # RFC 9438 section 4.3: 3 (1 - beta) / (1 + beta)
    adds = {"reno": 1, "cubic": 3 * 0.3 / 1.7, "htcp": 0.4, "scalable": 1, "westwood": 1, "illinois": 10}
    assert {cc: controls.find(cc).adds for cc in adds} == pytest.approx(adds, rel=0.01)


def test_illinois_adds_ten_without_a_queue_and_three_tenths_at_a_full_one():
    assert illinois.growth(100.0, 0.0, 1.0, 1.0, 0.0, 0.1) == 10
    assert illinois.growth(100.0, 0.0, 1.0, 1.0, 0.1, 0.1) == pytest.approx(0.3)
    kept = [illinois.kept(100.0, 1.0, delay, 0.1) for delay in (0.0, 0.01, 0.045, 0.08, 0.1)]
    assert kept == pytest.approx([7 / 8, 7 / 8, 11 / 16, 1 / 2, 1 / 2])
    assert (illinois.growth(14.0, 0.0, 1.0, 1.0, 0.0, 0.1), illinois.kept(14.0, 1.0, 0.0, 0.1)) == (1.0, 0.5)


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_queue_grows_slower_and_keeps_less(few, more):
    low, high = sorted((few, more))
    less, much = ((100.0, 0.0, 1.0, 1.0, delay, 1.0) for delay in (low, high))
    assert illinois.growth(*less) >= illinois.growth(*much)
    for law in (illinois.kept, htcp.kept):
        assert law(100.0, 1.0, low, 1.0) >= law(100.0, 1.0, high, 1.0)


def test_the_rounds_are_near_each_response_function():
    # CUBIC and H-TCP grow with the time since a loss, which random gaps lift; Westwood's filter lags
    bounds = {"reno": (0.85, 1.1), "cubic": (0.85, 1.35), "htcp": (0.85, 1.5), "illinois": (0.8, 1.15),
              "westwood": (0.5, 1.5)}  # fmt: skip
    for cc in controls.names(by_loss=True):
        low, high = bounds.get(cc, (0.8, 1.2))  # of a control that has no reason for others
        c = Cases.of(rate_Bps=1.25e10, rtt_s=0.05, mtu_B=9000.0, loss=1e-4, cc=cc, warmup_s=60.0, duration_s=300.0)
        want, limit = path.path_goodput(rate_Bps=1.25e10, rtt_s=0.05, loss=1e-4, mss_B=8948.0, mtu_B=9000.0, cc=cc)
        assert str(limit) == "loss"
        assert low < outcome.simulate(c).goodput_Bps[0] / want < high, cc


def test_every_algorithm_leaves_a_part_adds_something_and_says_what_it_is():
    for cc in controls.names(by_loss=True):
        control = controls.find(cc)
        assert 0.3 <= control.leaves < 1, f"{cc}: kept of an infinite window is {control.leaves}"
        assert 0 < control.adds < 100, f"{cc}: growth is {control.adds}"
        assert control.growth is not None
        asked = [(window, 1.0, 0.1, control.leaves, delay, 0.1) for window in (2.0, 1e3) for delay in (0.0, 0.1)]
        least = min(control.growth(*given) for given in asked)
        assert least >= 0, f"{cc}: a growth of {least}; the round model takes windows back at a loss only"
    for cc in controls.names():
        said = controls.find(cc).response.__doc__ or ""
        lacks = [section for section in ("Args:", "Returns:", "Valid:", "Neglects:", "Source:") if section not in said]
        assert not lacks, f"{cc}: the docstring of its response lacks {', '.join(lacks)}"


def test_every_algorithm_fills_a_clean_link():
    for cc in controls.names():
        c = Cases.of(rate_Bps=1.25e8, rtt_s=0.02, cc=cc, warmup_s=10.0, duration_s=60.0)
        assert outcome.simulate(c).goodput_Bps[0] > (0.6 if cc == "westwood" else 0.94) * 1.25e8 * 1448 / 1500, cc
    assert np.isinf(controls.find("scalable").response(0.0, 0.1, 1448, 1e9))


def test_a_field_takes_the_names_of_the_table_and_no_other():
    """`congestion_control`: what the table has; the schema lists it."""
    adapter = TypeAdapter(CongestionControl)
    for cc in controls.names():
        assert adapter.validate_python(cc) == cc
    assert adapter.json_schema() == {"enum": list(controls.names()), "type": "string"}
    with pytest.raises(ValidationError, match="'cubic'"):
        adapter.validate_python("none-such")
