"""A core's work: which core does what, and what it costs there and in the package that all cores share."""

from collections import Counter
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.access import Near, Thread
from dtnsim.components.base import Component, Model, Pick, empty
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, count, largest, law, minimum, term
from dtnsim.ground.uncertainty import Since
from dtnsim.physics import cpu as physics
from dtnsim.physics.core_rates import CORE_RATES


class Cpu(Component):
    """The processors of a host.

    Attributes:
        sockets: Sockets with a processor in them.
        cores: Cores of one socket.
        clock: Clock of a busy core.
        per_cycle: Work that a cycle does, over a cycle of the processor that the kernel's costs were measured on.
        smt: Threads of a core.
        cache: Last-level cache that a core can use.
        cache_groups: Last-level caches of one socket, each shared by its part of the cores (AMD's CCX).
        core_cache: Cache of one core below it.
        smt_gain: What two busy siblings do together, over one alone.
        numa_penalty: Cost of work on the socket away from the card, over the socket near it.
        numbering: Whether core numbers go through one socket after the other (blocks) or alternate between them.
        socket_link: Transfers a second of a link between two sockets (QPI, UPI).
        socket_links: Such links between two sockets.
        uncounted: Cores that there are over ``cores``, where nobody has counted them.
        aes: Whether they have instructions for AES (``aes`` in /proc/cpuinfo).
        aes_blocks: Blocks that such an instruction works on: 2 or more with ``vaes`` there, else 1.
    """

    kind: ClassVar[str] = "cpu"
    columns: ClassVar[tuple[str, ...]] = ("sockets", "cores", "clock")

    sockets: Annotated[int, Field(ge=1, le=64)] = 1
    cores: Annotated[int, Field(ge=1, le=1024, description="cores of one socket")]
    clock: Annotated[Quantity, Unit("Hz", spread=0.05, low=1e8, high=1e10)]
    per_cycle: Annotated[Quantity, Unit("1", spread=0.15, low=0.1, high=5.0)] = prior(
        "1",
        0.24,
        "the library's 147 parts and hosts, 0.5 to 2: standard deviation of the logarithm 0.19, each known to 15 %",
    )
    smt: Annotated[int, Field(ge=1, le=8)] = 1
    cache: Annotated[Quantity, Unit("B", low=1024)] | None = None
    cache_groups: Annotated[int, Field(ge=1, le=64)] = 1
    core_cache: Annotated[Quantity, Unit("B", low=1024)] | None = None
    smt_gain: Annotated[Quantity, Unit("1", low=1.0, high=2.0)] = prior(
        "1.25", 0.05, "assumed: two busy siblings do 1.2 to 1.3 times the work of one"
    )
    numa_penalty: Annotated[Quantity, Unit("1", spread=0.2, low=1.0, high=4.0)] = prior(
        "1.4", 0.2, "ESnet fasterdata, Interrupt Binding: up to 2x slower on the wrong socket at 40/100G"
    )
    numbering: Literal["blocks", "alternate"] = "blocks"
    socket_link: Annotated[Quantity, Unit("1/s", low=1e8, high=1e11)] | None = None
    socket_links: Annotated[int, Field(ge=1, le=8)] = 1
    uncounted: Annotated[Quantity, Unit("1", spread=0.3, low=0.01, high=100.0)] = prior("1", 0.0, "cores are counted")
    aes: Annotated[bool, Since(((2003, False), (2011, None)))] = True  # Westmere of 2010, Bulldozer of 2011
    aes_blocks: Annotated[int, Field(ge=1, le=4), Since(((2005, 1), (2021, None)))] = 2  # Zen 3, Ice Lake of servers

    @property
    def total(self) -> int:
        """Physical cores of all sockets."""
        return self.sockets * self.cores

    def worker_pools(self, release: tuple[int, ...] | None) -> int:
        """Pools of workers of a kernel's unbound work queues; one where it is not Linux."""
        return 1 if release is None else physics.worker_pools(release, self.sockets, self.cores, self.cache_groups)


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
