"""One end of a network transfer: what a payload byte costs the thread, the interrupts, memory, bus and wire."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dtnsim.components import memory
from dtnsim.components.nic import Nic
from dtnsim.components.offload import Duty
from dtnsim.composition import transport
from dtnsim.composition.route import Framing
from dtnsim.description.host import Host
from dtnsim.description.transfer import TransferSpec
from dtnsim.ground.ledger import Row
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import bonding, cpu as physics
from dtnsim.physics.tcp import ratebased
from dtnsim.tools.plan import NetUse

#: FASP's own work on a packet; its cipher is the tool's (ascp without -T)
_FASP: Final = Term(
    ratebased.FASP_CYCLES_PER_PACKET,
    f"{ratebased.FASP_CYCLES_PER_PACKET:g} cycles",
    "per-packet work, see dtnsim.physics.tcp.ratebased",
)

LOOPBACK: Final = "lo"  #: interface whose packets stay in the host's memory


@dataclass(frozen=True, slots=True)
class Side:
    """A host at one end of a route, and how it uses its card."""

    host: Host
    name: str
    card: Nic
    net: NetUse
    frame: Framing
    receiving: bool

    @property
    def queues(self) -> int:
        """Receive queues with interrupts on separate cores."""
        placed = self.host.placement.nic_interrupts
        return min(self.card.rings, len(set(placed)) or self.host.cpu.total)


def charge(row: Row, side: Side, spec: TransferSpec | None) -> None:
    """CPU, memory, bus and wire of one end."""
    host, name, net, receiving = side.host, side.name, side.net, side.receiving
    near = host.socket_of(side.card.slot)
    verb = f"{net.transport.upper()} {'receive' if receiving else 'send'}"
    thread = net.receiver if receiving else net.sender
    thread = thread if spec is None or spec.core is None else replace(thread, slot=spec.core)
    cycles, duty = _cycles(row, side), Duty("tcp", nic=name, left=host.stack.hot_byte)
    if net.transport == "tcp" and host.taker(duty) is not None:  # protocol and interrupts; the program still copies
        host.work(row, thread, cycles + row.term(host.stack.interrupt_byte), verb, duty, near)
    elif net.transport != "rdma":  # the adapter places the bytes; no kernel touches them
        host.core(row, thread, cycles, verb, near=near)
        _interrupts(row, side, near)
    if net.transport == "rdma":
        if net.call is not None and not receiving:
            posted = row.term(host.stack.verbs_call) / row.term(net.call)
            host.core(row, thread, posted, "work requests", near=near)
        crossing = memory.DMA
    elif receiving:
        crossing = memory.DISCARD if net.discard else memory.RECEIVE
    else:
        crossing = memory.SENDFILE if net.sendfile else memory.SEND
    host.memory.cross(row, crossing._replace(dma=0) if name == LOOPBACK else crossing, verb)
    if name == LOOPBACK:
        return
    host.nic_bus(row, name, receiving=receiving)
    side.card.send_bits(
        row,
        name,
        direction="rx" if receiving else "tx",
        streams=net.streams,
        port=spec.ports.get(host.name) if spec is not None else None,
        wire=side.frame.per_payload,
        packet_B=term(side.frame.mss, "B"),
        lockstep=net.lockstep,
        workers=net.workers,
        total_B=net.total_B,
    )


def _cycles(row: Row, side: Side) -> Term:
    """Cycles per payload byte of the thread that sends or receives it."""
    stack, net = side.host.stack, side.net
    byte, packet = (
        (stack.receive_byte, stack.receive_packet) if side.receiving else (stack.send_byte, stack.send_packet)
    )
    if net.discard if side.receiving else net.sendfile:
        byte = stack.sendfile_byte
    if net.transport in ("udt", "fasp"):
        cycles = row.term(transport.UDT_PACKET) if net.transport == "udt" else _FASP
        return law(
            physics.cycles_per_byte, per_byte=row.term(byte), per_packet=cycles, traversal_B=term(side.frame.mss, "B")
        )
    calls: dict[str, Term] = {}
    if net.call is not None:
        calls = {
            "per_call": row.term(stack.socket_call),
            "call_B": row.term(net.call),
            "reference_B": row.term(stack.socket_block),
        }
    joined = net.transport == "tcp" and side.card.joins(receiving=side.receiving)
    aggregate_B = row.term(stack.aggregate) if joined else 0.0
    passed = law(physics.traversal_bytes, mss_B=term(side.frame.mss, "B"), aggregate_B=aggregate_B)
    return law(
        physics.cycles_per_byte, per_byte=row.term(byte), per_packet=row.term(packet), traversal_B=passed, **calls
    )


def _interrupts(row: Row, side: Side, near: int | None) -> None:
    """Interrupt work of a card: on named cores or any, at most one per queue that streams reach."""
    host, streams, queues = side.host, side.net.streams, side.queues
    plain, mss_B = row.term(host.stack.interrupt_byte), side.frame.mss
    cost = side.card.interrupt(row, plain, host.clock(row), mss_B, receiving=side.receiving)
    text = f"interrupts of {side.name}"
    host.interrupts(row, host.placement.nic_interrupts, cost, text, near=near)
    if queues == 1 and len(set(host.placement.nic_interrupts)) == 1:
        return  # that core is already a station
    used = law(bonding.occupied, items=streams, bins=queues)
    alone = bonding.occupied(streams / side.net.workers, queues) * host.clock(row).value
    row.charge(
        f"cpu.{side.name} queues",
        "core",
        capacity=used * host.clock(row),
        per_byte=cost,
        private=queues > 1,  # streams of all transfers meet in one
        alone=alone if side.net.workers > 1 else None,
        remedy=(
            f"RDMA, or a card of ConnectX-4 or later in datagram mode (hosts.{host.name}.nics.{side.name})"
            if side.card.connected or side.card.datagrams
            else f"more queues, and as many cores for their interrupts (hosts.{host.name}.nics.{side.name}.queues, "
            "placement.nic_interrupts: ethtool -L), or more streams"
        ),
        label=f"the receive queues of {side.name} on {host.name}",
        what=f"{text}: {streams} {'stream' if streams == 1 else 'streams'} reach "
        f"{float(np.mean(used.value)):.3g} of {queues} receive {'queue' if queues == 1 else 'queues'}, a core each",
    )
