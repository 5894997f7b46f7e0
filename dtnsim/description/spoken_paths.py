"""Segments and copies in the words of people: lines by rate or kind, the share that a copy mounts; the notes folded.

Servers behind the WAN: of a path with one host (what else would it lead to?), and buckets written as a host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from dtnsim.components import network_kinds
from dtnsim.components.base import expand, find_kind, kinds, place
from dtnsim.description import ipoib, personal, spoken
from dtnsim.description.transfer import DEVICES, rewrite
from dtnsim.ground import library, units
from dtnsim.ground.errors import SpecError, UnitError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping, mapping

if TYPE_CHECKING:
    from dtnsim.description.graph import Joined

#: words for geostationary satellites, and the source of their usual round trip
GEO: Final = frozenset({"geo", "vsat", "geostationary", "inmarsat", "viasat", "hughesnet", "hughes", "bgan"})
_UP_AND_DOWN: Final = (
    "Huston, Using LEOs and GEOs, labs.apnic.net, April 2022: at least 477 ms; "
    "assumed: modems and their turns beside it"
)
_NO_LIMIT: Final = "not stated: no limit beside the hosts' cards"
_OF_HOST: Final = re.compile(r"hosts\.([^.:]+)([.:].*)", re.DOTALL)
#: drives that were taken from their names
_DRIVES: Final = re.compile(
    r"(hosts\.\S+ ?): ('.*?') is not in the library: taken from its name: part (\S+)(.*)", re.DOTALL
)


def segments(raw: Mapping, notes: list[str]) -> None:
    """Gives a segment of unknown rate one that never limits, where another segment has a rate or both ends are near."""
    wan = raw.get("wan")
    if isinstance(wan, Scalar) and (one := segment_from_word(wan)) is not None:
        raw.put("wan", wan := one, *raw.lines["wan"])
    if (far := _standing(wan)) is not wan:
        raw.put("wan", wan := far, *raw.lines["wan"])
    items = wan if isinstance(wan, list) else [wan]
    stated = any(isinstance(item, Mapping) and "bandwidth" in item for item in items)
    updated = [_as_fast(item) if isinstance(item, Mapping) and (stated or _is_near(item)) else item for item in items]
    if any(new is not old for new, old in zip(updated, items, strict=True)):
        raw.put("wan", updated, *raw.lines["wan"])
        notes.append("wan.bandwidth: not said: as fast as the hosts' cards, or the segments beside it")
    if (far := _standing(raw_links := raw.get("links"))) is not raw_links:
        raw.put("links", raw_links := far, *raw.lines["links"])
    links = raw_links.values() if isinstance(raw_links, Mapping) else raw_links if isinstance(raw_links, list) else ()
    for item in [i for each in (wan, *links) for i in (each if isinstance(each, list) else [each])]:
        word = item.get("medium") if isinstance(item, Mapping) else None
        if (note := network_kinds.kind_hint(word)) is not None and f"medium: {word} {note}" not in notes:
            notes.append(f"medium: {word} {note}")


def _standing(node: Any) -> Any:
    """Geostationary segments without a stated round trip, with the usual one."""
    if isinstance(node, Mapping) and "medium" not in node:
        items = {key: _standing(item) for key, item in node.items()}
        if all(items[key] is item for key, item in node.items()):
            return node
        (copied := node.clone()).update(items)
        return copied
    if isinstance(node, list):
        parts = [_standing(item) for item in node]
        return parts if any(new is not old for new, old in zip(parts, node, strict=True)) else node
    if not isinstance(node, Mapping) or "rtt" in node or network_kinds.word_of(node["medium"]) not in GEO:
        return node
    location = node.at("medium")
    return node.but("rtt", mapping({"value": "620 ms", "spread": "15 %", "source": _UP_AND_DOWN}, *location), location)


def segment_from_word(segment: str) -> Mapping | None:
    """A segment of which its rate or its kind is all that is written: ``wan: 10GbE``, ``wan: LAN``."""
    key = "medium" if (word := network_kinds.word_of(segment)) else "bandwidth"
    if word and word != segment.lower() and re.fullmatch(r"\S+-\S+", segment):
        return None  # a part's name
    try:
        units.parse("1 Gb/s" if key == "medium" else segment, "B/s")
    except UnitError:
        return None
    return mapping({key: segment}, getattr(segment, "file", "--set"), getattr(segment, "line", 0))


def _is_near(segment: Mapping) -> bool:
    medium = network_kinds.called(segment.get("medium"))
    return (medium is None and "rtt" not in segment) or medium in ("lab", "campus")


def _as_fast(segment: Mapping) -> Mapping:
    if "bandwidth" in segment or "part" in segment:
        return segment
    location = (segment.file, segment.line)
    return segment.but("bandwidth", Scalar("1 Tb/s", *location, _NO_LIMIT), location)


def shares(raw: Mapping, notes: list[str]) -> dict[str, tuple[str, ...]]:
    """Mounts shares that transfers with ``tool: smb`` copy to or from; their ``key=value`` by a transfer's key."""
    overrides: dict[str, tuple[str, ...]] = {}

    def mounted(item: Any, key: str) -> Any:
        before = raw["hosts"]
        if not isinstance(item, Mapping) or (changed := _mounted(item, before, notes, key)) is None:
            return item
        raw.put("hosts", changed[0], *raw.lines["hosts"])
        overrides[key] = _as_overrides(item, changed[1], before, changed[0], key)
        return changed[1]

    if isinstance(raw.get("hosts"), Mapping):
        rewrite(raw, mounted)
    return overrides


def _as_overrides(item: Mapping, written: Mapping, before: Mapping, hosts: Mapping, key: str) -> tuple[str, ...]:
    """``key=value`` of the share that is mounted, and of the end that lies there."""
    end = next(end for end in ("from", "to") if written[end] is not item[end])
    client = written[end].partition(":")[0]
    old = before[client].get("volumes") if isinstance(before[client], Mapping) else None
    new = {mount: share for mount, share in hosts[client]["volumes"].items() if mount not in (old or ())}
    volumes = [f"hosts.{client}.volumes.{mount}={json.dumps(share) if share else ''}" for mount, share in new.items()]
    return (*volumes, f"{key}.{end}={written[end]}")


def _mounted(item: Mapping, hosts: Mapping, notes: list[str], key: str) -> tuple[Mapping, Mapping] | None:
    """The hosts with a share mounted, and the transfer that copies there; None where it needs none.

    The client is the one that ``client`` of the tool says, else the source if that alone is a personal computer, or the
    destination alone a file server.
    """
    tool = item.get("tool")
    name = str(tool.get("name", tool.get("kind")) if isinstance(tool, Mapping) else tool)
    ends = {end: str(item.get(end, "")).partition(":") for end in ("from", "to")}
    alone = {host for host, _, _ in ends.values()}
    word = name.lower().partition(" ")[0]
    a_tool = kinds().get(word, "").startswith("dtnsim.tools.") and word != "robocopy"
    if a_tool or len(alone) < 2 or not alone <= set(hosts):
        return None
    if (row := library.spoken()["shares"].get(word)) is None:
        return None
    stated = str(tool.get("client", "")) if isinstance(tool, Mapping) else ""
    desks = {end for end, (name, _, _) in ends.items() if personal.is_desk(hosts[name])}
    served = {end for end, (name, _, _) in ends.items() if personal.is_file_server(hosts[name], name)}
    pushed = desks == {"from"} if desks else served == {"to"}
    client, server = ("from", "to") if stated == "source" or (not stated and pushed) else ("to", "from")
    (client_host, _, client_path), (server_host, _, path), location = ends[client], ends[server], item.lines["tool"]
    if path.strip() in ("", *DEVICES):
        return None  # there is nothing to mount
    mount = f"/{server_host}"
    copies = isinstance(tool, Mapping) and word == row[1]  # robocopy's options are its own
    filesystem = row[0] if copies else _with_options(tool, row[0], location)
    share = mapping({"filesystem": filesystem, "server": Scalar(f"{server_host}:{path}", *location)}, *location)
    hosts = hosts.but(client_host, with_volume(hosts[client_host], mount, share, client_path, location))
    item = item.but(server, Scalar(f"{client_host}:{mount}", *location))
    if isinstance(tool, Mapping) and copies:
        item["tool"] = tool.without("client")
    elif not (isinstance(tool, str) and name.lower().startswith(row[1])):
        item["tool"] = Scalar(row[1], *location)
    other = "destination" if client == "from" else "source"
    hint = "" if stated else f"; '--set {key}.tool.client={other}' mounts at the other end"
    notes.append(f"transfer: {server_host} is mounted on {client_host} over {row[0]}{hint}")
    return hosts, item


def _with_options(tool: object, kind: str, location: tuple[str, int]) -> object:
    """A mount with the options that are written of a tool that is none: {name: nfs, nconnect: 4}."""
    options = mapping({"kind": kind}, *location)
    for key, value in tool.items() if isinstance(tool, Mapping) else ():
        if key not in ("name", "kind", "client"):
            options.put(key, value, *tool.lines.get(key, location))  # type: ignore[attr-defined]
    return options if len(options) > 1 else kind


def with_volume(host: Any, mount: str, share: Mapping, other: str, location: tuple[str, int]) -> Mapping:
    """A host with a share beside its volumes, or beside the one that the transfer names.

    Args:
        mount: Where the share is mounted.
        share: The share.
        other: Path of its own that the transfer names.
    """
    updated = host.clone() if isinstance(host, Mapping) else Mapping(*location)
    if isinstance(host, str) and host != "unknown":
        updated.put("like", host, *location)
    volumes = updated["volumes"].clone() if isinstance(updated.get("volumes"), Mapping) else Mapping(*location)
    if not volumes and other.startswith("/") and not (isinstance(host, str) and host != "unknown"):
        volumes.put(other, None, *location)
    volumes.put(mount, share, *location)
    updated.put("volumes", volumes, *updated.lines.get("volumes", location))
    return updated


def folded(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes, each once: the same of several hosts names the first, and drives told by their names are one line."""
    hosts: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        match = _OF_HOST.fullmatch(note)
        hosts.setdefault(match[2] if match is not None else note, []).append(match[1] if match is not None else "")
    lines, named = list[str](), list[tuple[str, str]]()
    for rest, names in hosts.items():
        first = f"hosts.{names[0]}{rest}" if names[0] else rest
        alike = f"{', '.join(names[1:3])}{f' and {len(names) - 3} others' if len(names) > 3 else ''} alike"
        lines.append(first if len(names) == 1 else f"{first} ({alike})")
        if drive := _DRIVES.fullmatch(lines[-1]):
            named.append((lines[-1], f"{drive[1]} {drive[2]} as {drive[3]}{drive[4]}"))
    if len(named) < 2:
        return tuple(lines)
    gone = dict(named)
    line = f"drives that are not in the library are taken from their names: {'; '.join(gone.values())}"
    place = lines.index(named[0][0])
    return (*lines[:place], line, *(note for note in lines[place:] if note not in gone))


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
