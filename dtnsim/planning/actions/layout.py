"""How data lie on their drives: levels of arrays, mirrors in the place of parity, stripes of parallel file systems.

Nothing is bought, but what is there has to be copied away and back, and an array may survive less than before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from dtnsim.planning.actions import free
from dtnsim.planning.option import Setting

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec

#: levels that survive a lost drive, and which losses
_SURVIVES: Final = {10: "one drive of each pair", 6: "any two drives", 5: "any one drive"}
#: stripes of a file that are tried
_STRIPES: Final = (4, 8, 16)


@free("layout")
def levels(given: PathSpec, hosts: Sequence[str], _target_Bps: float) -> Iterator[Setting]:
    """Arrays of the same drives at another level, where they still hold the data and survive a lost drive."""
    for name in hosts:
        for mount, volume in given.hosts[name].volumes.items():
            array: Any = volume.array
            key = f"hosts.{name}.volumes.{mount}.array"
            what = f"{name}: layout of {mount}"
            copied = f"# copy {mount} elsewhere, make the array anew"
            if getattr(array, "kind", "") == "raid" and array.level in _SURVIVES:
                for level, survives in _SURVIVES.items():
                    if level != array.level:
                        said = f"{copied} as RAID {level}: survives {survives}"
                        yield Setting(what, (f"{key}.level={level}",), (said,))
            elif getattr(array, "kind", "") in ("raidz", "draid") and array.disks * array.groups % 2 == 0:
                pairs, member = array.disks * array.groups // 2, array.of.part
                if member is not None:
                    made = f"{{kind: mirror, disks: 2, groups: {pairs}, of: {member}}}"
                    said = f"{copied} as {pairs} mirrors of two: survives {_SURVIVES[10]}"
                    yield Setting(what, (f"{key}={made}",), (said,))


@free("layout")
def stripes(given: PathSpec, hosts: Sequence[str], _target_Bps: float) -> Iterator[Setting]:
    """Files of a Lustre over more targets."""
    for name in hosts:
        for mount, volume in given.hosts[name].volumes.items():
            system: Any = volume.filesystem
            for count in _STRIPES if system.kind == "lustre" else ():
                if system.stripe_count < count <= system.targets:
                    typed = f"lfs setstripe -c {count} {mount}/...   # holds for new files; old ones: lfs migrate"
                    sets = (f"hosts.{name}.volumes.{mount}.filesystem.stripe_count={count}",)
                    yield Setting(f"{name}: stripes of {mount}", sets, (typed,))
