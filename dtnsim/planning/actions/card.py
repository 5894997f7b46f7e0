"""Network cards and adapters: in the place of others, in other slots, several beside each other."""

from collections.abc import Iterator, Mapping
from typing import Any

from dtnsim.components.base import expand
from dtnsim.components.chassis import Slot
from dtnsim.components.nic import Hba, Nic
from dtnsim.description.host import Host
from dtnsim.ground.grouping import by_key
from dtnsim.physics import pcie
from dtnsim.planning.actions import bought
from dtnsim.planning.catalog import Offer
from dtnsim.planning.fitting import Shop
from dtnsim.planning.option import Buys


@bought("parts")
def network_cards(shop: Shop) -> None:
    """Cards that some transfer passes."""
    for nic, card in shop.host.nics.items() if shop.takes_cards() else ():
        if shop.on_the_way(nic):
            _nic(shop, f"{shop.key}.nics.{nic}", card)


@bought("parts")
def adapters(shop: Shop) -> None:
    """Adapters that some transfer passes; equal ones of the same volumes together."""
    passed = {n: a for n, a in shop.host.hbas.items() if shop.on_the_way(n)} if shop.takes_cards() else {}
    volumes = {n: tuple(m for m in shop.used() if n in shop.host.volumes[m].via) for n in passed}
    for names in by_key(((a.part, a.uplink_lanes, volumes[n]), n) for n, a in passed.items()).values():
        _hba(shop, names)


def _nic(shop: Shop, place: str, card: Nic) -> None:
    host = shop.host
    present = shop.catalog.named(card.part)
    for offer in (None, *shop.cards(place, "nic", card.part, card.protocol)):
        part = offer.part if offer is not None else card.part
        if part is None or (offer is not None and part == card.part):
            continue
        ports = int(expand(part).get("ports", 1))
        for slot, moved in _seats(host, card, offer):
            _card(shop, place, offer, card, slot if moved else None, max(ports, card.links))
        if card.protocol != "ethernet":
            continue
        if offer is None and ports > card.links:
            _bonded(shop, place, card, present, ports, [])
        for slot in kinds_of_slots(host):
            which = offer or present
            if which is not None:
                _bonded(shop, place, card, which, 2 * max(card.links, 1), [slot], new=offer is not None)


def _card(shop: Shop, place: str, offer: Offer | None, card: Nic, slot: str | None, ports: int) -> None:
    """A card in its own slot or another; with all its ports where it has more than are used."""
    part = offer.part if offer is not None else str(card.part)
    sets = [f"{place}={part}"] if offer is not None else []
    sets += [f"{place}.slot={slot}"] if slot is not None else []
    where = f" in slot {slot}" if slot is not None else ""
    uses = [(f"{shop.key}.slots.{slot}", 1)] if slot is not None else []
    buys: Buys = ((offer, 1),) if offer is not None else ()
    gone = ((card.part, 1),) if buys else ()
    shop.add(place, f"{part}{where}" if buys else f"{part} moved to slot {slot}", sets, buys, uses, gone=gone)
    if offer is not None and ports > card.links and card.protocol == "ethernet":
        both = [*sets, f"{place}.ports={ports}", *_bonding(place, card)]
        shop.add(place, f"{part}{where}, {ports} ports bonded", both, buys, uses, ((offer, ports - 1),), gone)


def _bonded(
    shop: Shop, place: str, card: Nic, offer: Offer | None, ports: int, slots: list[str], *, new: bool = False
) -> None:
    """More ports in a bond: of the present card, or of a second one beside it."""
    part = offer.part if offer is not None else str(card.part)
    sets = [f"{place}={part}"] if new else []
    sets += [f"{place}.ports={ports}", *_bonding(place, card)]
    sets += [f"{place}.more_slots=[{', '.join(slots)}]"] if slots else []
    buys: Buys = ((offer, len(slots) + new),) if offer is not None and slots else ()
    label = f"{1 + len(slots)} x {part} bonded" if slots else f"{ports} ports of {part} bonded"
    cabled = len(slots) + (1 if new else max(card.links, 1))  # ports that have a cable, or come with one
    wired: Buys = ((offer, ports - cabled),) if offer is not None else ()
    shop.add(place, label + "".join(f", the second in slot {s}" for s in slots), sets, buys,
              [(f"{shop.key}.slots.{s}", 1) for s in slots], wired)  # fmt: skip


def _hba(shop: Shop, names: list[str]) -> None:
    """Equal adapters of the same volumes: all of them replaced, or one more beside a single one."""
    host, key = shop.host, shop.key
    adapter, count = host.hbas[names[0]], len(names)
    place = f"{key}.hbas.{'+'.join(names)}"
    mounts = [m for m, v in host.volumes.items() if list(v.via) == names]
    present = shop.catalog.named(adapter.part)
    for offer in (*([present] if present is not None else ()), *shop.cards(place, "hba", adapter.part)):
        if offer is not present:
            sets = [f"{key}.hbas.{n}={offer.part}" for n in names]
            shop.add(place, f"{count} x {offer.part}", sets, ((offer, count),), gone=((adapter.part, count),))
            for slot, moved in _seats(host, adapter, offer) if count == 1 else ():
                if moved:
                    with_slot, uses = [*sets, f"{key}.hbas.{names[0]}.slot={slot}"], [(f"{key}.slots.{slot}", 1)]
                    label, gone = f"{offer.part} in slot {slot}", ((adapter.part, 1),)
                    shop.add(place, label, with_slot, ((offer, 1),), uses, gone=gone)
        for slot in kinds_of_slots(host) if mounts and count == 1 else ():
            wired = f", uplink_lanes: {adapter.uplink_lanes}" if adapter.uplink_lanes else ""
            second = f"{names[0]}-2"
            sets = [f"{key}.hbas.{second}={{part: {offer.part}, slot: {slot}{wired}}}"]
            sets += [f"{key}.volumes.{m}.via=[{names[0]}, {second}]" for m in mounts]
            label = f"a second adapter, {offer.part} in slot {slot}, half of the drives on it"
            shop.add(place, label, sets, ((offer, 1),), [(f"{key}.slots.{slot}", 1)])


def _seats(host: Host, card: Nic | Hba, offer: Offer | None) -> Iterator[tuple[str | None, bool]]:
    """(slot, whether it is another than now) where a card could sit: its own, and free ones that carry more."""
    new = card if offer is None else expand(offer.part)
    numbers = new if isinstance(new, Mapping) else vars(new)
    width, generation = (int(numbers.get(k, d)) for k, d in (("card_lanes", 8), ("card_generation", 3)))
    current = host.slots.get(card.slot or "")
    if offer is not None:
        yield card.slot, False
    if current is None:
        return
    current_Bps = _link(current, width, generation) if current.accepts(width) else 0.0
    for name in kinds_of_slots(host):
        slot = host.slots[name]
        if slot.accepts(width) and _link(slot, width, generation) > current_Bps:
            yield name, True


def kinds_of_slots(host: Host) -> list[str]:
    """Free slots, one of each kind."""
    seen: dict[Any, str] = {}
    for name in host.free_slots():
        s = host.slots[name]
        if s.bifurcation > 1:  # it is wired to drives' bays
            continue
        seen.setdefault((s.generation, s.lanes, s.connector, s.behind, s.socket), name)
    return list(seen.values())


def _bonding(place: str, card: Nic) -> list[str]:
    return [f"{place}.bonding=hash"] if card.bonding == "none" else []


def _link(slot: Slot, lanes: int, generation: int) -> float:
    """Rate of a card's link in a slot [B/s]."""
    return float(
        pcie.tlp_rate(min(slot.generation, generation), int(pcie.trained_lanes(slot.lanes, lanes)), slot.payload.value)
    )
