"""Operating systems by the names and releases that people say: what is usual there where a host does not say it."""

import difflib
import re
from functools import lru_cache
from typing import Any, Final

from dtnsim.components.base import place
from dtnsim.components.stack import OTHERS
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping, mapping

_RELEASE: Final = re.compile(r"\d+(\.\d+)*")
_AS_INSTALLED: Final = (None, "untuned")  #: roles whose TCP settings are those of the system as it was installed
#: what md runs, by the words for it, and its levels with parity
_OF_MD: Final = ("raid", "md", "mdadm")
_PARITY: Final = ("5", "6", "50", "60")
#: what to write where there is no md
_NO_MD: Final = (
    "write software: false where a controller has the RAID; Storage Spaces' mirrors are {kind: raid, level: 10, ...}; "
    "that with parity has no model; ZFS is {kind: raidz, level: 2, disks: ..., of: ...}"
)


@lru_cache(maxsize=1)
def _table() -> list[Any]:
    return [system.clone() for system in yamlio.load(library.root("models") / "systems.yaml")["systems"]]


def number(text: object) -> tuple[int, ...]:
    """A release as numbers that compare."""
    return tuple(int(part) for part in str(text).split("."))


def _release(text: str) -> str | None:
    """The release that a system's name ends in; None where it says none."""
    match = _RELEASE.search(text)
    return match[0] if match is not None else None


@lru_cache(maxsize=256)
def _system_of(text: str, year: str | None) -> Mapping | None:
    """What a system of a release, or of a year, has; None where it is not known."""
    release = _release(text)
    head = text[: text.index(release) if release is not None else None].lower().replace("-", " ")
    called = head.strip(" v").removesuffix("server").strip()
    names = [(name, s) for s in _table() for name in s["names"] if f"{called} ".startswith(f"{name} ")]  # Debian Wheezy
    system = max(names, key=lambda each: len(each[0]))[1] if names else None
    if system is None:
        return None
    entry: Mapping = system.clone()
    releases = entry.pop("releases")
    row = releases[0]
    for candidate in releases:
        if release is not None:
            # releases that are years (Server 2019) are no later versions of those that are not
            like = (number(candidate["release"])[0] > 1999) == (number(release)[0] > 1999)
            row = candidate if like and number(candidate["release"]) <= number(release) else row
        elif year is None or int(candidate["year"]) <= int(year):
            row = candidate
    if "tcp" in row:
        entry["tcp"] = entry.get("tcp", Mapping()).clone()
        entry["tcp"].update(row["tcp"])
    entry["kernel"] = release if called == "linux" else row.get("kernel")
    return entry


def family(system: str | None, year: int | None, stack: str | None) -> tuple[str, str | None]:
    """The family of a system and its release, of Linux that of the kernel of a ``stack``; None where nobody says."""
    entry = _system_of(system, None if year is None else str(year)) if system is not None else None
    named = str(entry.get("stack", "linux") if entry is not None else stack).rpartition("/")[2]
    if named not in OTHERS:
        return "linux", entry.get("kernel") if entry is not None else None
    return named, _release(system or "")


def is_personal(host: Mapping) -> bool:
    """Whether a host of no other role has a system of laptops and desktops: Windows, unless Server, or macOS."""
    system = str(host.get("os", ""))
    named, release = family(system, None, None)
    server = "server" in system.lower() or (release is not None and number(release)[0] > 1999)
    return host.get("role") in _AS_INSTALLED and named in ("windows", "macos") and not server


def usual(host: Mapping) -> Mapping:
    """What is usual on a host's system; nothing where it names none; `SpecError` for one that is not known."""
    if host.get("os") is None:
        return Mapping()
    year = str(host.get("year", ""))
    entry = _system_of(str(host["os"]), year if year.isdigit() else None)
    if entry is None:
        names, text = [name for system in _table() for name in system["names"]], str(host["os"]).lower()
        near = difflib.get_close_matches(text.partition(" ")[0], names, n=3, cutoff=0.7)
        remedy = f"write one of {', '.join(names)}, and its release, or leave it out"
        remedy = library.instead(text, "os") or (library.did_you_mean(near) if near else remedy)
        raise SpecError("is no system known here", **place(host, "os"), key="os", value=str(host["os"]), remedy=remedy)
    return entry


def release_of(system: str | None, tool: str) -> str | None:
    """The release of a tool that comes with a system; None where it comes from elsewhere."""
    entry = _system_of(system, None) if system is not None else None
    release = entry.get("tools", {}).get(tool) if entry is not None else None
    return None if release is None else str(release)


def arrays(host: Mapping, where: str, notes: list[str]) -> Mapping:
    """A host whose RAID is a controller's where its system is not Linux, whose md is what software RAID is here."""
    os, volumes = host.get("os"), host.get("volumes")
    if family(None if os is None else str(os), None, str(host.get("stack")))[0] == "linux":
        return host
    for mount, volume in volumes.items() if isinstance(volumes, Mapping) else ():
        key = f"{where}.volumes.{mount}.array"
        array = volume.get("array") if isinstance(volume, Mapping) else None
        if (rewritten := _of_a_controller(array, key, notes)) is not array:
            host = host.but("volumes", host["volumes"].but(mount, volume.but("array", rewritten)))
    return host


def _of_a_controller(array: object, key: str, notes: list[str]) -> object:
    if not isinstance(array, Mapping):
        return array
    inner = _of_a_controller(array.get("of"), f"{key}.of", notes)
    array = array if inner is array.get("of") else array.but("of", inner)
    kind, software = (str(array.get(each, "")).lower() for each in ("kind", "software"))
    parity = str(array.get("level", "")) in _PARITY
    if kind not in _OF_MD or software == "false" or not (parity or kind != "raid"):
        return array
    if kind != "raid" or software:
        spot = place(array, "software" if software else "kind")
        raise SpecError("is Linux's md, and this host has another system", **spot, key=key, remedy=_NO_MD)
    notes.append(f"{key}: taken as a controller's RAID, since md is Linux's")
    return array.but("software", Scalar("false", *array.at("kind")), array.at("kind"))


def of_system(host: Mapping) -> Mapping:
    """A host with the kernel's costs and TCP settings of its system, where it does not say them."""
    entry = usual(host)
    if not entry:
        return host
    location = host.at("os")
    if "stack" not in host and ("stack" in entry or entry.get("kernel")):
        stack = entry.get("stack") or mapping({"kind": "stack", "kernel": entry["kernel"]}, *location)
        host = host.but("stack", stack, location)
    if "tcp" in entry and host.get("role") in _AS_INSTALLED:
        stated = host.get("tcp")
        tcp = stated.clone() if isinstance(stated, Mapping) else Mapping(*location)
        for key, value in entry["tcp"].items():
            if key not in tcp:
                tcp.put(key, Scalar(value, *location, str(entry["source"])), *location)
        host = host.but("tcp", tcp, location)
    return host
