"""A data processing unit, such as BlueField: a network card with cores that do the host's TCP, TLS and NVMe-oF."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.offload import Duty, Offload
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, count


class Dpu(Offload):
    """The cores and engines of a DPU; its ports are a NIC of the host, which ``nic`` names.

    Bytes pass its slot once, on their way to the network; the host's cores hand over requests and copy.

    Attributes:
        nic: The host's NIC that is this card's ports; its only one where nothing is said.
        takes_over: Work that it does for the host: tcp, tls (inline AES-GCM), nvme-of.
        cores: Cores of the card.
        clock: Their clock.
        per_cycle: Work that one of their cycles does, over a cycle of the host that the kernel's costs belong to.
        crypto: Rate of its inline AES-GCM engines.
        request: Bytes of one request from the host.
        submit: Work of the host's core to submit a request and take it back.
    """

    kind: ClassVar[str] = "dpu"
    placement_keys: ClassVar[tuple[str, ...]] = ("slot", "nic", "takes_over")
    visits: ClassVar[float] = 0.0  # to the network they pass its slot anyway

    nic: str | None = None
    takes_over: tuple[Literal["tcp", "tls", "nvme-of"], ...] = ("tcp", "tls", "nvme-of")
    cores: Annotated[int, Field(ge=1, le=256)]
    clock: Annotated[Quantity, Unit("Hz", spread=0.05, low=1e8, high=1e10)]
    per_cycle: Annotated[Quantity, Unit("1", spread=0.2, low=0.1, high=5.0)] = prior(
        "0.7", 0.25, "assumed: Arm Cortex-A72, three instructions wide, beside four of a Xeon"
    )
    crypto: Annotated[Quantity, Unit("B/s", spread=0.1, low=1e6)] | None = None
    request: Annotated[Quantity, Unit("B", low=512)] = prior(
        "64 KiB", 0.3, "assumed: buffers of a virtual device, as large as a segmentation offload's"
    )
    submit: Annotated[Quantity, Unit("cycles", spread=0.5)] = prior(
        "3000 cycles", 0.6, "assumed: a descriptor, a doorbell and a completion, about a microsecond a request"
    )

    def takes(self, duty: Duty) -> bool:
        """What ``takes_over`` names, for bytes that pass its ports."""
        if self.nic is not None and duty.nic != self.nic:
            return False
        if duty.kind == "cipher":
            return "tls" in self.takes_over and (duty.protocol, duty.algorithm) == ("tls", "aes-gcm")
        return duty.kind in self.takes_over

    def serve(self, row: Row, name: str, duty: Duty, cycles: Term, thread: Thread) -> None:
        """Inline engines for AES-GCM where it has them, its cores for the rest."""
        del thread  # it runs threads of its own
        key = f"hosts.{row.host}.devices.{name}"
        if duty.kind == "cipher" and self.crypto is not None:
            row.charge(
                f"{name}.crypto",
                "offload",
                capacity=row.term(self.crypto),
                what="inline AES-GCM",
                remedy=f"a card with faster engines ({key}.crypto)",
            )
            return
        capacity = count(self.cores, "core") * row.term(self.clock) * row.term(self.per_cycle)
        row.charge(
            f"{name}.cores",
            "offload",
            capacity=capacity,
            per_byte=cycles,
            unit="cycles",
            what=f"{duty.kind} on the cores of {name}",
            label=f"all cores of the DPU {name} of {row.host}",
            remedy=f"leave work to the host's own cores ({key}.takes_over), or a card with more cores",
        )

    def handing_over(self, row: Row) -> Term:
        """A request for so many bytes."""
        return row.term(self.submit) / row.term(self.request)

    def nics(self) -> list[str]:
        """Its ports."""
        return [] if self.nic is None else [self.nic]
