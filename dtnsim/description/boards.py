"""Boards and chassis of hosts: the slots and the expander that they bring, and whether what is in them fits."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from dtnsim.components.base import expand
from dtnsim.components.chassis import Chassis
from dtnsim.components.device import Device
from dtnsim.components.jbod import MixedDrives
from dtnsim.description.host import Host
from dtnsim.description.override import merge
from dtnsim.ground import units
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import prior
from dtnsim.ground.yamlio import Mapping

#: payload of a lane of 6 Gb/s and of 12 Gb/s
_SAS2: Final = prior("600 MB/s", 0.0, "SAS or SATA 6 Gb/s after 8b/10b")
_SAS3: Final = prior("1200 MB/s", 0.0, "SAS 12 Gb/s after 8b/10b")


def fitted_out(host: Mapping) -> Mapping:
    """A host's mapping with the slots of its ``board`` and, at its adapters, the expander of its ``chassis``.

    What the host writes itself counts: of a slot of the board it may change single keys.
    """
    board, chassis = host.get("board"), host.get("chassis")
    if board is not None:
        expanded = expand(board, key="board", family="board")
        slots = expanded.get("slots")
        if isinstance(slots, Mapping):
            slots_at = (slots.file, slots.line)
            host = host.but("slots", merge(slots, host.get("slots") or Mapping()), slots_at)
    return host if chassis is None else _behind_expander(host, chassis)


def _behind_expander(host: Mapping, chassis: object) -> Mapping:
    """A host whose adapters have the uplink of the chassis' expander, unless they say it themselves."""
    hbas, volumes = host.get("hbas"), host.get("volumes")
    if not isinstance(hbas, Mapping) or not isinstance(volumes, Mapping):
        return host
    expanded = expand(chassis, key="chassis", family="chassis")
    if expanded.get("expander") is None:
        return host
    expander = Chassis.build(expanded, key="chassis").expander
    used = {n for v in volumes.values() if isinstance(v, Mapping) and isinstance(v.get("via"), list) for n in v["via"]}
    behind = [n for n in hbas if n in used]
    if expander is None or not behind:
        return host
    adapters = hbas.clone()
    for name in behind:
        location = hbas.at(name)
        adapter = merge(hbas[name], Mapping(*location)) if isinstance(hbas[name], str) else hbas[name].clone()
        if not isinstance(adapter, Mapping) or {"uplink_lanes", "drive_lane", "buffered"} & set(adapter):
            continue
        adapter.put("uplink_lanes", max(1, expander.uplink_lanes // len(behind)), *location)
        adapter.put("buffered", expander.buffered, *location)
        adapter.put("expander_lane", expander.lane, *location)
        if any(
            _fast(v.get("array")) for v in volumes.values() if isinstance(v, Mapping) and name in (v.get("via") or ())
        ):
            adapter.put("drive_lane", _SAS3, *location)
        adapters.put(name, adapter, *location)
    return host.but("hbas", adapters, (hbas.file, hbas.line))


def _fast(array: object) -> bool:
    """Whether the drives of an array have links of 12 Gb/s."""
    while isinstance(array, str | Mapping):
        expanded = expand(array, key="array", family="device")
        if expanded.get("of") is None:
            link = expanded.get("link")
            text = link.get("value") if isinstance(link, Mapping) else link
            return text is not None and units.parse(str(text), "B/s") > _SAS2.value
        array = expanded["of"]
    return False


def check(host: Host) -> None:
    """Checks that processors and memory fit the board, and drives the bays, as far as somebody says what fits."""
    board = host.board
    if board is not None:
        socket = host.cpu.facts.places[0] if host.cpu.facts is not None and host.cpu.facts.fits else board.socket
        if socket != board.socket:
            message = f"goes into {socket}; {board.part or 'the board'} has {board.socket}"
            remedy = f"'dtnsim components cpu --where \"fits = {board.socket}*\"' lists what fits"
            raise SpecError(message, key=f"{host.name}.cpu", value=host.cpu.part, remedy=remedy)
        for key, has, takes, counted in (
            ("cpu.sockets", host.cpu.sockets, board.sockets, host.cpu.uncounted),
            ("memory.channels", host.memory.channels, board.channels, host.memory.uncounted),
        ):
            if has > takes and not counted.spread:
                message = f"is more than {board.part or 'the board'} has"
                remedy = f"write up to {takes}, or another board"
                raise SpecError(message, key=f"{host.name}.{key}", value=has, remedy=remedy)
    _bays_taken(host)


def free_bays(host: Host) -> dict[str, int]:
    """Bays for more drives, by what fits them: those that the host calls free, or those that no volume takes."""
    chassis = host.chassis
    if chassis is not None and (chassis.bays or not chassis.holds):
        return chassis.bays
    taken = _bays_taken(host)
    return {form: n - taken[form] for form, n in _holds(host).items() if n > taken[form]}


def _holds(host: Host) -> Counter[str]:
    """All bays of chassis and board."""
    return Counter(host.chassis.holds if host.chassis else {}) + Counter(host.board.holds if host.board else {})


def _bays_taken(host: Host) -> Counter[str]:
    """Bays that drives take, each the first of its forms that is there; `SpecError` where there is none.

    Volumes of as many drives of one part behind the same adapters are taken for two uses of the same drives.
    """
    taken: Counter[str] = Counter()
    holds = _holds(host)
    seen: set[Any] = set()
    for mount, volume in host.volumes.items():
        if volume.array is None or any(name in host.nics for name in volume.via):
            continue
        for part, count, places in _drives(volume.array, 1):
            same = (part, count, tuple(volume.via))
            if same in seen or not _bays_known(host, places):
                continue
            seen.add(same)
            form = next((p for p in places if holds[p]), None)
            key = f"{host.name}.volumes.{mount}.array"
            has = ", ".join(f"{n} x {f}" for f, n in holds.items())
            if form is None:
                remedy = f"choose drives for one of its bays: {has}"
                raise SpecError(f"fits {', '.join(places)}, which no bay here is", key=key, value=part, remedy=remedy)
            taken[form] += count
            if taken[form] > holds[form]:
                where = f"{taken[form]} drives take {form} bays"
                raise SpecError(f"{where}; there are {holds[form]}", key=key, value=part, remedy=f"bays: {has}")
    return taken


def _bays_known(host: Host, places: tuple[str, ...]) -> bool:
    """Whether somebody says what bays such a drive could sit in: those of a chassis, or on the board for M.2."""
    if not places:
        return False
    holder: Any = host.board if set(places) == {"M.2"} else host.chassis
    return holder is not None and bool(holder.holds)


def _drives(array: Device, count: int) -> Iterator[tuple[str | None, int, tuple[str, ...]]]:
    """(part, how many, where it fits) of the drives in an array."""
    inner: Any = getattr(array, "of", None)
    if isinstance(array, MixedDrives):
        for share in array.shares:
            yield from _drives(share.drive, count * share.n // array.number)
    elif inner is not None:
        yield from _drives(inner, count * array.drives // max(inner.drives, 1))
    elif array.facts is not None:
        yield array.part, count, array.facts.places
