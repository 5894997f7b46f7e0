"""A host: processors, memory, slots, adapters, NICs and volumes.

What its cores do is in `dtnsim.components.cores`, how its parts are wired in `dtnsim.components.wiring`.
"""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from dtnsim.components.base import Facts, Pick, Price, documentation_only, place, validate
from dtnsim.components.buses import Buses
from dtnsim.components.chassis import Board, Chassis
from dtnsim.components.cores import Placement
from dtnsim.components.filesystem import label_of
from dtnsim.components.tuning import Role, TcpTuning, Vm
from dtnsim.components.wiring import Volume
from dtnsim.description.systems import family, number
from dtnsim.ground.errors import SpecError
from dtnsim.ground.ledger import Ledger
from dtnsim.ground.records import Slowdown
from dtnsim.ground.yamlio import Mapping
from dtnsim.physics.nic import JUMBO_B
from dtnsim.physics.tcp import controls, linux, window

__all__ = ["Host", "Placement", "TcpTuning", "Volume", "build_host", "label_of"]


class Host(Buses):
    """One machine.

    Attributes:
        name: What it is called in answers.
        source: Where its description comes from.
        description: What it is, in a line.
        like: Another host, whose keys hold where none is written here.
        count: How many such hosts there are, written once: the others are called NAME-2, NAME-3 ... A transfer of one
            is shared by all of them, and what is not known of them is drawn once.
        year: Year that it was bought in, which chooses the parts that what is not stated is drawn from, and the
            releases of kernel, ZFS and tools that nobody states.
        os: Operating system and release ("Windows 10", "macOS 13", "FreeBSD 12", "RHEL 7"), whose kernel, TCP settings,
            file system and releases of tools it has where it does not say them (models/systems.yaml).
        board: Board, whose slots it has.
        chassis: What its drives sit in: bays, the expander before them, memory channels.
        price: What the whole machine costs.
        facts: What moves no answer: the year it is of, its power.
        tcp: TCP settings.
        vm: Page cache settings, and memory that programs hold.
        role: What the host is for, which chooses nothing but what is usual where TCP's buffers, the drives of a volume
            or a tool's streams are not stated: ``untuned`` (as the system was installed), ``dtn`` (tuned for long
            paths), ``cloud`` (a provider's image).
        portable: Whether it is a laptop, which has no slots for cards that are bought.
    """

    source: str = documentation_only("")
    description: str = documentation_only("")
    like: str | None = None
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    year: Annotated[int, Field(ge=1990, le=2030)] | None = None
    os: str | None = None
    board: Annotated[Board, Pick(Board)] | None = None
    chassis: Annotated[Chassis, Pick(Chassis)] | None = None
    price: Price | None = documentation_only(None)
    facts: Facts | None = documentation_only(None)
    tcp: TcpTuning = TcpTuning()
    vm: Vm = Vm()
    role: Role | None = None
    portable: bool = documentation_only(False)  # noqa: FBT003

    @model_validator(mode="after")
    def _of_its_role(self) -> Self:
        """TCP settings that nobody states are those of the role, and of the kernel where that is stated."""
        tcp = self.tcp if self.role is None else self.tcp.of_role(self.role)
        self.__dict__["tcp"] = tcp.of_kernel(self.stack)
        return self

    @property
    def system(self) -> str:
        """Its family of operating systems: linux, freebsd, macos or windows."""
        return family(self.os, self.year, self.stack.part)[0]

    @property
    def desk(self) -> bool:
        """Whether people sit at it, by its system: Windows and macOS, but for servers."""
        return self.system in ("windows", "macos") and "server" not in (self.os or "").lower()

    @property
    def rented(self) -> bool:
        """Whether it is a provider's machine: who rents it sets its kernel, and buys nothing for it."""
        return self.role == "cloud" or any(card.allowance is not None for card in self.nics.values())

    @property
    def paced(self) -> bool:
        """Whether its TCP's packets are spaced; Linux alone has fq."""
        return self.system == "linux" and (self.tcp.fq or self.tcp.pacing is not None)

    def may_pace(self, cc: str) -> bool:
        """Whether fq would space packets of a congestion control that nothing spaces now (BBR spaces its own)."""
        return self.system == "linux" and not self.paced and controls.find(cc).by_loss

    def has_control(self, cc: str) -> bool:
        """Whether its kernel can have a congestion control: by its release, else its year, else today's."""
        since, (system, release) = controls.find(cc).since, family(self.os, self.year, self.stack.part)
        if system not in since:
            return not since
        first, year = since[system]
        if system == "linux" and "kernel" in self.stack.model_fields_set:
            release = self.stack.kernel
        return number(release) >= number(first) if release else self.year is None or self.year >= year

    @property
    def channels(self) -> int | None:
        """Memory channels that chassis or board have, populated or not; None where nobody says."""
        channels = self.chassis.channels if self.chassis is not None else None
        return channels or (self.board.channels if self.board is not None else None)

    def slowdowns(self, ledger: Ledger, cores: tuple[str, ...]) -> tuple[Slowdown, ...]:
        """How this host's memory load slows its cores (names of all its stations that are asked for cycles)."""
        driver = f"{self.name}.memory"
        if driver not in ledger.stations or not cores:
            return ()
        slope, reference = ledger.draw(self.stack.memory_stall), ledger.draw(self.stack.memory_reference)
        return (Slowdown(driver, cores, slope, reference),)

    @property
    def sends_jumbo(self) -> bool:
        """Whether jumbo frames are stated for one of its cards."""
        return any("mtu" in card.model_fields_set and card.mtu.value >= JUMBO_B for card in self.nics.values())

    def within_a_region(self) -> Self:
        """The host on a path that leaves no region of a provider."""
        return self.model_copy(update={"nics": {name: card.within_a_region() for name, card in self.nics.items()}})

    def receive_share(self, mtu_B: float) -> float:
        """Part of a socket's receive buffer that is window."""
        return self.tcp.share(self.stack, mtu_B)

    def behind_holes(self, mtu_B: float) -> float:
        """How often its windows count what has come behind a hole (`dtnsim.physics.tcp.window.spanned`) [1].

        Linux before 6.6 takes a fixed part of the memory that a packet has for its payload; FreeBSD has what waits in a
        queue beside its buffer (netinet/tcp_reass.c), and of others nothing is known.
        """
        memory = self.receive_share(mtu_B) / float(linux.receive_share(mtu_B)) if self.system == "linux" else 0.0
        return window.SENDER + (window.RECEIVER - window.SENDER) * memory

    def mount_of(self, path: str) -> str | None:
        """The mounted volume that a path lies on: the longest mount point that begins it."""
        fitting = [
            m for m in self.volumes if path == m or path.startswith((m.rstrip("/\\") + "/", m.rstrip("/\\") + "\\"))
        ]
        return max(fitting, key=len, default=None)


def build_host(name: str, raw: dict[str, Any]) -> Host:
    """Validates a host; ``nic: X`` is short for one NIC of that part, a volume needs its file system."""
    mapping = raw.clone() if isinstance(raw, Mapping) else Mapping()
    if not isinstance(raw, Mapping):
        mapping.update(raw)
    if "nic" in mapping:
        if "nics" in mapping:
            raise SpecError("write either 'nic' or 'nics'", **place(mapping, "nic"), key=f"hosts.{name}.nic")
        mapping.put("nics", {"nic": mapping.pop("nic")}, *mapping.lines.get("nic", ("", 0)))
    mapping.pop("schema", None)
    mapping["name"] = name
    return validate(Host, mapping, key=f"hosts.{name}")


def no_path(raw: Mapping, name: str, file: str) -> Mapping:
    """The mapping of a host's file; `SpecError` where it is a path file."""
    hosts = raw.get("hosts")
    if not isinstance(hosts, Mapping):
        return raw
    first = next(iter(hosts), "NAME")
    remedy = f"put what stands under hosts.{first} there into a file of its own, {first}.yaml, and name that"
    raise SpecError("is a path file, where one host is due", key=f"hosts.{name}", value=file, remedy=remedy)
