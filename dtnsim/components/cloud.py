"""What a cloud sells with limits: disks, and what an instance's card or disk adapter is allowed."""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.base import Component
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Draw, Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, minimum, term
from dtnsim.physics import cloud


def _complete(limits: Any) -> Any:
    """What has credits has a baseline."""
    if (limits.baseline is None) != (limits.credits is None):
        raise ValueError("baseline and credits, the bytes that pass faster before, belong together; or leave both out")
    return limits


class Allowance(Component):
    """Limits of an instance beside the rate that it is sold with.

    Neglects: limits of connections tracked and of packets (a card's ``packets``).

    Attributes:
        flow: Rate of one flow (AWS: 5 Gb/s, 10 Gb/s within a cluster placement group).
        egress: Rate of all that leaves the region or the provider's network.
        outside: Whether the path leaves it; where not said, not where all hosts are a provider's and within 2 ms.
        baseline: Rate that holds once the credits are spent; "up to" rates of small instances.
        credits: Bytes of burst credits at the start of a transfer.
    """

    kind: ClassVar[str] = "allowance"

    flow: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e4, line=True)] | None = None
    egress: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e4, line=True)] | None = None
    outside: bool = True
    baseline: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e4, line=True)] | None = None
    credits: Annotated[Quantity, Unit("B", spread=0.5)] | None = None

    _pairs = model_validator(mode="after")(_complete)

    def guaranteed_rate(self, draw: Draw, rate: Value, flows: int, *, sending: bool) -> Value:
        """Rate that so many flows may have at once, credits not counted [B/s on the wire]."""
        if self.flow is not None:
            rate = np.minimum(rate, flows * draw(self.flow))
        if self.egress is not None and sending and self.outside:
            rate = np.minimum(rate, draw(self.egress))
        return rate

    def charge(
        self, row: Row, name: str, direction: str, rate: Term, wire: Term, flows: int | None, total_B: float
    ) -> None:
        """Charges one payload byte that passes a card sold with a ``rate``; None: nobody counts its flows."""
        if self.flow is not None and flows is not None:
            each, text = count(max(flows, 1), "flow") * row.term(self.flow), "the provider's limit of one flow"
            remedy = "more streams, or a placement group with a higher limit of one flow (allowance.flow)"
            station = f"{name}.flows.{direction}"
            row.charge(station, "nic", private=True, capacity=each, per_byte=wire, what=text, remedy=remedy)
        if self.egress is not None and self.outside and direction == "tx":
            text = "the provider's limit of what leaves"
            remedy = "a larger instance, or several (allowance.egress)"
            row.charge(f"{name}.egress", "nic", capacity=row.term(self.egress), per_byte=wire, what=text, remedy=remedy)
        spent = self.spent(row, rate, total_B)
        if spent is not None:
            text = "baseline of the instance once its burst credits are spent"
            remedy = "an instance with a higher baseline (allowance.baseline)"
            row.charge(f"{name}.credits.{direction}", "nic", capacity=spent, per_byte=wire, what=text, remedy=remedy)

    def spent(self, row: Row, rate: Term, total_B: float) -> Term | None:
        """Mean rate of a job that spends the credits, ``rate`` without them; None where there are none to spend."""
        if self.baseline is None or self.credits is None or not np.isfinite(total_B):
            return None if self.baseline is None else minimum(rate, row.term(self.baseline))
        size = term(max(total_B, 1.0), "B")
        base, saved = row.term(self.baseline), row.term(self.credits)
        return law(cloud.mean_rate, size_B=size, burst=rate, baseline=base, credits_B=saved)


class CloudDisk(Device):
    """A disk behind the provider's network, sold with a throughput and requests a second for reads and writes together.

    The instance has limits of its own: an adapter (``hbas``) with an ``allowance`` through which its disks are reached.

    Neglects: the first read of a volume made from a snapshot; replication that slows writes.

    Attributes:
        rate: Throughput, read and written together.
        iops: Requests a second, read and written together.
        counted: Bytes that count as one request.
        response: Time of one request.
        baseline: Throughput once the burst credits are spent.
        credits: Bytes of burst credits when the transfer begins.
    """

    kind: ClassVar[str] = "cloud-disk"

    rate: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e5)]
    iops: Annotated[Quantity, Unit("1/s", spread=0.05, low=1)]
    counted: Annotated[Quantity, Unit("B", low=512)] = prior(
        "256 KiB", 0.0, "AWS, I/O characteristics: a request of an SSD volume counts once up to 256 KiB"
    )
    response: Annotated[Quantity, Unit("s", spread=0.3)] = prior(
        "0.8 ms", 0.5, "AWS: gp3 single-digit milliseconds, io2 Block Express below one; assumed: half to one"
    )
    baseline: Annotated[Quantity, Unit("B/s", spread=0.05, low=1e4)] | None = None
    credits: Annotated[Quantity, Unit("B", spread=0.3)] | None = None

    _pairs = model_validator(mode="after")(_complete)

    @property
    def keeps_writes(self) -> bool:
        """An acknowledged write is on several servers."""
        return True

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:
        return row.value(self.response)

    def single_rate(self, row: Row, use: Access) -> Value:
        return row.value(self.rate)

    def media_rate(self, row: Row, operation: Operation) -> Term:
        return row.term(self.rate if self.baseline is None else self.baseline)

    def turnaround(self, row: Row) -> Term:
        return row.term(self.response)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:
        disks, rate = count(copies, "disk"), row.term(self.rate)
        if self.baseline is not None and self.credits is not None:
            size = term(max(use.total_B / copies, 1.0), "B")
            base, saved = row.term(self.baseline), row.term(self.credits)
            rate = law(cloud.mean_rate, size_B=size, burst=rate, baseline=base, credits_B=saved)
        text, kind = f"throughput of the disks, {use.operation}", self.kind
        row.charge(f"{name}.cloud-disks", kind, capacity=disks * rate, what=text)
        request = term(use.block_B, "B") if use.waits_for_each else row.term(self.counted)
        counted = law(cloud.counted_requests, request_B=request, counted_B=row.term(self.counted))
        station, most, text = f"{name}.cloud-requests", disks * row.term(self.iops), "requests that the disks count"
        row.charge(station, kind, unit="op", capacity=most, per_byte=counted / request, what=text)
