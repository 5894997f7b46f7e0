"""RAID 0, 1, 10, 5, 6, 50, 60 over any devices: drives or other arrays."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access
from dtnsim.components.base import Pick
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.physics import hdd, raid

_PARITY = {0: 0, 1: 0, 10: 0, 5: 1, 6: 2, 50: 1, 60: 2}


class Raid(Device):
    """An array of ``disks`` equal devices in each of ``groups`` groups.

    ``software`` parity is computed by one thread of the host (md's raid5d), and crosses the bus; a hardware controller
    keeps it behind the adapter, and its write-back cache makes full stripes of sequential writes.
    ``lost`` devices per group leave it degraded; ``rebuild`` is the rate that a running rebuild takes
    from every device.
    """

    kind: ClassVar[str] = "raid"

    level: Literal[0, 1, 5, 6, 10, 50, 60]
    disks: Annotated[int, Field(ge=1, le=1000)]
    groups: Annotated[int, Field(ge=1, le=1000)] = 1
    of: Annotated[Device, Pick(Device)]
    software: bool = True
    chunk: Annotated[Quantity, Unit("B", low=512)] = prior(
        "64 KiB", 0.5, "assumed: usual chunk of controllers; md: 512 KiB"
    )
    window: Annotated[Quantity, Unit("B", spread=0.5, low=512)] | None = None
    lost: Annotated[int, Field(ge=0, le=3)] = 0
    rebuild: Annotated[Quantity, Unit("B/s", spread=0.3)] = prior("0 B/s", 0.0, "no rebuild running")
    parity_work: Annotated[Quantity, Unit("cycles/B", spread=0.5)] = prior(
        "2 cycles/B",
        0.6,
        "Linux commit 765d704db1f5 (2017): one raid5d writes 600 MB/s on an Atom, about 2.2 GHz and 3.7 cycles/B; "
        "assumed: a server core takes about half of that",
    )
    parity_threads: Annotated[int, Field(ge=1, le=1024, description="md's group_thread_cnt; 1 is its default")] = 1

    @model_validator(mode="before")
    @classmethod
    def _level_as_number(cls, given: object) -> object:
        if isinstance(given, dict) and isinstance(given.get("level"), str):
            text = str(given["level"]).lower().removeprefix("raid")
            given = {**given, "level": int(text) if text.isdigit() else given["level"]}
        return given

    @model_validator(mode="after")
    def _enough(self) -> Raid:
        least = {0: 1, 1: 2, 10: 2, 5: 3, 6: 4, 50: 3, 60: 4}[self.level]
        if self.disks < least:
            raise ValueError(f"RAID {self.level} needs at least {least} disks a group, not {self.disks}")
        if self.level == 10 and self.disks % 2:
            raise ValueError(f"RAID 10 needs an even number of disks, not {self.disks}")
        most = self.disks - 1 if self.level == 1 else max(self.parity, self.level == 10)
        if self.lost > most:
            raise ValueError(f"RAID {self.level} does not survive {self.lost} lost disks; at most {most}")
        return self

    @property
    def parity(self) -> int:
        """Parity devices of one group."""
        return _PARITY[self.level]

    @property
    def copies(self) -> int:
        """Copies kept of each byte."""
        return {1: self.disks, 10: 2}.get(self.level, 1)

    @property
    def members(self) -> int:
        """Devices of all groups."""
        return self.disks * self.groups

    @property
    def drives(self) -> int:
        """Drives inside."""
        return self.members * self.of.drives

    @property
    def data_disks(self) -> int:
        """Drives that a full stripe's data is spread over."""
        return max(1, (self.disks - self.parity) * self.groups // self.copies) * self.of.data_disks

    def latency(self, row: Row, use: Access) -> Value:
        """That of one device: members work at the same time."""
        return self.of.latency(row, use)

    def single_rate(self, row: Row) -> Value:
        """That of one member: a request of a chunk or less stays on it [B/s]."""
        return self.of.single_rate(row)

    def parity_thread(self, use: Access) -> tuple[Quantity, int] | None:
        """Md's raid5d copies what is written into its stripe cache, computes parity and hands it to the drives."""
        if self.software and self.parity and use.operation == "write":
            return self.parity_work, self.parity_threads
        return self.of.parity_thread(use)

    def bus_factor(self, use: Access) -> Value:
        """Parity and mirror copies cross the bus when the host makes them; what a controller makes does not."""
        if not self.software:
            return 1.0
        own = self._spread() if use.operation == "write" else 1.0
        return own * self.of.bus_factor(use)

    def _spread(self) -> float:
        """Bytes moved by the members that are left per byte written, full stripes."""
        alive = self.disks - self.lost
        return self.copies * alive / self.disks if self.copies > 1 else alive / (self.disks - self.parity)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Value | None = None) -> None:
        """Charges the members with data, parity, and what small or degraded access adds."""
        factor = self._read_factor(use) if use.operation == "read" else self._write_factor(row, use)
        if visit_B is None and self.window is not None:
            visit_B = row.value(self.window)
        inner = None if visit_B is None else hdd.visit_bytes(visit_B, max(1, self.data_disks // self.of.data_disks))
        alive = (self.disks - self.lost) * self.groups
        target = row.times(factor * self._rebuild_load(row))
        seen = use.but(total_B=use.total_B * float(np.mean(factor)))  # parity and copies fill caches too
        self.of.serve(target, seen, name, copies=copies * alive, visit_B=inner)

    def _read_factor(self, use: Access) -> float:
        """Member bytes per byte read. The heads pass parity by; one stream reads one copy only."""
        n = self.disks
        if self.copies > 1:
            if self.level == 10 and self.lost:  # every stripe needs the chunk that only one disk has
                return (n - self.lost) / (n / 2)
            readers = use.streams * (use.queue_depth if use.random else 1)
            usable = self.copies - self.lost
            return float(usable / min(usable, max(1, readers)))
        if use.random:
            return float((n - self.lost) / n / raid.degraded_read_share(n, self.parity, self.lost))
        return float((n - self.lost) / (n - self.parity))

    def _write_factor(self, row: Row, use: Access) -> Value:
        if self.copies > 1:
            return self._spread()
        if not self.parity:
            return 1.0
        # a controller's write-back cache gathers sequential writes into full stripes, however they arrive
        past_cache = self.software and use.finish in ("dsync", "direct")
        if past_cache or use.random:
            size = np.minimum(use.block_B, 2.0**40)
            return np.asarray(raid.write_amplification(size, row.value(self.chunk), self.disks, self.parity))
        return self._spread()

    def _rebuild_load(self, row: Row) -> Value:
        """Share of a member that a running rebuild leaves, as a factor on every demand."""
        rate = row.value(self.rebuild)
        member = getattr(self.of, "rate", None) or getattr(self.of, "read", None)
        if member is None or not self.lost:
            return 1.0
        left = np.maximum(1.0 - rate / row.value(member), 0.05)
        return np.asarray(1.0 / left)
