"""The hosts of a path file: shipped ones by name, written out, or like another; with what ``--set`` changes in them.

A path that is changed in one place builds no other host again (`Built`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

from dtnsim.components.base import place, spot_of
from dtnsim.description import boards
from dtnsim.description.drawn_hosts import UNKNOWN, drawn, mounts_of
from dtnsim.description.host import Host, build_host
from dtnsim.description.override import merge, override, split_key
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

#: a dotted key below a host, in steps
Steps = tuple[str, ...]

_VERSION: Final = re.compile(r"\d+\.\d+(\.\d+)?")
#: a name that stands for several hosts, and how many of them
_NUMBERS: Final = re.compile(r"([^{}]*)\{(\d{1,4})\.\.(\d{1,4})\}([^{}]*)")
_MOST_HOSTS: Final = 1000

#: words of machines' names that people leave out or put in front
_VENDORS: Final = (
    "a the server aws amazon ec2 azure microsoft standard gcp google cloud dell emc poweredge hp hpe proliant apple "
    "intel synology diskstation qnap supermicro sys model vm"
)

T = TypeVar("T")

#: hosts that are kept at most: a search for what to buy tries thousands
_KEPT: Final = 64

_DEPTH: Final = 3  # hosts, the host, a key of it


def inside(text: str) -> str | None:
    """The host that an override changes a key of; None where it changes something else."""
    steps = split_key(text.partition("=")[0])
    return steps[1] if steps[:1] == ["hosts"] and len(steps) >= _DEPTH else None


class Hosts:
    """Reads the hosts of one path.

    Args:
        raw: Mapping of the path file.
        beside: Folder that files named in it are relative to.
        overrides: Texts of ``--set`` that change keys of hosts; hosts that are like a changed one follow it.
    """

    def __init__(self, raw: Mapping, beside: Path | None, overrides: Iterable[str] = ()) -> None:
        given = raw.get("hosts")
        if not isinstance(given, Mapping) or not given:
            where = {**place(raw, "hosts"), "key": "hosts"}
            raise SpecError("needs at least one host, like 'hosts: {venadi: venadi}'", **where)
        self._given, self._beside = given, beside
        self._mounts, self._networked = mounts_of(raw), "wan" in raw or "links" in raw
        self._texts: dict[str, list[str]] = {}
        for text in overrides:
            alias = inside(text)
            if alias is not None:
                self._texts.setdefault(alias, []).append(text)
        #: keys that overrides wrote, by host
        self.written: dict[str, set[Steps]] = {name: set() for name in given}

    def read(self) -> Mapping:
        """Mappings of all hosts."""
        hosts = Mapping(self._given.file, self._given.line)
        for name in self._given:
            host = drawn(name, self._one(name, ()), self._mounts.get(name, ()), networked=self._networked)
            hosts.put(name, boards.fitted_out(host), *self._given.lines.get(name, (hosts.file, hosts.line)))
        return hosts

    def _one(self, name: str, seen: tuple[str, ...]) -> Mapping:
        """A host of this path, with what overrides change in it."""
        made = self._written_out(name, self._given[name], seen)
        for text in self._texts.get(name, ()):
            whole, all_hosts = Mapping(), Mapping()
            all_hosts.put(name, made, made.file, made.line)
            whole.put("hosts", all_hosts, made.file, made.line)
            self.written[name].add(tuple(override(whole, text)[2:]))
            made = whole["hosts"][name]
        return self._written_out(name, made, seen) if {"like", "machine"} & set(made) else _stack_of(made)

    def _written_out(self, name: str, item: object, seen: tuple[str, ...], *, shipped: bool = False) -> Mapping:
        """A host's mapping; ``like`` takes another one and puts the keys written here on top."""
        if item is None or item == UNKNOWN:  # all of it is drawn
            return Mapping(*self._given.lines.get(name, (self._given.file, self._given.line)))
        if isinstance(item, str):
            shipped = True  # what is shipped knows nothing of this file
            item = _named(name, item, self._beside)
        if not isinstance(item, Mapping):
            raise SpecError("needs the name of a host or its description", key=f"hosts.{name}", value=item)
        item = _stack_of(item)
        if "machine" in item:  # the same, said of a model that is sold
            if "like" in item:
                raise SpecError(
                    "write either 'like' or 'machine'", **place(item, "machine"), key=f"hosts.{name}.machine"
                )
            item = item.clone()
            item.put("like", item.pop("machine"), *item.lines["machine"])
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
            base = self._one(str(like), (*seen, step)).clone()
            self.written[name] |= self.written[str(like)]
        else:
            base = self._written_out(name, like, (*seen, step)).clone()
        for key, value in item.items():
            if key != "like":
                base.put(key, merge(base.get(key), value), *item.lines.get(key, (item.file, item.line)))
        return base


def _stack_of(item: Mapping) -> Mapping:
    """A host whose ``kernel`` (a part, costs, or a version of Linux) is its ``stack``."""
    if "kernel" not in item:
        return item
    item = item.clone()
    at, kernel = item.lines.get("kernel", (item.file, item.line)), item.pop("kernel")
    if isinstance(kernel, str) and _VERSION.fullmatch(kernel):
        costs = Mapping(*at)
        costs.put("kernel", kernel, *at)
        if "stack" not in item and "like" not in item:
            costs.put("kind", "stack", *at)
        kernel = merge(item.get("stack"), costs)
    item.put("stack", kernel, *at)
    return item


def numbered(given: Mapping) -> Mapping:
    """Hosts with names like ``dtn{01..20}`` written out, one for each number.

    Raises:
        SpecError: A range that runs backwards or is too long, or a name that comes twice.
    """
    if not any("{" in name for name in given):
        return given
    made = Mapping(given.file, given.line)
    for name, item in given.items():
        at = given.lines.get(name, (given.file, given.line))
        where: dict[str, Any] = {**place(given, name), "key": f"hosts.{name}"}
        match = _NUMBERS.fullmatch(name)
        if match is None and ("{" in name or "}" in name):
            raise SpecError("is not a name of a host", **where, remedy="write several like dtn{01..20}")
        names = [name] if match is None else _numbers(match, where)
        for one in names:
            if one in made:
                raise SpecError("comes twice", **where, value=one)
            made.put(one, item.clone() if isinstance(item, Mapping) else item, *at)
    return made


def _numbers(match: re.Match[str], where: dict[str, Any]) -> list[str]:
    first, last = int(match[2]), int(match[3])
    if not 0 <= last - first < _MOST_HOSTS:
        remedy = f"write up to {_MOST_HOSTS} numbers, the lower one first, like {{01..20}}"
        raise SpecError("is not a range of hosts", **where, remedy=remedy)
    return [f"{match[1]}{n:0{len(match[2])}d}{match[4]}" for n in range(first, last + 1)]


def named(host: str) -> Mapping:
    """The mapping of a host file, or of a shipped host, with what it is ``like`` written out."""
    raw, given = Mapping(), Mapping()
    given.put(Path(host).stem, host, "", 0)
    raw.put("hosts", given, "", 0)
    found: list[Mapping] = list(Hosts(raw, None).read().values())
    return found[0]


def meant(host: str) -> list[str]:
    """Shipped hosts that a name as people say it may mean: their words are all in it, or its words in theirs."""
    asked = words(host)
    known = {name: words(name) for name in library.names("hosts")}
    whole = [name for name, words in known.items() if words <= asked]
    return whole or [name for name, words in known.items() if asked and asked <= words]


def words(name: str) -> frozenset[str]:
    """Words that tell a machine from others: of ``Dell PowerEdge R740xd`` that is r740."""
    words = re.findall(r"[a-z0-9.]+", name.lower().replace("+", "plus"))
    return frozenset(re.sub(r"^(r\d{3,4})xd2?$", r"\1", word) for word in words) - set(_VENDORS.split())


def _named(name: str, host: str, beside: Path | None) -> Mapping:
    try:
        return library.read("hosts", host, beside=beside)
    except SpecError as error:
        if error.file:
            raise
        found = meant(host)
        if len(found) == 1:
            return library.read("hosts", found[0], beside=beside)
        if found:
            error = SpecError("may be one of several hosts", value=host, remedy=f"write one of {', '.join(found)}")
        remedy = f"{error.remedy}; where nobody knows: unknown, or {{year: 2018}}"
        at: dict[str, Any] = {"file": host.file or None, "line": host.line or None} if isinstance(host, Scalar) else {}
        raise SpecError(error.message, **at, key=f"hosts.{name}", value=error.value, remedy=remedy) from None


class Built:
    """Hosts by what their mappings say, and where they say it."""

    def __init__(self) -> None:
        self._hosts: dict[Hashable, Host] = {}
        self._keyed: dict[Hashable, tuple[Host, Host]] = {}

    def host(self, name: str, raw: Any) -> Host:
        """The host of a mapping (see `build_host`).

        Raises:
            SpecError: it cannot be used.
        """
        return _kept(self._hosts, (name, _key(raw)), lambda: build_host(name, raw))

    def keyed(self, host: Host, make: Callable[..., Host], *given: Hashable) -> Host:
        """What ``make`` gives of a host and of what else is given: the same host again for the same."""
        # together with the host it was made of: its id is no other's then
        return _kept(self._keyed, (id(host), *given), lambda: (host, make(host, *given)))[1]

    def hosts(self, given: Mapping) -> tuple[dict[str, Host], list[SpecError]]:
        """The hosts of a path, and what is wrong with those that cannot be built."""
        hosts: dict[str, Host] = {}
        wrong: list[SpecError] = []
        for name, raw in given.items():
            try:
                hosts[name] = self.host(name, raw)
            except SpecError as error:
                wrong += error.findings
                continue
            try:
                hosts[name].check_wiring()
                boards.check(hosts[name])
            except SpecError as error:
                wrong.append(_located(error, name, raw))
        return hosts, wrong

    def __reduce__(self) -> tuple[type[Built], tuple[()]]:
        """In another process nothing has been built."""
        return Built, ()


def _kept(known: dict[Hashable, T], key: Hashable, make: Callable[[], T]) -> T:
    """What is known by a key, or made now; of very many those that were asked for last stay."""
    made = known.pop(key) if key in known else make()
    known[key] = made
    if len(known) > _KEPT:
        del known[next(iter(known))]
    return made


def _located(error: SpecError, host: str, given: object) -> SpecError:
    """An error in a host's wiring, with the file and the line of what it is about."""
    spot, _ = spot_of(given, split_key((error.key or "").removeprefix(f"{host}.")))
    return SpecError(error.message, **spot, key=f"hosts.{error.key}", value=error.value, remedy=error.remedy)


def _key(value: Any) -> Hashable:
    """What was read, and from where: equal for what builds equal hosts."""
    if isinstance(value, dict):
        where = (value.file, value.line, tuple(value.lines.items())) if isinstance(value, Mapping) else ()
        return where, tuple((key, _key(item)) for key, item in value.items())
    if isinstance(value, list):
        return tuple(map(_key, value))
    if isinstance(value, Scalar):
        return str(value), value.file, value.line, value.source
    return type(value), repr(value)
