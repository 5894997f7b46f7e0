"""Processors: cores with a clock; a thread has one core's cycles, all threads share the package."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.quantity import Quantity, Unit, prior


class Cpu(Component):
    """The processors of a host."""

    kind: ClassVar[str] = "cpu"
    family: ClassVar[str] = "cpu"

    sockets: Annotated[int, Field(ge=1, le=64)] = 1
    cores: Annotated[int, Field(ge=1, le=1024, description="cores of one socket")]
    clock: Annotated[Quantity, Unit("Hz", spread=0.05, low=1e8, high=1e10)]
    smt: Annotated[int, Field(ge=1, le=8)] = 1
    cache: Annotated[Quantity, Unit("B", low=1024)] | None = None
    core_cache: Annotated[Quantity, Unit("B", low=1024)] | None = None
    smt_gain: Annotated[Quantity, Unit("1", low=1.0, high=2.0)] = prior(
        "1.25", 0.05, "assumed: two busy siblings do 1.2 to 1.3 times the work of one"
    )
    numa_penalty: Annotated[Quantity, Unit("1", spread=0.2, low=1.0, high=4.0)] = prior(
        "1.4", 0.2, "ESnet fasterdata, Interrupt Binding: up to 2x slower on the wrong socket at 40/100G"
    )

    @property
    def total(self) -> int:
        """Physical cores of all sockets."""
        return self.sockets * self.cores
