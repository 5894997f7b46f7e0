"""Hosts in the words of people: names that tell a rate, a clock or a size, measured drives, kinds of hosts.

The words are those of models/spoken.yaml; what was read from a name that the library does not have is noted.
"""

from __future__ import annotations

import difflib
import re
from typing import Any, Final

from dtnsim.components.base import expand, find_kind, kinds
from dtnsim.description.transfer import DEVICES
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

_FAMILY: Final = {"array": "device"}
#: two of them: '2 x Xeon E5-2643 v2'
_SEVERAL: Final = re.compile(r"(\d)\s*x\s+(\S.*)|dual[- ](?:socket )?(\S.*)", re.IGNORECASE)
#: words beside what a table finds that make no name of a part; sizes of drives
_PLAIN: Final = re.compile(r"(?:[\d.]+\s*[TG]i?B|Ethernet|of|ECC|(?:LP)?DDR\d[XL]?)\b|[\W\d]", re.IGNORECASE)
_LEVEL: Final = re.compile(r"(raid|raidz)[- ]?(\d+)")
#: names that are so much like one of the library's are taken for it, written wrongly
_TYPO: Final = 0.8
_RATES: Final = ("read", "write")
_AS_OTHER: Final = "assumed: like the other direction, which is what was stated, within a factor of two"


def words_of(table: str) -> list[str]:
    """Words of one of the tables, for the schema."""
    return sorted(library.spoken()[table])


def part(key: str, given: object, where: str, notes: list[str]) -> object:
    """``nic: 10GbE``, ``memory: 2 x 32 GB DDR4-3200`` and ``cpu: Pentium D 3.2 GHz`` as the part's keys.

    Args:
        key: ``nic``, ``cpu``, ``memory`` or ``array``.
        given: What is written there.
        where: Key in full, for notes.
        notes: Takes what was read from a name that the library does not have.
    """
    if not isinstance(given, Scalar) or given in ("unknown", "none") or library.has("parts", given):
        return given
    made = Mapping(*(at := (given.file, given.line)))
    found, left = _in_name(key, given)
    plain = bool(found) and not left  # 'gigabit', '4 TB HDD': no name of a part at all
    if not plain and _known(given, key):
        return given
    if key == "cpu" and (several := _SEVERAL.fullmatch(given)) and _known(inner := several[2] or several[3], key):
        made.put("part", Scalar(inner, *at), *at)
        made.put("sockets", Scalar(several[1] or "2", *at), *at)
        return made
    if not plain and (not found or _typo(given, key)):
        return given  # it is refused with what is nearest
    if (modules := found.pop("modules", None)) is not None:
        number, unit = found["size"].split()
        found["size"] = f"{int(modules) * float(number):g} {unit}"
    source = "" if plain else f"assumed: read from its name, {str(given)!r}"
    for name, value in found.items():
        made.put(name, Scalar(value, *at, source), *at)
    if not plain:
        words = ", ".join(f"{name} {value}" for name, value in found.items())
        notes.append(f"{where}: {str(given)!r} is not in the library: taken from its name: {words}")
    return made


def _known(name: str, key: str) -> bool:
    """Whether the library, or a folder of parts, has it, or says which of several is meant."""
    try:
        expand(Scalar(name), family=_FAMILY.get(key, key))
    except SpecError as error:
        return (error.remedy or "").startswith("write one of")
    return True


def _typo(name: str, key: str) -> bool:
    own = [k for k in kinds() if find_kind(k).family == _FAMILY.get(key, key)]
    names = [short for n in library.names("parts") for kind, _, short in [n.partition("/")] if kind in own]
    return bool(difflib.get_close_matches(name.lower(), names, n=1, cutoff=_TYPO))


def _in_name(key: str, name: str) -> tuple[dict[str, str], str]:
    """What the table finds in a name, and the letters that are left of it."""
    found: dict[str, str] = {}
    left = name
    for field, patterns in library.spoken()[key].items():
        for pattern, value in patterns:
            if match := re.search(pattern, name, re.IGNORECASE):
                found[field] = value.format(*(" ".join(g.split()) for g in match.groups() if g))
                left = left.replace(match[0], " ")
                break
    return found, _PLAIN.sub("", left)


def board(host: Mapping, where: str, notes: list[str]) -> Mapping:
    """A host without a board that the library does not have: what it brings is drawn, or said by the host."""
    name = host.get("board")
    if not isinstance(name, Scalar) or _known(name, "board") or _typo(name, "board"):
        return host
    host = host.clone()
    host.pop("board")
    notes.append(f"{where}.board: {str(name)!r} is not in the library: its slots and sockets are not checked")
    return host


def kind(host: Mapping) -> Mapping:
    """A host whose ``kind`` (laptop, vm) is its role, unless it says that itself; unknown ones are refused later."""
    said = str(host.get("kind", "")).lower()
    if not said or said not in (known := library.spoken()["hosts"]):
        return host
    host = host.clone()
    at = host.lines.get("kind", (host.file, host.line))
    host.pop("kind")
    if known[said] is not None and "role" not in host:
        host.put("role", known[said], *at)
    return host


def volume(given: Mapping, where: str, notes: list[str]) -> Mapping:
    """A volume whose ``encryption`` lies around its drives; these may be told by what was measured of them."""
    made, at = given, given.lines.get("array", (given.file, given.line))
    drives = _drives(given.get("array"), f"{where}.array", notes)
    if drives is not given.get("array"):
        made = made.clone()
        made.put("array", drives, *at)
    said = str(given.get("encryption", "")).lower()
    if said and said in (known := library.spoken()["encryption"]):
        made = made.clone()
        made.pop("encryption")
        if known[said] is not None:
            device = Mapping(*at)
            device.put("kind", known[said], *at)
            device.put("of", made.get("array") or "unknown", *at)
            made.put("array", device, *at)
    return made


def shares(raw: Mapping, notes: list[str]) -> None:
    """Mounts, in a path file, the share that a transfer with ``tool: smb`` copies to or from, and copies there."""
    given, hosts = raw.get("transfers", [raw.get("transfer")]), raw.get("hosts")
    items = list(given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ())
    if not isinstance(hosts, Mapping):
        return
    for item in items:
        made = _mounted(item, hosts, notes) if isinstance(item, Mapping) else None
        if made is None:
            continue
        hosts, written = made
        raw.put("hosts", hosts, *raw.lines["hosts"])
        if given is raw.get("transfers") and isinstance(given, Mapping):
            key = next(k for k, v in given.items() if v is item)
            raw["transfers"] = given = given.clone()
            given[key] = written
        elif "transfers" in raw:
            raw["transfers"] = given = [written if each is item else each for each in given]
        else:
            raw["transfer"] = written


def _mounted(item: Mapping, hosts: Mapping, notes: list[str]) -> tuple[Mapping, Mapping] | None:
    """The hosts with a share mounted, and the transfer that copies there; None where it needs none.

    The client is the one that ``client`` of the tool says, else the source if that alone has Windows or macOS.
    """
    tool = item.get("tool")
    name = str(tool.get("name") if isinstance(tool, Mapping) else tool)
    ends = {end: str(item.get(end, "")).partition(":") for end in ("from", "to")}
    alone = {host for host, _, _ in ends.values()}
    word = name.lower().partition(" ")[0]
    a_tool = kinds().get(word, "").startswith("dtnsim.tools.") and word != "robocopy"
    if a_tool or len(alone) < 2 or not alone <= set(hosts):
        return None
    if (known := library.spoken()["shares"].get(word)) is None:
        return None
    said = str(tool.get("client")) if isinstance(tool, Mapping) else ""
    desks = {end for end, (host, _, _) in ends.items() if _system(hosts[host]).startswith(("windows", "mac"))}
    client, server = ("from", "to") if said == "source" or (not said and desks == {"from"}) else ("to", "from")
    (here, _, own), (there, _, path), at = ends[client], ends[server], item.lines["tool"]
    if path.strip() in ("", *DEVICES):
        return None  # there is nothing to mount
    share, mount = Mapping(*at), f"/{there}"
    share.put("filesystem", known[0], *at)
    share.put("server", Scalar(f"{there}:{path}", *at), *at)
    hosts, item = hosts.clone(), item.clone()
    hosts[here] = _with_volume(hosts[here], mount, share, own, at)
    item[server] = Scalar(f"{here}:{mount}", *at)
    item["tool"] = tool if isinstance(tool, str) and name.lower().startswith(known[1]) else Scalar(known[1], *at)
    words = f"{there} is mounted on {here} over {known[0]}"
    notes.append(f"transfer: {words}; 'tool: {{name: smb, client: source}}' mounts at the other end")
    return hosts, item


def _system(host: object) -> str:
    return str(host.get("os")).lower() if isinstance(host, Mapping) else ""


def _with_volume(host: Any, mount: str, share: Mapping, other: str, at: tuple[str, int]) -> Mapping:
    """A host with a share beside its volumes, or beside the one that the transfer names."""
    made = host.clone() if isinstance(host, Mapping) else Mapping(*at)
    if isinstance(host, str) and host != "unknown":
        made.put("like", host, *at)
    volumes = made["volumes"].clone() if isinstance(made.get("volumes"), Mapping) else Mapping(*at)
    if not volumes and other.startswith("/") and not (isinstance(host, str) and host != "unknown"):
        volumes.put(other, None, *at)
    volumes.put(mount, share, *at)
    made.put("volumes", volumes, *made.lines.get("volumes", at))
    return made


def _drives(given: object, where: str, notes: list[str]) -> object:
    """An array, its members and its level as people write them: raidz2 of 4 TB HDD."""
    drives = part("array", given, where, notes)
    if not isinstance(drives, Mapping):
        return drives
    drives, at = drives.clone(), drives.lines.get("kind", (drives.file, drives.line))
    level = _LEVEL.fullmatch(str(drives.get("kind", "")).lower())
    if level is not None and "level" not in drives:
        drives.put("kind", level[1], *at)
        drives.put("level", level[2], *at)
    if drives.get("of") is not None:
        drives["of"] = _drives(drives["of"], f"{where}.of", notes)
    return _measured(drives, where, notes)


def _measured(drives: Mapping, where: str, notes: list[str]) -> Mapping:
    """Drives of which a rate was measured, and not what they are: unknown ones of that rate."""
    kind = str(drives.get("kind", "unknown")).replace(" ", "-")
    stated = [key for key in (*_RATES, "rate") if key in drives]
    if not stated or "part" in drives or kind not in kinds():
        return drives
    fields = find_kind(kind).model_fields
    needed = {name for name, field in fields.items() if field.is_required()}
    missing, outside = needed - set(drives), set(stated) - set(fields)
    if kind != "unknown" and (not missing or (not outside and missing & {*_RATES, "rate"})):
        return drives
    made = Mapping(drives.file, drives.line)
    at = drives.lines.get("kind", (drives.file, drives.line))
    made.put("kind", "unknown", *at)
    for key in _RATES:
        other = drives.get(_RATES[key == "read"])
        said = drives.get(key, drives.get("rate"))
        if said is None and other is not None:
            said = Mapping(*at)
            for name, value in (("value", other), ("spread", "100 %"), ("source", _AS_OTHER)):
                said.put(name, value, *at)
        made.put(key, said, *drives.lines.get(key, at))
    left = [key for key in drives if key not in (*stated, "kind", "access")]
    for key in left if kind == "unknown" else ():
        made.put(key, drives[key], *drives.lines.get(key, at))
    if "access" in drives:
        made.put("access", drives["access"], *drives.lines["access"])
    if left and kind != "unknown":
        notes.append(f"{where}: the measured rate counts, and not {', '.join(['kind', *left])}")
    return made
