"""Drives in the place of others, more of them, and of another form: how arrays grow, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from dtnsim.components.device import Device
from dtnsim.composition.resolved_transfer import lies_on
from dtnsim.description.boards import free_bays
from dtnsim.description.spec import PathSpec
from dtnsim.ground import library, units
from dtnsim.planning import catalog as catalogs
from dtnsim.planning.actions import bought
from dtnsim.planning.actions.card import kinds_of_slots
from dtnsim.planning.fitting import Shop

DRIVE: Final = "device"  #: family of what an array is made of
#: levels that grow by drives, and by how many at once: mdadm(8), GROW MODE; RAID 10 keeps pairs
_BY_DRIVES: Final = {0: 1, 5: 1, 6: 1, 10: 2}
#: widest array of single parity or double parity that is grown into: beyond it a rebuild takes too long to be prudent
WIDEST: Final = 16
#: bays whose drives a processor's lanes lead to, without an adapter
NVME: Final = ("U.2", "U.3", "E3.S", "E1.S", "E1.L")
_UPLINK: Final = 8  #: lanes of two cables to a shelf
_MORE: Final = (0.25, 0.5, 1.0)  #: tape drives that are bought at once, over those that are there
_AS_LARGE: Final = 0.95  #: drives of nearly the same size are of the same


@bought("parts")
def drives(shop: Shop) -> None:
    """Drives of the volumes that transfers touch."""
    for mount in shop.used():
        _drives(shop, mount)


@bought("parts")
def shelves(shop: Shop) -> None:
    """As many drives again in a shelf (JBOD) behind an adapter of its own: half of the bytes go either way."""
    host, key = shop.host, shop.key
    for mount in shop.used():
        volume, part = host.volumes[mount], _drive_of(host.volumes[mount].array)
        present, place = shop.catalog.named(part), f"{key}.volumes.{mount}"
        if present is None or volume.array is None or len(volume.via) != 1 or volume.via[0] not in host.hbas:
            continue
        count, (hba,) = volume.array.drives, volume.via
        fits = [
            s
            for s in shop.catalog.family_offers(catalogs.SHELF)
            if s.bays >= count and set(s.places) & set(present.places)
        ]
        for shelf in sorted(fits, key=lambda s: s.price.amount)[:1]:
            form = next(f for f in shelf.places if f in present.places)
            holds = host.chassis.holds.get(form, 0) if host.chassis is not None else 0
            bays = [f"{key}.chassis.holds.{form}={holds + shelf.bays}"] if holds else []
            for g in (g for g in growths(volume.array, count) if g.added == count):
                grown = [*bays, f"{place}.via=[{hba}, {hba}-shelf]", f"{place}.array.{g.key}={g.value}"]
                for adapter in shop.cards(f"{place}.array", "hba", None, outside=True):
                    for slot in kinds_of_slots(host):
                        seat = f"{{part: {adapter.part}, slot: {slot}, uplink_lanes: {_UPLINK}}}"
                        label = f"{count} more {part} in {shelf.part} behind {adapter.part} in slot {slot}: {g.what}"
                        buys, uses = ((shelf, 1), (present, count), (adapter, 1)), [(f"{key}.slots.{slot}", 1)]
                        shop.add(f"{place}.array", label, [f"{key}.hbas.{hba}-shelf={seat}", *grown], buys, uses)


def _drive_of(array: Any) -> str | None:
    """The part that an array is made of."""
    while getattr(array, "of", None) is not None:
        array = array.of
    return getattr(array, "part", None)


@bought("parts")
def tape_drives(shop: Shop) -> None:
    """More of the drives that are there: frames have room for them, robots and staging disks stay as they are."""
    for mount in shop.used():
        system: Any = shop.host.volumes[mount].filesystem
        offer = shop.present(system.part) if system.kind == "tape" else None
        key = f"{shop.key}.volumes.{mount}.filesystem"
        for more in dict.fromkeys(max(1, round(system.drives * m)) for m in _MORE) if offer is not None else ():
            label = f"{more} more {offer.part}: {system.drives + more} drives"  # type: ignore[union-attr]
            shop.add(key, label, [f"{key}.drives={system.drives + more}"], ((offer, more),))  # type: ignore[arg-type]


def _larger(key: str, disk: Any) -> str:
    """Larger disks of a cloud, which are asked of their provider by the month and not bought."""
    parts = (name.partition("/")[2] for name in library.names("parts") if name.startswith("cloud-disk/"))
    maker = (disk.part or "").partition("-")[0]
    rates = {p: Device.build(p).rate.value for p in parts if p.startswith(f"{maker}-")}  # type: ignore[attr-defined]
    larger = [f"{p} ({units.show(r, 'B/s')})" for p, r in sorted(rates.items()) if r > disk.rate.value]
    remedy = f"--set {key}=... of {', '.join(larger)}" if larger else "the library has no larger one"
    return f"{key}: a disk of a cloud is no purchase; for a larger one, by the month: {remedy}"


def _drives(shop: Shop, mount: str) -> None:
    array: Any = shop.host.volumes[mount].array
    key = shop.key
    steps, outer, drives = f"{key}.volumes.{mount}.array", array, int(getattr(array, "drives", 1))
    top = steps
    while getattr(array, "of", None) is not None:
        array, steps = array.of, f"{steps}.of"
    part = getattr(array, "part", None)
    if array is not None and array.kind == "cloud-disk":
        shop.notes.append(_larger(steps, array))
        return
    if part is None:
        return
    bays = free_bays(shop.host)
    form = shop.catalog.place_of(part)
    present = shop.catalog.named(part)
    free = {f: n for f, n in bays.items() if n}
    for f, n in free.items():
        shop.stock[f"{key}.bays.{f}"] = n
    room = Room(shop.given, shop.size_of, shop.name, mount)
    for offer in ([present] if present is not None else []) + shop.fitting(steps, DRIVE, part):
        new = offer.part != part
        change = [f"{steps}={offer.part}"] if new else []
        if new and room.lacks(outer, offer.part):
            shop.misfits.setdefault((top, room.why(outer, offer.part)), []).append(offer.part)
        elif new:
            label = f"{drives} x {offer.part}{room.words(offer.part, drives)}"
            shop.add(top, label, change, ((offer, drives),), gone=((part, drives),))
        bay = next((f for f in free if f in offer.places or f == form), None)
        for g in growths(outer, free[bay]) if bay is not None else ():
            count = g.added + (drives if new else 0)
            if new and room.lacks(g.grown(outer), offer.part):
                continue
            capacity = room.words(offer.part, drives + g.added) if new else ""
            times = "x" if new or capacity else "more"
            label = f"{count} {times} {offer.part}{capacity}: {g.what}"
            sets = [*change, f"{top}.{g.key}={g.value}"]
            shop.add(top, label, sets, ((offer, count),), [(f"{key}.bays.{bay}", g.added)],
                         gone=((part, drives),) if new else ())  # fmt: skip

    for bay in set(free) & set(NVME) - {form}:
        _lanes(shop, mount, bay, free[bay], room)


def _lanes(shop: Shop, mount: str, bay: str, free: int, room: Room) -> None:
    """The volume on drives of another form, in bays and slots for drives that are free."""
    host, key = shop.host, shop.key
    volume, array = f"{key}.volumes.{mount}", host.volumes[mount].array
    slots = [s for s in host.free_slots() if host.slots[s].bifurcation > 1]
    for offer in shop.catalog.family_offers(DRIVE) if array is not None else ():
        for g in anew(array, min(free, sum(host.slots[s].bifurcation for s in slots))):  # type: ignore[arg-type]
            if bay not in offer.places:
                continue
            grown = g.grown(array)  # type: ignore[arg-type]
            if room.lacks(grown, offer.part):
                shop.misfits.setdefault((f"{volume}.array", room.why(grown, offer.part)), []).append(offer.part)
                continue
            sets = [f"{volume}.array.{s}" for s in (f"of={offer.part}", f"{g.key}={g.value}", *g.besides)]
            label = f"{g.added} x {offer.part}{room.words(offer.part, g.added)} in {bay} bays: {g.what}"
            uses = [(f"{key}.bays.{bay}", g.added), *((f"{key}.slots.{s}", 1) for s in slots)]
            shop.add(f"{volume}.array", label, [*sets, f"{volume}.via=[{', '.join(slots)}]"], ((offer, g.added),), uses)


@dataclass(frozen=True, slots=True)
class Growth:
    """An array made larger."""

    key: str  #: Which number of the array grows.
    value: int  #: What it becomes.
    added: int  #: Drives that it takes.
    what: str  #: In words.
    besides: tuple[str, ...] = ()  #: Other ``key=value`` of the array.

    def grown(self, array: Device) -> Device:
        """The array with the change made."""
        changes = {key: int(value) for key, value in (b.split("=") for b in self.besides)}
        return array.model_copy(update={self.key: self.value, **changes})


def growths(array: Device, free: int) -> Iterator[Growth]:
    """The ways in which an array can grow into some free bays.

    Vdevs grow by whole vdevs of the same width (OpenZFS, zpool-add(8): data are spread over all of them from then on),
    RAID 0, 5, 6 and 10 by drives, RAID 50 and 60 by groups. Mirrors of RAID 1 gain nothing, and a single drive would
    become an array of another safety.
    """
    outer: Any = array
    inner = int(outer.of.drives) if getattr(outer, "of", None) is not None else 0
    if not inner or not hasattr(outer, "disks"):  # what lies over an array has no disks of its own, or elsewhere
        return
    kind, level, groups = outer.kind, getattr(outer, "level", None), int(getattr(outer, "groups", 1))
    if kind in ("raidz", "draid", "mirror") or level in (50, 60) or (kind == "raid" and groups > 1):
        each = int(outer.disks) * inner
        for more in range(1, free // each + 1):
            noun = "vdev" if kind != "raid" else "group"
            yield Growth("groups", groups + more, more * each, f"{groups + more} {noun}s of {outer.disks}")
        return
    step = 1 if kind == "jbod" else _BY_DRIVES.get(int(level), 0) if level is not None else 0
    most = WIDEST if level in (5, 6) else 1000
    disks = int(outer.disks)
    while step and disks + step <= most and (disks + step - int(outer.disks)) * inner <= free:
        disks += step
        name = "disks side by side" if kind == "jbod" else f"disks in RAID {level}"
        yield Growth("disks", disks, (disks - int(outer.disks)) * inner, f"{disks} {name}")


def anew(array: Device, free: int) -> Iterator[Growth]:
    """An array of the same level of other drives in free bays: of all of them, and of half as many, in one group."""
    outer: Any = array
    if getattr(outer, "of", None) is None or getattr(outer.of, "of", None) is not None or not hasattr(outer, "disks"):
        return
    one = () if getattr(outer, "groups", 1) == 1 else ("groups=1",)
    for disks in dict.fromkeys((free, free // 2)):
        least = max(2, int(getattr(outer, "level", 0) if outer.kind in ("raidz", "draid") else 0) + 2)
        if disks >= least and disks % 2 == 0:
            name = f"{disks} disks" + (f", {outer.kind} {outer.level}" if hasattr(outer, "level") else "")
            yield Growth("disks", disks, disks, name, one)


class Room:
    """What drives of a volume have to hold, and whether others do.

    A volume has to hold what its drives of now hold, unless its ``size``, or the part of a pool that is ``filled``,
    says that less is enough; and the path's own data in any case.
    """

    def __init__(self, path: PathSpec, size_of: Callable[[str | None], float], host: str, mount: str) -> None:
        volume, self._size = path.hosts[host].volumes[mount], size_of
        self._now_B = size_of(_drive_of(volume.array)) * getattr(volume.array, "drives", 0)
        ends = ((t, end) for t in path.transfers if t.dataset is not None for end in (t.source_end, t.to))
        data_B = sum(t.dataset.payload_B for t, end in ends if lies_on(path, end) == (host, mount))
        own_B = self.holds(volume.array)
        stated = min(volume.size.value, own_B or volume.size.value) if volume.size is not None else own_B
        system: Any = volume.filesystem
        if hasattr(system, "filled") and system.states("filled"):
            stated *= system.filled.value
        least_B = min(data_B, own_B or data_B)
        # drives of nearly the same size are of the same
        self.needed_B: float = max(stated if volume.size is not None else stated * _AS_LARGE, least_B)
        capacity, data = (units.show(b, "B") for b in (stated, data_B))
        enough = f"hosts.{host}.volumes.{mount}.size={data.replace(' ', '')}"
        less = f" (if it holds less, say so: {enough})" if data_B < stated else ""
        self._why = f"the volume holds {capacity}{less}" if stated >= least_B else f"the path's data are {data}"

    def holds(self, array: Any, part: str | None = None) -> float:
        """Bytes that an array holds beside its redundancy, of other drives than its own where these are named."""
        each_B = self._size(part or _drive_of(array)) or (array.each_B if part is None else 0.0)
        return each_B * float(array.drives) * float(array.usable)

    def lacks(self, array: Any, part: str | None = None) -> bool:
        """Whether what has to be held does not go onto an array."""
        return 0 < self.holds(array, part=part) < self.needed_B

    def why(self, array: Any, part: str | None = None) -> str:
        """Why the array cannot hold what has to fit."""
        return f"the drives would hold {units.show(self.holds(array, part=part), 'B')}, and {self._why}"

    def words(self, part: str, drives: int) -> str:
        """What so many drives hold, all together, where that is less than now or not known."""
        each_B = self._size(part)
        if not each_B:
            return " (of a size that is not stated)"
        if not self._now_B or each_B * drives >= self._now_B * _AS_LARGE:
            return ""
        now, then = (units.show(b, "B") for b in (self._now_B, each_B * drives))
        return f" ({then} in place of {now})"
