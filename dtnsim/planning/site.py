"""What a purchase needs of a site besides the part: ports of its switch, rack units, watts that supplies still carry.

A price list says it, as ``site: {switch: {100 Gb/s: {free: 2, price: 450 EUR}}, rack units: {free: 4}, watts: {ours:
120 W}}``: how many are free, what each costs, and what the power supplies of a host carry beyond what is in it. What a
list does not say is no limit; a rate that its ``switch`` does not name has no port.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dtnsim.description.host import Host
from dtnsim.ground import units
from dtnsim.ground.errors import InputError, UnitError
from dtnsim.ground.units import Money, money

_KEYS: Final = ("switch", "rack units", "watts")
_RACK: Final = "rack units"
SHARED: Final = "site: "  #: what stands before names of the stock that all hosts share


@dataclass(frozen=True, slots=True)
class Free:
    """How many of something are free, and the price of each, if it has one."""

    count: int
    price: Money | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """What is free at a site."""

    switch: Mapping[float, Free] | None = None  #: Ports by rate [B/s]; None where nobody states them.
    rack: Free | None = None  #: Rack units; None where nobody states them.
    watts: Mapping[str, float] = field(default_factory=dict)  #: What the power supplies of a host still carry [W].

    @property
    def stock(self) -> dict[str, int]:
        """How many there are of what options take."""
        rack = {_RACK: self.rack.count} if self.rack is not None else {}
        ports = {_port(rate): free.count for rate, free in (self.switch or {}).items()}
        return {SHARED + name: n for name, n in {**rack, **ports}.items()} | {
            f"hosts.{host}.watts": int(most) for host, most in self.watts.items()
        }

    def needs(
        self,
        before: Mapping[str, Host],
        after: Mapping[str, Host],
        place: str,
        alike: Sequence[str],
        watts: float,
        rack_units: int,
    ) -> Iterator[tuple[str, int, Money | None]]:
        """(name in the stock, how many, price of each) of what a change takes.

        Args:
            before: Hosts without it.
            after: ... and with it.
            place: Where it goes; a whole machine where that is a host.
            alike: Hosts that change with it.
            watts: What it takes more than what it replaces, in each of them [W].
            rack_units: ... and of rack units, in all.
        """
        host = place.split(".")[1]
        machine = place.count(".") == 1
        if self.switch is not None:
            names = after if machine else alike
            for rate, count in (_ports(after, names) - _ports(before, names)).items():
                free = self.switch.get(rate, Free(0))
                yield SHARED + _port(rate), count, free.price
        if self.rack is not None and rack_units > 0:
            yield SHARED + _RACK, rack_units, self.rack.price
        if not machine and host in self.watts:
            yield f"hosts.{host}.watts", math.ceil(watts), None


def named(key: str) -> str:
    """What of the stock is short or charged, in words."""
    return key.removeprefix(SHARED).replace(".watts", " watts").removeprefix("hosts.")


def _port(rate: float) -> str:
    return f"switch ports of {units.show(rate, 'B/s')}"


def _ports(hosts: Mapping[str, Host], names: Sequence[str] | Mapping[str, Host]) -> Counter[float]:
    """Ports that hosts have plugged in, by rate [B/s]."""
    ports: Counter[float] = Counter()
    for name in names:
        for card in hosts[name].nics.values() if name in hosts else ():
            ports[card.rate.value] += card.links
    return ports


def read(section: object, where: str) -> Site:
    """Reads ``site:`` of a price list."""
    if section is None:
        return Site()
    shape = "site: {switch: {100 Gb/s: {free: 2, price: 450 EUR}}, rack units: {free: 4}, watts: {ours: 120 W}}"
    if not isinstance(section, Mapping) or any(key not in _KEYS for key in section):
        raise InputError(f"{where}: site: write {shape}")
    switch, rack, watts = (section.get(key) for key in _KEYS)
    if any(not isinstance(part, Mapping) for part in (switch, rack, watts) if part is not None):
        raise InputError(f"{where}: site: write {shape}")
    try:
        ports = {units.parse(str(r), "B/s"): _free(f, f"{where}: site: {r}") for r, f in (switch or {}).items()}
        carried = {str(host): units.parse(str(most), "W") for host, most in (watts or {}).items()}
    except UnitError as error:
        raise InputError(f"{where}: site: {error}") from None
    spare = _free(rack, f"{where}: site: rack units") if rack else None
    return Site(ports if switch is not None else None, spare, carried)


def _free(entry: Any, where: str) -> Free:
    count = str(entry.get("free")) if isinstance(entry, Mapping) and not set(entry) - {"free", "price"} else ""
    if not re.fullmatch(r"[0-9]{1,5}", count):
        raise InputError(f"{where}: write {{free: 2}}, with a price of each if it has one: {{free: 2, price: 450 EUR}}")
    return Free(int(count), money(str(entry["price"]), where) if "price" in entry else None)
