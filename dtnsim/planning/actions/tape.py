"""More drives in a tape library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dtnsim.planning.actions import bought

if TYPE_CHECKING:
    from dtnsim.description.host import Host
    from dtnsim.planning.fitting import Shop

#: drives that are bought at once, over those that are there
_MORE: Final = (0.25, 0.5, 1.0)


@bought("parts")
def tape_drives(shop: Shop, name: str, host: Host) -> None:
    """More of the drives that are there: frames have room for them, robots and staging disks stay as they are."""
    for mount in shop.used(name, host):
        system: Any = host.volumes[mount].filesystem
        offer = shop.present(system.part) if system.kind == "tape" else None
        key = f"hosts.{name}.volumes.{mount}.filesystem"
        for more in dict.fromkeys(max(1, round(system.drives * m)) for m in _MORE) if offer is not None else ():
            what = f"{more} x {offer.part} more: {system.drives + more} drives"  # type: ignore[union-attr]
            shop.add(key, what, [f"{key}.drives={system.drives + more}"], ((offer, more),))  # type: ignore[arg-type]
