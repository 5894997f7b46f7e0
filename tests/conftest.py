"""Settings of the whole test suite."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# machines that run tests are shared: how long an example takes says nothing about the code
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
