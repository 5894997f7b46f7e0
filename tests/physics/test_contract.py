"""What holds of all laws: sections, units, arrays, finite answers; and the helpers on which they stand."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal

from dtnsim import physics
from dtnsim.physics._arrays import quantile
from tests.each import of_each, rows

MODULES = [import_module(f"dtnsim.physics.{p.stem}") for p in Path(physics.__file__).parent.glob("[a-z]*.py")]
FUNCTIONS = [
    pytest.param(f, id=f"{m.__name__.rsplit('.', 1)[-1]}.{f.__name__}")
    for m in MODULES
    for _, f in inspect.getmembers(m, inspect.isfunction)
    if f.__module__ == m.__name__ and not f.__name__.startswith("_")
]
#: these take words, widths and sizes of a specification, or a list as a whole, so they do not broadcast
FOLDING = {
    "water_filled", "evicted", "prefetch_bytes", "aggregation_bytes", "release", "weekly_top", "remote_share",
    "worker_pools", "xts_speedup", "direct_amplification", "anytime_spread", "card_link", "cycle_time", "rounds",
    "time_shares", "ack_interval", "tlp_rate", "tlp_share", "write_rate", "emptied_together",
}  # fmt: skip
#: inf is the answer outside a range that their docstrings name (an overloaded queue; eta = 1; s1 = s2; no burst), or
#: arguments are in an order that values drawn apart are not
RANGED = {"two_point_law", "burst_fit", "burst_limited_rate", "between", "request_rate"}
PHYSICAL = rows("physics/tables", "contract")["PHYSICAL"]


@of_each(p.values[0] for p in FUNCTIONS)
def test_docstring_has_every_section(function):
    text = inspect.getdoc(function)
    for section in ("Args:", "Returns:", "Valid:", "Neglects:", "Source:"):
        assert section in text, section
    args, returns = re.search(r"Args:(.*?)Returns:(.*?)Valid:", text, re.DOTALL).groups()
    for name in inspect.signature(function).parameters:
        described = re.search(rf"\n\s+{name}: (.*?)(?=\n\s+\w+: |\Z)", "\n" + args, re.DOTALL)
        assert described, f"{name} is not described"
        assert "[" in described[1], f"{name} has no unit"
    assert "[" in returns or "in the unit of" in returns


WHOLE = {"disks", "parity", "lost", "chunks", "links", "streams", "generation"}


def _values(function, rng, shape):
    chosen = {}
    for index, name in enumerate(inspect.signature(function).parameters):
        low, high = PHYSICAL.get(name, (1e-2, 1e6))
        span = np.exp(rng.uniform(np.log(max(low, 1e-2)), np.log(high), size=shape(index)))
        chosen[name] = np.round(span) if name in WHOLE else span
    return chosen


def _arrays(result):
    return result if isinstance(result, tuple) else (result,)


@of_each(p.values[0] for p in FUNCTIONS if p.values[0].__name__ not in FOLDING)
def test_arrays_broadcast_and_agree_with_scalars(function):
    rng = np.random.default_rng(17)
    given = _values(function, rng, lambda i: (3, 1) if i % 2 else (1, 4))
    whole = np.broadcast_shapes(*(v.shape for v in given.values()))
    try:
        results = _arrays(function(**given))
    except (TypeError, ValueError) as error:
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        raise AssertionError(f"{name} does not broadcast ({error}): take arrays, or add it to FOLDING") from None
    used = np.broadcast_shapes(*(r.shape for r in results))
    assert np.broadcast_shapes(used, whole) == whole
    at = tuple(n - 1 for n in whole)
    single = {k: float(np.broadcast_to(v, whole)[at]) for k, v in given.items()}
    for many, one in zip(results, _arrays(function(**single)), strict=True):
        assert np.ndim(one) == 0
        np.testing.assert_allclose(np.broadcast_to(many, whole)[at], one, rtol=1e-12)


@pytest.mark.parametrize("function", [p for p in FUNCTIONS if p.values[0].__name__ not in FOLDING | RANGED])
def test_positive_input_gives_finite_output(function):
    @settings(max_examples=8)
    @given(seed=st.integers(0, 2**32 - 1))
    def check(seed):
        for result in _arrays(function(**_values(function, np.random.default_rng(seed), lambda _: (50,)))):
            assert np.all(np.isfinite(result))
            assert np.all(result >= 0.0)

    check()


# -- Quantiles, beside numpy's ---------------------------------------------------------------------
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
