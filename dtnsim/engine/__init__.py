"""Simulation in time: an exact fluid engine, buffers, worker pools, arrivals.

Names load when they are first used, so that a run that needs no SimPy does not pay for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

_HOME: Final = {
    "Engine": "engine",
    "Transfer": "engine",
    "Fluid": "fluid",
    "Crowd": "nodes",
    "run_arrivals": "arrivals",
    "run_pool": "pool",
    "aggregate_pool": "pool",
    "worker_pool": "workers",
    "Buffer": "pipeline",
    "Pipeline": "pipeline",
    "Stage": "pipeline",
    "Trace": "trace",
    "pareto_sizes": "traffic",
    "poisson_times": "traffic",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - the names are those of the table above


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
