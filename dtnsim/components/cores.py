"""A core's work: which core does what, and what it costs there and in the package that all cores share."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.base import Model, Pick
from dtnsim.components.cpu import Cpu
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Value
from dtnsim.ground.term import Term, count, law, shown
from dtnsim.physics import cpu as physics


class Placement(Model):
    """Which cores do what; empty lists leave it to the scheduler.

    Attributes:
        application: Cores that the tool's threads take in turn.
        nic_interrupts: Cores that serve the interrupts of the NICs, each an equal part.
        storage_interrupts: Adapter (or 'all'): cores that serve its interrupts.
        remote_socket: Share of the work on a socket far from the card, from 0 to 1.
    """

    application: list[int] = Field(default_factory=list)
    nic_interrupts: list[int] = Field(default_factory=list)
    storage_interrupts: dict[str, list[int]] = Field(default_factory=dict)
    remote_socket: Annotated[float, Field(ge=0, le=1)] = 0.0


class Cores(Model):
    """The processors of a machine and what they are asked to do.

    Attributes:
        name: What the machine is called in answers.
        cpu: Processor part or its parameters.
        placement: Which cores do what.
    """

    name: str = ""
    cpu: Annotated[Cpu, Pick(Cpu)]
    placement: Placement = Placement()

    def core(self, row: Row, thread: Thread, cycles: Term | Value, what: str, cost: str = "", source: str = "") -> None:
        """Charges CPU work of a thread: its own core (or the named ones, in turn for each copy), and the package.

        Args:
            row: The row to charge.
            thread: The thread, with the number of its copies.
            cycles: Cycles per byte with their formula and source.
            what: The activity, in words.
            cost: Formula of bare ``cycles``.
            source: Source of bare ``cycles``.
        """
        work = _work(cycles, cost, source)
        penalty, remote = row.term(self.cpu.numa_penalty), self.placement.remote_socket
        if remote:
            work = law(physics.numa_cycles, cycles_per_B=work, remote_share=remote, penalty=penalty)
        place = self.placement.application
        if place:
            cores = Counter(place[(thread.slot + copy) % len(place)] for copy in range(thread.copies))
            for number, times in cores.items():
                self.pinned(row, number, work * (times / thread.copies), f"{thread.name}: {what}")
            return
        copies = min(thread.copies, self.cpu.total)
        row.charge(
            f"cpu.{thread.name}",
            "core",
            capacity=count(copies, "core") * row.term(self.cpu.clock),
            per_byte=work,
            unit="cycles",
            private=True,
            what=what,
            label=f"the {thread.name} thread on {self.name}",
        )
        self.pool(row, work, what)

    def pinned(self, row: Row, number: int, cycles: Term | Value, what: str) -> None:
        """Charges work placed on a named core."""
        if not 0 <= number < self.cpu.total * self.cpu.smt:
            raise SpecError(
                "is not a core of this host",
                key=f"{self.name}.placement",
                value=number,
                remedy=f"cores are 0 to {self.cpu.total * self.cpu.smt - 1}",
            )
        work = _work(cycles)
        clock = row.term(self.cpu.clock)
        label = f"core {number} of {self.name}"
        row.charge(f"cpu.core{number}", "core", capacity=clock, per_byte=work, unit="cycles", what=what, label=label)
        self.pool(row, work, what)

    def pool(self, row: Row, cycles: Term | Value, what: str, source: str = "", cost: str = "") -> None:
        """Charges work that may run on any core."""
        capacity = count(self.cpu.total, "core") * row.term(self.cpu.clock)
        if self.cpu.smt > 1:
            capacity = capacity * row.term(self.cpu.smt_gain)
        work, label = _work(cycles, cost, source), f"all cores of {self.name}"
        row.charge("cpu", "cpu", capacity=capacity, per_byte=work, unit="cycles", what=what, label=label)

    def interrupts(
        self, row: Row, cores: list[int], cycles: Term | Value, what: str, cost: str = "", source: str = ""
    ) -> None:
        """Charges interrupt work: on its named cores, each an equal part, or anywhere."""
        work = _work(cycles, cost, source)
        if not cores:
            self.pool(row, work, what)
        for number in cores:
            self.pinned(row, number, work / len(cores), what)


def _work(cycles: Term | Value, cost: str = "", source: str = "") -> Term:
    """Cycles per byte as a term."""
    return cycles if isinstance(cycles, Term) else Term(cycles, cost or shown(cycles, "cycles/B"), source)
