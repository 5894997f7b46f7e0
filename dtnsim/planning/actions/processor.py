"""Processors, memory, modules for channels that are free; of another socket with the board that they need."""

from functools import cache
from pathlib import Path

from dtnsim.components.base import expand
from dtnsim.ground import library
from dtnsim.planning import catalog as catalogs, offers
from dtnsim.planning.actions import bought
from dtnsim.planning.catalog import Offer
from dtnsim.planning.fitting import Shop


@bought("parts")
def processors(shop: Shop) -> None:
    """Another processor in its socket."""
    _replaced(shop, "cpu", shop.host.cpu.part)


@bought("parts")
def memory(shop: Shop) -> None:
    """Other memory, and more of it in free channels."""
    host, place = shop.host, f"{shop.key}.memory"
    _replaced(shop, "memory", host.memory.part)
    board = host.channels
    more = (board or 0) - host.memory.channels
    socket = shop.catalog.place_of(host.memory.part)
    for offer in shop.catalog.family_offers(catalogs.DIMM) if more > 0 else ():
        if socket not in offer.places:
            continue
        size, rate = host.memory.size.value + more * offer.size_B, min(host.memory.rate.value, offer.rate)
        sets = [f"{place}.channels={board}", f"{place}.size={size:.0f} B", f"{place}.rate={rate:.0f} /s"]
        shop.add(place, f"{more} x {offer.part} in free channels", sets, ((offer, more),), [(place, 1)])


def _replaced(shop: Shop, family: str, part: str | None) -> None:
    key = f"{shop.key}.{family}"
    for offer in shop.fitting(key, family, part):
        uses = [(key, 1)] if family == "memory" else []  # a new board brings its own
        shop.add(key, f"{offer.part} as {family}", [f"{key}={offer.part}"], ((offer, 1),), uses, gone=((part, 1),))


@bought("parts")
def boards(shop: Shop) -> None:
    """Processors of other sockets, each with the cheapest board that takes the host's cards, and memory for it.

    Only of hosts that name their board: of others nobody knows what has to be replaced with it.
    """
    host, key = shop.host, shop.key
    if host.board is None or host.board.part is None:
        return
    socket = shop.catalog.place_of(host.cpu.part)
    cpus = [o for o in shop.catalog.family_offers("cpu") if o.places and o.places[0] not in (socket, host.board.socket)]
    gone = tuple((part, 1) for part in (host.cpu.part, host.memory.part, host.board.part))
    for offer in shop.best(f"{key}.cpu", cpus, host.cpu.part):
        for memory in (m for m in shop.catalog.family_offers("memory") if offer.places[0] in m.places):
            for board in _boards(offer.places[0], shop.given.folder):
                sets = [f"{key}.board={board.part}", f"{key}.cpu={offer.part}", f"{key}.memory={memory.part}"]
                label = f"{offer.part} on {board.part} with {memory.part}"
                buys, uses = ((offer, 1), (board, 1), (memory, 1)), [(f"{key}.memory", 1)]
                if shop.add(f"{key}.cpu", label, sets, buys, uses, gone=gone):
                    break  # the cheapest board that has its slots


@cache
def _boards(socket: str, folder: Path | None) -> list[Offer]:
    """Boards with a price for a socket, the cheapest first."""
    names = (n.rpartition("/")[2] for n in library.names("parts") if n.startswith("board/"))
    priced = [o for n in names if expand(n).get("socket") == socket and (o := offers.of_part(n, folder)) is not None]
    return sorted(priced, key=lambda o: o.price.amount)
