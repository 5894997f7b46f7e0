"""Mounted file systems, and the drives below them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from dtnsim.discovery import drives as blocks, pasted
from dtnsim.discovery.drives import Below, Drive, base, find, flat, tree
from dtnsim.discovery.outputs import Outputs, Stated, Tree, digits
from dtnsim.ground.units import plural

#: file systems on a machine's own drives that have a model, and those of others that a person has to describe
_OWN: Final = {"ext2": "ext4", "ext3": "ext4", "ext4": "ext4", "xfs": "xfs", "btrfs": "btrfs", "ntfs": "ntfs",
               "refs": "refs", "apfs": "apfs", "hfs": "apfs", "ufs": "ufs", "unknown": "unknown"}  # fmt: skip
_REMOTE: Final = {"nfs": "nfs", "nfs4": "nfs", "lustre": "lustre", "gpfs": "gpfs", "beegfs": "beegfs", "cifs": "smb",
                  "smb3": "smb", "ceph": "cephfs"}  # fmt: skip
_LEVELS: Final = (0, 1, 10, 5, 6)
_NO_DRIVE: Final = re.compile(r"(?:loop|z?ram|sr|fd)\d+")  #: files, memory and what is put in, mounted like drives
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")
_STATES: Final = frozenset({"ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED"})
_UNKNOWN: Final = "what the drives are: dtnsim list parts; 'unknown' is drawn from all of them"


class Mount(NamedTuple):
    """A file system: what it lies on, where, its type (``unknown`` where no line says it), who says so, its size."""

    device: str
    at: str
    kind: str
    where: str
    size_B: int = 0


def volumes(outputs: Outputs) -> tuple[Tree, list[str]]:
    """(volumes by mount point, notes on what a person has to describe)."""
    volumes, notes = Tree(), []
    below = blocks.below(outputs)
    seen = set[str]()
    mounts = sorted([*_mounts(outputs), *_mounted(outputs)], key=lambda m: m.kind == "unknown")
    for mount in [*mounts, *_unmounted(outputs, below, mounts)]:
        kind, name = mount.kind.lower(), base(mount.device)
        if kind in _OWN and name not in seen and mount.at not in volumes and not _NO_DRIVE.fullmatch(name):
            seen.add(name)
            volumes[mount.at] = _local(outputs, below, mount, _OWN[kind])
        elif kind == "zfs" and mount.at not in volumes:
            sized: Tree = {"size": Stated(f"{mount.size_B} B", mount.where)} if mount.size_B else {}
            volumes[mount.at] = {**_zfs(outputs, below, mount.device, mount.where), **sized}
        elif kind in _REMOTE:
            targets = sum("OST" in text for _, text in outputs.lines("lfs-df")) if kind == "lustre" else 0
            size = f", {plural(targets, 'OST')} (lfs-df)" if targets else ""
            keys = f"'dtnsim show {_REMOTE[kind]}' has its keys"
            notes.append(f"{mount.where}: {mount.at} is {kind} of {mount.device}{size}: {keys}")
    if not volumes:
        volumes["/"] = {
            "filesystem": Stated("unknown", "no output says it", "mount point, file system and drives"),
            "array": Stated("unknown", "no drive was found", _UNKNOWN),
        }
    return volumes, notes


def _mounts(outputs: Outputs) -> Iterator[Mount]:
    """Those of /proc/mounts that lie on drives, or come over a network."""
    for number, line in outputs.lines("mounts"):
        device, mount_point, kind, *_ = [*line.split(), "", "", ""][:4]
        mount_point = _ESCAPE.sub(lambda m: chr(int(m[1], 8)), mount_point)
        if kind not in _OWN or device.startswith("/dev/"):
            yield Mount(device, mount_point, kind, f"mounts:{number}")


def _mounted(outputs: Outputs) -> Iterator[Mount]:
    """What other programs say is mounted."""
    nowhere = pasted.name_pattern("system")
    disk, letters = "", {}
    for r in outputs.records:
        disk = r.said["model"] if r.kind == "disk" else disk
        if r.kind == "letter":
            letters[r.said["letter"]] = disk
        if r.kind != "volume" or not {"mount", "letter"} & r.said.keys():
            continue
        letter = r.said.get("letter", "")
        device = r.said.get("drive") or r.said.get("dev") or r.said.get("name") or letters.get(letter) or letter
        mount_point = r.said.get("mount") or f"/{letter}"
        if not nowhere.fullmatch(mount_point):
            yield Mount(device, mount_point, r.said.get("fs", "unknown"), r.where, r.size())
    for item in flat(tree(outputs)) if "mounts" not in outputs.texts else ():
        places = [p for p in [item.get("mountpoint"), *(item.get("mountpoints") or [])] if isinstance(p, str)]
        places = [p for p in places if p.startswith("/") and not nowhere.fullmatch(p)]
        if places:
            yield Mount(str(item["name"]), min(places, key=len), str(item.get("fstype") or "unknown"), "lsblk")


def _unmounted(outputs: Outputs, below: Mapping[str, Below], mounts: list[Mount]) -> Iterator[Mount]:
    """Arrays that no mounted file system lies on; where nothing is said of file systems, drives."""
    pools = {m.device.partition("/")[0] for m in mounts if m.kind == "zfs"}
    used = {d.name for m in mounts for d in find(below, m.device).drives}
    arrays = [r for r in outputs.records if r.kind == "array" and r.said["name"] not in pools]
    names = [(r.said["name"], "zfs" if r.said.get("type") == "zfs" else "unknown", r.where, r.size()) for r in arrays]
    if not mounts and not arrays:
        names = [(name, "unknown", "no line says where it is mounted", 0) for name in below if name not in used]
    for name, kind, where, size in names:
        if (drives := below.get(name, Below()).drives) and used.isdisjoint(d.name for d in drives):
            yield Mount(name, f"/{name}", kind, where, size)


def _local(outputs: Outputs, below: Mapping[str, Below], mount: Mount, kind: str) -> Tree:
    lies = find(below, mount.device)
    where = mount.where if mount.kind.lower() == kind else f"{mount.where}, {mount.kind} is taken as {kind}"
    filesystem = Stated(kind, where, "which file system it is" if kind == "unknown" else "")
    tree: Tree = {"filesystem": {"kind": filesystem} if kind in ("ext4", "xfs", "btrfs") else filesystem}
    levels = {m.conditions.get("array"): str(m.conditions.get("level") or "") for m in outputs.measured("mdstat")}
    level = next((t for t in lies.types if t.startswith("raid")), "") or levels.get(base(mount.device), "")
    array, source, todo = _drives(lies.drives)
    many, number = len(lies.drives), level.removeprefix("raid")
    if many > 1 and digits(number) and int(number) in _LEVELS:
        todo = todo if array == "unknown" else ""
        array, source = f"{{kind: raid, level: {number}, disks: {many}, of: {array}}}", f"{level}: {source}"
    elif many > 1 and array != "unknown":
        joined = "kind: lvm" if "lvm" in lies.types else "kind: raid, level: 0"  # lvcreate(8): linear by default
        array, todo = f"{{{joined}, disks: {many}, of: {array}}}", "how they are joined"
    if "crypt" in lies.types:
        array, source = f"{{kind: dm-crypt, of: {array}}}", f"crypt: {source}"
    tree["array"] = Stated(array, source, todo)
    if size := lies.size_B or mount.size_B:
        tree["size"] = Stated(f"{size} B", f"lsblk: {mount.device}" if lies.size_B else mount.where)
    return tree


def _drives(drives: Sequence[Drive]) -> tuple[str, str, str]:
    """(part, source, what to find out) of equal drives."""
    parts = {d.part for d in drives}
    part = next(iter(parts)) if len(parts) == 1 and len({d.model for d in drives if d.model}) <= 1 else ""
    named = ", ".join(
        sorted({f"{d.model or 'no model'}{f' of {d.size_B / 1e9:.4g} GB' if d.size_B else ''}" for d in drives})
    )
    source = f"{', '.join(d.name for d in drives)}: {named}" if drives else "no drive was found"
    part = part or "unknown"
    return part, source, _UNKNOWN if part.startswith(("any-", "cloud-", "unknown")) else ""


def _zfs(outputs: Outputs, below: Mapping[str, Below], name: str, where: str) -> Tree:
    pool = name.partition("/")[0]
    filesystem: Tree = {"kind": Stated("zfs", f"{where}: {name}")}
    for number, line in outputs.lines("zfs-get"):
        dataset, key, value, *_ = [*line.split("\t"), "", "", ""][:4]
        if dataset == name and key == "recordsize" and digits(value):
            filesystem["recordsize"] = Stated(f"{value} B", f"zfs-get:{number}: recordsize")
    filesystem |= _fill(outputs, pool)
    kind, groups, members, pool_line = vdevs(outputs, pool)
    drives = [d for m in members for d in find(below, m).drives]
    part, source, todo = _drives(drives or [Drive(pool, "", 0)])
    source = f"zpool-status:{pool_line}: {pool}, {groups} x {kind or 'single drives'}; {source}"
    disks = len(members) // max(groups, 1)
    if part == "unknown" or not members:
        return {"filesystem": filesystem, "array": Stated("unknown", source, todo or _UNKNOWN)}
    if raidz := re.fullmatch(r"raidz(\d?)", kind):
        text = f"{{kind: raidz, parity: {raidz[1] or 1}, disks: {disks}, groups: {groups}, of: {part}}}"
    elif kind == "mirror":
        text = f"{{kind: mirror, disks: {disks}, groups: {groups}, of: {part}}}"
    else:
        text = f"{{kind: raid, level: 0, disks: {len(members)}, of: {part}}}" if len(members) > 1 else part
    return {"filesystem": filesystem, "array": Stated(text, source)}


def _fill(outputs: Outputs, pool: str) -> Tree:
    """How full a pool is, and how fragmented what is free (``-`` where the pool keeps no histogram)."""
    usage: Tree = {}
    for number, line in outputs.lines("zpool-list"):
        listed = re.fullmatch(r"(\S+)\s+(\d{1,3})%?\s+(?:(\d{1,3})%?|-)", line.strip())
        if listed is None or listed[1] != pool:
            continue
        usage["filled"] = Stated(f"{min(int(listed[2]), 99)} %", f"zpool-list:{number}: CAP")
        if listed[3]:
            usage["fragmentation"] = Stated(f"{min(int(listed[3]), 100)} %", f"zpool-list:{number}: FRAG")
    return usage


def vdevs(outputs: Outputs, pool: str) -> tuple[str, int, list[str], int]:
    """(kind, groups, members, line) of a pool's data, as ``zpool status -P`` indents them."""
    kind, groups, members, pool_line, inside = "", 0, list[str](), 0, False
    for number, line in outputs.lines("zpool-status"):
        words = line.split()
        if words[:1] == ["pool:"]:
            inside = words[1:] == [pool]
            pool_line = number if inside else pool_line
        elif inside and words and words[0] in ("logs", "cache", "spares", "special", "errors:"):
            inside = False
        elif inside and len(words) >= 5 and words[1] in _STATES and words[0] != pool:
            if group := re.fullmatch(r"(mirror|raidz\d?|draid\S*)-\d+", words[0]):
                kind, groups = group[1], groups + 1
            else:
                members.append(words[0])
    if listed := [r for r in outputs.records if r.kind == "array" and r.said["name"] == pool and not members]:
        level, members = listed[0].said.get("level", ""), blocks.members(listed[0])
        return "" if level == "linear" else level, 1, members, pool_line
    return kind, groups or 1, members, pool_line
