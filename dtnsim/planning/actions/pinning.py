"""Threads and interrupts on the socket that the card's slot belongs to, where some are known to be on another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dtnsim.physics.cpu import remote_share
from dtnsim.planning.actions import free
from dtnsim.planning.option import Setting

if TYPE_CHECKING:
    from dtnsim.description.host import Host
    from dtnsim.description.spec import PathSpec


@free("tuning")
def near_the_card(given: PathSpec, hosts: Sequence[str], _target_Bps: float) -> Iterator[Setting]:
    """What is bound, or known to run, far from a card goes to as many cores of the card's socket."""
    for name in hosts:
        host = given.hosts[name]
        for nic, card in host.nics.items():
            near = host.socket_of(card.slot)
            if near is None or host.cpu.sockets < 2:
                continue
            key, placed = f"hosts.{name}.placement", host.placement
            threads = _there(host, near, len(placed.application))
            if host.remote(near) > 0:
                sets = [f"{key}.remote_socket=0"] if not placed.application else [f"{key}.application={threads}"]
                typed = f"numactl --cpunodebind={near} --membind={near} ...   # the tool, on the socket of {nic}"
                yield Setting(f"{name}: threads on the socket of {nic}", tuple(sets), (typed,))
            if _away(host, near):
                cores = _there(host, near, len(placed.nic_interrupts))
                typed = f"set_irq_affinity_cpulist.sh {','.join(map(str, cores))} {nic}"
                yield Setting(f"{name}: interrupts", (f"{key}.nic_interrupts={cores}",), (typed,))


def _away(host: Host, near: int) -> float:
    """Share of the NICs' interrupts that are served on another socket."""
    cores = host.placement.nic_interrupts
    alternate = host.cpu.numbering == "alternate"
    return remote_share(cores, near, host.cpu.sockets, host.cpu.cores, alternate=alternate) if cores else 0.0


def _there(host: Host, socket: int, count: int) -> list[int]:
    """The first cores of a socket."""
    alternate = host.cpu.numbering == "alternate"
    every = range(host.cpu.total)
    own = [n for n in every if not remote_share([n], socket, host.cpu.sockets, host.cpu.cores, alternate=alternate)]
    return own[:count]
