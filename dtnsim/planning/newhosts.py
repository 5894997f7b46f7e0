"""Whole machines in the place of yours, or beside them as a pool that shares the work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dtnsim.description.hosts import named as described
from dtnsim.description.spec import split_end
from dtnsim.description.transfer import DEVICES
from dtnsim.ground.errors import DtnsimError
from dtnsim.planning import catalog as catalogs
from dtnsim.planning import explore
from dtnsim.planning.option import Option
from dtnsim.planning.stages import Stage, named

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.planning.catalog import Catalog, Offer
    from dtnsim.planning.explore import Asked
    from dtnsim.planning.money import Exchange


#: machines beside one that are tried
_MOST_BESIDE: Final = 3


def stages(
    given: PathSpec, asked: Asked, listed: Catalog, known: Exchange, *, tuning: bool, parts: bool
) -> tuple[list[Stage], tuple[str, ...]]:
    """The path with each machine of the list in the place of each of yours, tuned; and why some are not offered.

    Of machines as they are sold, those that nothing cheaper beats get parts of the list too, where they are allowed and
    the target is not met without. More of what a host is already come beside it, each with its share of the files.
    """
    found: list[Stage] = []
    notes: list[str] = []
    settings: dict[Option, list[str]] = {}
    for name in asked.hosts:
        whole, why = _ends(given, name)
        if why:
            notes.append(why)
            continue
        for offer in listed.of(catalogs.HOST):
            for option in _placed(given, name, whole, offer, listed, known, asked):
                settings[option] = _tuned(given, option, asked, tuning=tuning)
                found.append(asked.stage(named((option,)), given, (option,), settings[option]))
        found += [  # parts of the list would have to be bought for each of them, so none are
            asked.stage(named((option,)), given, (option,), _tuned(given, option, asked, tuning=tuning))
            for option in _beside(given, name, listed, known, asked)
        ]
    for stage in explore.frontier(found, asked.confidence) if parts else ():
        option = stage.options[0]
        if stage.probability < asked.confidence and option in settings:
            found += _with_parts(given, option, settings[option], asked, listed, known)
    return found, tuple(notes)


def _ends(given: PathSpec, name: str) -> tuple[list[str], str]:
    """(keys of the transfers' ends on volumes of a host, why the host cannot be replaced)."""
    keys = []
    for number, transfer in enumerate(given.transfers):
        for key, end in (("from", transfer.source_end), ("to", transfer.to)):
            alias, path = split_end(end)
            if alias != name or path in DEVICES:
                continue
            mount = given.hosts[name].mount_of(path)
            if mount is not None and given.hosts[name].volumes[mount].array is None:
                return [], f"hosts.{name}: mounts {mount} from elsewhere, so no whole machine is offered in its place."
            keys.append(f"{given.transfer_key(number)}.{key}")
    return keys, ""


def _placed(
    given: PathSpec, name: str, ends: list[str], offer: Offer, listed: Catalog, known: Exchange, asked: Asked
) -> Iterator[Option]:
    """A machine in the place of a host, once for each of its volumes."""
    if offer.part == given.host_files.get(name):
        return
    volumes = described(offer.part).get("volumes") or {}
    buys = [(offer, 1), *((listed.extras[extra], n) for extra, n in offer.extras)]
    cost = sum(known.to(o.price, asked.currency, o.part) * n for o, n in buys)
    watts = sum((o.watts or 0.0) * n for o, n in buys)
    dark = asked.max_watts < float("inf") and offer.watts is None
    if cost > asked.budget or watts > asked.max_watts or dark:
        return
    for mount in [m for m, v in volumes.items() if v.get("array") is not None] if ends else [""]:
        sets = [f"hosts.{name}={offer.part}", *(f"{key}={name}:{mount}" for key in ends)]
        try:
            given.changed(sets)
        except DtnsimError:
            continue
        where = f", the data on its {mount}" if mount else ""
        yield Option(f"hosts.{name}", f"{offer.part} in its place{where}", tuple(sets), tuple(buys), cost, watts)


def _beside(given: PathSpec, name: str, listed: Catalog, known: Exchange, asked: Asked) -> Iterator[Option]:
    """One, two or more machines like a host beside it, each with its share of the transfers that end on it."""
    offer = next((o for o in listed.of(catalogs.HOST) if o.part == given.host_files.get(name)), None)
    keys = dict.fromkeys(
        given.transfer_key(n)
        for n, t in enumerate(given.transfers)
        if name in (split_end(t.source_end)[0], split_end(t.to)[0])
    )
    if offer is None or not keys or (asked.max_watts < float("inf") and offer.watts is None):
        return
    each = [(offer, 1), *((listed.extras[extra], n) for extra, n in offer.extras)]
    for count in range(1, _MOST_BESIDE + 1):
        buys = tuple((o, n * count) for o, n in each)
        cost = sum(known.to(o.price, asked.currency, o.part) * n for o, n in buys)
        watts = sum((o.watts or 0.0) * n for o, n in buys)
        if cost > asked.budget or watts > asked.max_watts:
            return
        others = [f"{name}-{n + 2}" for n in range(count)]
        if any(other in given.hosts for other in others):
            return
        sets = [f"hosts.{other}={{like: {name}}}" for other in others]
        sets += [f"{key}.pool={{{name}: [{', '.join(others)}]}}" for key in keys]
        try:
            given.changed(sets)
        except DtnsimError:  # fewer files than hosts, links that lead to one host only
            return
        what = f"{count} more like {name} ({offer.part}) beside it, the files shared out"
        yield Option(f"hosts.{name}", what, tuple(sets), buys, cost, watts)


def _tuned(given: PathSpec, option: Option, asked: Asked, *, tuning: bool) -> list[str]:
    """Settings that help a path with a machine."""
    path = given.changed(option.overrides)
    return explore.settings_of(explore.free(path, asked)[0]) if tuning else []


def _with_parts(
    given: PathSpec, option: Option, settings: list[str], asked: Asked, listed: Catalog, known: Exchange
) -> Iterator[Stage]:
    """A machine with parts of the list."""
    path = given.changed([*option.overrides, *settings])
    left = replace(asked, most=asked.most - 1, max_watts=asked.max_watts - option.watts)
    found = explore.purchases(path, left, left.offered(path, listed, known), spent=option.price)
    for chosen, _ in found.frontier[1:]:
        yield asked.stage(named((option, *chosen)), given, (option, *chosen), settings)
