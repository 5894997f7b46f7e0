"""What can be bought for a path's hosts: parts in the place of others, and more of them where there is room.

Room is stated or it is none: free slots are those of the host's ``slots`` and ``board`` in which nothing sits; free
bays are those of its ``chassis``, free memory channels those of chassis or board. Whether a card fits its slot, an
array its level, and so on, the description decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from dtnsim.components.base import expand
from dtnsim.description.boards import free_bays
from dtnsim.description.spec import split_end
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.physics import pcie
from dtnsim.planning import catalog as catalogs
from dtnsim.planning.arrays import NVME, Room, anew, growths
from dtnsim.planning.catalog import Catalog, Offer
from dtnsim.planning.money import Exchange
from dtnsim.planning.option import Buys, Offered, Option, Refused
from dtnsim.steady import timed

if TYPE_CHECKING:
    from dtnsim.components.hba import Hba
    from dtnsim.components.nic import Nic
    from dtnsim.components.slot import Slot
    from dtnsim.description.host import Host
    from dtnsim.description.spec import PathSpec

#: family of what an array is made of
DRIVE: Final = "device"


def options(
    given: PathSpec,
    hosts: Sequence[str],
    catalog: Catalog,
    rates: Exchange,
    currency: str,
    *,
    watts_matter: bool = False,
) -> Offered:
    """What can be bought for some hosts.

    Args:
        given: The path.
        hosts: Hosts that are yours.
        catalog: What is for sale.
        rates: What currencies are in each other.
        currency: That of the plan.
        watts_matter: Whether an offer whose power nobody states is out.
    """
    shop = _Shop(given, catalog, rates, currency, watts_matter=watts_matter)
    for name in hosts:
        shop.host(name, given.hosts[name])
    return Offered(
        {k: tuple(v) for k, v in shop.found.items() if v}, shop.stock, tuple(shop.notes), tuple(shop.refused())
    )


class _Shop:
    """Gathers options; what the description refuses becomes a note."""

    def __init__(
        self, given: PathSpec, catalog: Catalog, rates: Exchange, currency: str, *, watts_matter: bool
    ) -> None:
        self._given, self._catalog, self._rates, self._currency = given, catalog, rates, currency
        self._watts = watts_matter
        self.found: dict[str, list[Option]] = {}
        self.stock: dict[str, int] = {}
        self.notes: list[str] = []
        self._misfits: dict[tuple[str, str], list[str]] = {}
        self._dark: list[str] = []
        self._stations = [s.name for s in timed.composed(given, Draw()).stations]

    def refused(self) -> Iterator[Refused]:
        """What fits nowhere, and why."""
        for (place, why), refused in self._misfits.items():
            elsewhere = {offer.part for o in self.found.get(place, ()) for offer, _ in o.buys}
            for part in dict.fromkeys(p for p in refused if p not in elsewhere):
                yield Refused(part, place, why)
        for part in dict.fromkeys(self._dark):
            yield Refused(part, "", "nobody states its power", "dark")

    def host(self, name: str, host: Host) -> None:
        """Everything that can be bought for one host."""
        key = f"hosts.{name}"
        for slot in host.free_slots():
            self.stock[f"{key}.slots.{slot}"] = 1
        self._replaced(f"{key}.cpu", "cpu", host.cpu.part)
        self._memory(key, host)
        for nic, card in host.nics.items():
            if self._on_the_way(f"{name}.{nic}."):
                self._nic(key, host, nic, card)
        alike: dict[Any, list[str]] = {}
        for hba, adapter in host.hbas.items():
            if not self._on_the_way(f"{name}.{hba}."):
                continue
            volumes = tuple(m for m in self._used(name, host) if hba in host.volumes[m].via)
            alike.setdefault((adapter.part, adapter.uplink_lanes, volumes), []).append(hba)
        for names in alike.values():
            self._hba(key, host, names)
        for mount in self._used(name, host):
            self._drives(key, host, mount)

    def _on_the_way(self, prefix: str) -> bool:
        """Whether some transfer passes a card."""
        return any(s.startswith(prefix) for s in self._stations)

    def _used(self, name: str, host: Host) -> list[str]:
        """Volumes of a host that the transfers touch, also as servers of others."""
        ends = [end for t in self._given.transfers for end in (t.source_end, t.to)]
        for other in self._given.hosts.values():
            ends += [v.server for v in other.volumes.values() if v.server is not None]
        mounts = (host.mount_of(path) for alias, path in map(split_end, ends) if alias == name)
        return list(dict.fromkeys(m for m in mounts if m is not None))

    # -- what an option costs, and whether the description takes it -------------------------------

    def _add(
        self,
        place: str,
        what: str,
        overrides: Sequence[str],
        buys: Buys,
        uses: Sequence[tuple[str, int]] = (),
        wired: Buys = (),
    ) -> bool:
        """Adds an option if the path can be described with it.

        A card comes with the cable or optic of one port; ``wired`` are cards, and how many more ports of them get one.
        """
        counts: dict[Offer, int] = dict(buys)
        for offer, count in (*buys, *wired):
            for extra, each in offer.extras:
                cable = self._catalog.extras[extra]
                counts[cable] = counts.get(cable, 0) + each * count
        whole = [(offer, count) for offer, count in counts.items() if count]
        if self._watts and any(o.watts is None and o.family != catalogs.EXTRA for o, _ in whole):
            self._dark += [o.part for o, _ in whole if o.watts is None and o.family != catalogs.EXTRA]
            return False
        try:
            self._given.changed(list(overrides))
        except DtnsimError as error:
            why = getattr(error, "message", str(error)).rpartition(": ")[2]
            self._misfits.setdefault((place, why), []).append(buys[0][0].part if buys else what)
            return False
        price = sum(self._rates.to(o.price, self._currency, o.part) * n for o, n in whole)
        watts = sum((o.watts or 0.0) * n for o, n in whole)
        made = Option(place, what, tuple(overrides), tuple(whole), price, watts, tuple(uses))
        self.found.setdefault(place, []).append(made)
        return True

    def _fitting(self, place: str, family: str, now: str | None) -> list[Offer]:
        """Offers of a family that fit the socket or bay of what is there."""
        own = self._catalog.place_of(now)
        offers = [o for o in self._catalog.of(family) if o.part != now]
        if offers and not own and not any(now in o.replaces for o in offers):
            self.notes.append(f"{place}: what fits in the place of {now or 'the present part'} is not in the catalogue")
        return [o for o in offers if (own and own in o.places) or (now is not None and now in o.replaces)]

    def _replaced(self, key: str, family: str, now: str | None) -> None:
        for offer in self._fitting(key, family, now):
            self._add(key, f"{offer.part} as {family}", [f"{key}={offer.part}"], ((offer, 1),))

    def _memory(self, key: str, host: Host) -> None:
        self._replaced(f"{key}.memory", "memory", host.memory.part)
        board = host.channels
        more = (board or 0) - host.memory.channels
        socket = self._catalog.place_of(host.memory.part)
        for offer in self._catalog.of(catalogs.DIMM) if more > 0 else ():
            if socket not in offer.places:
                continue
            place = f"{key}.memory"
            size, rate = host.memory.size.value + more * offer.size_B, min(host.memory.rate.value, offer.rate)
            sets = [f"{place}.channels={board}", f"{place}.size={size:.0f} B", f"{place}.rate={rate:.0f} /s"]
            self._add(place, f"{more} x {offer.part} in free channels", sets, ((offer, more),))

    # -- cards -----------------------------------------------------------------------------------

    def _seats(self, host: Host, card: Nic | Hba, offer: Offer | None) -> Iterator[tuple[str | None, bool]]:
        """(slot, whether it is another than now) where a card could sit: its own, and free ones that carry more."""
        new = card if offer is None else expand(offer.part)
        width, generation = (int(_of(new, k, d)) for k, d in (("card_lanes", 8), ("card_generation", 3)))
        own = host.slots.get(card.slot or "")
        if offer is not None:
            yield card.slot, False
        if own is None:
            return
        now = _link(own, width, generation) if own.accepts(width) else 0.0
        for name in self._kinds_of_slots(host):
            slot = host.slots[name]
            if slot.accepts(width) and _link(slot, width, generation) > now:
                yield name, True

    @staticmethod
    def _kinds_of_slots(host: Host) -> list[str]:
        """Free slots, one of each kind."""
        seen: dict[Any, str] = {}
        for name in host.free_slots():
            s = host.slots[name]
            if s.bifurcation > 1:  # it is wired to drives' bays
                continue
            seen.setdefault((s.generation, s.lanes, s.connector, s.behind, s.socket), name)
        return list(seen.values())

    def _nic(self, key: str, host: Host, name: str, card: Nic) -> None:
        place = f"{key}.nics.{name}"
        present = self._catalog.named(card.part)
        for offer in (None, *self._catalog.of("nic")):
            part = offer.part if offer is not None else card.part
            if part is None or (offer is not None and part == card.part):
                continue
            ports = int(expand(part).get("ports", 1))
            for slot, moved in self._seats(host, card, offer):
                self._card(key, place, offer, card, slot if moved else None, max(ports, card.links))
            if card.protocol != "ethernet":
                continue
            if offer is None and ports > card.links:
                self._bonded(place, card, present, ports, [])
            for slot in self._kinds_of_slots(host):
                which = offer or present
                if which is not None:
                    self._bonded(place, card, which, 2 * max(card.links, 1), [slot], new=offer is not None)

    def _card(self, key: str, place: str, offer: Offer | None, card: Nic, slot: str | None, ports: int) -> None:
        """A card in its own slot or another; with all its ports where it has more than are used."""
        part = offer.part if offer is not None else str(card.part)
        sets = [f"{place}={part}"] if offer is not None else []
        sets += [f"{place}.slot={slot}"] if slot is not None else []
        where = f" in slot {slot}" if slot is not None else ""
        uses = [(f"{key}.slots.{slot}", 1)] if slot is not None else []
        buys: Buys = ((offer, 1),) if offer is not None else ()
        self._add(place, f"{part}{where}" if buys else f"{part} moved to slot {slot}", sets, buys, uses)
        if offer is not None and ports > card.links and card.protocol == "ethernet":
            both = [*sets, f"{place}.ports={ports}", *_bonding(place, card)]
            self._add(place, f"{part}{where}, {ports} ports bonded", both, buys, uses, ((offer, ports - 1),))

    def _bonded(
        self, place: str, card: Nic, offer: Offer | None, ports: int, slots: list[str], *, new: bool = False
    ) -> None:
        """More ports in a bond: of the present card, or of a second one beside it."""
        key = place.partition(".nics.")[0]
        part = offer.part if offer is not None else str(card.part)
        sets = [f"{place}={part}"] if new else []
        sets += [f"{place}.ports={ports}", *_bonding(place, card)]
        sets += [f"{place}.more_slots=[{', '.join(slots)}]"] if slots else []
        buys: Buys = ((offer, len(slots) + new),) if offer is not None and slots else ()
        what = f"{1 + len(slots)} x {part} bonded" if slots else f"{ports} ports of {part} bonded"
        there = len(slots) + (1 if new else max(card.links, 1))  # ports that have a cable, or come with one
        wired: Buys = ((offer, ports - there),) if offer is not None else ()
        self._add(place, what + "".join(f", the second in slot {s}" for s in slots), sets, buys,
                  [(f"{key}.slots.{s}", 1) for s in slots], wired)  # fmt: skip

    def _hba(self, key: str, host: Host, names: list[str]) -> None:
        """Equal adapters of the same volumes: all of them replaced, or one more beside a single one."""
        adapter, count = host.hbas[names[0]], len(names)
        place = f"{key}.hbas.{'+'.join(names)}"
        mounts = [m for m, v in host.volumes.items() if list(v.via) == names]
        for offer in self._catalog.of("hba"):
            if offer.part != adapter.part:
                sets = [f"{key}.hbas.{n}={offer.part}" for n in names]
                self._add(place, f"{count} x {offer.part}", sets, ((offer, count),))
                for slot, moved in self._seats(host, adapter, offer) if count == 1 else ():
                    if moved:
                        there = [*sets, f"{key}.hbas.{names[0]}.slot={slot}"]
                        uses = [(f"{key}.slots.{slot}", 1)]
                        self._add(place, f"{offer.part} in slot {slot}", there, ((offer, 1),), uses)
            for slot in self._kinds_of_slots(host) if mounts and count == 1 else ():
                wired = f", uplink_lanes: {adapter.uplink_lanes}" if adapter.uplink_lanes else ""
                second = f"{names[0]}-2"
                sets = [f"{key}.hbas.{second}={{part: {offer.part}, slot: {slot}{wired}}}"]
                sets += [f"{key}.volumes.{m}.via=[{names[0]}, {second}]" for m in mounts]
                what = f"a second adapter, {offer.part} in slot {slot}, half of the drives on it"
                self._add(place, what, sets, ((offer, 1),), [(f"{key}.slots.{slot}", 1)])

    # -- drives ----------------------------------------------------------------------------------

    def _drives(self, key: str, host: Host, mount: str) -> None:
        array: Any = host.volumes[mount].array
        steps, outer, drives = f"{key}.volumes.{mount}.array", array, int(getattr(array, "drives", 1))
        top = steps
        while getattr(array, "of", None) is not None:
            array, steps = array.of, f"{steps}.of"
        now = getattr(array, "part", None)
        if now is None:
            return
        bays = free_bays(host)
        form = self._catalog.place_of(now)
        present = self._catalog.named(now)
        free = {f: n for f, n in bays.items() if n}
        for f, n in free.items():
            self.stock[f"{key}.bays.{f}"] = n
        room = Room(self._given, key.removeprefix("hosts."), mount, self._catalog)
        for offer in ([present] if present is not None else []) + self._fitting(steps, DRIVE, now):
            new = offer.part != now
            change = [f"{steps}={offer.part}"] if new else []
            if new and room.lacks(offer, outer):
                self._misfits.setdefault((top, room.why(offer, outer)), []).append(offer.part)
            elif new:
                self._add(top, f"{drives} x {offer.part}{room.words(offer, drives)}", change, ((offer, drives),))
            bay = next((f for f in free if f in offer.places or f == form), None)
            for g in growths(outer, free[bay]) if bay is not None else ():
                count = g.added + (drives if new else 0)
                if new and room.lacks(offer, outer, (drives + g.added) / drives):
                    continue
                held = room.words(offer, drives + g.added) if new else ""
                what = f"{count} x {offer.part}{held or ('' if new else ' more')}: {g.what}"
                sets = [*change, f"{top}.{g.key}={g.value}"]
                self._add(top, what, sets, ((offer, count),), [(f"{key}.bays.{bay}", g.added)])

        for bay in set(free) & set(NVME) - {form}:
            self._lanes(key, host, mount, bay, free[bay], room)

    def _lanes(self, key: str, host: Host, mount: str, bay: str, free: int, room: Room) -> None:
        """The volume on drives of another form, in bays and slots for drives that are free."""
        volume, array = f"{key}.volumes.{mount}", host.volumes[mount].array
        slots = [s for s in host.free_slots() if host.slots[s].bifurcation > 1]
        for offer in self._catalog.of(DRIVE) if array is not None else ():
            for g in anew(array, min(free, sum(host.slots[s].bifurcation for s in slots))):  # type: ignore[arg-type]
                if bay not in offer.places or room.lacks(offer, array, g.added / array.drives):  # type: ignore[arg-type,union-attr]
                    continue
                sets = [f"{volume}.array.{s}" for s in (f"of={offer.part}", f"{g.key}={g.value}", *g.besides)]
                what = f"{g.added} x {offer.part}{room.words(offer, g.added)} in {bay} bays: {g.what}"
                uses = [(f"{key}.bays.{bay}", g.added), *((f"{key}.slots.{s}", 1) for s in slots)]
                self._add(
                    f"{volume}.array", what, [*sets, f"{volume}.via=[{', '.join(slots)}]"], ((offer, g.added),), uses
                )


def _bonding(place: str, card: Nic) -> list[str]:
    return [f"{place}.bonding=hash"] if card.bonding == "none" else []


def _of(given: Any, key: str, default: int) -> Any:
    return given.get(key, default) if isinstance(given, Mapping) else getattr(given, key, default)


def _link(slot: Slot, lanes: int, generation: int) -> float:
    """Rate of a card's link in a slot [B/s]."""
    return float(
        pcie.tlp_rate(min(slot.generation, generation), int(pcie.trained_lanes(slot.lanes, lanes)), slot.payload.value)
    )
