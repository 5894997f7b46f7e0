"""Servers behind the WAN: of a path with one host (what else would it lead to?), and buckets written as a host."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from dtnsim.components.base import expand, find_kind, place
from dtnsim.description import ipoib, spoken
from dtnsim.description.transfer import rewrite
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

if TYPE_CHECKING:  # hosts alone have no network
    from dtnsim.description.graph import Joined

#: keys of a host that say nothing of a machine
_NO_MACHINE: Final = frozenset({"volumes", "source", "description", "year", "role"})
#: how an end begins that is a bucket, as tools write it
_BUCKET: Final = re.compile(r"(s3|gs|gcs|az|azure|abfs|b2|r2|oss|cos|swift)[\d_-]*:/?/?([^/:]*)", re.IGNORECASE)


def hosts_to_name(end: str, hosts: Iterable[str]) -> str:
    """What can be written in the place of an end whose host a path does not have."""
    named = f"hosts: {', '.join(hosts)}"
    if (match := _BUCKET.match(end)) is None:
        return named
    mount = f"/{match[2] or 'bucket'}"
    return f"{named}; a bucket is one too: 's3: {{volumes: {{{mount}: {{filesystem: aws-s3}}}}}}' and 's3:{mount}'"


def has_one_host(raw: Mapping) -> bool:
    """Whether a path has a WAN and one host, of whose volumes none says what it is reached over."""
    hosts = raw.get("hosts")
    if not (isinstance(hosts, Mapping) and len(hosts) == 1 and "wan" in raw):
        return False
    volumes = next((host.get("volumes") for host in hosts.values() if isinstance(host, Mapping)), None)
    return isinstance(volumes, Mapping) and not any("over" in v for v in volumes.values() if isinstance(v, Mapping))


def volumes(name: str, host: Mapping, notes: list[str]) -> Mapping:
    """A host whose mounts over IP lead over the WAN to their servers, which is noted."""
    mounts = host.get("volumes")
    if not isinstance(mounts, Mapping) or ipoib.speaks_verbs_alone(host):
        return host
    updated = mounts.clone()
    for mount, volume in mounts.items():
        unsaid = isinstance(volume, Mapping) and not {"server", "over"} & set(volume)
        if unsaid and getattr(filesystem_kind(volume.get("filesystem")), "over_ip", False):
            reached = volume.clone()
            reached.put("over", ["wan"], *mounts.at(mount))
            updated.put(mount, reached, *mounts.at(mount))
            notes.append(
                f"hosts.{name}.volumes.{mount}.over: the wan leads to its servers, since no other host is there"
            )
    return host.but("volumes", updated)


def filesystem_kind(filesystem: Any) -> type | None:
    """The class of a file system as a path file has it: its kind, or a part; None where it is neither."""
    try:
        return find_kind(str(expand(filesystem, family="filesystem").get("kind")))
    except (SpecError, AttributeError):
        return None  # what is wrong with it is said when it is built


def buckets(raw: Mapping, notes: list[str]) -> None:
    """Reads buckets that are written as a host as volumes of the transfer's other end, which is noted."""
    if not (store_mounts := stores(raw)):
        return
    hosts: Mapping = raw["hosts"]
    kept_hosts: set[str] = set()
    from dtnsim.description.spoken_paths import with_volume  # which asks for what networks are called

    def mounted(item: Any, _: str) -> Any:
        nonlocal hosts
        ends = {end: str(item.get(end, "")).partition(":") for end in ("from", "to")} if isinstance(item, dict) else {}
        far = [end for end, (name, _, _) in ends.items() if name in store_mounts]
        if not far:
            return item
        (store, _, path), (near, _, near_path) = (ends[e] for e in (far[0], "to" if far[0] == "from" else "from"))
        mount = next((m for m in store_mounts[store] if f"{path.strip()}/".startswith(f"{m.rstrip('/')}/")), None)
        if len(far) > 1 or near not in hosts or mount is None:
            kept_hosts.update(name for name, _, _ in ends.values())
            return item
        location, volume = item.at(far[0]), store_mounts[store][mount].but("over", "wan")
        hosts = hosts.but(near, with_volume(hosts[near], f"/{store}{mount}", volume, near_path.strip(), location))
        notes.append(
            f"hosts.{store}: a bucket is no machine: read as hosts.{near}.volumes./{store}{mount}, over: wan, "
            "which is how to write and --set it"
        )
        return item.but(far[0], Scalar(f"{near}:/{store}{path.strip()}", *location))

    rewrite(raw, mounted)
    if hosts is not raw["hosts"]:
        raw.put("hosts", hosts.without(*(store_mounts.keys() - kept_hosts)), *raw.lines["hosts"])


def stores(raw: Mapping) -> dict[str, dict[str, Mapping]]:
    """Buckets that a path with a WAN writes as hosts, by host."""
    hosts = raw.get("hosts")
    if not isinstance(hosts, Mapping) or "wan" not in raw:
        return {}
    return {name: mounts for name, host in hosts.items() if (mounts := _store(host))}


def _store(host: Any) -> dict[str, Mapping]:
    """Buckets of a host that is no machine, the longest mount point first; nothing of a machine."""
    volumes = host.get("volumes") if isinstance(host, Mapping) and set(host) <= _NO_MACHINE else None
    mounts: dict[str, Mapping] = {}
    if not isinstance(volumes, Mapping):
        return mounts
    for mount, spec in volumes.items():
        named = spoken.named_volume(spec, volumes.at(mount)) if isinstance(spec, str) else spec
        store = spoken.volume(named, mount, []) if isinstance(named, Mapping) else None
        if store is None or "server" in store or getattr(filesystem_kind(store.get("filesystem")), "kind", "") != "s3":
            return {}
        mounts[mount] = store
    return dict(sorted(mounts.items(), key=lambda each: -len(each[0])))


def check(spec: Joined, raw: Mapping) -> None:
    """Refuses volumes over segments that the path does not have."""
    from dtnsim.components.segment import segment_names

    segments = list(dict.fromkeys([*(["wan"] if spec.wan else []), *segment_names(spec.wan or []), *spec.links]))
    for name, host in spec.hosts.items():
        for mount, volume in host.volumes.items():
            where: dict[str, Any] = {**place(raw, "hosts"), "key": f"hosts.{name}.volumes.{mount}.over"}
            if volume.over and not host.storage_nics(mount):
                remedy = f"give the host a NIC with Ethernet, or name one: via, of {', '.join(host.nics) or 'nics'}"
                raise SpecError("is reached through no NIC", **where, value=", ".join(volume.over), remedy=remedy)
            crossed: list[str] = []
            for segment in volume.over:
                if segment not in segments:
                    remedy = f"segments: {', '.join(segments) or 'none; write wan or links'}"
                    raise SpecError("is no segment of this path", **where, value=segment, remedy=remedy)
                crossed += segment_names(spec.wan or []) if segment == "wan" else [segment]
            if len(set(crossed)) < len(crossed):
                remedy = "name each once; 'wan' is all of the path's segments"
                raise SpecError("crosses a segment twice", **where, value=", ".join(volume.over), remedy=remedy)
