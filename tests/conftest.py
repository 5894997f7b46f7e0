"""Settings of the whole test suite."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dtnsim.cli import _watch
from dtnsim.ground import runtime

# Machines that run tests are shared: how long an example takes says nothing about the code. The suite asks the same of
# everybody's copy, so a failure is the code's; `pytest --hypothesis-profile=explore` looks for new examples.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("explore", settings.get_profile("house"), derandomize=False, max_examples=1000)
settings.load_profile("house")

# so is what a long run says of itself while it is under way: tests/cli/test_terminals.py hurries it
_watch._PATIENCE_S = 3600.0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """What is collected stays to the end: the garbage collector looks at none of it, neither now nor later."""
    with runtime.gc_paused():
        collected = yield
    gc.freeze()
    return collected
