"""How data lie on their drives: levels of arrays, mirrors in the place of parity, stripes of parallel file systems.

Nothing is bought, but what is there has to be copied away and back, and an array may survive less than before.
"""

from collections.abc import Iterator
from typing import Any, Final

from dtnsim.components.device import Device
from dtnsim.planning import offers
from dtnsim.planning.actions import Scope, free
from dtnsim.planning.actions.drive import Room
from dtnsim.planning.option import Refused, Setting

#: levels that survive a lost drive, and which losses
_SURVIVES: Final = {10: "one drive of each pair", 6: "any two drives", 5: "any one drive"}
_STRIPES: Final = (4, 8, 16)  #: stripes of a file that are tried


@free("layout")
def levels(scope: Scope) -> Iterator[Setting | Refused]:
    """Arrays of the same drives at another level, where they still hold the data and survive a lost drive."""
    for name, mount, key, volume in scope.volumes():
        for layout, survives, variant, override in _other_layouts(volume.array, f"{key}.array"):
            room = Room(scope.given, offers.size_of, name, mount)
            if room.lacks(variant):
                yield Refused(layout, f"{key}.array", room.why(variant))
                continue
            line = f"# copy {mount} elsewhere, make the array anew as {layout}: survives {survives}"
            yield Setting(f"{name}: layout of {mount}", (override,), (line,))


def _other_layouts(array: Any, key: str) -> Iterator[tuple[str, str, Device, str]]:
    """(layout in words, what it survives, the array, ``key=value``) of others of the same drives."""
    kind = getattr(array, "kind", "")
    if kind == "raid" and array.level in _SURVIVES:
        for level, survives in _SURVIVES.items():
            if level != array.level:
                variant = array.model_copy(update={"level": level})
                yield f"RAID {level}", survives, variant, f"{key}.level={level}"
    elif kind in ("raidz", "draid") and array.disks * array.groups % 2 == 0 and array.of.part is not None:
        pairs, member = array.disks * array.groups // 2, array.of.part
        variant = Device.build({"kind": "mirror", "disks": 2, "groups": pairs, "of": member})
        text = f"{key}={{kind: mirror, disks: 2, groups: {pairs}, of: {member}}}"
        yield f"{pairs} mirrors of two", _SURVIVES[10], variant, text


@free("layout")
def stripes(scope: Scope) -> Iterator[Setting]:
    """Files of a Lustre over more targets."""
    for name, mount, key, volume in scope.volumes():
        system: Any = volume.filesystem
        for count in _STRIPES if system.kind == "lustre" else ():
            if system.stripe_count < count <= system.targets:
                typed = f"lfs setstripe -c {count} {mount}/...   # holds for new files; old ones: lfs migrate"
                sets = (f"{key}.filesystem.stripe_count={count}",)
                yield Setting(f"{name}: stripes of {mount}", sets, (typed,))
