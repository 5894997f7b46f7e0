"""A number that nobody wrote: how far it moves an answer, and how its other values are written."""

from __future__ import annotations

import numpy as np

from dtnsim.ground.quantity import prior
from dtnsim.ground.uncertainty import Assumption, Drawn, written


def test_the_larger_of_both_ends_counts() -> None:
    assert Assumption("k", "1", "0.5", "2", 0.8, 1.1, "").moves == 1 - 0.8
    assert Assumption("k", "1", "0.5", "2", 0.97, 1.3, "").moves == 1.3 - 1


def test_other_values_have_the_unit_of_the_number() -> None:
    assert written(prior("4 ms", 0.5, "assumed"), 0.00123456) == "1.23 ms"
    assert written(prior("1.4", 0.2, "assumed"), 1.81) == "1.81"


def test_of_rates_alone_the_whole_is_their_sum_and_ends_with_the_last() -> None:
    drawn = Drawn(np.array([[10.0, 20.0], [5.0, 40.0]]), (100.0, 100.0), {})
    assert drawn.total_Bps.tolist() == [30.0, 45.0]
    assert drawn.seconds.tolist() == [10.0, 20.0]
