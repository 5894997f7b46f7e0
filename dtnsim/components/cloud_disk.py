"""Block storage of a cloud provider (EBS, persistent disks, managed disks): throughput, requests, credits, latency."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import model_validator

from dtnsim.components.access import Access, Operation
from dtnsim.components.device import Device
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, term
from dtnsim.physics import cloud


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

    @model_validator(mode="after")
    def _pairs(self) -> CloudDisk:
        if (self.baseline is None) != (self.credits is None):
            raise ValueError("baseline and credits belong together; or leave both out")
        return self

    @property
    def keeps_writes(self) -> bool:
        """An acknowledged write is on several servers."""
        return True

    def latency(self, row: Row, use: Access, members: float = 1.0) -> Value:  # noqa: ARG002 - no arms to wait for
        """Seconds of one request alone."""
        return row.value(self.response)

    def single_rate(self, row: Row, use: Access) -> Value:  # noqa: ARG002 - drives need it
        """Throughput."""
        return row.value(self.rate)

    def media_rate(self, row: Row, operation: Operation) -> Term:  # noqa: ARG002 - the same both ways
        """Throughput that lasts."""
        return row.term(self.rate if self.baseline is None else self.baseline)

    def turnaround(self, row: Row) -> Term:
        """That of one request."""
        return row.term(self.response)

    def serve(self, row: Row, use: Access, name: str, *, copies: int = 1, visit_B: Term | Value | None = None) -> None:  # noqa: ARG002 - no heads
        """Charges throughput and requests."""
        disks, rate = count(copies, "disk"), row.term(self.rate)
        if self.baseline is not None and self.credits is not None:
            size = term(max(use.total_B / copies, 1.0), "B")
            base, saved = row.term(self.baseline), row.term(self.credits)
            rate = law(cloud.mean_rate, size_B=size, burst=rate, baseline=base, credits_B=saved)
        row.charge(
            f"{name}.cloud-disks", "cloud-disk", capacity=disks * rate, what=f"throughput of the disks, {use.operation}"
        )
        alone = use.alone
        request = term(use.block_B, "B") if alone else row.term(self.counted)
        counted = law(cloud.counted_requests, request_B=request, counted_B=row.term(self.counted))
        row.charge(
            f"{name}.cloud-requests",
            "cloud-disk",
            unit="op",
            capacity=disks * row.term(self.iops),
            per_byte=counted / request,
            what="requests that the disks count",
        )
