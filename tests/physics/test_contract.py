"""What every law of physics promises: sections in its docstring, broadcasting, finite results."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dtnsim import physics
from tests.each import of_each

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
    "time_shares", "ack_interval", "tlp_rate", "tlp_share", "write_rate",
}  # fmt: skip
#: inf is the answer outside a range that their docstrings name (an overloaded queue; eta = 1; s1 = s2; no burst), or
#: arguments are in an order that values drawn apart are not
RANGED = {"two_point_law", "burst_fit", "burst_limited_rate", "between", "request_rate"}
#: a range a physical argument has, so that the values tried make sense together
PHYSICAL = {
    "ashift": (9.0, 13.0), "disks": (8.0, 24.0), "parity": (0.0, 3.0), "lost": (0.0, 3.0),
    "copies": (1.0, 2.0), "slop_share": (0.01, 0.5),
    "chunks": (1.0, 5.0), "efficiency": (0.01, 0.99), "radius_ratio": (0.1, 1.0), "files": (1.0, 1e4),
    "min_share": (0.1, 0.4), "max_share": (0.5, 0.9), "throttle_share": (0.1, 0.9), "servers": (1.0, 64.0),
    "here": (0.01, 1.0), "stored_per_byte": (1.0, 8.0), "links": (1.0, 8.0), "streams": (1.0, 1e3),
    "generation": (1.0, 6.0), "mtu_B": (1280.0, 9000.0),
    "headers_B": (20.0, 80.0), "vlan_tags": (1.0, 2.0), "remote_share": (0.01, 1.0), "share": (0.01, 1.0),
    "wave": (0.01, 1.0), "weekend": (0.01, 1.0), "peak_hour": (0.01, 24.0), "year_s": (3.1e7, 3.2e7),
    "growth": (0.01, 2.0), "timestamps": (1.0, 1.0),
}  # fmt: skip


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
