"""From the ceiling to the median, one group of things after the other."""

from itertools import pairwise

import pytest

from dtnsim.steady.breakdown import MODEL, PARAMETERS, RUN, steps
from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.strategies import load

PATH = rows("steady/tables", "breakdown")["PATH"]


def test_steps_go_from_the_ceiling_to_the_median() -> None:
    given = load(PATH)
    made, found = predict(given, samples=128, seed=3), steps(given, 128, 3)
    assert found[0].median_Bps - found[0].change_Bps == pytest.approx(made.ceiling, rel=1e-12)
    assert found[-1].median_Bps == made.throughput_Bps.p50
    assert all(b.median_Bps - b.change_Bps == pytest.approx(a.median_Bps, rel=1e-12) for a, b in pairwise(found))
    assert [s.what for s in found[-3:]] == [PARAMETERS, MODEL, RUN]
    assert [s.what for s in found[: len(made.unstated)]] == list(made.unstated)


def test_a_step_is_what_stating_the_others_leaves() -> None:
    """With nothing but other traffic unstated, that step stands before the parameters: 8 % on a backbone."""
    wan = {**PATH["wan"], "loss": "0", "buffer": "1 GB", "medium": "backbone"}
    tuned = {"hosts.a.tcp": "{rmem_max: 1 GB, wmem_max: 1 GB}", "hosts.b.tcp": "{rmem_max: 1 GB, wmem_max: 1 GB}"}
    given = load({**PATH, "wan": wan}, *(f"{k}={v}" for k, v in tuned.items()))
    first, *_ = steps(given, 256)
    assert first.what == "other traffic"
    assert first.change_Bps / (first.median_Bps - first.change_Bps) == pytest.approx(-0.08, abs=0.01)
