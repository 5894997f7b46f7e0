"""Mounted file systems, and the drives below them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dtnsim.discovery.outputs import Outputs, Said, Tree, digits
from dtnsim.ground import library
from dtnsim.ground.term import plural

#: file systems on a machine's own drives that have a model, and those of others that a person has to describe
_OWN: Final = ("ext4", "xfs")
_REMOTE: Final = {"nfs": "nfs", "nfs4": "nfs", "lustre": "lustre", "gpfs": "gpfs", "beegfs": "beegfs", "cifs": "smb",
                  "smb3": "smb", "ceph": "cephfs"}  # fmt: skip
_LEVELS: Final = (0, 1, 10, 5, 6)
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")
#: words of a drive's name that say nothing of its model
_VENDORS: Final = frozenset({"intel", "samsung", "seagate", "wd", "micron", "kioxia", "exos", "max"})
#: how makers' model numbers of shipped parts begin
_MODELS: Final = {
    r"st16000nm001g": "seagate-exos-x16",
    r"st8000as": "seagate-archive-8tb-smr",
    r"hus726t[46]ta": "wd-hc310",
    r"ssdpe2kx\d+t8": "intel-p4510",
    r"ssdpe2kx040t7": "intel-p4500-4tb",
    r"ssdsc2kb\d+g7": "intel-s4500",
    r"ssdsc2bw480h6": "intel-535-480",
    r"ssdsc2bw240h6": "intel-535-240",
    r"mzql2": "samsung-pm9a3",
    r"mz7lh": "samsung-pm883",
    r"mtfdhal3t2tdr": "micron-9300-max-3.2tb",
    r"mtfdkc[bc]\w*tf[rs]": "micron-7450",
    r"kcd6": "kioxia-cd6",
}
_UNKNOWN: Final = "what the drives are: dtnsim list parts; 'unknown' is drawn from all of them"


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive as lsblk has it."""

    name: str
    model: str
    size_B: int
    rotates: bool


def volumes(given: Outputs) -> tuple[Tree, list[str]]:
    """(volumes by mount point, notes on what a person has to describe)."""
    found, notes = Tree(), []
    below = _below(given)
    seen = set[str]()
    for number, line in given.lines("mounts"):
        device, mount, kind, *_ = [*line.split(), "", "", ""][:4]
        mount = _ESCAPE.sub(lambda m: chr(int(m[1], 8)), mount)
        where = f"mounts:{number}"
        if kind in _OWN and device.startswith("/dev/") and device not in seen:
            seen.add(device)
            found[mount] = _local(given, below, device, kind, where)
        elif kind == "zfs":
            found[mount] = _zfs(given, below, device, where)
        elif kind in _REMOTE:
            targets = sum("OST" in text for _, text in given.lines("lfs-df")) if kind == "lustre" else 0
            size = f", {plural(targets, 'OST')} (lfs-df)" if targets else ""
            notes.append(f"{where}: {mount} is {kind} of {device}{size}: 'dtnsim show {_REMOTE[kind]}' has its keys")
    if not found:
        todo = "mount point, file system and drives"
        found["/"] = {
            "filesystem": {"kind": Said("ext4", "assumed", todo)},
            "array": Said("unknown", "no drive was found", _UNKNOWN),
        }
    return found, notes


def _local(
    given: Outputs, below: Mapping[str, tuple[list[Drive], list[str], int]], device: str, kind: str, where: str
) -> Tree:
    drives, types, size = below.get(device.rsplit("/", 1)[-1], ([], [], 0))
    tree: Tree = {"filesystem": {"kind": Said(kind, where)}}
    level = next((t for t in types if t.startswith("raid")), "") or _md_level(given, device)
    array, source, todo = _drives(drives)
    if level and array != "unknown" and digits(number := level.removeprefix("raid")) and int(number) in _LEVELS:
        tree["array"] = Said(
            f"{{kind: raid, level: {number}, disks: {len(drives)}, of: {array}}}", f"{level}: {source}"
        )
    elif len(drives) > 1 and array != "unknown":
        tree["array"] = Said(
            f"{{kind: raid, level: 0, disks: {len(drives)}, of: {array}}}", source, "how they are joined"
        )
    else:
        tree["array"] = Said(array, source, todo)
    if size:
        tree["size"] = Said(f"{size} B", f"lsblk: {device}")
    return tree


def _drives(drives: list[Drive]) -> tuple[str, str, str]:
    """(part, source, what to find out) of equal drives."""
    models = {d.model for d in drives if d.model}
    part = known_drive(next(iter(models))) if len(models) == 1 else ""
    named = ", ".join(sorted(models)) or "no model"
    source = f"lsblk: {', '.join(d.name for d in drives)}: {named}" if drives else "no drive was found"
    return (part, source, "") if part else ("unknown", source, _UNKNOWN)


def known_drive(model: str) -> str:
    """The shipped part of a drive's model, or nothing: by its number, or words of the part's name in the model's."""
    words = set(re.findall(r"[a-z0-9]+", model.lower()))
    joined = "".join(re.findall(r"[a-z0-9]+", model.lower()))
    numbered = next((part for begin, part in _MODELS.items() for w in words if re.match(begin, w)), "")
    if numbered:
        return numbered
    for name in library.names("parts"):
        folder, _, part = name.partition("/")
        if folder not in ("ssd", "hdd"):
            continue
        wanted = [w for w in part.split("-") if w not in _VENDORS]
        strong = [w for w in wanted if len(w) >= 4 and re.search(r"\d", w)]
        if strong and all(w in words or (len(w) >= 5 and w in joined) for w in strong):
            return part
    return ""


def _below(given: Outputs) -> dict[str, tuple[list[Drive], list[str], int]]:
    """Block device to (drives below it, types on the way, its size)."""
    try:
        tree = json.loads(given.texts.get("lsblk", "") or "{}")
    except (ValueError, RecursionError):
        return {}
    found: dict[str, tuple[list[Drive], list[str], int]] = {}
    top = tree.get("blockdevices") if isinstance(tree, dict) else None
    for item in top if isinstance(top, list) else []:
        for name, drive, types, size in _walk(item, None, []):
            drives, known, _ = found.get(name, ([], [], 0))
            if drive not in drives:
                found[name] = ([*drives, drive], [*known, *types], size)
    return found


def _walk(item: Any, drive: Drive | None, types: list[str]) -> Iterator[tuple[str, Drive, list[str], int]]:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        return
    size = int(item["size"]) if digits(str(item.get("size"))) else 0
    if drive is None:
        drive = Drive(item["name"], str(item.get("model") or "").strip(), size, item.get("rota") in (True, "1"))
    types = [*types, str(item.get("type"))]
    yield item["name"], drive, types, size
    if item.get("kname") and item["kname"] != item["name"]:
        yield str(item["kname"]), drive, types, size
    for child in item.get("children") or []:
        yield from _walk(child, drive, types)


def _md_level(given: Outputs, device: str) -> str:
    levels = {m.conditions.get("array"): str(m.conditions.get("level") or "") for m in given.measured("mdstat")}
    return levels.get(device.rsplit("/", 1)[-1], "")


def _zfs(given: Outputs, below: Mapping[str, tuple[list[Drive], list[str], int]], name: str, where: str) -> Tree:
    pool = name.partition("/")[0]
    filesystem: Tree = {"kind": Said("zfs", f"{where}: {name}")}
    for number, line in given.lines("zfs-get"):
        dataset, key, value, *_ = [*line.split("\t"), "", "", ""][:4]
        if dataset == name and key == "recordsize" and digits(value):
            filesystem["recordsize"] = Said(f"{value} B", f"zfs-get:{number}: recordsize")
    filesystem |= _fill(given, pool)
    kind, groups, members, at = vdevs(given, pool)
    drives = [d for m in members for d in below.get(_disk(m), ([], [], 0))[0]]
    part, source, todo = _drives(drives or [Drive(pool, "", 0, rotates=True)])
    source = f"zpool-status:{at}: {pool}, {groups} x {kind or 'single drives'}; {source}"
    disks = len(members) // max(groups, 1)
    if part == "unknown" or not members:
        return {"filesystem": filesystem, "array": Said("unknown", source, todo or _UNKNOWN)}
    if raidz := re.fullmatch(r"raidz(\d?)", kind):
        text = f"{{kind: raidz, parity: {raidz[1] or 1}, disks: {disks}, groups: {groups}, of: {part}}}"
    elif kind == "mirror":
        text = f"{{kind: mirror, disks: {disks}, groups: {groups}, of: {part}}}"
    else:
        text = f"{{kind: raid, level: 0, disks: {len(members)}, of: {part}}}" if len(members) > 1 else part
    return {"filesystem": filesystem, "array": Said(text, source)}


def _fill(given: Outputs, pool: str) -> Tree:
    """How full a pool is, and how fragmented what is free (``-`` where the pool keeps no histogram)."""
    found: Tree = {}
    for number, line in given.lines("zpool-list"):
        listed = re.fullmatch(r"(\S+)\s+(\d{1,3})%?\s+(?:(\d{1,3})%?|-)", line.strip())
        if listed is None or listed[1] != pool:
            continue
        found["filled"] = Said(f"{min(int(listed[2]), 99)} %", f"zpool-list:{number}: CAP")
        if listed[3]:
            found["fragmentation"] = Said(f"{min(int(listed[3]), 100)} %", f"zpool-list:{number}: FRAG")
    return found


def _disk(member: str) -> str:
    return member.rsplit("/", 1)[-1]


def vdevs(given: Outputs, pool: str) -> tuple[str, int, list[str], int]:
    """(kind, groups, members, line) of a pool's data, as ``zpool status -P`` indents them."""
    kind, groups, members, at, inside = "", 0, list[str](), 0, False
    for number, line in given.lines("zpool-status"):
        words = line.split()
        if words[:1] == ["pool:"]:
            inside = words[1:] == [pool]
            at = number if inside else at
        elif inside and words and words[0] in ("logs", "cache", "spares", "special", "errors:"):
            inside = False
        elif inside and len(words) >= 5 and words[0] not in ("NAME", pool):
            if group := re.fullmatch(r"(mirror|raidz\d?|draid\S*)-\d+", words[0]):
                kind, groups = group[1], groups + 1
            else:
                members.append(words[0])
    return kind, groups or 1, members, at
