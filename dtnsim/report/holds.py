"""What holds a transfer, in a sentence for people: a station by its kind, a connection by what limits it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dtnsim.ground.records import Bottleneck, Prediction

#: what a connection's reason says of it
_LIMIT: Final = re.compile(r"(\w+)-limited: (?:the narrowest place is )?(.*?)(?:: [\d.]+ \S*b/s.*| \(in the phase.*)?")
#: kinds that nothing one buys relieves
OTHER_TOOL: Final = ("latency", "workers", "window", "transport", "target")
#: kind of station -> what holds, for people
_HOLDS: Final = {
    "core": "one core of {host}'s processor ({work})",
    "cpu": "all processor cores of {host} ({work})",
    "memory": "the memory of {host}",
    "hdd": "the disks of {host}",
    "ssd": "the flash drives of {host}",
    "unknown": "the drives of {host}",
    "tape": "the tape drives of {host}",
    "sata": "the cables to the drives of {host}",
    "sas": "the cables between {host} and its drives",
    "hba": "the disk adapter of {host}",
    "pcie": "the slot of a card in {host}",
    "nic": "the network port of {host}",
    "ib": "the InfiniBand port of {host}",
    "offload": "the card of {host} that takes work over",
    "network": "the network link {place}, with the traffic of others on it",
    "firewall": "the firewall at {place}",
    "policer": "the rate limit that the provider enforces at {place}",
    "lustre": "the Lustre file system of {host} ({place})",
    "gpfs": "the GPFS file system of {host} ({place})",
    "beegfs": "the BeeGFS file system of {host} ({place})",
    "cephfs": "the Ceph storage of {host} ({place})",
    "vast": "the VAST storage of {host} ({place})",
    "weka": "the WEKA storage of {host} ({place})",
    "daos": "the DAOS storage of {host} ({place})",
    "metadata": "the metadata servers of {place}",
    "cloud-disk": "the cloud disk of {host}",
    "nfs": "the NFS mount of {host}: too few requests under way",
    "smb": "the SMB share of {host}: too few requests under way",
    "s3": "the bucket's connections, each waiting for its requests",
    "transport": "the tool's own protocol on top of the network",
    "target": "the rate that the tool is told to keep",
    "window": "the tool lets too little be under way ({work})",
    "latency": "waiting for answers while nothing moves ({work})",
    "workers": "waiting for answers while nothing moves ({work})",
}
_TCP: Final = {
    "window": "too little is under way from {ends} for the distance (TCP window: {what})",
    "loss": "lost packets from {ends} slow TCP down: {what}",
    "buffer": "a queue in the network is too short for TCP from {ends}: {what}",
    "link": "{what}",
}
_LIMITS: Final = {"window": "TCP window", "loss": "lost packets", "buffer": "queue too short for TCP"}


def holds(p: Prediction, b: Bottleneck) -> str:
    """What a bottleneck is, for people."""
    place = b.component.removeprefix("tcp.")
    if b.kind == "tcp":
        found = _LIMIT.fullmatch(b.reason)
        ends = _ends(p, place)
        if found is None or found[1] not in _TCP:
            return f"the TCP connections from {ends}"
        what = _place(found[2]) if found[1] == "link" else found[2].removeprefix("1 x ")
        return _TCP[found[1]].format(ends=ends, what=what)
    words = _HOLDS.get(b.kind, "{place} of {host}")
    work = ", ".join(b.work[: 1 if b.kind in OTHER_TOOL else 3])
    return (words if work else words.removesuffix(" ({work})")).format(host=b.host, place=place, work=work)


def called(p: Prediction, name: str, reason: str = "") -> str:
    """A station in a few words for people; its name where it is none of the answer's.

    Args:
        p: The answer.
        name: The station.
        reason: Why it holds, which tells the limits of one connection apart.
    """
    s = next((s for s in p.problem.stations if s.name == name), None)
    if s is None:
        return name
    place = s.component.removeprefix("tcp.")
    if s.kind == "tcp":
        found = _LIMIT.fullmatch(reason)
        if found is not None and found[1] == "link":
            return re.split(" is (?:full|reached)", _place(found[2]))[0].removeprefix("the ")
        return f"{_LIMITS.get(found[1], 'TCP') if found is not None else 'TCP'} from {_ends(p, place)}"
    words = re.split(r" \(|[,:] ", _HOLDS.get(s.kind, "{place} of {host}"))[0]
    return words.format(host=s.host, place=place).removeprefix("the ")


def brief(text: str) -> str:
    """What holds without whose buffer it is."""
    return re.sub(r", by the [^()]*(\([^()]*\))?\)$", ")", text)


def _place(text: str) -> str:
    """The narrowest place of a connection, for people."""
    if text.startswith("the allowance of "):
        return f"the provider's limit on the network of {text.removeprefix('the allowance of ')}"
    if text.startswith("the "):
        return f"the network {text.removeprefix('the ')}"
    where, _, more = text.partition(", ")
    return f"the network link {where}" + (f" ({more})" if more else "")


def _ends(p: Prediction, place: str) -> str:
    """``nas to centre`` of ``nas-centre``."""
    for host in p.given.hosts if p.given is not None else ():
        if place.startswith(f"{host}-"):
            return f"{host} to {place.removeprefix(f'{host}-')}"
    return place
