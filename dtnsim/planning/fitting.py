"""The shop: what can be bought for a path's hosts, at which price, and what does not fit.

Only stated room counts: free slots are the empty ones of the host's ``slots`` and ``board``, free bays those of its
``chassis``, free memory channels those of chassis or board. The checks of the description decide whether a card fits
its slot, an array its level, and so on.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from functools import cached_property

from dtnsim.components.base import expand
from dtnsim.description.host import Host
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import split_end
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.units import Money, cents
from dtnsim.planning import actions, catalog as catalogs, offers, site as sites
from dtnsim.planning.catalog import Catalog, Offer
from dtnsim.planning.money import Exchange
from dtnsim.planning.option import Buys, Offered, Option, Refused
from dtnsim.steady import timed


def options(shop: Shop, hosts: Sequence[str], allow: Collection[str] = ("parts",)) -> Offered:
    """What can be bought for some hosts; the shop is an empty one."""
    for name in actions.written(shop.given, hosts):
        shop.visit(name)
        actions.fill(shop, allow)
    return Offered(
        {k: tuple(v) for k, v in shop.found.items() if v}, shop.stock, tuple(shop.notes), tuple(shop.refused())
    )


class Shop:
    """Collects options host by host (the ``host``, its ``name`` and ``key`` in the path); misfits become notes.

    With ``watts_matter`` offers with unstated power are out; without a currency that of the first offer holds.
    """

    def __init__(
        self, path: PathSpec, catalog: Catalog, rates: Exchange, currency: str = "", *, watts_matter: bool = False
    ) -> None:
        self.given, self.catalog, self._rates = path, catalog, rates
        self._currency = currency or catalog.offers[0].price.currency
        self._watts = watts_matter
        self.name, self.key = "", ""
        self.host: Host
        self.found: dict[str, list[Option]] = {}
        self.stock: dict[str, int] = catalog.site.stock
        self.notes: list[str] = []
        self.misfits: dict[tuple[str, str], list[str]] = {}
        self._dark: list[str] = []
        self._beaten: list[Refused] = []

    @cached_property
    def _stations(self) -> list[str]:
        return [s.name for s in timed.composer(self.given, Draw()).problem().stations]

    def refused(self) -> Iterator[Refused]:
        """What fits nowhere, and why."""
        for (place, why), refused in self.misfits.items():
            elsewhere = {offer.part for o in self.found.get(place, ()) for offer, _ in o.buys}
            for part in dict.fromkeys(p for p in refused if p not in elsewhere):
                yield Refused(part, place, why)
        for part in dict.fromkeys(self._dark):
            yield Refused(part, "", "nobody states its power", "dark")
        yield from self._beaten

    def visit(self, name: str) -> None:
        """Moves on to a host."""
        self.name, self.host, self.key = name, self.given.hosts[name], f"hosts.{name}"
        self.stock[f"{self.key}.memory"] = 1
        for slot in self.host.free_slots():
            self.stock[f"{self.key}.slots.{slot}"] = 1

    def takes_cards(self) -> bool:
        """Whether the host has slots, stated or not: a laptop or a provider's machine has none."""
        machine = "a laptop" if self.host.portable else "a provider's machine" if self.host.rented else ""
        if machine and (note := f"{self.key}: {machine} takes no cards") not in self.notes:
            self.notes.append(note)
        return not machine

    def on_the_way(self, card: str) -> bool:
        """Whether some transfer passes a card of the host."""
        return any(s.startswith(f"{self.name}.{card}.") for s in self._stations)

    def used(self) -> list[str]:
        """Volumes of the host that transfers use, also through mounts of other hosts."""
        ends = [end for t in self.given.transfers for end in (t.source_end, t.to)]
        for other in self.given.hosts.values():
            ends += [v.server for v in other.volumes.values() if v.server is not None]
        mounts = (self.host.mount_of(path) for alias, path in map(split_end, ends) if alias == self.name)
        return list(dict.fromkeys(m for m in mounts if m is not None))

    # -- what an option costs, and whether the description takes it -------------------------------

    def add(
        self,
        place: str,
        label: str,
        overrides: Sequence[str],
        buys: Buys,
        uses: Sequence[tuple[str, int]] = (),
        wired: Buys = (),
        gone: Sequence[tuple[str | None, int]] = (),
    ) -> bool:
        """Adds an option if the path can be described with it; a card comes with the cable or optic of one port.

        Args:
            label: What the option is called.
            overrides: What it changes of the path, ``key=value``.
            buys: Offers, and how many of each.
            uses: Slots, ports and bays that it takes, and how many.
            wired: Cards, and how many more ports of them get a cable.
            gone: Parts that leave, and how many: their power counts against that of what is bought.
        """
        if self.host.rented:
            return False
        bought = self._with_cables(buys, wired)
        site, host = self.catalog.site, place.split(".")[1]
        dark = [o.part for o, _ in bought if o.watts is None and o.family != catalogs.EXTRA]
        if dark and (self._watts or (host in site.watts and place != f"hosts.{host}")):
            self._dark += dark
            return False
        try:
            changed = self.given.changed(list(overrides))
            if place == self.key:  # a whole machine: its volumes serve, and the tool runs on it
                timed.composer(changed, Draw()).problem()
        except DtnsimError as error:
            why = getattr(error, "message", str(error)).rpartition(": ")[2]
            self.misfits.setdefault((place, why), []).append(buys[0][0].part if buys else label)
            return False
        alike = actions.changed_hosts(self.given, changed)
        times = max(len(alike), 1)  # what is put into one is put into each that is like it
        bought = [(offer, count * times) for offer, count in bought]
        leaves = [(present, n * times) for part, n in gone if (present := self.present(part)) is not None]
        watts = sum((o.watts or 0.0) * n for o, n in bought) - sum((o.watts or 0.0) * n for o, n in leaves)
        rack = sum(o.units * n for o, n in bought) - sum(o.units * n for o, n in leaves)
        needs = [*site.needs(self.given.hosts, changed.hosts, place, alike, watts / times, rack)]
        short = [
            f"needs {n} {sites.named(key)}, {left} free" for key, n, _ in needs if n > (left := self.stock.get(key, 0))
        ]
        if short:
            self.misfits.setdefault((place, " and ".join(short)), []).append(buys[0][0].part if buys else label)
            return False
        day = max((o.date for o, _ in bought), default=dt.date.min)
        charged = ((Offer(sites.named(key), catalogs.EXTRA, each, 0.0, day, "the list's site", 0.0, ""), n)
                   for key, n, each in needs if each is not None)  # fmt: skip
        bought += charged
        bought += self._traded_in(leaves, self._sum(bought))
        prices, price = self._each(bought), self._sum(bought)
        taken = (*uses, *((name, n) for name, n, _ in needs))
        label = f"in each of {times}: {label}" if times > 1 else label
        self.found.setdefault(place, []).append(
            Option(place, label, tuple(overrides), tuple(bought), price, watts, taken, prices)
        )
        return True

    def _with_cables(self, buys: Buys, wired: Buys) -> list[tuple[Offer, int]]:
        """The purchases, with the cable or optic of each card."""
        counts: dict[Offer, int] = dict(buys)
        for offer, count in (*buys, *wired):
            for extra, each in offer.extras:
                cable = self.catalog.extras[extra]
                counts[cable] = counts.get(cable, 0) + each * count
        return [(offer, count) for offer, count in counts.items() if count]

    def _each(self, bought: Sequence[tuple[Offer, int]]) -> tuple[Decimal, ...]:
        return tuple(cents(self._rates.convert(o.unit_price(n), self._currency, o.part)) for o, n in bought)

    def _sum(self, bought: Sequence[tuple[Offer, int]]) -> Decimal:
        return sum((p * n for p, (_, n) in zip(self._each(bought), bought, strict=True)), Decimal())

    def _traded_in(self, leaves: Sequence[tuple[Offer, int]], left: Decimal) -> Iterator[tuple[Offer, int]]:
        """Trade-in of the parts that leave, in all no more than what is left to pay."""
        for offer, count in leaves:
            used = self._rates.convert(offer.price, self._currency, offer.part) * Decimal(str(offer.trade_in))
            paid = min(cents(used), (left / count).quantize(Decimal("0.01"), ROUND_DOWN))
            if paid > 0:
                left -= paid * count
                price = Money(-paid, self._currency)
                part = f"trade-in of {offer.part}"
                yield replace(offer, part=part, family=catalogs.EXTRA, price=price, steps=(), support=0.0), count

    def fitting(self, place: str, family: str, old: str | None) -> list[Offer]:
        """Offers of a family that fit the socket or bay of what is there."""
        form = self.catalog.place_of(old)
        candidates = [o for o in self.catalog.family_offers(family) if o.part != old]
        if candidates and not form and not self.host.rented and not any(old in o.replaces for o in candidates):
            self.notes.append(f"{place}: what fits in the place of {old or 'the present part'} is not in the catalogue")
        fits = [o for o in candidates if (form and form in o.places) or (old is not None and old in o.replaces)]
        return self.best(place, fits, old)

    def cards(
        self, place: str, family: str, old: str | None, protocol: str = "", *, outside: bool = False
    ) -> list[Offer]:
        """Cards of a family that speak a protocol (any if empty), or lead ``outside``, to shelves of drives.

        Whether a slot takes them, the description says.
        """
        every = [o for o in self.catalog.family_offers(family) if (catalogs.OUTSIDE in o.places) is outside]
        matching = (expand(o.part).get("protocol", protocol and "ethernet") == protocol for o in every)
        alike = [o for o, same in zip(every, matching, strict=True) if same or not protocol]
        return self.best(place, [o for o in alike if o.part != old], old)

    def best(self, place: str, candidates: Sequence[Offer], old: str | None) -> list[Offer]:
        """Offers that no other beats."""
        unbeaten, beaten = offers.unbeaten(candidates, self.given.folder, self.present(old))
        why = "another costs no more and none of its figures is worse"
        self._beaten += [Refused(o.part, place, why, "beaten") for o in beaten]
        return unbeaten

    def present(self, part: str | None) -> Offer | None:
        """The present part as an offer; None if neither a list nor its own file has a price."""
        if part is None:
            return None
        return self.catalog.named(part) or offers.of_part(part, self.given.folder)

    def size_of(self, part: str | None) -> float:
        """Bytes of a drive; 0 where nobody says."""
        offer = self.present(part)
        return offer.size_B if offer is not None and offer.size_B else offers.size_of(part)
