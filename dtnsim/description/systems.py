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
def _found(text: str, year: str | None) -> Mapping | None:
    """What a system of a release, or of a year, has; None where it is not known."""
    said = _release(text)
    head = text[: text.index(said) if said is not None else None].lower().replace("-", " ")
    called = head.strip(" v").removesuffix("server").strip()
    names = [(name, s) for s in _table() for name in s["names"] if f"{called} ".startswith(f"{name} ")]  # Debian Wheezy
    system = max(names, key=lambda each: len(each[0]))[1] if names else None
    if system is None:
        return None
    made: Mapping = system.clone()
    releases = made.pop("releases")
    row = releases[0]
    for known in releases:
        if said is not None:
            # releases that are years (Server 2019) are no later versions of those that are not
            like = (number(known["release"])[0] > 1999) == (number(said)[0] > 1999)
            row = known if like and number(known["release"]) <= number(said) else row
        elif year is None or int(known["year"]) <= int(year):
            row = known
    if "tcp" in row:
        made["tcp"] = made.get("tcp", Mapping()).clone()
        made["tcp"].update(row["tcp"])
    made["kernel"] = said if called == "linux" else row.get("kernel")
    return made


def family(system: str | None, year: int | None, stack: str | None) -> tuple[str, str | None]:
    """The family of a system, and the release of it, of Linux that of the kernel; None where nobody says.

    ``stack`` is the part that has the costs of its kernel.
    """
    found = _found(system, None if year is None else str(year)) if system is not None else None
    named = str(found.get("stack", "linux") if found is not None else stack).rpartition("/")[2]
    if named not in OTHERS:
        return "linux", found.get("kernel") if found is not None else None
    return named, _release(system or "")


def is_personal(host: Mapping) -> bool:
    """Whether a host of no other role has a system of laptops and desktops: Windows, unless Server, or macOS."""
    system = str(host.get("os", ""))
    named, release = family(system, None, None)
    server = "server" in system.lower() or (release is not None and number(release)[0] > 1999)
    return host.get("role") in _AS_INSTALLED and named in ("windows", "macos") and not server


def usual(host: Mapping) -> Mapping:
    """What is usual on a host's system; nothing where it names none.

    Raises:
        SpecError: a system that is not known.
    """
    if host.get("os") is None:
        return Mapping()
    year = str(host.get("year", ""))
    found = _found(str(host["os"]), year if year.isdigit() else None)
    if found is None:
        known, said = [name for system in _table() for name in system["names"]], str(host["os"]).lower()
        near = difflib.get_close_matches(said.partition(" ")[0], known, n=3, cutoff=0.7)
        remedy = f"write one of {', '.join(known)}, and its release, or leave it out"
        remedy = library.instead(said, "os") or (library.did_you_mean(near) if near else remedy)
        raise SpecError("is no system known here", **place(host, "os"), key="os", value=str(host["os"]), remedy=remedy)
    return found


def release_of(system: str | None, tool: str) -> str | None:
    """The release of a tool that comes with a system; None where it comes from elsewhere."""
    found = _found(system, None) if system is not None else None
    said = found.get("tools", {}).get(tool) if found is not None else None
    return None if said is None else str(said)


def arrays(host: Mapping, where: str, notes: list[str]) -> Mapping:
    """A host whose RAID is a controller's where its system is not Linux, whose md is what software RAID is here.

    Raises:
        SpecError: md, or software RAID with parity, on another system.
    """
    os, volumes = host.get("os"), host.get("volumes")
    if family(None if os is None else str(os), None, str(host.get("stack")))[0] == "linux":
        return host
    for mount, volume in volumes.items() if isinstance(volumes, Mapping) else ():
        key = f"{where}.volumes.{mount}.array"
        array = volume.get("array") if isinstance(volume, Mapping) else None
        if (made := _of_a_controller(array, key, notes)) is not array:
            host = host.but("volumes", host["volumes"].but(mount, volume.but("array", made)))
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
        at = place(array, "software" if software else "kind")
        raise SpecError("is Linux's md, and this host has another system", **at, key=key, remedy=_NO_MD)
    notes.append(f"{key}: taken as a controller's RAID, since md is Linux's")
    return array.but("software", Scalar("false", *array.at("kind")), array.at("kind"))


def of_system(host: Mapping) -> Mapping:
    """A host with the kernel's costs and TCP settings of its system, where it does not say them."""
    found = usual(host)
    if not found:
        return host
    at = host.at("os")
    if "stack" not in host and ("stack" in found or found.get("kernel")):
        stack = found.get("stack") or mapping({"kind": "stack", "kernel": found["kernel"]}, *at)
        host = host.but("stack", stack, at)
    if "tcp" in found and host.get("role") in _AS_INSTALLED:
        said = host.get("tcp")
        tcp = said.clone() if isinstance(said, Mapping) else Mapping(*at)
        for key, value in found["tcp"].items():
            if key not in tcp:
                tcp.put(key, Scalar(value, *at, str(found["source"])), *at)
        host = host.but("tcp", tcp, at)
    return host
