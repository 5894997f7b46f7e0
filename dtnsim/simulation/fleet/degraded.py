"""What drives that are lost and rebuilt leave of an array: the same kinds of transfers composed with them lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import ValidationError

from dtnsim.components.filesystem import label_of
from dtnsim.description.transfer import split_end
from dtnsim.ground.errors import SpecError
from dtnsim.simulation.fleet.faults import Target
from dtnsim.simulation.fleet.merge import renamed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dtnsim.components.base import Component
    from dtnsim.description.host import Host
    from dtnsim.ground.quantity import Quantity
    from dtnsim.simulation.fleet.build import Fleet
    from dtnsim.simulation.fleet.job_classes import Composed

#: drives lost at once that are looked at, and kinds of transfers that are composed for each
_MOST_LOST: Final = 3
_MOST_KINDS: Final = 4
_SAME: Final = 0.999  #: a station that keeps more than that of its capacity is as it was

#: for each number of lost drives: what stations, named as at the host that was composed, have left
Levels = tuple[dict[str, float], ...]


class Degraded:
    """Arrays of a fleet with drives lost; equal hosts are looked at once."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._known: dict[tuple[int, str, float], tuple[str, Levels]] = {}

    def target(self, host: str, mount: str, rebuild: Quantity, key: str) -> Target | None:
        """The array of a volume as something that fails; None where no transfer reads or writes it.

        Args:
            host: The host.
            mount: Its volume.
            rebuild: Rate at which a lost drive is rebuilt.
        """
        array: Any = self._fleet.given.hosts[host].volumes[mount].array
        name = f"{host}:{mount}"
        if not hasattr(array, "lost"):
            remedy = "name volumes on raid, raidz, draid or mirror; of others name the stations"
            raise SpecError("is no array that can lose a drive", key=key, value=name, remedy=remedy)
        kind = self._fleet.reduction.kind_of(host)
        array_key = kind, mount, rebuild.value
        if array_key not in self._known:
            self._known[array_key] = self._composed(kind, mount, rebuild)
        first, levels = self._known[array_key]
        if not first:
            return None
        number = self._fleet.reduction.stations.number
        factors = tuple(
            tuple(sorted((number[n], f) for s, f in level.items() if (n := renamed(s, {first: host})) in number))
            for level in levels
        )
        stations, own = self._fleet.reduction.stations.given, f"{host}.{label_of(mount)}."
        touched = tuple(k for k, s in enumerate(stations) if s and f"{s.name}.".startswith(own))
        drives = array.disks * getattr(array, "groups", 1)
        return Target(name, touched, factors, drives) if touched else None

    def _composed(self, kind: int, mount: str, rebuild: Quantity) -> tuple[str, Levels]:
        """(host that was composed, what its stations have left)."""
        reduction = self._fleet.reduction
        uses = []
        for template, ends, sort, composed in reduction.made.values():
            for end in ends:
                host, path = split_end(end)
                if reduction.kind_of(host) == kind and reduction.given.hosts[host].mount_of(path) == mount:
                    uses.append((host, template, ends, sort, composed))
        if not uses:
            return "", ()
        first = uses[0][0]
        levels: list[dict[str, float]] = []
        for lost in range(1, _MOST_LOST + 1):
            changed = _with_lost(reduction.given.hosts[first], mount, lost, rebuild)
            if changed is None:
                break
            left: dict[str, float] = {}
            for host, template, ends, sort, composed in [u for u in uses if u[0] == first][:_MOST_KINDS]:
                worse = reduction.otherwise({host: changed}, template, ends, sort)
                for name, share in _left(composed, worse, host).items():
                    left[name] = min(left.get(name, 1.0), share)
            levels.append(left)
        return first, tuple(levels)


def _with_lost(host: Host, mount: str, lost: int, rebuild: Quantity) -> Host | None:
    """The host with drives lost and being rebuilt; None where the array does not survive that."""
    volume = host.volumes[mount]
    array: Component = volume.array  # type: ignore[assignment]  # every array is one
    fields = {name: getattr(array, name) for name in type(array).model_fields}
    fields["lost"] = lost
    if "rebuild" in fields:
        fields["rebuild"] = fields["rebuild"].worth(rebuild.value, "rebuild of a lost drive")
    try:
        worse = type(array)(**fields)
    except (ValidationError, ValueError):
        return None
    return host.model_copy(update={"volumes": {**host.volumes, mount: volume.model_copy(update={"array": worse})}})


def _left(intact: Composed, worse: Composed, host: str) -> Mapping[str, float]:
    """What stations of a host have left, for a transfer composed as it should be and as it is now."""
    before, after = (
        {s.name: float(np.ravel(cost)[0]) / float(np.ravel(s.capacity)[0]) for s, cost in c.demands if s.host == host}
        for c in (intact, worse)  # seconds of a station a byte, at the median or in the first scenario
    )
    shares = {name: before[name] / cost for name, cost in after.items() if name in before and cost > 0}
    return {name: share for name, share in shares.items() if share < _SAME}
