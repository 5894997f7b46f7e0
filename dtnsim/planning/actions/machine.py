"""Whole machines in the place of yours, or beside them as a pool that shares the work."""

from dataclasses import replace
from typing import Final

from dtnsim.components.device import Device
from dtnsim.description.hosts import named as described
from dtnsim.description.transfer import DEVICES, split_end
from dtnsim.planning import catalog as catalogs
from dtnsim.planning.actions import bought
from dtnsim.planning.actions.drive import Room
from dtnsim.planning.fitting import Shop
from dtnsim.planning.option import Offered, Option

_MOST_BESIDE: Final = 3  #: machines beside one that are tried


@bought("hosts")
def in_its_place(shop: Shop) -> None:
    """Each machine of the list in the place of a host, once for each of its volumes."""
    name, ends, why = shop.name, *_ends(shop)
    if shop.host.rented:
        why = f"{shop.key}: is an instance of a cloud, so no machine is offered in its place; ask for a larger one."
    if why:
        shop.notes.append(why)
        return
    rooms = [Room(shop.given, shop.size_of, name, m) for m in shop.used()]
    for offer in shop.catalog.family_offers(catalogs.HOST):
        if offer.part == shop.given.host_files.get(name):
            continue
        volumes = described(offer.part).get("volumes") or {}
        for mount in [m for m, v in volumes.items() if v.get("array") is not None] if ends else [""]:
            array = Device.build(volumes[mount]["array"]) if mount else None
            if array is not None and (room := next((r for r in rooms if r.lacks(array)), None)) is not None:
                shop.misfits.setdefault((shop.key, room.why(array)), []).append(offer.part)
                continue
            sets = [f"{shop.key}={offer.part}", *(f"{key}={name}:{mount}" for key in ends)]
            where = f", the data on its {mount}" if mount else ""
            gone = ((shop.given.host_files.get(name), 1),)
            shop.add(shop.key, f"{offer.part} in its place{where}", sets, ((offer, 1),), gone=gone)


@bought("hosts")
def beside_it(shop: Shop) -> None:
    """One, two or more machines like a host beside it, each with its share of the transfers that end on it."""
    path, name = shop.given, shop.name
    offer = next((o for o in shop.catalog.family_offers(catalogs.HOST) if o.part == path.host_files.get(name)), None)
    ended = (n for n, t in enumerate(path.transfers) if name in (split_end(t.source_end)[0], split_end(t.to)[0]))
    keys = dict.fromkeys(map(path.transfer_key, ended))
    for count in range(1, _MOST_BESIDE + 1) if offer is not None and keys and not _ends(shop)[1] else ():
        new_hosts = [f"{name}-{n + 2}" for n in range(count)]
        if any(other in path.hosts for other in new_hosts):
            return
        sets = [f"hosts.{other}={{like: {name}}}" for other in new_hosts]
        sets += [f"{key}.pool={{{name}: [{', '.join(new_hosts)}]}}" for key in keys]
        label = f"{count} more like {name} ({offer.part}) beside it, the files shared out"  # type: ignore[union-attr]
        if not shop.add(shop.key, label, sets, ((offer, count),)):  # type: ignore[arg-type]
            return  # fewer files than hosts, links that lead to one host only


def is_beside(option: Option) -> bool:
    """Whether machines are put beside a host, and not in its place."""
    return any(".pool=" in o for o in option.overrides)


def left_by(offered: Offered, machines: Option) -> Offered:
    """What can be bought beside machines that are put beside a host, which take of what there is."""
    if not is_beside(machines):
        return offered
    left = dict(offered.stock)
    for key, n in machines.uses:
        left[key] -= n
    return replace(offered, stock=left)


def _ends(shop: Shop) -> tuple[list[str], str]:
    """(keys that name volumes of the host, of transfers and mounts, why the host cannot be replaced)."""
    named = [(f"{shop.given.transfer_key(number)}.{key}", end) for number, t in enumerate(shop.given.transfers)
             for key, end in (("from", t.source_end), ("to", t.to))]  # fmt: skip
    named += [(f"hosts.{other}.volumes.{mount}.server", volume.server) for other, host in shop.given.hosts.items()
              for mount, volume in host.volumes.items() if volume.server is not None]  # fmt: skip
    keys = []
    for key, end in named:
        alias, path = split_end(end)
        if alias != shop.name or path in DEVICES:
            continue
        mount = shop.host.mount_of(path)
        if mount is not None and shop.host.volumes[mount].array is None:
            return [], f"{shop.key}: mounts {mount} from elsewhere, so no whole machine is offered in its place."
        if mount is not None and shop.host.volumes[mount].filesystem.kind == "tape":
            return [], f"{shop.key}: {mount} is a tape library, so no whole machine is offered in its place."
        keys.append(key)
    return keys, ""
