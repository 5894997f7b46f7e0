"""A path in time: files, workers, caches, other people's transfers and things that happen, on the fluid engine."""

from __future__ import annotations

from dtnsim.simulation.runs import simulate

__all__ = ["simulate"]
