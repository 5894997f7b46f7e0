"""TCP between hosts whose only cards speak InfiniBand goes as IP over them (IPoIB): what such cards are then."""

from collections.abc import Iterator
from typing import Final

from dtnsim.components.base import expand
from dtnsim.description.transfer import written
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Scalar
from dtnsim.ground.yamlio import Mapping

#: largest IP packets (Linux, Documentation/infiniband/ipoib.rst): connected mode; datagrams of links with 2 KiB
_CONNECTED, _DATAGRAM = "65520 B", "2044 B"
#: first year of hosts that are taken to have datagrams: cards of ConnectX-4 on have no connected mode with their own
#: offloads (NVIDIA MLNX_OFED documentation, IPoIB: enhanced IPoIB is datagram mode alone)
_DATAGRAMS: Final = 2015
_VERBS: Final = ("ib_", "perftest")  #: tools that speak verbs, and no TCP


def over_tcp(raw: Mapping) -> frozenset[str]:
    """Hosts that transfers of a path file leave for other hosts with a tool over TCP, and no card is named."""
    return frozenset(name for item in written(raw) if isinstance(item, Mapping) for name in _ends(item))


def _ends(item: Mapping) -> Iterator[str]:
    tool = item.get("tool")
    tool_name = str(tool.get("name", tool.get("kind")) if isinstance(tool, Mapping) else tool)
    ends = {str(item.get(end, "")).partition(":")[0].strip() for end in ("from", "to")}
    if len(ends) > 1 and not item.get("nics") and not tool_name.startswith(_VERBS):
        yield from ends


def cards(name: str, host: Mapping, notes: list[str]) -> Mapping:
    """A host with the cards that carry TCP; with InfiniBand alone these are IPoIB, which is noted."""
    if not speaks_verbs_alone(host):
        return host
    one = "nic" in host
    nics = {"nic": host["nic"]} if one else host["nics"]
    ipoib_nics = Mapping(host.file, host.line)
    year = str(host.get("year", ""))
    for key, card in nics.items():
        location = (card.file, card.line) if isinstance(card, Mapping | Scalar) else (host.file, host.line)
        written = card.clone() if isinstance(card, Mapping) else Mapping(*location)
        if not isinstance(card, Mapping):
            written.put("part", card, *location)
        mode = _DATAGRAM if not year.isdigit() or int(year) >= _DATAGRAMS else _CONNECTED
        if "mtu" not in written:
            written.put("mtu", Scalar(mode, *location, "assumed: as IPoIB is set up in its years"), *location)
        written.put("protocol", Scalar("ethernet", *location), *location)
        ipoib_nics.put(key, written, *location)
        where = f"hosts.{name}.nic" if one else f"hosts.{name}.nics.{key}"
        modes = f"{_CONNECTED} in connected mode, {_DATAGRAM} in datagram mode"
        notes.append(f"{where}: TCP over InfiniBand is IPoIB, with mtu: {written['mtu']} ({modes})")
    return host.but("nic", ipoib_nics["nic"]) if one else host.but("nics", ipoib_nics)


def speaks_verbs_alone(host: Mapping) -> bool:
    """Whether all cards of a host are InfiniBand; a host of which no card is known has none."""
    cards = host.get("nics") if "nic" not in host else {"nic": host["nic"]}
    return isinstance(cards, dict) and bool(cards) and all(map(_speaks_verbs, cards.values()))


def _speaks_verbs(card: object) -> bool:
    try:
        return str(expand(card, family="nic").get("protocol")) == "infiniband"
    except SpecError:
        return False  # what is wrong with it is said when it is built
