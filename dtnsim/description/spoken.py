"""Hosts in the words of people: names that tell a rate, a clock or a size, measured drives, kinds of hosts.

The words are those of models/spoken.yaml; what was read from a name that the library does not have is noted.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from dtnsim.components.base import expand, find_kind, kinds, kinds_of
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping, mapping

_FAMILY: Final = {"array": "device"}
#: two of them: '2 x Xeon E5-2643 v2'
_SEVERAL: Final = re.compile(r"(\d)\s*x\s+(\S.*)|dual[- ](?:socket )?(\S.*)", re.IGNORECASE)
#: words beside what a table finds that make no name of a part; sizes of drives
_PLAIN: Final = re.compile(r"(?:[\d.]+\s*[TG]i?B|Ethernet|of|ECC|(?:LP)?DDR\d[XL]?)\b|[\W\d]", re.IGNORECASE)
#: a model of a drive: 'PM1733', 'Micron 7450'
_MODEL: Final = re.compile(r"\b[a-z]{0,3}\d{3,5}\b(?! ?(?:[GTM]i?B|rpm))", re.IGNORECASE)
_SIZE: Final = re.compile(r"[ ,]+[\d.]+ ?[TG]i?B\b(?!/s)", re.IGNORECASE)
_SUM: Final = re.compile(r"(\d+)\s*\+\s*(\d+)")
_RATES: Final = ("read", "write")
#: disks of a group from which on it may be that all of them were meant
_WIDE: Final = 16
_AS_OTHER: Final = "assumed: like the other direction, which is what was stated, within a factor of two"


def part(key: str, spec: Any, where: str, notes: list[str]) -> object:
    """``nic: 10GbE``, ``memory: 2 x 32 GB DDR4-3200`` and ``cpu: Pentium D 3.2 GHz`` as the part's keys."""
    return _drives(spec, where, notes) if key == "array" else _named(key, spec, where, notes)


def _named(key: str, spec: Any, where: str, notes: list[str]) -> object:
    spec = _worded(key, spec)
    if isinstance(spec, Mapping) and isinstance(name := spec.get("part"), Scalar) and "kind" not in spec:
        named = _named(key, name, where, notes)  # {part: gigabit, mtu: 9000}
        if not isinstance(named, Mapping):
            return spec
        for other, value in spec.items():
            if other != "part":
                named.put(other, value, *spec.at(other))
        return named
    if not isinstance(spec, Scalar) or spec in ("unknown", "none") or library.has("parts", spec):
        return spec
    parsed = Mapping(*(location := (spec.file, spec.line)))
    keys, left = in_name(key, spec)
    plain = bool(keys) and not left  # 'gigabit', '4 TB HDD': no name of a part at all
    plain = plain and not (key == "array" and _MODEL.search(spec)) and not _typed(key, library.spelled("parts", spec))
    if not plain and _is_known(spec, key):
        return spec
    if key == "cpu" and (several := _SEVERAL.fullmatch(spec)):
        return _of_sockets(several, where, notes, spec)
    if not plain and (not keys or _typo(spec, key)):
        return spec  # it is refused with what is nearest
    if (modules := keys.pop("modules", None)) is not None:
        number, unit = keys["size"].split()
        keys["size"] = f"{int(modules) * float(number):g} {unit}"
    source = "" if plain else f"assumed: read from its name, {str(spec)!r}"
    keys.pop("drawn", None)  # a maker's name, of which nothing is known
    for name, value in keys.items():
        parsed.put(name, value if isinstance(value, Mapping) else Scalar(value, *location, source), *location)
    usual = [f"{name} {v['value']}" for name, v in keys.items() if isinstance(v, Mapping)]
    if not plain or usual:
        words = ", ".join(usual or [f"{name} {value}" for name, value in keys.items()])
        origin = f"taken from its name: {words}" if words else "drawn from those of its years"
        notes.append(f"{where}: {str(spec)!r} is not in the library: {origin}")
    return parsed


def _worded(family: str, spec: Any) -> Any:
    """A part whose keys have the words that they have here: ``bonding: lacp`` is hash."""
    synonyms = library.spoken()["keys"].get(family, {}).items() if isinstance(spec, Mapping) else ()
    for key, words in synonyms:
        if (meant := words.get(str(spec.get(key)).lower())) is not None:
            spec = spec.but(key, meant)
    return spec


def _of_sockets(several: re.Match[str], where: str, notes: list[str], spec: Scalar) -> object:
    """Several processors of a name; as they were written where they are refused."""
    name, location = Scalar(several[2] or several[3], spec.file, spec.line), (spec.file, spec.line)
    cpu = _named("cpu", name, where, notes)
    if not isinstance(cpu, Mapping):
        if not _is_known(name, "cpu"):
            return spec
        cpu = mapping({"part": name}, *location)
    cpu.put("sockets", Scalar(several[1] or "2", *location), *location)
    return cpu


def _is_known(name: str, key: str) -> bool:
    """Whether the library, or a folder of parts, has it, or says which of several is meant."""
    try:
        expand(Scalar(name), family=_FAMILY.get(key, key))
    except SpecError as error:
        return (error.remedy or "").startswith("write one of")
    return True


def _typo(name: str, key: str) -> bool:
    return library.written_wrongly(name, _typed(key, library.names("parts")))


def _typed(key: str, parts: Iterable[str]) -> list[str]:
    members = kinds_of(_FAMILY.get(key, key))
    return [short for kind, _, short in (n.partition("/") for n in parts) if kind in members]


def in_name(key: str, name: str) -> tuple[dict[str, Any], str]:
    """What models/spoken.yaml finds in a name of a ``nic``, ``cpu``, ``memory`` or ``array``, and what is left."""
    name = re.sub(r"^(bonded )?(\d)x(?=\d)", r"\1\2 x ", name)
    keys, left = dict[str, Any](), name
    for field, patterns in library.spoken()[key].items():
        for pattern, value in patterns:
            if match := re.search(pattern, name, re.IGNORECASE):
                words = (" ".join(g.split()) for g in match.groups() if g)
                keys[field] = value if isinstance(value, Mapping) else value.format(*words)
                left = left.replace(match[0], " ") if match[0] else left
                break
    return keys, _PLAIN.sub("", left)


def board(host: Mapping, where: str, notes: list[str]) -> Mapping:
    """A host without a board that the library does not have: what it brings is drawn, or said by the host."""
    name = host.get("board")
    if isinstance(name, Scalar) and not _is_known(name, "board") and not _typo(name, "board"):
        notes.append(f"{where}.board: {str(name)!r} is not in the library: its slots and sockets are not checked")
        return host.without("board")
    return host


def volume(spec: Mapping, where: str, notes: list[str]) -> Mapping:
    """A volume whose ``encryption`` lies around its drives; these may be told by what was measured of them."""
    drives = _drives(spec.get("array"), f"{where}.array", notes)
    rewritten = spec if drives is spec.get("array") else spec.but("array", drives)
    rewritten = _mounted_as(rewritten, f"{where}.filesystem", notes)
    name, encryptions = str(spec.get("encryption", "")).lower(), library.spoken()["encryption"]
    if name in encryptions:
        rewritten = rewritten.without("encryption")
    if (kind_of := encryptions.get(name)) is None:
        return rewritten
    device = mapping({"kind": kind_of, "of": rewritten.get("array") or "unknown"}, *spec.at("array"))
    return rewritten.but("array", device)


def is_filesystem(name: str) -> bool:
    """Whether a word alone names a file system, as it is called here or by people."""
    filesystems, name = library.spoken()["filesystems"], name.lower()
    return name in filesystems or (name in kinds() and find_kind(name).family == "filesystem")


def named_volume(name: str, location: tuple[str, int]) -> Mapping:
    """A volume told by its file system or its drives alone: ``/scratch: lustre``, ``/data: any-nvme``."""
    return mapping({"filesystem" if is_filesystem(name) else "array": name}, *location)


def _mounted_as(spec: Mapping, where: str, notes: list[str]) -> Mapping:
    """A volume whose file system has the name that it has here: ext3, Backblaze B2."""
    filesystem = spec.get("filesystem")
    name = filesystem.get("kind") if isinstance(filesystem, Mapping) else filesystem
    if (like := library.spoken()["filesystems"].get(str(name).lower())) is None:
        return spec
    notes.append(f"{where}: {name} is taken as {like}")
    if not isinstance(filesystem, Mapping):
        return spec.but("filesystem", like)
    one = filesystem.but("kind", like) if like in kinds() else filesystem.without("kind").but("part", like)
    return spec.but("filesystem", one)


def adapters(host: Mapping, where: str, notes: list[str]) -> Mapping:
    """A host without adapters of which no more is known than that they are some, and their drives on none."""
    cards, volumes = host.get("hbas"), host.get("volumes")
    mounts = volumes if isinstance(volumes, Mapping) else Mapping()
    seated = {mount: each for mount, each in mounts.items() if isinstance(each, Mapping) and each.get("via")}
    if not isinstance(cards, Mapping) and not seated:
        return host
    why = "tells no limit: the drives are as fast as they are"
    gone = set()
    if isinstance(cards, Mapping):
        gone = {name for name, card in cards.items() if card is None or _tells_no_limit(card)}
        notes += [f"{where}.hbas.{name}: {str(cards[name])!r} {why}" for name in cards if name in gone]
        host = host.but("hbas", cards := cards.without(*gone))
    present = {*(cards or ()), *(host.get("nics") or ()), *(host.get("slots") or ()), "nic"}
    for mount, volume in seated.items():
        seats = [volume["via"]] if isinstance(volume["via"], str) else volume["via"]
        named = [s for s in seats if isinstance(s, Scalar)]
        unknown = [s for s in named if s not in present | gone and _tells_no_limit(s)]
        notes += [f"{where}.volumes.{mount}.via: {str(seat)!r} {why}" for seat in unknown]
        if left := [s for s in named if s in gone or s in unknown]:
            volume = volume.but("via", [seat for seat in seats if seat not in left])
            host = host.but("volumes", host["volumes"].but(mount, volume))
    return host


def _tells_no_limit(card: object) -> bool:
    """Whether a card's name says that it is an adapter, and nothing of one that is known."""
    named = isinstance(card, Scalar) and not _is_known(card, "hba") and not _typo(card, "hba")
    return named and re.search(library.spoken()["adapters"], str(card), re.IGNORECASE) is not None


def _drives(spec: object, where: str, notes: list[str]) -> object:
    """An array, its members and its level as people write them: raidz2 of 4 TB HDD."""
    if isinstance(spec, Scalar) and not library.has("parts", spec):
        if (model := _of_a_size(spec, where, notes)) is not None:
            return model
        uncounted = library.spoken()["layouts"]["uncounted"].values()
        groups, line = _first([library.spoken()["layouts"]["groups"]], spec)
        if several := array_in_a_line(line):
            spec = _array_of(spec, several, groups, where, notes)
        elif in_name("array", spec)[0].get("part") in uncounted:
            notes.append(f"{where}: how many drives {str(spec)!r} has is drawn; write it like '8 x SSD in RAID 6'")
    drives = _named("array", spec, where, notes)
    drives = _sized(drives, spec) if isinstance(spec, Scalar) else drives
    if not isinstance(drives, Mapping):
        return drives
    drives, location, name = drives.clone(), drives.at("kind"), str(drives.get("kind", "")).lower()
    for pattern, kind, level in library.spoken()["levels"]:
        if (match := re.fullmatch(pattern, name)) is not None:
            drives.put("kind", kind, *location)
            if level is not None and "level" not in drives and "parity" not in drives:
                drives.put("level", Scalar(level.format(*match.groups()), *location), *location)
            whose = library.spoken()["keys"]["array"]["software"].get(name.partition(" ")[0])  # 'hardware RAID 6'
            if whose is not None and "software" not in drives:
                drives.put("software", Scalar(whose, *location), *location)
            break
    if sum_of := _SUM.fullmatch(str(drives.get("disks"))):  # 4+1, data and parity
        drives["disks"] = Scalar(str(int(sum_of[1]) + int(sum_of[2])), *location)
    if drives.get("of") is not None:
        drives["of"] = _drives(drives["of"], f"{where}.of", notes)
    _note_wide_groups(drives, where, notes)
    return _measured(_uncounted(drives, where, notes), where, notes)


def _note_wide_groups(drives: Mapping, where: str, notes: list[str]) -> None:
    """Notes how many disks there are in all where groups are so wide that all of them may have been meant."""
    groups, disks = (str(drives.get(key)) for key in ("groups", "disks"))
    if not (groups.isdigit() and disks.isdigit()) or int(groups) < 2:
        return
    each, rest = divmod(int(disks), int(groups))
    if int(disks) > _WIDE and not rest:
        total = f"{int(groups) * int(disks)} in all; write 'disks: {each}' if {disks} are all"
        notes.append(f"{where}: each of {groups} groups has {disks} disks, {total}")


def _of_a_size(spec: Scalar, where: str, notes: list[str]) -> object | None:
    """Drives by their model and size, as 'Micron 7450 7.68TB'; None where a line tells something else."""
    short = Scalar(_SIZE.sub("", spec), spec.file, spec.line)
    named = library.shipped_meant("parts", short) if re.search(r"\d", short) else ()  # a maker's name alone is no model
    models = _typed("array", named)
    if short == spec or not models:
        return None
    if _part_of(spec) is not None:  # of several sizes one
        return spec
    if len(models) > 1 or not _is_known(short, "array"):
        return None
    notes.append(f"{where}: {str(spec)!r} is taken as {models[0]}")
    return _sized(short, spec)


def _sized(drives: object, name: Scalar) -> object:
    """Drives with the size that their name tells beside the part: '4 TB HDD'."""
    size, at = _SIZE.search(f" {name}"), (name.file, name.line)
    if size is None or library.has("parts", name):
        return drives
    if (part_of := _part_of(drives)) is None:
        return drives  # it is refused with what is nearest
    holds, facts = Scalar(size[0].strip(" ,").upper().replace("I", "i"), *at), part_of.get("facts")
    sized = drives if isinstance(drives, Mapping) else mapping({"part": drives}, *at)
    sized = sized.but("facts", (facts if isinstance(facts, Mapping) else Mapping(*at)).but("capacity", holds, at), at)
    return sized.but("capacity", holds, at) if "capacity" in find_kind(str(part_of["kind"])).model_fields else sized


def _part_of(drives: object) -> Mapping | None:
    """What the library has of drives, or of those that one of its names means; None where nothing is meant."""
    try:
        return expand(drives, family="device")
    except SpecError:
        return None


def array_in_a_line(text: str) -> tuple[str | None, str | None, str] | None:
    """(level, number but 1, drives) of ``RAID6 of 12 4TB disks``; None where a line tells neither level nor number."""
    layouts = library.spoken()["layouts"]
    level, left = _first(layouts["level"], text)
    number, left = _first(layouts["number"], left.strip())
    if number is not None:
        number = str(layouts["numbers"].get(number.lower(), number)).replace(" ", "")
    if level is None and number in (None, "1"):
        return None
    drives = " ".join(re.sub(layouts["between"], " ", left, flags=re.IGNORECASE).split())
    sized = ((re.search(sizes, drives, re.IGNORECASE), part) for sizes, part in layouts["sizes"])
    return level, number, next((part.format(*match.groups()) for match, part in sized if match), drives)


def _first(patterns: list[str], text: str) -> tuple[str | None, str]:
    """What the first of some patterns finds, and the text without it."""
    for pattern in patterns:
        if (match := re.search(pattern, text, re.IGNORECASE)) is not None:
            words = next((group for group in match.groups() if group), match[0]).strip()
            return words, f"{text[: match.start()].rstrip()} {text[match.end() :].lstrip()}".strip()
    return None, text


def _array_of(
    text: Scalar, several: tuple[str | None, str | None, str], groups: str | None, where: str, notes: list[str]
) -> Mapping:
    """The array that a line tells; what was read is noted with its number of drives."""
    level, number, drives = several
    location, keys = (text.file, text.line), {"kind": level or "raid0", "disks": number, "of": drives, "groups": groups}
    if number is not None:
        striped = "" if level is not None else ", striped; write {kind: raid6, disks: ..., of: ...} for another level"
        each, detail = f"{groups} groups of " if groups else "", f"{drives}{f', {level}' if level else ''}"
        notes.append(f"{where}: {str(text)!r} is taken as {each}{number} drives ({detail}){striped}")
    return mapping({key: Scalar(value, *location) for key, value in keys.items() if value is not None}, *location)


def _uncounted(drives: Mapping, where: str, notes: list[str]) -> Mapping:
    """A level of which the number of drives or the drives are not said: those are drawn."""
    kind = str(drives.get("kind"))
    fields = find_kind(kind).model_fields if kind in kinds() else {}
    is_array = "of" in fields and set(drives) <= {"kind", *fields} and "part" not in drives
    if not is_array or isinstance(drives.get("of"), list):
        return drives
    missing = {name for name, field in fields.items() if field.is_required()} - set(drives)
    if missing == {"of"}:
        drives.put("of", Scalar("unknown"), *drives.at("kind"))
        notes.append(f"{where}.of: not said: any drives; write of: any-disk, any-ssd or any-nvme")
    elif "disks" in missing and missing <= {"of", "disks"} and kind != "jbod":
        inner = drives.get("of")
        named = str(inner.get("part") if isinstance(inner, Mapping) else inner)
        usual = library.spoken()["layouts"]["uncounted"].get(named, "unknown")
        left = ", ".join(f"{key} {value}" for key, value in drives.items() if isinstance(value, str))
        notes.append(f"{where}: how many drives is drawn ({usual}), and {left} is not used; write 'disks: 12'")
        return mapping({"part": usual}, drives.file, drives.line)
    return drives


def _measured(drives: Mapping, where: str, notes: list[str]) -> Mapping:
    """Drives of which a rate was measured, and not what they are: unknown ones of that rate."""
    kind = str(drives.get("kind", "unknown")).replace(" ", "-")
    stated = [key for key in (*_RATES, "rate") if key in drives]
    if not stated or "part" in drives or kind not in kinds():
        return drives
    fields = find_kind(kind).model_fields
    missing = {name for name, field in fields.items() if field.is_required()} - set(drives)
    if kind != "unknown" and (not missing or (set(stated) <= set(fields) and missing & {*_RATES, "rate"})):
        return drives
    measured, location = Mapping(drives.file, drives.line), drives.at("kind")
    if kind == "hdd" and len(stated) == 1 and set(drives) <= {"kind", *stated, *fields}:  # it positions all the same
        measured = drives.clone()
        measured.put("rate", measured.pop(stated[0]), *drives.lines.get(stated[0], location))
        return measured
    measured.put("kind", "unknown", *location)
    for key in _RATES:
        other = drives.get(_RATES[key == "read"])
        rate = drives.get(key, drives.get("rate"))
        if rate is None and other is not None:
            rate = mapping({"value": other, "spread": "100 %", "source": _AS_OTHER}, *location)
        measured.put(key, rate, *drives.lines.get(key, location))
    left = [key for key in drives if key not in (*stated, "kind", "access")]
    has = {*fields, *find_kind(kind).other_names, "size", "capacity"}
    ignored = [] if kind == "unknown" else [key for key in left if key in has]
    for key in [k for k in drives if k == "access" or (k in left and k not in ignored)]:  # what no kind has is refused
        measured.put(key, drives[key], *drives.lines.get(key, location))
    if ignored:
        notes.append(f"{where}: the measured rate counts, and not {', '.join(['kind', *ignored])}")
    return measured
