"""What a host does not say of its machine, drawn from the machines of its years: processor, memory, card, volumes.

One part of the shipped library is drawn for each scenario, out of those that came out within `_YEARS` of the host's
``year`` (network cards: until then), or of all where it says none. What the host does state of a part stays as it is.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from statistics import fmean, median_low, multimode, pstdev
from typing import Any, Final

from dtnsim.components.base import Component, find_kind, kinds
from dtnsim.components.cores import Cpu
from dtnsim.components.device import Device
from dtnsim.components.filesystem import Filesystem
from dtnsim.components.local import Unknown
from dtnsim.components.memory import Memory
from dtnsim.components.nic import Nic
from dtnsim.components.tuning import ROLES
from dtnsim.description import personal, spoken, systems
from dtnsim.description.override import merge
from dtnsim.description.transfer import DEVICES, with_ends, written
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Mixture, Quantity, Scalar, factor_spread
from dtnsim.ground.yamlio import Mapping, mapping

UNKNOWN: Final = "unknown"  #: what is written where nobody knows
#: years around that of the host whose parts it may have; twice as many until there are `_FEWEST`
_YEARS: Final = 2
_FEWEST: Final = 5
_SOCKETS: Final = math.sqrt(2.0)  #: one socket or two, where nobody says: within this factor of their geometric mean
#: least rate of a transfer host's card (ESnet fasterdata, Science DMZ: dedicated hosts of 10 Gb/s and more) [B/s]
_DTN_BPS: Final = 1.25e9
#: least clock of its processor (ESnet fasterdata, DTN hardware, 2025: the fastest that you can afford, at least 3.0)
#: [Hz]
_DTN_HZ: Final = 3.0e9
#: part of the ports of servers that have 1 Gb/s, until a year (Omdia, Ethernet Network Adapter Tracker, second quarter
#: of 2020: below 25 % for the first time; assumed: a fifth since, as enterprises stay with it: IHS Markit, 2018)
_SLOW_PORTS: Final = ((2020, 0.25), (9999, 0.2))
_SLOW_BPS: Final = 1.25e8
#: disks of a host, until a year (models/parts/hdd)
_DISKS: Final = ((2007, "any-disk-2005"), (2010, "any-disk-2010"), (2015, "any-disk-2013"))
#: drives of machines as they are sold, from a year on, as often as they are named (TrendForce, SSDs in notebooks: 25 %
#: in 2015, 45 % in 2017, 92 % in 2022; PCIe 20 % of SSDs in 2016, 30 to 40 % in 2017; assumed: three quarters by 2022)
_AS_SOLD: Final = (
    (0, "any-disk laptop-disk laptop-disk any-ssd"),
    (2016, "any-disk laptop-disk any-ssd any-nvme"),
    (2019, "laptop-disk any-ssd any-nvme any-nvme"),
    (2022, "any-ssd any-nvme any-nvme any-nvme"),
)
#: Macs have flash of their own: over SATA, and as NVMe drives since then (Apple, technical specifications)
_APPLE: Final = ((0, "any-disk laptop-disk laptop-disk any-ssd"), (2013, "any-ssd any-nvme"), (2017, "any-nvme"))
#: file system of a volume that names none, and of one at a computing centre (models/centres.yaml)
_FILESYSTEM: Final = "ext4"
_PARALLEL: Final = "lustre"


def drawn(name: str, host: Mapping, mounts: Iterable[str], notes: list[str], *, networked: bool) -> Mapping:
    """A host with what it does not say of its machine; hosts of two names are drawn apart.

    Without volumes it gets those at ``mounts``, which transfers name; ``networked``: whether the path has a network.
    """
    where = f"hosts.{name}"
    host = spoken.adapters(spoken.board(host, where, notes), where, notes)
    drawn_host, year = host.clone(), _year(host)
    is_personal = drawn_host.pop(personal.PERSONAL, None) is not None or systems.is_personal(host)
    for family, (model, law) in _LAWS.items():
        part = spoken.part(family, host.get(family), f"{where}.{family}", notes)
        if part is not host.get(family):
            drawn_host.put(family, part, *host.at(family))
        if _is_stated(part, model):
            continue
        if family != "nic" or part is not None or (networked and "nics" not in host):
            stated = part if isinstance(part, Mapping) else Mapping()
            usual = law(_parts(family, year, host.get("role")), f"{name}.{family}", stated)
            usual = personal.usual(family, usual, year) if is_personal else usual
            drawn_host.put(family, _filled(part, usual, host), *host.at(family))
    if isinstance(cards := host.get("nics"), Mapping):
        drawn_host.put("nics", _cards(name, cards, year, host.get("role"), notes), *host.at("nics"))
    volumes = host.get("volumes")
    if volumes is None and (mount_points := list(mounts)):
        volumes = mapping(dict.fromkeys(mount_points), host.file, host.line)
    if isinstance(volumes, Mapping):
        drawn_host.put("volumes", _volumes(name, host, volumes, notes), *host.at("volumes"))
    return drawn_host


def mounts_of(raw: Mapping) -> dict[str, list[str]]:
    """Paths that transfers of a file read or write and that hosts mount of others, by host."""
    mounts: dict[str, list[str]] = {}
    ends: list[object] = []
    for item in written(raw):
        if isinstance(item, Mapping) and not {"from", "to"} <= set(item):
            with suppress(SpecError):  # said where the transfer is read
                item = with_ends(item, list(raw["hosts"]))
        ends += [item.get("from"), item.get("to")] if isinstance(item, Mapping) else []
    for host in raw["hosts"].values() if isinstance(raw.get("hosts"), Mapping) else ():  # and what others mount of them
        volumes = host.get("volumes") if isinstance(host, Mapping) else None
        shares = volumes.values() if isinstance(volumes, Mapping) else ()
        ends += [share.get("server") for share in shares if isinstance(share, Mapping)]
    for end in ends:
        host, _, path = end.partition(":") if isinstance(end, str) else ("", "", "")
        path = path.strip()
        if path.startswith("/") and path not in DEVICES and path not in mounts.setdefault(host.strip(), []):
            mounts[host.strip()].append(path)
    return mounts


def _is_stated(part: object, model: type[Component]) -> bool:
    """Whether a part is named, told by its kind (it then needs all of its numbers, or is refused), or told in full."""
    if isinstance(part, Mapping):
        needed = {name for name, field in model.model_fields.items() if field.is_required()}
        return "kind" in part or needed <= set(part) or bool(part.get("part", UNKNOWN) != UNKNOWN)
    return part is not None and part != UNKNOWN


def _year(host: Mapping) -> int | None:
    """The host's year; one that is no number is refused when the host is built."""
    text = str(host.get("year"))
    return int(text) if text.isdigit() else None


def _filled(part: object, usual: dict[str, Any], host: Mapping) -> Mapping:
    """What is usual, with what is stated on top."""
    filled = Mapping(host.file, host.line)
    stated = part if isinstance(part, Mapping) else Mapping()
    counted = {"cores", "channels"} & set(stated)
    for key, value in usual.items():
        if key != "uncounted" or not counted:
            filled.put(key, value, host.file, host.line)
    for key, value in stated.items():
        if key != "part":
            filled.put(key, value, *stated.at(key))
    return filled


def _cards(host: str, cards: Mapping, year: int | None, role: object, notes: list[str]) -> Mapping:
    """Network cards of which some have no rate."""
    filled = cards.clone()
    for name, card in cards.items():
        card = spoken.part("nic", card, f"hosts.{host}.nics.{name}", notes)
        if card is not cards[name]:
            filled.put(name, card, *cards.at(name))
        if not _is_stated(card, Nic):
            usual = _nic(_parts("nic", year, role), f"{host}.nics.{name}", Mapping())
            filled.put(name, _filled(card, usual, cards), *cards.at(name))
    return filled


def _volumes(name: str, host: Mapping, volumes: Mapping, notes: list[str]) -> Mapping:
    """Volumes of which no file system or no drives are known; those of a server are left to be refused."""
    filled = volumes.clone()
    for mount, spec in volumes.items():
        location = volumes.at(mount)
        if spec != UNKNOWN and isinstance(spec, str):
            spec = spoken.named_volume(spec, location)
        if spec not in (None, UNKNOWN) and not isinstance(spec, Mapping):
            continue
        volume = spoken.volume(spec, f"hosts.{name}.volumes.{mount}", notes) if isinstance(spec, Mapping) else spec
        volume = volume.clone() if isinstance(volume, Mapping) else Mapping(*location)
        if "array" in volume:
            volume["array"] = _of_year(volume["array"], _year(host))
        if isinstance(volume.get("via"), str):
            volume["via"] = [volume["via"]]
        named = volume.get("filesystem", UNKNOWN)
        if named == UNKNOWN and "server" not in volume:
            # called after a computing centre, by its name here or where its description was taken from
            shared = volume.get("array", UNKNOWN) == UNKNOWN and at_centre(f"{name} {host.get('name', '')}")
            local = "none" if mount.startswith("/dev/") else systems.usual(host).get("filesystem", _FILESYSTEM)
            named = _PARALLEL if shared else local
            volume.put("filesystem", named, *location)
            if shared:
                volume.pop("array", None)
        if "array" not in volume and _on_tape(named):
            notes.append(f"hosts.{name}.volumes.{mount}.array: not said: the disks that files pass are drawn")
        if volume.get("array", UNKNOWN) == UNKNOWN and (_on_drives(named) or _on_tape(named)):
            usual = f"{host.get('role')}-volume"
            role_known = usual in library.names("parts/unknown")
            # where nobody says what a host is for, drives of the role that its TCP settings are drawn for
            roles = [f"{role}-volume" for role in ROLES]
            drives: object = usual if role_known else _drives_of(roles, "role", *location)
            as_sold = host.get("role", "untuned" if personal.is_desk(host) else "") == "untuned"
            if as_sold and (year := _year(host)) is not None:
                sold = _APPLE if str(host.get("os", "")).lower().startswith("mac") else _AS_SOLD
                parts = next(d for first, d in reversed(sold) if first <= year).split()
                drives = _drives_of(parts, "drives", *location) if len(parts) > 1 else parts[0]
            volume.put("array", drives, *volume.at("array"))
        filled.put(mount, _one_system(name, host, mount, volume, notes), *location)
    return filled


def _of_year(array: Any, year: int | None) -> Any:
    """Drives of which nobody knows more than that they are disks: those of the host's years."""
    if isinstance(array, Mapping) and isinstance(array.get("of"), str | Mapping):
        array = array.clone()
        array["of"] = _of_year(array["of"], year)
    if array != "any-disk" or year is None:
        return array
    part = next((part for until, part in _DISKS if year <= until), "any-disk")
    return Scalar(part, array.file, array.line) if isinstance(array, Scalar) else part


def _one_system(name: str, host: Mapping, mount: str, volume: Mapping, notes: list[str]) -> Mapping:
    """A volume of one of several like hosts (``count``), which mount one file system that has servers of its own."""
    named, count = volume.get("filesystem"), str(host.get("count", 1))
    if count == "1" or "server" in volume or (component := _class_of(named)) is None:
        return volume
    if "system" not in component.model_fields or (isinstance(named, Mapping) and "system" in named):
        return volume
    system = mapping({"system": f"{name}{mount.rstrip('/')}"}, volume.file, volume.line)
    volume["filesystem"] = merge(named, system)
    kind = named if isinstance(named, str) else named.get("kind", named.get("part"))  # type: ignore[union-attr]
    apart = f"written as {name}{{1..{count}}} they have one each"
    notes.append(f"hosts.{name}.volumes.{mount}: the {count} hosts mount one {kind}; {apart}")
    return volume


def _drives_of(parts: Iterable[str], chooser: str, file: str, line: int) -> Mapping:
    """Drives of one of several kinds, each as likely as the others."""
    drives = Mapping(file, line)
    drives.put("kind", UNKNOWN, file, line)
    kinds_of = [Device.build(library.read("parts", part)) for part in parts]
    for name in ("read", "write", "access"):
        usual: Quantity = Unknown.model_fields[name].default
        laws = Mixture.of_kinds(chooser, [_figure(part, name) for part in kinds_of])
        drives.put(name, laws.worth(usual.value, usual.source), file, line)
    return drives


def _figure(drive: Any, name: str) -> Quantity:
    """What one of several kinds of drives says of itself; a disk reads and writes at one rate, and turns."""
    if hasattr(drive, name):
        figure: Quantity = getattr(drive, name)
        return figure
    if name != "access":
        return _figure(drive, "rate")
    seek, turn = _figure(drive, "seek"), 0.5 / drive.spindle.value
    return replace(seek, value=seek.value + turn, spread=seek.spread * seek.value / (seek.value + turn))


def _on_tape(filesystem: object) -> bool:
    part = filesystem.get("part", filesystem.get("kind")) if isinstance(filesystem, Mapping) else filesystem
    return re.search(r"\b(?:lto|tape|ltfs)\b", str(part).lower()) is not None


def _on_drives(filesystem: object) -> bool:
    """Whether a file system lies on drives of its host; of one that is named wrongly its own check says so."""
    component = _class_of(filesystem)
    return component is not None and issubclass(component, Filesystem) and component.on_drives


def _class_of(filesystem: object) -> type[Component] | None:
    kind = str(filesystem.get("kind") if isinstance(filesystem, Mapping) else filesystem)
    if kind not in kinds() and kind in library.names("parts/local"):
        kind = "local"
    return find_kind(kind) if kind in kinds() else None


def at_centre(names: str) -> bool:
    """Whether a computing centre is among some words."""
    return not _centres().isdisjoint(re.findall(r"[a-z0-9]+", names.lower()))


@lru_cache(maxsize=1)
def _centres() -> frozenset[str]:
    return frozenset(yamlio.load(library.root("models") / "centres.yaml")["names"])


# -- laws ------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _library(family: str) -> tuple[tuple[int, Any], ...]:
    """(year, part) of all shipped parts of a family; cards that speak Ethernet."""
    dated_parts = []
    for name in library.names(f"parts/{family}"):
        part = Component.build(library.load(library.root("models") / "parts" / family / f"{name}.yaml", inherit=True))
        if part.facts is not None and part.facts.year is not None and getattr(part, "protocol", "") in ("", "ethernet"):
            dated_parts.append((int(part.facts.year.value), part))
    return tuple(dated_parts)


def _parts(family: str, year: int | None, role: object = None) -> tuple[list[Any], str]:
    """Parts that a host of a year may have, and what they are in words."""
    candidates = _library(family)
    if role == "dtn" and family == "nic":
        candidates = tuple(each for each in candidates if each[1].rate.value >= _DTN_BPS)
    elif role == "dtn" and family == "cpu" and year is not None:
        candidates = tuple(each for each in candidates if each[1].clock.value >= _DTN_HZ)
    window = _YEARS
    while year is not None and window < 2 * _YEARS + 64:
        first = year - window if family != "nic" else 0  # cards are sold and kept for many years
        near = [(when, part) for when, part in candidates if first <= when <= year + window]
        if len(near) >= _FEWEST:
            candidates = tuple(near)
            break
        window *= 2
    if family == "nic" and role != "dtn":
        candidates = _with_slow_ports(candidates, year)
    years = [when for when, _ in candidates]
    words = f"not stated: drawn from {len(candidates)} parts of {min(years)} to {max(years)} (models/parts/{family})"
    return [part for _, part in candidates], words


def _with_slow_ports(cards: Sequence[tuple[int, Any]], year: int | None) -> tuple[tuple[int, Any], ...]:
    """Cards, those of 1 Gb/s as often as they make up their part of all."""
    share = next(share for until, share in _SLOW_PORTS if (year or 0) <= until)
    slow = [each for each in cards if each[1].rate.value <= _SLOW_BPS]
    fast = [each for each in cards if each[1].rate.value > _SLOW_BPS]
    wanted = math.ceil(share / (1.0 - share) * len(fast))
    return (*(slow * math.ceil(wanted / max(len(slow), 1)))[: max(wanted, len(slow))], *fast)


def _cpu(parts: tuple[Sequence[Cpu], str], key: str, stated: Mapping) -> dict[str, Any]:
    ordered, words = sorted(parts[0], key=lambda p: p.clock.value * p.per_cycle.value), parts[1]
    unsure = [p.sockets == 1 and "sockets" not in stated for p in ordered]
    core_counts = [p.cores if "sockets" in stated else p.total for p in ordered]
    totals = [t * (_SOCKETS if u else 1.0) for t, u in zip(core_counts, unsure, strict=True)]
    spreads = [factor_spread(_SOCKETS) if u else 0.0 for u in unsure]
    cores = median_low(round(t) for t in totals)
    return {
        "cores": cores,
        "smt": multimode(p.smt for p in ordered)[0],
        "clock": _mixed(key, [p.clock for p in ordered], words),
        "per_cycle": _mixed(key, [p.per_cycle for p in ordered], words),
        "uncounted": _counted(key, [t / cores for t in totals], spreads, words),
    }


def _memory(parts: tuple[Sequence[Memory], str], key: str, _stated: Mapping) -> dict[str, Any]:
    ordered, words = sorted(parts[0], key=lambda p: p.channels * p.rate.value), parts[1]
    channels = median_low(p.channels for p in ordered)
    return {
        "channels": channels,
        "rate": _mixed(key, [p.rate for p in ordered], words),
        "size": _mixed(key, [p.size for p in ordered], words),
        "uncounted": _counted(key, [p.channels / channels for p in ordered], [0.0] * len(ordered), words),
    }


def _nic(parts: tuple[Sequence[Nic], str], key: str, _stated: Mapping) -> dict[str, Any]:
    ordered, words = sorted(parts[0], key=lambda p: p.rate.value), parts[1]
    return {"rate": _mixed(key, [p.rate for p in ordered], words)}


_LAWS: Final[dict[str, tuple[type[Component], Callable[[Any, str, Mapping], dict[str, Any]]]]] = {
    "cpu": (Cpu, _cpu),
    "memory": (Memory, _memory),
    "nic": (Nic, _nic),
}


def _counted(key: str, ratios: Sequence[float], spreads: Sequence[float], words: str) -> Mixture:
    """A number of cores or channels over one of them."""
    return _mixed(key, [Quantity(r, "1", s) for r, s in zip(ratios, spreads, strict=True)], words)


def _mixed(key: str, parts: Sequence[Quantity], words: str) -> Mixture:
    """One of several parts, the spaces between them filled: each as wide as Silverman's rule has it.

    Equation: h = 1.06 s n^(-1/5) on logarithms (Silverman, Density Estimation for Statistics, 1986, eq. 3.28).
    """
    logs = [math.log(p.value) for p in parts]
    width = 1.06 * pstdev(logs) * len(parts) ** -0.2
    laws = []
    for part in parts:
        sigma = math.hypot(math.sqrt(math.log1p(part.spread**2)), width)
        laws.append(Quantity(part.value, part.dim, math.sqrt(math.expm1(sigma**2)), words))
    mixture = Mixture.of_kinds(key, laws)
    return mixture.worth(math.exp(fmean(logs)), words)  # type: ignore[return-value]
