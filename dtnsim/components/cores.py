"""A core's work: which core does what, and what it costs there and in the package that all cores share."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from dtnsim.components.access import Near, Thread
from dtnsim.components.base import Model, Pick, empty
from dtnsim.components.cpu import Cpu
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.term import Term, count, largest, law, minimum, term
from dtnsim.physics import cpu as physics
from dtnsim.physics.core_rates import CORE_RATES


def core_cost(operation: str, text: str = "") -> Quantity:
    """Cycles per byte of an operation in `CORE_RATES`, as a quantity with its spread and source."""
    rate = CORE_RATES[operation]
    return Quantity(rate.cycles_per_byte, "cycles/B", rate.spread, rate.source + (f"; {text}" if text else ""))


class Placement(Model):
    """Which cores do what; empty lists leave it to the scheduler.

    Attributes:
        application: Cores that the tool's threads take in turn.
        nic_interrupts: Cores that serve the interrupts of the NICs, each an equal part.
        storage_interrupts: Adapter (or 'all'): cores that serve its interrupts.
        remote_socket: Share of the threads' work on a socket far from the card, from 0 to 1, where neither cores nor a
            slot's socket say it. Left out, work costs what it does near the card, and threads lie on all sockets alike.
    """

    application: list[int] = Field(default_factory=empty)
    nic_interrupts: list[int] = Field(default_factory=empty)
    storage_interrupts: dict[str, list[int]] = Field(default_factory=dict)
    remote_socket: Annotated[float, Field(ge=0, le=1)] | None = None


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

    def clock(self, row: Row) -> Term:
        """Cycles a second of one core."""
        clock, work = row.term(self.cpu.clock), self.cpu.per_cycle
        return clock if work.value == 1.0 and not work.spread else clock * row.term(work)

    def several(self, row: Row, threads: int | None = None) -> Term:
        """Cores that so many threads have at once; all cores where no number is given."""
        cores = self.cpu.total
        if not self.cpu.uncounted.spread:
            return count(cores if threads is None else min(threads, cores), "core")
        drawn = count(cores, "core") * row.term(self.cpu.uncounted)
        return drawn if threads is None else minimum(count(threads, "core"), largest(term(1.0), drawn))

    def core(self, row: Row, thread: Thread, cycles: Term, text: str, near: Near = None) -> None:
        """Charges CPU work of a thread: its own core (or the named ones, in turn for each copy), and the package."""
        work = self._across(row, cycles, self.remote(near))
        place = self.placement.application
        if place:
            placed = Counter(place[(thread.slot + copy) % len(place)] for copy in range(thread.copies))
            for number, times in placed.items():
                self.pinned(row, number, work * (times / thread.copies), f"{thread.name}: {text}")
            return
        cores = self.several(row, None if thread.drawn is not None else thread.copies)
        if thread.drawn is not None:
            cores = minimum(cores, row.term(thread.drawn))
        capacity, label = cores * self.clock(row), f"the {thread.name} thread on {self.name}"
        row.charge(f"cpu.{thread.name}", "core", capacity=capacity, per_byte=work, private=True, what=text, label=label)
        self.pool(row, work, text)

    def pinned(self, row: Row, number: int, cycles: Term, text: str) -> None:
        """Charges work placed on a named core."""
        if not 0 <= number < self.cpu.total * self.cpu.smt:
            remedy = f"cores are 0 to {self.cpu.total * self.cpu.smt - 1}"
            raise SpecError("is not a core of this host", key=f"{self.name}.placement", value=number, remedy=remedy)
        clock, label = self.clock(row), f"core {number} of {self.name}"
        row.charge(f"cpu.core{number}", "core", capacity=clock, per_byte=cycles, what=text, label=label)
        self.pool(row, cycles, text)

    def pool(self, row: Row, cycles: Term, text: str) -> None:
        """Charges work that may run on any core."""
        clock = self.clock(row)
        if self.cpu.smt > 1:
            gain = row.term(self.cpu.smt_gain)
            clock = law(physics.smt_capacity, clock_Hz=clock, busy_threads=self.cpu.smt, gain=gain)
        capacity, label = self.several(row) * clock, f"all cores of {self.name}"
        row.charge("cpu", "cpu", capacity=capacity, per_byte=cycles, what=text, label=label)

    def interrupts(self, row: Row, cores: list[int], cycles: Term, text: str, near: int | None = None) -> None:
        """Charges interrupt work: on its named cores, each an equal part, or anywhere where none are named."""
        if not cores:
            self.pool(row, cycles, text)
            return
        work = self._across(row, cycles, 0.0 if near is None else self._away(cores, near))
        for number in cores:
            self.pinned(row, number, work / len(cores), text)

    def remote(self, near: Near) -> float:
        """Share of the applications' work that runs away from sockets; what the placement says where nobody knows."""
        place = self.placement.application
        return self._away(place, near) if near is not None and place else self.placement.remote_socket or 0.0

    def cross_sockets(self, row: Row, near: int | None, text: str, *, to_host: bool) -> None:
        """Charges the link between the sockets for the part of a card's bytes whose memory is at the other one.

        Memory is where its thread runs; threads that nobody places are on all sockets alike.
        """
        if near is None or self.cpu.sockets < 2 or self.cpu.socket_link is None:
            return
        placed = self.placement.application or self.placement.remote_socket is not None
        share = self.remote(near) if placed else (self.cpu.sockets - 1) / self.cpu.sockets
        if not share:
            return
        rate = law(
            physics.socket_link_rate, transfers_per_s=row.term(self.cpu.socket_link), links=self.cpu.socket_links
        )
        way = f"from-{near}" if to_host else f"from-{1 - near}" if self.cpu.sockets == 2 else f"to-{near}"
        remedy = f"threads on the socket of drives and cards (hosts.{row.host}.placement.application; numactl)"
        name, text = f"cpu.socket-link.{way}", f"{text} from socket to socket"
        row.charge(name, "bus", capacity=rate, per_byte=term(share), what=text, remedy=remedy)

    def _away(self, cores: list[int], near: int | tuple[int, ...]) -> float:
        """Share of the work on named cores that is away from a socket, or in the mean from several."""
        sides, alternate = near if isinstance(near, tuple) else (near,), self.cpu.numbering == "alternate"
        each = (physics.remote_share(cores, s, self.cpu.sockets, self.cpu.cores, alternate=alternate) for s in sides)
        return sum(each) / len(sides)

    def _across(self, row: Row, work: Term, share: float) -> Term:
        """Work of which a share is done away from its card."""
        penalty = row.term(self.cpu.numa_penalty)
        return law(physics.numa_cycles, cycles_per_B=work, remote_share=share, penalty=penalty) if share else work
