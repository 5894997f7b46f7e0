"""A host's page cache: what its kernel lets gather in memory before the drives have to keep up."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import model_validator

from dtnsim.components.base import Model
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics import cache

#: what Linux leaves to dirty pages where nothing is set
_LINUX: Final = "Linux Documentation/admin-guide/sysctl/vm.rst"


class Vm(Model):
    """The kernel's write-back settings (``sysctl vm.*``) and what programs hold of the memory.

    Attributes:
        dirty_ratio: Part of the free memory that may be dirty before writers are throttled (vm.dirty_ratio / 100).
        dirty_background_ratio: Part from which on write-back runs (vm.dirty_background_ratio / 100).
        dirty_bytes: The same limit in bytes (vm.dirty_bytes); it replaces the ratio.
        dirty_background_bytes: In bytes (vm.dirty_background_bytes); it replaces the ratio.
        dirty_expire: Age at which a dirty page is written however few there are (vm.dirty_expire_centisecs).
        used: Memory that programs hold, which neither dirty pages nor cached files can have.
    """

    dirty_ratio: Annotated[
        Quantity,
        Unit("1", low=0.001, high=1.0),
        Otherwise("40 %", "tuned's profiles for throughput on RHEL (sysctl vm)"),
    ] = prior("0.2", 0.0, f"default 20 %, {_LINUX}")
    dirty_background_ratio: Annotated[Quantity, Unit("1", high=1.0)] = prior("0.1", 0.0, f"default 10 %, {_LINUX}")
    dirty_bytes: Annotated[Quantity, Unit("B", low=8192)] | None = None
    dirty_background_bytes: Annotated[Quantity, Unit("B")] | None = None
    dirty_expire: Annotated[Quantity, Unit("s", high=1e6)] = prior("30 s", 0.0, f"default 3000 centiseconds, {_LINUX}")
    used: Annotated[Quantity, Unit("B")] = prior("0 B", 0.0, "nothing is said of programs that hold memory")

    @model_validator(mode="before")
    @classmethod
    def _bytes_or_ratio(cls, given: object) -> object:
        if isinstance(given, dict):
            for name in ("dirty", "dirty_background"):
                ratio = str(given.get(f"{name}_ratio", ""))
                if ratio.isdigit() and int(ratio) > 1:
                    raise ValueError(f"{name}_ratio: {ratio} is per cent, as sysctl prints it: write {ratio} %")
                if f"{name}_bytes" in given and f"{name}_ratio" in given:
                    raise ValueError(f"write {name}_bytes or {name}_ratio: Linux forgets one when the other is set")
        return given

    def dirty_limits(self, row: Row, memory_B: Value, held_B: float = 0.0) -> tuple[Value, Value]:
        """Dirty bytes from which on write-back runs, and those at which writers are throttled [B].

        ``held_B`` is what programs of the path hold besides ``used``.
        """
        free = self.free(row, memory_B, held_B)
        background, limit = cache.dirty_limits(
            free, row.value(self.dirty_background_ratio), row.value(self.dirty_ratio)
        )
        at_most = limit if self.dirty_bytes is None else row.value(self.dirty_bytes)
        begins = background if self.dirty_background_bytes is None else row.value(self.dirty_background_bytes)
        return cache.below_limit(begins, at_most), at_most

    def free(self, row: Row, memory_B: Value, held_B: float = 0.0) -> Value:
        """Memory for files: what programs do not hold [B]."""
        return cache.dirtyable_bytes(memory_B, row.value(self.used) + held_B)
