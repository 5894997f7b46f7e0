"""Very many plain flows in time: columns of arrays on the fluid engine itself, records made when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtnsim.composition.plain import plain
from dtnsim.ground import runtime

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.simulation.plain.columns import Columns
    from dtnsim.simulation.results import Simulation
    from dtnsim.simulation.run_path import Limits


def flows(given: PathSpec) -> Columns | None:
    """The flows of a path where all of them are plain; None where any is not."""
    from dtnsim.simulation.plain.columns import columns

    with runtime.gc_paused():
        found = plain(given)
        return columns(found) if found is not None else None


def simulation(columns: Columns, seed: int, limits: Limits) -> Simulation:
    """Runs plain flows once, every parameter at its median."""
    from dtnsim.simulation.plain.answer import answer
    from dtnsim.simulation.plain.event_loop import run

    with runtime.gc_paused():
        return answer(run(columns, limits), seed)
