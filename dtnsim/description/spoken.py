"""Hosts in the words of people: names that tell a rate, a clock or a size, measured drives, kinds of hosts.

The words are those of models/spoken.yaml; what was read from a name that the library does not have is noted.
"""

from __future__ import annotations

import difflib
import re
from typing import Any, Final

from dtnsim.components import network_kinds
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
_SUM: Final = re.compile(r"(\d+)\s*\+\s*(\d+)")
#: names that are so much like one of the library's are taken for it, written wrongly
_TYPO: Final = 0.8
_NO_LIMIT: Final = "not stated: no limit beside the hosts' cards"
_RATES: Final = ("read", "write")
_AS_OTHER: Final = "assumed: like the other direction, which is what was stated, within a factor of two"


def words_of(table: str) -> list[str]:
    """Words of one of the tables, for the schema."""
    return sorted(library.spoken()[table])


def part(key: str, given: Any, where: str, notes: list[str]) -> object:
    """``nic: 10GbE``, ``memory: 2 x 32 GB DDR4-3200`` and ``cpu: Pentium D 3.2 GHz`` as the part's keys.

    Args:
        key: ``nic``, ``cpu``, ``memory`` or ``array``.
        given: What is written there.
        where: Key in full, for notes.
        notes: Takes what was read from a name that the library does not have.
    """
    if isinstance(given, Mapping) and isinstance(name := given.get("part"), Scalar) and "kind" not in given:
        named = part(key, name, where, notes)  # {part: gigabit, mtu: 9000}
        if not isinstance(named, Mapping):
            return given
        for other, value in given.items():
            if other != "part":
                named.put(other, value, *given.lines.get(other, (given.file, given.line)))
        return named
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
    found.pop("drawn", None)  # a maker's name, of which nothing is known
    for name, value in found.items():
        made.put(name, value if isinstance(value, Mapping) else Scalar(value, *at, source), *at)
    usual = [f"{name} {v['value']}" for name, v in found.items() if isinstance(v, Mapping)]
    if not plain or usual:
        words = ", ".join(usual or [f"{name} {value}" for name, value in found.items()])
        said = f"taken from its name: {words}" if words else "drawn from those of its years"
        notes.append(f"{where}: {str(given)!r} is not in the library: {said}")
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


def _in_name(key: str, name: str) -> tuple[dict[str, Any], str]:
    """What the table finds in a name, and the letters that are left of it."""
    found: dict[str, Any] = {}
    left = name
    for field, patterns in library.spoken()[key].items():
        for pattern, value in patterns:
            if match := re.search(pattern, name, re.IGNORECASE):
                words = (" ".join(g.split()) for g in match.groups() if g)
                found[field] = value if isinstance(value, Mapping) else value.format(*words)
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


def kind(host: Mapping, name: str) -> Mapping:
    """A host whose ``kind`` (laptop, vm) is its role or the name of a machine; others are refused later."""
    said = str(host.get("kind", "")).lower()
    if not said:
        return host
    known, at = library.spoken()["hosts"], host.lines.get("kind", (host.file, host.line))
    named = "like" not in host and (machine_like(said) is not None or len(library.meant("hosts", said)) == 1)
    if said not in known and not named:
        return host
    host = host.clone()
    text = host.pop("kind")
    if said not in known:
        host.put("like", text, *at)
    elif known[said] == "centre":
        host.put("name", Scalar(f"{name} supercomputer", *at), *at)
    elif known[said] is not None and "role" not in host:
        host.put("role", known[said], *at)
    return host


def machine_like(name: str) -> Mapping | None:
    """What a machine has whose maker or series alone is known; None where the name tells nothing."""
    rows = library.spoken()["machines"]
    return next((keys for pattern, keys in rows if re.search(pattern, name, re.IGNORECASE)), None)


def volume(given: Mapping, where: str, notes: list[str]) -> Mapping:
    """A volume whose ``encryption`` lies around its drives; these may be told by what was measured of them."""
    made, at = given, given.lines.get("array", (given.file, given.line))
    drives = _drives(given.get("array"), f"{where}.array", notes)
    if drives is not given.get("array"):
        made = made.clone()
        made.put("array", drives, *at)
    made = _mounted_as(made, f"{where}.filesystem", notes)
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


def _mounted_as(given: Mapping, where: str, notes: list[str]) -> Mapping:
    """A volume whose file system has the name that it has here: ext3, Backblaze B2."""
    said = given.get("filesystem")
    name = said.get("kind") if isinstance(said, Mapping) else said
    like = library.spoken()["filesystems"].get(str(name).lower())
    if like is None:
        return given
    made = given.clone()
    if isinstance(said, Mapping):
        made["filesystem"] = inner = said.clone()
        inner["kind"] = like
    else:
        made["filesystem"] = like
    notes.append(f"{where}: {name} is taken as {like}")
    return made


def adapters(host: Mapping, where: str, notes: list[str]) -> Mapping:
    """A host without adapters of which no more is known than that they are some, and their drives on none."""
    cards, volumes = host.get("hbas"), host.get("volumes")
    if not isinstance(cards, Mapping):
        return host
    pattern = library.spoken()["adapters"]
    gone = [
        name
        for name, card in cards.items()
        if card is None
        or (isinstance(card, Scalar) and not _known(card, "hba") and re.search(pattern, card, re.IGNORECASE))
    ]
    if not gone:
        return host
    host = host.clone()
    host["hbas"] = cards = cards.clone()
    why = "tells no limit: the drives are as fast as they are"
    notes += [f"{where}.hbas.{name}: {str(cards.pop(name))!r} {why}" for name in gone]
    for mount, volume in volumes.items() if isinstance(volumes, Mapping) else ():
        via = volume.get("via") if isinstance(volume, Mapping) else None
        seats = [via] if isinstance(via, str) else via or []
        if not set(gone).isdisjoint(seats):
            host["volumes"] = host["volumes"].clone()
            host["volumes"][mount] = volume = volume.clone()
            volume["via"] = [seat for seat in seats if seat not in gone]
    return host


def segments(raw: Mapping, notes: list[str]) -> None:
    """Gives a segment of unknown rate one that is no limit, where another is, or where both ends are near."""
    wan = raw.get("wan")
    items = wan if isinstance(wan, list) else [wan]
    stated = any(isinstance(item, Mapping) and "bandwidth" in item for item in items)
    made = [_as_fast(item) if isinstance(item, Mapping) and (stated or _near(item)) else item for item in items]
    if any(new is not old for new, old in zip(made, items, strict=True)):
        raw.put("wan", made, *raw.lines["wan"])
        notes.append("wan.bandwidth: not said: as fast as the hosts' cards, or the segments beside it")


def _near(segment: Mapping) -> bool:
    medium = network_kinds.called(segment.get("medium"))
    return (medium is None and "rtt" not in segment) or medium in ("lab", "campus")


def _as_fast(segment: Mapping) -> Mapping:
    if "bandwidth" in segment or "part" in segment:
        return segment
    segment = segment.clone()
    segment.put("bandwidth", Scalar("1 Tb/s", segment.file, segment.line, _NO_LIMIT), segment.file, segment.line)
    return segment


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
    said = str(drives.get("kind", "")).lower()
    for pattern, kind, level in library.spoken()["levels"]:
        if (match := re.fullmatch(pattern, said)) is not None:
            drives.put("kind", kind, *at)
            if level is not None and "level" not in drives:
                drives.put("level", Scalar(level.format(*match.groups()), *at), *at)
            break
    for key, words in library.spoken()["drives"].items():
        if (meant := words.get(str(drives.get(key)).lower())) is not None:
            drives[key] = meant
    if sum_of := _SUM.fullmatch(str(drives.get("disks"))):  # 4+1, data and parity
        drives["disks"] = Scalar(str(int(sum_of[1]) + int(sum_of[2])), *at)
    if drives.get("of") is not None:
        drives["of"] = _drives(drives["of"], f"{where}.of", notes)
    return _measured(_uncounted(drives, where, notes), where, notes)


def _uncounted(drives: Mapping, where: str, notes: list[str]) -> Mapping:
    """A level of which the number of drives or the drives are not said: those are drawn."""
    kind = str(drives.get("kind"))
    fields = find_kind(kind).model_fields if kind in kinds() else {}
    if "of" not in fields or not set(drives) <= {"kind", *fields} or "part" in drives:
        return drives
    missing = {name for name, field in fields.items() if field.is_required()} - set(drives)
    if missing == {"of"}:
        drives.put("of", Scalar("unknown"), *drives.lines.get("kind", (drives.file, drives.line)))
        notes.append(f"{where}.of: not said: any drives; write of: any-disk, any-ssd or any-nvme")
    elif "disks" in missing and missing <= {"of", "disks"} and kind != "jbod":
        made = Mapping(drives.file, drives.line)
        made.put("kind", "unknown", drives.file, drives.line)
        left = ", ".join(f"{key} {value}" for key, value in drives.items() if isinstance(value, str))
        notes.append(f"{where}: without 'disks' as array: unknown, whatever its drives are ({left} moves nothing)")
        return made
    return drives


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
