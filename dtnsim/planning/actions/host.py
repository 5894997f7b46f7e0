"""Settings of hosts: mounts, records, threads of arrays, the cards' offloads and queues, and where interrupts go."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dtnsim.description.host import Host
from dtnsim.physics.cpu import remote_share
from dtnsim.planning.actions import Scope, free
from dtnsim.planning.option import Setting
from dtnsim.steady import relieved

#: how a card's receive queues are set: ethtool(8); Microsoft, Set-NetAdapterRss
_QUEUES: Final = {"linux": "ethtool -L {} combined {}", "windows": "Set-NetAdapterRss {} -NumberOfReceiveQueues {}"}
#: its offloads: ethtool(8), ifconfig(8), Microsoft's module NetAdapter
_OFFLOADS: Final = {
    "linux": {"tso": "ethtool -K {} tso on", "gro": "ethtool -K {} gro on"},
    "freebsd": {"tso": "ifconfig {} tso", "gro": "ifconfig {} lro"},
    "windows": {"tso": "Enable-NetAdapterLso {}", "gro": "Enable-NetAdapterRsc {}"},
}
_LARGEST_RPC_B: Final = 2**20
#: levels with parity, and threads that md is given for it
_PARITY: Final = (5, 6, 50, 60)
_THREADS: Final = 8


@free("tuning")
def of_hosts(scope: Scope) -> Iterator[Setting]:
    """What could be set on some hosts, except TCP, as far as their systems have it."""
    for name, host in scope.changeable_hosts():
        yield from _mounts(name, host)
        yield from _records(name, host)
        yield from _cards(name, host)
        if host.system == "linux":
            yield from _parity(name, host)
            yield from _interrupts(name, host)


def _mounts(name: str, host: Host) -> Iterator[Setting]:
    for one in relieved.mounted(host, host.volumes):
        yield Setting(f"{name}: {one.what}", one.overrides, (one.line,))
    for mount, volume in host.volumes.items():
        system, key = volume.filesystem, f"hosts.{name}.volumes.{mount}.filesystem"
        if system.kind != "nfs" or host.system == "windows":
            continue
        if min(system.rsize.value, system.wsize.value) < _LARGEST_RPC_B:  # type: ignore[attr-defined]
            sets = (f"{key}.rsize=1 MiB", f"{key}.wsize=1 MiB")
            typed = f"umount {mount}; mount -o rsize=1048576,wsize=1048576 ... {mount}   # and its other options"
            yield Setting(f"{name}: rsize and wsize of {mount}", sets, (typed,))


def _records(name: str, host: Host) -> Iterator[Setting]:
    for mount, volume in host.volumes.items():
        if volume.filesystem.kind == "zfs":
            key = f"hosts.{name}.volumes.{mount}"
            overrides = [f"{key}.filesystem.recordsize=1 MiB"]
            if getattr(volume.array, "record", None) is not None:
                overrides.append(f"{key}.array.recordsize=1 MiB")
            typed = f"zfs set recordsize=1M {mount.strip('/')}   # holds for new files"
            yield Setting(f"{name}: recordsize of {mount}", tuple(overrides), (typed,))


def _parity(name: str, host: Host) -> Iterator[Setting]:
    """Threads of software arrays with parity."""
    for mount, volume in host.volumes.items():
        array: Any = volume.array
        key = f"hosts.{name}.volumes.{mount}.array"
        while array is not None and getattr(array, "level", None) not in _PARITY:
            array, key = getattr(array, "of", None), f"{key}.of"
        if array is not None and array.software and array.parity_threads < _THREADS:
            typed = f"echo {_THREADS} > /sys/block/mdX/md/group_thread_cnt   # mdX: the array of {mount}"
            yield Setting(f"{name}: parity threads of {mount}", (f"{key}.parity_threads={_THREADS}",), (typed,))


def _cards(name: str, host: Host) -> Iterator[Setting]:
    for nic, card in host.nics.items():
        key = f"hosts.{name}.nics.{nic}"
        off = {o: line.format(nic) for o, line in _OFFLOADS.get(host.system, {}).items() if not getattr(card, o)}
        if off:
            yield Setting(f"{name}: offloads of {nic}", tuple(f"{key}.{o}=true" for o in off), tuple(off.values()))
        if card.queues < host.cpu.total and host.system in _QUEUES:
            typed = _QUEUES[host.system].format(nic, host.cpu.total)
            yield Setting(f"{name}: receive queues of {nic}", (f"{key}.queues={host.cpu.total}",), (typed,))


def _interrupts(name: str, host: Host) -> Iterator[Setting]:
    """Interrupts that are bound to named cores, let go."""
    placed = host.placement
    sets = [f"hosts.{name}.placement.nic_interrupts=[]"] if placed.nic_interrupts else []
    sets += [f"hosts.{name}.placement.storage_interrupts={{}}"] if placed.storage_interrupts else []
    if sets:
        typed = "systemctl start irqbalance   # it spreads /proc/irq/*/smp_affinity over the cores"
        yield Setting(f"{name}: interrupts", tuple(sets), (typed,))


@free("tuning")
def near_the_card(scope: Scope) -> Iterator[Setting]:
    """Threads and interrupts that are bound, or known to run, far from a card, on as many cores of its socket."""
    for name, host in scope.changeable_hosts():
        for nic, card in host.nics.items():
            near = host.socket_of(card.slot)
            if near is None or host.cpu.sockets < 2 or host.system != "linux":
                continue
            key, placed = f"hosts.{name}.placement", host.placement
            threads = _first_cores(host, near, len(placed.application))
            if host.remote(near) > 0:
                sets = [f"{key}.remote_socket=0"] if not placed.application else [f"{key}.application={threads}"]
                typed = f"numactl --cpunodebind={near} --membind={near} ...   # the tool, on the socket of {nic}"
                yield Setting(f"{name}: threads on the socket of {nic}", tuple(sets), (typed,))
            cores = placed.nic_interrupts
            if cores and _remote_share(host, cores, near):
                cores = _first_cores(host, near, len(cores))
                typed = f"set_irq_affinity_cpulist.sh {','.join(map(str, cores))} {nic}"
                yield Setting(f"{name}: interrupts", (f"{key}.nic_interrupts={cores}",), (typed,))


def _remote_share(host: Host, cores: Sequence[int], socket: int) -> float:
    """Share of cores that are of another socket."""
    return remote_share(cores, socket, host.cpu.sockets, host.cpu.cores, alternate=host.cpu.numbering == "alternate")


def _first_cores(host: Host, socket: int, count: int) -> list[int]:
    """The first cores of a socket."""
    return [n for n in range(host.cpu.total) if not _remote_share(host, [n], socket)][:count]
