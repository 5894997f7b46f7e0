"""One answer whatever the command: a sample of the grid of `tests.agreement`, with the bounds of all of it."""

import numpy as np
import pytest

from tests.agreement import differences, grid
from tests.wide import difference, path_of

pytestmark = pytest.mark.long

#: every so many-th path is in the sample
EVERY = 7


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, float]]:
    names = sorted(grid())
    return differences({name: grid()[name] for name in names[::EVERY]})


@pytest.mark.parametrize("other", ["simulate", "tcp"])
def test_predict_agrees_with(found: dict[str, dict[str, float]], other: str) -> None:
    errors = np.array(list(found[other].values()))
    assert len(errors) >= 20
    assert np.median(errors) <= 0.05
    assert np.quantile(errors, 0.95) <= 0.10


def test_the_sample_has_every_kind(found: dict[str, dict[str, float]]) -> None:
    kinds = {name.split()[0] for name in grid()}
    assert len(grid()) >= 250
    assert len({name.split()[0] for name in found["simulate"]}) >= len(kinds) - 1


def test_paths_at_random_agree_too() -> None:
    """Tools, file systems, arrays, small files and caches of all kinds; `python -m tests.wide` draws more."""
    errors = np.abs([difference(path_of("suite", number)[1]) for number in range(60)])
    assert np.median(errors) <= 0.05
    assert np.quantile(errors, 0.95) <= 0.10
