"""Quantiles, beside numpy's."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from dtnsim.physics._arrays import quantile


@pytest.mark.parametrize("count", [1, 2, 5, 10, 64, 255, 256, 1000])
@pytest.mark.parametrize(("between", "method"), [(True, "linear"), (False, "inverted_cdf")])
def test_quantiles_are_those_of_numpy(count: int, between: bool, method: str) -> None:
    values = np.random.default_rng(count).lognormal(size=(count, 3))
    for shares in (0.5, 0.0, 1.0, (0.1, 0.5, 0.9), (1 - 0.8) / 2, np.linspace(0, 1, 41)):
        expected = np.quantile(values, shares, axis=0, method=method)  # type: ignore[call-overload]
        assert_array_equal(quantile(values, shares, between=between), expected)
        assert_array_equal(quantile(values.T, shares, 1, between=between), expected)
    assert quantile(values[:, 0], 0.5, between=True) == pytest.approx(np.median(values[:, 0]), rel=1e-15)


@pytest.mark.parametrize("between", [True, False])
def test_what_is_no_number_has_no_quantile(between: bool) -> None:
    assert np.isnan(quantile([1.0, np.nan, 2.0], 0.1, between=between))
    assert quantile([1.0, np.inf, np.inf], 0.9) == np.inf
