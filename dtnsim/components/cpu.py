"""Processors: cores with a clock; a thread has one core's cycles, all threads share the package."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.components.base import Component
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.uncertainty import Since
from dtnsim.physics import cpu as physics


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
