"""Processors, memory, and modules for channels that are free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dtnsim.planning import catalog as catalogs
from dtnsim.planning.actions import bought

if TYPE_CHECKING:
    from dtnsim.description.host import Host
    from dtnsim.planning.fitting import Shop


@bought("parts")
def processors(shop: Shop, name: str, host: Host) -> None:
    """Another processor in its socket."""
    _replaced(shop, f"hosts.{name}.cpu", "cpu", host.cpu.part)


@bought("parts")
def memory(shop: Shop, name: str, host: Host) -> None:
    """Other memory, and more of it in free channels."""
    key = f"hosts.{name}"
    _replaced(shop, f"{key}.memory", "memory", host.memory.part)
    board = host.channels
    more = (board or 0) - host.memory.channels
    socket = shop.catalog.place_of(host.memory.part)
    for offer in shop.catalog.of(catalogs.DIMM) if more > 0 else ():
        if socket not in offer.places:
            continue
        place = f"{key}.memory"
        size, rate = host.memory.size.value + more * offer.size_B, min(host.memory.rate.value, offer.rate)
        sets = [f"{place}.channels={board}", f"{place}.size={size:.0f} B", f"{place}.rate={rate:.0f} /s"]
        shop.add(place, f"{more} x {offer.part} in free channels", sets, ((offer, more),), [(place, 1)])


def _replaced(shop: Shop, key: str, family: str, now: str | None) -> None:
    for offer in shop.fitting(key, family, now):
        uses = [(key, 1)] if family == "memory" else []  # a new board brings its own
        shop.add(key, f"{offer.part} as {family}", [f"{key}={offer.part}"], ((offer, 1),), uses, gone=((now, 1),))
