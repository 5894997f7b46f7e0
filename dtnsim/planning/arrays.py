"""How arrays of drives grow: what a level, a vdev or a row of single disks can take, and in which steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dtnsim.components.device import Device

#: levels that grow by drives, and by how many at once: mdadm(8), GROW MODE; RAID 10 keeps pairs
_BY_DRIVES: Final = {0: 1, 5: 1, 6: 1, 10: 2}
#: widest array of single parity or double parity that is grown into: beyond it a rebuild takes too long to be prudent
WIDEST: Final = 16


@dataclass(frozen=True, slots=True)
class Growth:
    """An array made larger.

    Attributes:
        key: Which number of the array grows.
        value: What it becomes.
        added: Drives that it takes.
        what: In words.
    """

    key: str
    value: int
    added: int
    what: str


def growths(array: Device, free: int) -> Iterator[Growth]:
    """The ways in which an array can grow into some free bays.

    Vdevs grow by whole vdevs of the same width (OpenZFS, zpool-add(8): data are spread over all of them from then on),
    RAID 0, 5, 6 and 10 by drives, RAID 50 and 60 by groups. Mirrors of RAID 1 gain nothing, and a single drive would
    become an array of another safety.
    """
    given: Any = array
    inner = int(given.of.drives) if getattr(given, "of", None) is not None else 0
    if not inner:
        return
    kind, level, groups = given.kind, getattr(given, "level", None), int(getattr(given, "groups", 1))
    if kind in ("raidz", "draid", "mirror") or level in (50, 60) or (kind == "raid" and groups > 1):
        each = int(given.disks) * inner
        for more in range(1, free // each + 1):
            noun = "vdev" if kind != "raid" else "group"
            yield Growth("groups", groups + more, more * each, f"{groups + more} {noun}s of {given.disks}")
        return
    step = 1 if kind == "jbod" else _BY_DRIVES.get(int(level), 0) if level is not None else 0
    most = WIDEST if level in (5, 6) else 1000
    disks = int(given.disks)
    while step and disks + step <= most and (disks + step - int(given.disks)) * inner <= free:
        disks += step
        name = "disks side by side" if kind == "jbod" else f"disks in RAID {level}"
        yield Growth("disks", disks, (disks - int(given.disks)) * inner, f"{disks} {name}")
