"""The rule of thumb that a model has to beat: min(disk, network, disk) from datasheet rates.

No protocol, processor, bus, controller, file system or other users: just what the labels say.
"""

import math

from dtnsim.components.device import Device
from dtnsim.composition.network import Network
from dtnsim.composition.resolved_transfer import lies_on
from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import DEVICES, TransferSpec, split_end
from dtnsim.evidence.cases import Case


def device_rate(array: Device, *, reading: bool) -> float:
    """Datasheet rate of a drive times the data drives of the array [B/s]."""
    drive: object = array
    while hasattr(drive, "of"):
        drive = drive.of
    names = ("read", "rate") if reading else ("burst_write", "rate", "write")
    rates = [getattr(drive, n) for n in names if getattr(drive, n, None) is not None]
    return array.data_disks * float(rates[0].value) if rates else math.inf


def nic_rate(host: Host, transfers: list[TransferSpec]) -> float:
    """Line rate of the host's network ports [B/s]."""
    wanted = [t.nics[host.name] for t in transfers if host.name in t.nics]
    cards = [host.nics[n] for n in wanted if n in host.nics] or [
        c for c in host.nics.values() if c.protocol == "ethernet"
    ][:1]
    return sum(c.rate.value * c.ports for c in {id(c): c for c in cards}.values()) or math.inf


def min_rate(spec: PathSpec) -> float:
    """min(disk, network, disk) of a path, all its transfers together [B/s]."""
    limits = [
        _disks(spec, [t.source_end for t in spec.transfers], reading=True),
        _disks(spec, [t.to for t in spec.transfers], reading=False),
    ]
    hosts: dict[str, Host] = {}
    for transfer in spec.transfers:
        both = (transfer.source_end, transfer.to)
        ends = [*(split_end(end)[0] for end in both), *(_volume(spec, end)[0] for end in both)]
        if len(set(ends)) > 1:
            hosts |= {name: spec.hosts[name] for name in ends}
    if hosts:
        network = Network(spec)
        limits += [nic_rate(h, spec.transfers) for h in hosts.values()]
        first, *rest = hosts.values()
        for other in rest:
            hops = network.route(first, other, spec.transfers[0].via, spec.transfers[0].nics).hops
            limits += [segment.bandwidth.value for _, segment, _ in hops]
    return min(limits)


def _volume(spec: PathSpec, end: str) -> tuple[str, str | None]:
    """Host and volume on whose drives an end lies."""
    name, path = split_end(end)
    return (name, None) if path in DEVICES else lies_on(spec, end)


def _disks(spec: PathSpec, ends: list[str], *, reading: bool) -> float:
    """Rates of the volumes on one side; those of several transfers add up, each volume once."""
    volumes: dict[tuple[str, str], float] = {}
    for end in ends:
        name, mount = _volume(spec, end)
        if mount is None:
            return math.inf
        array = spec.hosts[name].volumes[mount].array
        volumes[name, mount] = device_rate(array, reading=reading) if array else math.inf
    return sum(volumes.values())


def predict(case: Case, spec: PathSpec) -> float | None:
    """The rule's answer to a case [SI unit of its quantity]; None where it has none (shares of a core)."""
    rate = min_rate(spec)
    if not math.isfinite(rate) or case.quantity in ("cpu_share", "throughput_sd"):
        return None
    if case.quantity == "duration":
        from dtnsim.description.dataset import load

        sizes = [(t.dataset or load({"files": 1, "size": "100 GB"})).payload_B for t in spec.transfers]
        return sum(sizes) / rate
    return rate / case.block_B if case.quantity == "iops" and case.block_B else rate
