"""Servers behind the WAN of a path with one host: what else would the WAN lead to?"""

from __future__ import annotations

from typing import Any

from dtnsim.components.base import expand, find_kind
from dtnsim.description import ipoib
from dtnsim.ground.errors import SpecError
from dtnsim.ground.yamlio import Mapping


def alone(raw: Mapping) -> bool:
    """Whether a path has a WAN and one host, of whose volumes none says what it is reached over."""
    hosts = raw.get("hosts")
    if not (isinstance(hosts, Mapping) and len(hosts) == 1 and "wan" in raw):
        return False
    volumes = next((host.get("volumes") for host in hosts.values() if isinstance(host, Mapping)), None)
    return isinstance(volumes, Mapping) and not any("over" in v for v in volumes.values() if isinstance(v, Mapping))


def volumes(name: str, host: Mapping, notes: list[str]) -> Mapping:
    """A host whose mounts over IP lead over the WAN to their servers, which is noted.

    Args:
        name: The host.
        host: Its mapping.
        notes: Takes what was read so.
    """
    given = host.get("volumes")
    if not isinstance(given, Mapping) or ipoib.speaks_verbs_alone(host):
        return host
    made = given.clone()
    for mount, volume in given.items():
        if isinstance(volume, Mapping) and not {"server", "over"} & set(volume) and _over_ip(volume.get("filesystem")):
            reached = volume.clone()
            reached.put("over", ["wan"], *given.at(mount))
            made.put(mount, reached, *given.at(mount))
            notes.append(
                f"hosts.{name}.volumes.{mount}.over: the wan leads to its servers, since no other host is there"
            )
    return host.but("volumes", made)


def _over_ip(filesystem: Any) -> bool:
    try:
        kind = find_kind(str(expand(filesystem, family="filesystem").get("kind")))
        return bool(getattr(kind, "over_ip", False))
    except (SpecError, AttributeError):
        return False  # what is wrong with it is said when it is built
