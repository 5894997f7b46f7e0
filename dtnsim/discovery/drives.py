"""Drives as lsblk and other programs have them: their parts, and what lies below a block device."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from dtnsim.description import spoken
from dtnsim.discovery import pasted
from dtnsim.discovery.outputs import Outputs, digits
from dtnsim.ground import library
from dtnsim.ground.grouping import by_key

#: words of a drive's name that say nothing of its model
_VENDORS: Final = frozenset({"intel", "samsung", "seagate", "wd", "micron", "kioxia", "exos", "max"})
_CAPACITY: Final = re.compile(r"\d+(?:\.\d+)?[tg]b")
_NEAR: Final = 0.02  #: relative difference that programs' rounding makes in the size of one drive


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive as lsblk or another program has it."""

    name: str
    model: str
    size_B: int
    media: str = ""
    group: str = ""

    @property
    def part(self) -> str:
        """The shipped part of its model, or of its kind as far as that is said; nothing where it is not."""
        model = self.model.replace("_", " ")
        if part := known_drive(model):
            return part
        spoken_of = str(spoken.in_name("array", model)[0].get("part", ""))
        if spoken_of == "cloud-volume":
            return spoken_of
        if not model or pasted.name_pattern("no_drive").search(model):
            return "any-nvme" if self.name.startswith("nvme") else ""
        if self.name.startswith("nvme") or re.search(r"(?i)nvme|apple fabric|pci-express", f"{self.media} {model}"):
            return "any-nvme"
        kinds = (("any-ssd", r"(?i)\bssd|solid state"), ("any-disk", r"(?i)\bhdd|rotational|\brpm"))
        named = next((kind for text in (self.media, model) for kind, words in kinds if re.search(words, text)), "")
        return named or spoken_of


class Below(NamedTuple):
    """What lies below a block device: drives, types on the way as lsblk has them, and its size where it is said."""

    drives: tuple[Drive, ...] = ()
    types: tuple[str, ...] = ()
    size_B: int = 0


def known_drive(model: str) -> str:
    """The shipped part of a drive's model, or nothing: by its number, or words of the part's name in the model's."""
    pieces = re.findall(r"[a-z0-9]+", model.lower())
    words, joined = set(pieces), "".join(pieces)
    if numbered := library.numbered(model):
        return numbered
    best: tuple[int, bool, str] = (0, False, "")
    for name in library.names("parts"):
        folder, _, part = name.partition("/")
        if folder not in ("ssd", "hdd"):
            continue
        sizes = {w for w in part.split("-") if _CAPACITY.fullmatch(w)}
        wanted = [w for w in part.split("-") if w not in _VENDORS and w not in sizes]
        strong = [w for w in wanted if len(w) >= 4 and re.search(r"\d", w)]
        sure = strong or (part.partition("-")[0] in words and wanted and wanted[0].strip("abcdefghijklmnopqrstuvwxyz"))
        # with a letter behind it is another model: SN850XE
        if sure and all(w in words or (len(w) >= 5 and re.search(f"{w}(?![a-z])", joined)) for w in strong or wanted):
            best = max(best, (sum(w in words or w in joined for w in wanted), bool(sizes & words), part))
    return best[2]


def tree(outputs: Outputs) -> list[Any]:
    """Block devices of lsblk, of its JSON or as it prints them."""
    text = outputs.texts.get("lsblk", "")
    if not text.lstrip().startswith("{"):
        return pasted.tree(text)
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return []
    top = tree.get("blockdevices") if isinstance(tree, dict) else None
    return top if isinstance(top, list) else []


def flat(items: Any) -> Iterator[dict[str, Any]]:
    """All block devices of a tree."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            yield item
            yield from flat(item.get("children"))


def _from_others(outputs: Outputs) -> dict[str, Drive]:
    """Drives by name as other programs than lsblk have them; those of a controller's groups are not of this name."""
    drives: dict[str, Drive] = {}
    taken: dict[int, set[str]] = {}
    for r in outputs.records:
        model = r.said.get("model", r.said.get("drive", "")).replace("N/A", "")
        if r.kind not in ("drive", "volume") or (r.kind == "volume" and "drive" not in r.said):
            continue
        vendor = r.said.get("vendor", "")
        model = model if model.startswith(vendor) else f"{vendor} {model}"
        name = r.said.get("name", "") if r.kind == "drive" else model
        if not name:  # Windows: the same drive of another program, or another of its model
            listed = taken.setdefault(len(r.said), set())
            alike = (n for n, d in drives.items() if d.model == model and n.startswith("disk") and n not in listed)
            name = next(alike, f"disk{len(drives)}")
            listed.add(name)
        had = drives.get(name, Drive(name, "", 0))
        media = " ".join(filter(None, (had.media, r.said.get("media"), r.said.get("protocol"))))
        size = had.size_B or (r.size() if r.kind == "drive" else 0)
        if model or size:
            drives[name] = Drive(name, max(had.model, model, key=len), size, media, r.said.get("group", "").strip("-"))
    return drives


def below(outputs: Outputs) -> dict[str, Below]:
    """Block device to what lies below it."""
    by_name, by_device = _from_others(outputs), dict[str, Below]()
    raids = {r.said["group"]: r for r in outputs.records if r.kind == "group"}
    groups = {
        n: Below(tuple(d for d in by_name.values() if d.group == n), (f"raid{r.said['level']}",), r.size())
        for n, r in raids.items()
    }
    for item in tree(outputs):
        if isinstance(item, dict) and isinstance(item.get("name"), str) and item.get("type") not in ("rom", "loop"):
            for name, lies in _walk(item, _top(item, by_name, groups), ()):
                had = by_device.get(name, Below())
                new = tuple(d for d in lies.drives if d not in had.drives)
                if new or not had.drives:
                    by_device[name] = Below((*had.drives, *new), (*had.types, *lies.types), lies.size_B)
    by_device |= _joined(outputs, by_device)
    for name, drive in by_name.items():
        if not drive.group and not any(abs(drive.size_B - g.size_B) < _NEAR * g.size_B for g in groups.values()):
            by_device.setdefault(name, Below((drive,), (), 0))
    if not tree(outputs):
        by_device |= {f"dg{n}": group for n, group in groups.items()}
    for r in [r for r in outputs.records if r.kind == "array"]:
        level = re.sub(r"raid-?|linear", lambda m: "raid0" if m[0] == "linear" else "raid", r.said.get("level", ""))
        drives = tuple(d for m in members(r) for d in find(by_device, m).drives)
        if drives:
            by_device.setdefault(r.said["name"], Below(drives, (level,), r.size()))
    for m in outputs.measured("mdstat"):  # where lsblk has drives alone, or is not there
        named = map(_whole, str(m.conditions.get("members", "")).split())
        drives = tuple(d for n in named for d in by_device.get(n, Below((Drive(n, "", 0),))).drives)
        array, level = str(m.conditions["array"]), str(m.conditions.get("level") or "")
        if m.quantity == "capacity" and not by_device.get(array, Below()).drives:
            by_device[array] = Below(drives[: int(m.conditions.get("raid_devices") or len(drives))], (level,))
    return by_device


def _joined(outputs: Outputs, by_device: Mapping[str, Below]) -> dict[str, Below]:
    """Devices that a file system joins by itself, as btrfs does: below each lie the drives of all."""
    items = (i for i in flat(tree(outputs)) if i.get("fstype") == "btrfs" and i["name"] in by_device)
    joined: dict[str, Below] = {}
    for names in by_key((str(i.get("uuid") or i["name"]), i["name"]) for i in items).values():
        every = [by_device[name] for name in dict.fromkeys(names)]
        drives = tuple(dict.fromkeys(d for one in every for d in one.drives))
        joined |= {name: Below(drives, every[0].types, sum(one.size_B for one in every)) for name in names}
    return joined


def _top(item: dict[str, Any], by_name: Mapping[str, Drive], groups: Mapping[str, Below]) -> Below:
    """A drive of lsblk with what others say of it, or the drives that a controller shows as one."""
    name, size = item["name"], int(item["size"]) if digits(str(item.get("size"))) else 0
    model = str(item.get("model") or "").strip()
    like = [g for g in groups.values() if g.drives and abs(g.size_B - size) < _NEAR * size]
    if len(like) == 1 and not name.startswith("nvme"):
        return like[0]
    unsaid = "rota" not in item or not model or item.get("tran") in ("fc", "iscsi")  # a LUN of many drives
    media = "" if unsaid else "rotational" if item["rota"] in (True, "1") else "SSD"
    had = by_name.get(name, Drive(name, "", 0))
    return Below((Drive(name, model or had.model, size, had.media or media),))


def _walk(item: dict[str, Any], top: Below, types: tuple[str, ...]) -> Iterator[tuple[str, Below]]:
    size = int(item["size"]) if digits(str(item.get("size"))) else 0
    types = (*types, *(top.types if not types else ()), str(item.get("type")))
    if types[-1] == "mpath":  # several ways to one drive
        top = top._replace(drives=tuple(replace(d, name=item["name"]) for d in top.drives))
    for name in {str(item["name"]), str(item.get("kname") or item["name"])}:
        yield name, Below(top.drives, types, size)
    types = (*types, "crypt") if item.get("fstype") == "crypto_LUKS" else types
    for child in item.get("children") or []:
        if isinstance(child, dict) and isinstance(child.get("name"), str):
            yield from _walk(child, top, types)


def members(array: pasted.Record) -> list[str]:
    """Devices of an array, as inxi or mdadm list them."""
    return array.said.get("member", "").split() or re.findall(r"\d+: ([a-z]\w+)", array.said.get("members", ""))


def base(device: str) -> str:
    """A device's name without its folder."""
    return device.rsplit("/", 1)[-1] if device.startswith("/dev/") else device


def _whole(name: str) -> str:
    """The device that a partition is of."""
    return re.sub(r"(?<=\d)p\d+$|(?<=[a-z])\d+$", "", name)


def find(below: Mapping[str, Below], device: str) -> Below:
    """What lies below a device, a partition of it, a drive of that model, or the only drive that there is."""
    name = base(device)
    if name in below:
        return below[name]
    disk = _whole(name)
    if disk in below:
        return Below(below[disk].drives, below[disk].types)
    plain = re.sub(r"[\W_]", "", name.lower())
    drives = {d: b for b in below.values() for d in b.drives}
    models = ((b, re.sub(r"[\W_]", "", d.model.lower())) for b in below.values() for d in b.drives)
    like = [b for b, model in models if len(plain) > 3 and plain in model]
    if like or len(drives) == 1:
        return Below((like or list(drives.values()))[0].drives)
    return Below()
