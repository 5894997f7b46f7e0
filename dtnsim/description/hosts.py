"""The hosts of a path file: shipped ones by name, written out, or like another; with what ``--set`` changes in them.

A path that is changed in one place builds no other host again (`Built`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Mapping as MappingABC
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from dtnsim.components.base import Component, place, remembering, spot_of
from dtnsim.description import boards, ipoib, personal, spoken_paths
from dtnsim.description.drawn_hosts import UNKNOWN, drawn, mounts_of
from dtnsim.description.host import Host, build_host, no_path
from dtnsim.description.override import merge, override, split_key
from dtnsim.description.systems import arrays, of_system
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError, noted, refuse
from dtnsim.ground.grouping import by_key
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping, content, mapping

Steps = tuple[str, ...]  #: a dotted key below a host, in steps

_VERSION: Final = re.compile(r"\d+\.\d+(\.\d+)?")
#: a name that stands for several hosts, and how many of them
_NUMBERS: Final = re.compile(r"([^{}]*)\{(\d{1,4})\.\.(\d{1,4})\}([^{}]*)")
MOST_HOSTS: Final = 1000

S = TypeVar("S")
T = TypeVar("T")

#: hosts, and paths, that are kept at most: a search for what to buy tries thousands
_KEPT: Final = 64
_PATHS: Final = 256

#: keys of a host that say which machine it is and what it mounts: what else is written of it lies on top of that
_MACHINE: Final = frozenset({"like", "machine", "model", "kind", "year", "os", "volumes"})

_DEPTH: Final = 3  # hosts, the host, a key of it


def inside(text: str) -> str | None:
    """The host that an override changes a key of; None where it changes something else."""
    steps = split_key(text.partition("=")[0])
    return steps[1] if steps[:1] == ["hosts"] and len(steps) >= _DEPTH else None


def comes_first(text: str) -> bool:
    """Whether an override says which hosts and fitted parameters there are, which others then change."""
    steps = split_key(text.partition("=")[0])
    return steps == ["calibration"] or (steps[:1] == ["hosts"] and (len(steps) < 3 or steps[2:] == ["count"]))


def machine(text: str) -> bool:
    """Whether an override says which machine a host is, or what it mounts of another, whose volume that draws."""
    key, _, value = text.partition("=")
    steps = split_key(key)[2:] if inside(text) is not None else []
    return (len(steps) == 1 and steps[0] in _MACHINE) or (steps[:-1] == ["volumes"] and "server" in value)


def moves_hosts(text: str) -> bool:
    """Whether an override of what is no host may change what hosts are: by an end, a tool, or what joins them."""
    key, _, value = text.partition("=")
    steps = split_key(key)
    option = "tool" in steps[:-1] and steps[-1] not in ("name", "kind") and "/" not in value
    return not (option or "dataset" in steps or (steps[:1] in (["wan"], ["links"]) and len(steps) > 1))


class Hosts:
    """Reads the hosts of one path; hosts that are like one that ``overrides`` change follow it."""

    def __init__(self, raw: Mapping, beside: Path | None, overrides: Iterable[str] = ()) -> None:
        hosts = raw.get("hosts")
        if not isinstance(hosts, Mapping) or not hosts:
            where = {**place(raw, "hosts"), "key": "hosts"}
            raise SpecError("needs at least one host, like 'hosts: {venadi: venadi}'", **where)
        self._given, self._beside = hosts, beside
        volumes = [
            h["volumes"] for h in hosts.values() if isinstance(h, Mapping) and isinstance(h.get("volumes"), Mapping)
        ]
        mounted = any(isinstance(v, Mapping) and "server" in v for each in volumes for v in each.values())
        self._mounts, self._networked = mounts_of(raw), mounted or "wan" in raw or "links" in raw
        self._over_tcp, self._over_wan = ipoib.over_tcp(raw), spoken_paths.has_one_host(raw)
        self._texts = by_key((alias, text) for text in overrides if (alias := inside(text)) is not None)
        #: what was read from names that the library does not have
        self.notes: list[str] = []
        #: keys that overrides wrote, by host
        self.written: dict[str, set[Steps]] = {name: set() for name in hosts}

    def read(self) -> Mapping:
        """Mappings of all hosts."""
        hosts = Mapping(self._given.file, self._given.line)
        seen: set[object] = set()
        wrong: list[SpecError] = []
        for name in self._given:
            with noted(wrong, under=f"hosts.{name}"):
                one = of_system(self._host(name, ()))
                first = written_once(name, one.get("count"), self._given)
                again = (self._given.lines.get(name), repr(self._given[name]))  # dtn{1..4} are noted once
                notes = [] if again in seen else self.notes
                seen.add(again)
                host = drawn(first, one, self._mounts.get(first, ()), notes, networked=self._networked)
                host = arrays(host, f"hosts.{first}", notes)
                host = ipoib.cards(first, host, notes) if first in self._over_tcp else host
                host = spoken_paths.volumes(first, host, notes) if self._over_wan else host
                hosts.put(name, boards.fitted_out(host), *self._given.lines.get(name, (hosts.file, hosts.line)))
        refuse(wrong)
        return hosts

    def _host(self, name: str, seen: tuple[str, ...]) -> Mapping:
        """A host of this path, with what overrides change in it."""
        host = self._written_out(name, self._given[name], seen)
        for text in self._texts.get(name, ()):
            path = mapping({"hosts": mapping({name: host}, host.file, host.line)}, host.file, host.line)
            self.written[name].add(tuple(override(path, text, self.notes)[2:]))
            host = path["hosts"][name]
        return self._written_out(name, host, seen) if {"like", "machine"} & set(host) else _stack_of(host)

    def _written_out(self, name: str, item: object, seen: tuple[str, ...], *, key: str = "") -> Mapping:
        """A host's mapping; ``like`` takes another one and puts the keys written here on top."""
        shipped = False
        if item is None or item == UNKNOWN:  # all of it is drawn
            return Mapping(*self._given.at(name))
        if isinstance(item, str):
            item = no_path(self._named(".".join(filter(None, (name, key))), item), name, item)
            shipped = True  # what is shipped knows nothing of this file
        if not isinstance(item, Mapping):
            raise SpecError("needs the name of a host or its description", key=f"hosts.{name}", value=item)
        item = personal.kind(_stack_of(item), name)
        item = _like_of(item, name)
        like = item.get("like")
        if like is None:
            return item
        if not isinstance(like, str):
            where: dict[str, Any] = {**place(item, "like"), "key": f"hosts.{name}.like"}
            raise SpecError("needs the name of a host", **where, remedy="write like: HOST")
        twin = not shipped and like in self._given and like != name  # its own name is that of a shipped one
        step = f"{like} of this file" if twin else str(like)
        if step in seen:
            where = {**place(item, "like"), "key": f"hosts.{name}.like", "value": str(like)}
            raise SpecError("hosts are like each other in a loop", **where)
        if twin:
            base = self._host(str(like), (*seen, step)).clone()
            self.written[name] |= self.written[str(like)]
        else:
            base = self._written_out(name, like, (*seen, step), key="like").clone()
            base = self._of_its_year(name, base, item)
        for own, other in (("nic", "nics"), ("nics", "nic")):
            if own in item and own not in base:
                base.pop(other, None)  # its cards are these
        for name_of, value in item.items():
            if name_of != "like":
                base.put(name_of, merge(base.get(name_of), value), *item.at(name_of))
        return base

    def _of_its_year(self, name: str, base: Mapping, item: Mapping) -> Mapping:
        """A shipped machine without the parts that are younger than the year that is stated of it."""
        year, stated = str(base.get("year")), str(item.get("year"))
        if not (base.file.startswith("models/") and year.isdigit() and stated.isdigit() and int(stated) < int(year)):
            return base
        gone = [key for key in ("cpu", "memory", "board", "chassis", "slots") if base.pop(key, None) is not None]
        if "os" in base:  # the release of its year
            base["os"] = Scalar(str(base["os"]).rstrip("0123456789. "), *base.at("os"))
        if personal.is_personal(str(item.get("like"))):
            base.put(personal.PERSONAL, True, *item.at("year"))  # noqa: FBT003
        note = f"hosts.{name}: {base.get('name')} is of {year}; of {stated} its {' and '.join(gone[:2])} are drawn"
        self.notes.append(f"{note} by that year")
        return base

    def _named(self, name: str, host: str) -> Mapping:
        """A host by its name, as the library has it, or as people say it; one of a known maker is drawn."""
        try:
            return library.read("hosts", host, beside=self._beside)
        except SpecError as error:
            if error.file:
                raise
            names = library.shipped_meant("hosts", host)
            if len(names) == 1:
                return library.read("hosts", names[0], beside=self._beside)
            drawn_one = None if names else personal.machine_like(host)
            rented = drawn_one is not None and drawn_one.get("role") == "cloud"  # another size of instance is no typo
            shipped = names or (not rented and library.written_wrongly(host, library.names("hosts")))
            drawn_one = None if shipped else drawn_one
            if drawn_one is not None:
                hidden = (personal.PERSONAL, personal.PORTABLE)
                shown = ((key, value) for key, value in drawn_one.items() if key not in hidden)
                words = ", ".join(key if isinstance(value, Mapping) else f"{key}: {value}" for key, value in shown)
                text = f"drawn by its year{words and f', with {words}'}"
                text += _shipped_sizes(host) if drawn_one.get("role") == "cloud" else ""
                self.notes.append(f"hosts.{name}: {str(host)!r} is not in the library: {text}")
                return drawn_one.clone()
            if names:
                error = SpecError("may be one of several hosts", value=host, remedy=f"write one of {', '.join(names)}")
            remedy = library.if_unknown(error.remedy or "", "unknown, or {year: 2018}")
            raise SpecError(
                error.message, **place(host), key=f"hosts.{name}", value=error.value, remedy=remedy
            ) from None


def _shipped_sizes(host: str) -> str:
    """The shipped machines of a provider that are nearest to one that is not shipped; nothing of them is used."""
    sizes = [n for n in library.names("hosts") if n.startswith(("aws-", "azure-", "gcp-"))]
    near = difflib.get_close_matches(host.lower(), [n.partition("-")[2] for n in sizes], n=2, cutoff=0.4)
    nearest = [n for n in sizes if n.partition("-")[2] in near]
    text = f"; nothing is taken from the nearest that are shipped, {', '.join(nearest)}: write one if it will do"
    return text if nearest else ""


def _stack_of(item: Mapping) -> Mapping:
    """A host whose ``kernel`` (a part, costs, or a version of Linux) is its ``stack``, and ``hba`` one of its hbas."""
    if "hba" in item and "hbas" not in item:
        location = item.at("hba")
        item = item.without("hba").but("hbas", mapping({"hba": item["hba"]}, *location), location)
    if "kernel" not in item:
        return item
    location, kernel = item.at("kernel"), item["kernel"]
    if isinstance(kernel, str) and _VERSION.fullmatch(kernel):
        costs = mapping({"kernel": kernel}, *location)
        if "stack" not in item and "like" not in item:
            costs.put("kind", "stack", *location)
        kernel = merge(item.get("stack"), costs)
    return item.without("kernel").but("stack", kernel, location)


def _like_of(item: Mapping, name: str) -> Mapping:
    """A host whose ``machine`` or ``model``, what it is sold as, is what it is ``like``."""
    key = next((k for k in ("machine", "model") if k in item), None)
    if key is None or (key == "model" and "like" in item):
        return item
    if "like" in item:
        raise SpecError("write either 'like' or 'machine'", **place(item, key), key=f"hosts.{name}.{key}")
    return item.without(key).but("like", item[key], item.at(key))


def numbered(hosts: Mapping) -> Mapping:
    """Hosts with names like ``dtn{01..20}``, and those with a ``count``, written out, one for each number.

    Of ``clients: {count: 32}`` the first keeps its name, and clients-2 to clients-32 are like it.
    """
    if not any("{" in name or (isinstance(item, Mapping) and "count" in item) for name, item in hosts.items()):
        return hosts
    expanded = Mapping(hosts.file, hosts.line)
    for name, item in hosts.items():
        location = hosts.at(name)
        where: dict[str, Any] = {**place(hosts, name), "key": f"hosts.{name}"}
        match = _NUMBERS.fullmatch(name)
        if match is None and ("{" in name or "}" in name):
            raise SpecError("is not a name of a host", **where, remedy="write several like dtn{01..20}")
        count = _count(name, item)
        if match is not None and count > 1:
            raise SpecError("has numbers and a count", **where, remedy="write one of the two")
        names = [name, *(twin(name, n) for n in range(2, count + 1))] if match is None else _numbers(match, where)
        for number, one in enumerate(names):
            if one in expanded:
                raise SpecError("comes twice", **where, value=one)
            like = item
            if count > 1 and number:
                like = mapping({"like": Scalar(name, *location)}, *location)
            expanded.put(one, like.clone() if isinstance(like, Mapping) else like, *location)
    return expanded


def written_once(name: str, count: object, hosts: MappingABC[str, object]) -> str:
    """The host under whose name one of several like ones (``count`` of it) is written: they are drawn once."""
    first, _, number = name.rpartition("-")
    return first if count is not None and first in hosts and number.isdigit() and int(number) > 1 else name


def twin(name: str, number: int) -> str:
    """Name of one of several like hosts that are written once."""
    return f"{name}-{number}"


def _count(name: str, item: object) -> int:
    """How many hosts one that is written stands for."""
    text = str(item.get("count", 1)) if isinstance(item, Mapping) else "1"
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_HOSTS:
        where: dict[str, Any] = {**place(item, "count"), "key": f"hosts.{name}.count", "value": text}
        raise SpecError("is no number of hosts", **where, remedy=f"write a number from 1 to {MOST_HOSTS}")
    return int(text)


def _numbers(match: re.Match[str], where: dict[str, Any]) -> list[str]:
    first, last = int(match[2]), int(match[3])
    if not 0 <= last - first < MOST_HOSTS:
        remedy = f"write up to {MOST_HOSTS} numbers, the lower one first, like {{01..20}}"
        raise SpecError("is not a range of hosts", **where, remedy=remedy)
    return [f"{match[1]}{n:0{len(match[2])}d}{match[4]}" for n in range(first, last + 1)]


def named(host: str) -> Mapping:
    """The mapping of a host file, or of a shipped host, with what it is ``like`` written out."""
    raw = mapping({"hosts": {Path(host).stem: host}}, "", 0)
    hosts: list[Mapping] = list(Hosts(raw, None).read().values())
    return hosts[0]


class Built:
    """Hosts by what their mappings say, and where they say it."""

    def __init__(self) -> None:
        self._hosts: dict[Hashable, Host] = {}
        self._keyed: dict[Hashable, tuple[Host, Host]] = {}
        self._checked: dict[Hashable, Host] = {}  # what is kept keeps its id
        self._parts: dict[str, dict[Hashable, Component]] = {}
        self._paths: dict[Hashable, tuple[Mapping, Any]] = {}

    def host(self, name: str, raw: Any) -> Host:
        """The host of a mapping (see `build_host`)."""

        def build() -> Host:
            with self.parts(name):
                return build_host(name, raw)

        return _cached(self._hosts, (name, content(raw)), build)

    def parts(self, name: str = "") -> AbstractContextManager[None]:
        """While the components of a host, or of what joins hosts, are built: those that are known are taken again."""
        return remembering(self._parts.setdefault(name, {}))

    def keyed(self, host: Host, make: Callable[..., Host], *args: Hashable) -> Host:
        """What ``make`` gives of a host and of what else is given: the same host again for the same."""
        # together with the host it was made of: its id is no other's then
        return _cached(self._keyed, (id(host), *args), lambda: (host, make(host, *args)))[1]

    def path(self, raw: Mapping, over: Hashable, make: Callable[..., S]) -> S:
        """What ``make`` gives of a path's mapping and what is put over it: the same path again for the same."""
        path: S = _cached(self._paths, (id(raw), over), lambda: (raw, make(built=self)), _PATHS)[1]
        return path

    def hosts(self, mappings: Mapping) -> dict[str, Host]:
        """The hosts of a path."""
        hosts: dict[str, Host] = {}
        wrong: list[SpecError] = []
        for name, raw in mappings.items():
            with noted(wrong):
                host = self.host(name, raw)
                hosts[name] = _cached(self._checked, id(host), partial(_checked, host, name, raw))
        refuse(wrong)
        return hosts

    def __reduce__(self) -> tuple[type[Built], tuple[()]]:
        """In another process nothing has been built."""
        return Built, ()


def _cached(cache: dict[Hashable, T], key: Hashable, make: Callable[[], T], most: int = _KEPT) -> T:
    """What is known by a key, or made now; of very many those that were asked for last stay."""
    entry = cache.pop(key) if key in cache else make()
    cache[key] = entry
    if len(cache) > most:
        del cache[next(iter(cache))]
    return entry


def _checked(host: Host, name: str, raw: object) -> Host:
    """A host that is wired as it can be, and fits its board; an error has the file and the line of what it is about."""
    try:
        host.check_wiring()
        boards.check(host)
    except SpecError as error:
        spot, _ = spot_of(raw, split_key((error.key or "").removeprefix(f"{name}.")))
        where = f"hosts.{error.key}"
        raise SpecError(error.message, **spot, key=where, value=error.value, remedy=error.remedy) from None
    return host
