"""How the parts of a host are wired: a volume hangs on adapters, an adapter sits in a slot, a slot may hang on another.

An access follows that chain to memory and charges everything on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from dtnsim.components.base import Pick, empty
from dtnsim.components.chassis import Slot
from dtnsim.components.filesystem import Filesystem, label_of
from dtnsim.components.machine import Machine, Mounted
from dtnsim.components.model import Names
from dtnsim.components.nic import Hba, Nic
from dtnsim.components.offload import Offload
from dtnsim.components.servers import SharedFilesystem
from dtnsim.components.tuning import TcpTuning
from dtnsim.ground import graphs
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.physics import pcie

if TYPE_CHECKING:
    import networkx as nx


#: servers that many clients reach over long ways
SERVERS_TCP = TcpTuning(
    rmem_max=prior("64 MiB", 1.0, _FAR := "assumed: servers of a provider are tuned for clients that are far away"),
    wmem_max=prior("64 MiB", 1.0, _FAR),
)

Card = Hba | Nic | Offload  #: what sits in a slot


class Volume(Mounted):
    """A mounted file system: what it is, what it lies on, what it is attached to.

    Attributes:
        over: What lies between the host and the file system's servers, in this order: ``wan`` (all of the path's), or
            names of its segments and links. Where no volume says it, the wan of a path with this host alone.
        peer: TCP settings of the servers, where a network is between.
        size: Space; a data set that does not fit is reported.
    """

    filesystem: Annotated[Filesystem, Pick(Filesystem)]
    over: Names = Field(default_factory=empty)
    peer: TcpTuning | None = None
    size: Annotated[Quantity, Unit("B")] | None = None

    @property
    def away(self) -> bool:
        """Whether connections lead to its servers."""
        return self.server is not None or bool(self.over)

    @model_validator(mode="after")
    def _of_a_filer(self) -> Self:
        """Operations of servers that nobody describes take what they take on appliances."""
        usual, stated = self.filesystem.filer, self.filesystem.model_fields_set
        if self.server is None and not usual.keys() & stated:
            self.filesystem.__dict__.update(usual)
        return self


class Wiring(Machine):
    """How memory, slots, adapters, NICs, devices and volumes of a machine hang together."""

    volumes: dict[str, Volume] = Field(default_factory=dict)

    def check_wiring(self) -> None:
        """Checks that every name exists, nothing hangs on itself, and every card fits its slot."""
        for name, slot in self.slots.items():
            self._slot(f"slots.{name}.behind", slot.behind)
        for name in self.slots:
            self.chain(name)
        taken: dict[str, str] = {}
        for key, card in self._cards():
            self._slot(f"{key}.slot", card.slot)
            self._fits(key, card, card.slot)
            further = card.more_slots if isinstance(card, Nic) else []
            for name in further:
                self._slot(f"{key}.more_slots", name)
                self._fits(key, card, name)
            for name in (card.slot or key, *further):
                other = taken.setdefault(name, key)
                if other != key or further.count(name) + (name == card.slot) > 1:
                    message = f"sits in slot {name!r}, and so does {other if other != key else 'another card of it'}"
                    remedy = "a slot takes one card: give each its own, 'behind' a switch where they share lanes"
                    raise SpecError(message, key=f"{self.name}.{key}", remedy=remedy)
        for name, device in self.devices.items():
            for nic in device.nics():
                self._check_exists(f"devices.{name}.nic", nic, "a NIC", "NICs", self.nics)
        adapters = [*self.hbas, *self.nics, *self.slots]
        for mount, volume in self.volumes.items():
            for name in volume.via:
                self._check_exists(f"volumes.{mount}.via", name, "an adapter, NIC or slot", "adapters", adapters)
                self._seat_free(f"volumes.{mount}.via", name, taken)
            self._reached(mount, volume)
        self._names_apart()

    def _reached(self, mount: str, volume: Volume) -> None:
        """Checks that a network lies only between this host and servers that are no hosts of the path."""
        if not volume.over and volume.peer is None:
            return
        key, kind = f"{self.name}.volumes.{mount}.over", volume.filesystem.kind
        if not volume.over:
            remedy = "write 'over: [wan]', or leave it out: 'tcp' of the hosts holds where a host serves"
            raise SpecError("a 'peer' is reached over a network", key=f"{key.removesuffix('over')}peer", remedy=remedy)
        if volume.server is not None:
            remedy = "leave it out: the path's own network joins the two hosts"
            raise SpecError("the server is a host of the path", key=key, value=volume.over, remedy=remedy)
        if not isinstance(volume.filesystem, SharedFilesystem):
            remedy = "leave it out, or mount a file system that has servers: s3, nfs, smb, cephfs, lustre ..."
            raise SpecError(f"{kind} has no servers elsewhere", key=key, value=volume.over, remedy=remedy)

    def _seat_free(self, key: str, name: str, taken: Mapping[str, str]) -> None:
        """Checks that drives with links of their own are in no slot with a card in it."""
        if name in self.slots and name not in self.hbas and name not in self.nics and name in taken:
            message = f"has a card in it, {taken[name]}, and so cannot hold drives"
            remedy = "name the adapter where it carries them, or another slot; 'behind' a switch they share lanes"
            raise SpecError(message, key=f"{self.name}.{key}", value=name, remedy=remedy)

    def _names_apart(self) -> None:
        """Checks that no two parts have one name among the stations."""
        names = {"memory": "memory", "cpu": "cpu"}
        for key, _ in self._cards():
            self._named(names, key.partition(".")[2], key, "call one of them otherwise")
        for mount in self.volumes:
            self._named(names, label_of(mount), f"volumes.{mount}", "mount the volume elsewhere, or rename the other")

    def _named(self, names: dict[str, str], name: str, key: str, remedy: str) -> None:
        other = names.setdefault(name, key)
        if other != key:
            message = f"cannot be distinguished from {other!r} in the names of stations"
            raise SpecError(message, key=f"{self.name}.{key}", remedy=remedy)

    def chain(self, slot: str | None) -> list[str]:
        """The slots and uplinks from one slot to memory; `SpecError` where they hang on each other in a loop."""
        slots: list[str] = []
        while slot is not None:
            if slot in slots:
                message = f"slots hang on each other in a loop: {' -> '.join([*slots, slot])}"
                remedy = "let the last one hang on the processor (no 'behind')"
                raise SpecError(message, key=f"{self.name}.slots.{slot}.behind", remedy=remedy)
            slots.append(slot)
            slot = self.slots[slot].behind
        return slots

    def _check_exists(self, key: str, name: str | None, noun: str, listed: str, candidates: Iterable[str]) -> None:
        """Checks that the host has what a key names."""
        names = list(dict.fromkeys(candidates))
        if name is not None and name not in names:
            remedy = f"{listed}: {', '.join(names) or 'none'}"
            raise SpecError(f"is not {noun} of this host", key=f"{self.name}.{key}", value=name, remedy=remedy)

    def _slot(self, key: str, name: str | None) -> None:
        self._check_exists(key, name, "a slot", "slots", self.slots)

    def _cards(self) -> Iterator[tuple[str, Card]]:
        """Everything that sits in a slot, with its key."""
        families: dict[str, Mapping[str, Card]] = {"hbas": self.hbas, "nics": self.nics, "devices": self.devices}
        for family, cards in families.items():
            yield from ((f"{family}.{name}", card) for name, card in cards.items())

    def _fits(self, key: str, card: Card, name: str | None) -> None:
        slot = self.slots.get(name or "")
        stated = not isinstance(card, Nic) or "card_lanes" in card.model_fields_set
        if slot is not None and stated and not slot.accepts(card.card_lanes):
            message = f"is an x{card.card_lanes} card; slot {name!r} has an x{slot.connector or slot.lanes} connector"
            remedy = "choose another slot, or set the slot's 'connector'"
            raise SpecError(message, key=f"{self.name}.{key}", remedy=remedy)

    # -- the wiring as a graph -------------------------------------------------------------------

    @cached_property
    def wiring(self) -> nx.Graph[str]:
        """Processors, memory, slots, adapters, NICs and volumes, named as their stations are within the host.

        Nodes have ``kind``, ``part``, ``key`` (where the host's file describes it) and, where they have a nominal rate
        of their own, ``rate_Bps``.
        """
        graphs.prepare()
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        graph.add_node("memory", kind="memory", part=self.memory, key="memory")
        graph.add_node("cpu", kind="cpu", part=self.cpu, key="cpu")
        graph.add_edge("cpu", "memory")
        for name, slot in self.slots.items():
            rate = float(pcie.tlp_rate(slot.generation, slot.lanes, slot.payload.value))
            graph.add_node(f"slot-{name}", kind="slot", part=slot, rate_Bps=rate, key=f"slots.{name}")
            graph.add_edge(f"slot-{name}", _seat(slot.behind))
        for name, hba in self.hbas.items():
            graph.add_node(name, kind="hba", part=hba, rate_Bps=hba.lanes * hba.lane.value, key=f"hbas.{name}")
            self._plug(graph, name, hba)
        for name, nic in self.nics.items():
            graph.add_node(name, kind="nic", part=nic, rate_Bps=nic.links * nic.rate.value, key=f"nics.{name}")
            self._plug(graph, name, nic)
        for name, device in self.devices.items():
            graph.add_node(name, kind="offload", part=device, key=f"devices.{name}")
            if device.visits or device.slot is not None:
                self._plug(graph, name, device)
            graph.add_edges_from((name, port) for port in device.nics() or ([] if device.visits else self.nics))
        for mount, volume in self.volumes.items():
            graph.add_node(label_of(mount), kind="volume", part=volume, key=f"volumes.{mount}")
            # none within the host where the path's network is between
            seats = [] if volume.over else self._adapters(volume) or ["memory"]
            graph.add_edges_from((label_of(mount), node) for node in seats)
        return graph

    @staticmethod
    def _plug(graph: nx.Graph[str], name: str, card: Card) -> None:
        """Joins a card to its slot, or to the link that it must have where no slot is described."""
        if card.slot is not None or not link_known(card):
            graph.add_edge(name, _seat(card.slot))
            return
        slot = Slot(generation=card.card_generation, lanes=card.card_lanes)
        rate = float(pcie.tlp_rate(slot.generation, slot.lanes, slot.payload.value))
        graph.add_node(f"{name}.pcie", kind="slot", part=slot, rate_Bps=rate, key=graph.nodes[name]["key"])
        graph.add_edges_from([(name, f"{name}.pcie"), (f"{name}.pcie", "memory")])

    def toward_memory(self, node: str) -> list[str]:
        """Nodes that bytes pass from a card, slot or adapter to memory, the node itself first, memory left out."""
        import networkx as nx

        return list(nx.shortest_path(self.wiring, node, "memory")[:-1])

    def free_slots(self) -> list[str]:
        """Slots in which no card sits, on which no volume and no other slot hangs."""
        used = {name for volume in self.volumes.values() for name in volume.via}
        used |= {slot.behind for slot in self.slots.values() if slot.behind is not None}
        for _, card in self._cards():
            used |= {card.slot or "", *(card.more_slots if isinstance(card, Nic) else ())}
        return [name for name in self.slots if name not in used]

    def socket_of(self, slot: str | None) -> int | None:
        """Socket that a slot's lanes end at: its own, or that of what it hangs on; None where nobody said."""
        sockets = [self.slots[name].socket for name in self.chain(slot)]
        return next((socket for socket in sockets if socket is not None), None)

    def storage_nics(self, volume: str) -> list[str]:
        """NICs through which a volume's servers are reached: those of ``via``, or the only one where IP is spoken."""
        mounted = self.volumes[volume]
        names = [n for n in mounted.via if n in self.nics]
        if names or not (mounted.filesystem.over_ip or mounted.over):
            return names
        ports = [n for n, card in self.nics.items() if card.protocol == "ethernet"] if mounted.over else list(self.nics)
        return ports[:1] if mounted.over or len(ports) == 1 else []

    def _adapters(self, volume: Volume) -> list[str]:
        """Nodes that a volume hangs on: those of ``via``, or behind a network the only card."""
        remote = volume.array is not None and volume.array.fabric is not None
        names = volume.via or (list(self.nics) if remote and len(self.nics) == 1 else [])
        return [n if n in self.hbas or n in self.nics else f"slot-{n}" for n in names]


def link_known(card: Card) -> bool:
    """Whether a card says what link it has."""
    return not {"card_lanes", "card_generation"}.isdisjoint(card.model_fields_set)


def _seat(slot: str | None) -> str:
    """Node that a card is plugged into."""
    return f"slot-{slot}" if slot else "memory"
