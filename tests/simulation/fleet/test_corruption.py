"""Files that arrive damaged: who notices, what is sent again, what is counted."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dtnsim
from dtnsim.physics.tools import damaged_share
from dtnsim.report import fleet as report, text
from dtnsim.simulation.fleet import corruption
from tests.each import cases, rows
from tests.simulation.fleet.test_fleet import path


def test_the_published_rate_of_errors_in_bytes():
    """Stone and Partridge 2000: 1 in 16 million to 10 billion packets; of 1460 B each that is 1 - (1 - q)^n of n."""
    for q in (1 / 16e6, 1 / 10e9):
        n = 10**9 / 1460
        assert damaged_share(1e9, 1460 / q) == pytest.approx(1 - math.exp(n * math.log1p(-q)), rel=1e-6)


def test_small_files_are_damaged_as_often_as_their_bytes_are():
    assert damaged_share(1.0, 1e15) == pytest.approx(1e-15)
    assert damaged_share(0.0, 1e15) == 0
    assert damaged_share(1e18, 1e12) == 1


@given(st.floats(1, 1e15), st.floats(1, 1e15), st.floats(1e6, 1e18))
def test_two_files_are_whole_as_often_as_one_of_both_sizes(a, b, between):
    """Whether a file is cut in two changes nothing."""
    whole = (1 - damaged_share(a, between)) * (1 - damaged_share(b, between))
    assert 1 - damaged_share(a + b, between) == pytest.approx(whole, rel=1e-9, abs=1e-12)


def test_what_is_sent_again_is_geometric():
    size, files = np.full(4000, 1e12), np.full(4000, 100)
    p = float(damaged_share(1e10, 1e11))
    made = corruption.drawn(size, files, 1e11, 1000, np.random.default_rng(1), noticed=True)
    assert made.found.mean() == pytest.approx(100 * p / (1 - p), rel=0.02)
    assert made.again_B == pytest.approx(made.found * 1e10)
    assert not made.spoiled.any()
    assert not made.unnoticed.any()


def test_nothing_is_sent_again_where_nobody_looks_or_tries():
    size, files = np.full(4000, 1e12), np.full(4000, 100)
    made = corruption.drawn(size, files, 1e11, 3, np.random.default_rng(1), noticed=False)
    assert made.unnoticed.mean() == pytest.approx(100 * float(damaged_share(1e10, 1e11)), rel=0.02)
    assert not made.again_B.any()
    made = corruption.drawn(size, files, 1e11, 0, np.random.default_rng(1), noticed=True)
    assert made.spoiled.all()
    assert not made.again_B.any()


BODY = "{{from: 'site:/xfs', to: 'b:/xfs', tool: {tool}, size: 1 TB, each: 10 GB, every: 3 h{more}}}"


@cases("tool, more, noticed", rows("simulation/fleet/tables", "tools_that_compare_checksums_find_damaged_files"))
def test_tools_that_compare_checksums_find_damaged_files(tool, more, noticed, capsys):
    given_ = path({"c": BODY.format(tool=tool, more=more)}, "corruption: 200 GB", span="2 d")
    made = dtnsim.fleet(given_, replicas=1)
    total = made.runs[0].total
    assert total.done == 16
    assert (total.corrupted > 0) == noticed == (total.resent_B > 0)
    assert (total.unnoticed > 0) != noticed
    assert total.moved_B == pytest.approx(total.size_B + 1e10 * total.corrupted)
    report.show(made, text.console())
    said = "found by verification, and sent again" if noticed else "without anybody noticing"
    assert said in capsys.readouterr().out


def test_a_file_that_never_arrives_whole_is_given_up():
    given_ = path({"c": BODY.format(tool="globus", more=", retry: {times: 2}")}, "corruption: 1 GB", span="1 d")
    total = dtnsim.fleet(given_, replicas=1).runs[0].total
    assert (total.done, total.failed) == (0, 8)
