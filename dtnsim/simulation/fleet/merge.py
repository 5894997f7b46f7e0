"""Many pairs of unlike hosts composed at once: hosts whose files differ in numbers alone, a scenario a pair.

What differs is given to the composition as arrays, as drawn numbers are. Each host is composed once by itself as well,
beside a partner, and some pairs are; where any of these differs from its scenario, all pairs are composed one by one.
That is so over long round trips: how connections open up is worked out for the first pair, and stretched for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.description.keys import mapped
from dtnsim.ground.quantity import Quantity

if TYPE_CHECKING:
    from dtnsim.description.host import Host
    from dtnsim.simulation.fleet.job_classes import Composed

WORTH: Final = 200  #: pairs from which on it pays
_TRIED: Final = 8  #: pairs that are composed by themselves as well, to compare
_SAME: Final = 1e-9  #: what two ways of adding up may differ by


def numbers(host: Host) -> dict[str, Quantity]:
    """All quantities of a host."""
    quantities: dict[str, Quantity] = {}
    mapped(host, quantities.setdefault)
    return quantities


def shape(host: Host) -> Any:
    """A host without its name and its numbers."""
    return mapped(host.model_copy(update={"name": ""}), lambda _, q: Quantity(0.0, q.dim))


def varied(hosts: Sequence[Host], mark: str) -> tuple[Host, dict[str, list[float]]] | None:
    """(the first host, with keys at numbers that differ; key -> value at each); None where more than numbers differ."""
    first = shape(hosts[0])
    if any(shape(other) != first for other in hosts[1:]):
        return None
    every = [numbers(host) for host in hosts]
    differ = [k for k, q in every[0].items() if any(replace(o[k], source=q.source) != q for o in every[1:])]
    plain = [{k: replace(o[k], source="", value=0.0) for k in differ} for o in every]
    if any(other != plain[0] for other in plain):
        return None  # not only values
    merged: Host = mapped(hosts[0], lambda k, q: replace(q, key=f"{mark}{k}") if k in differ else q)
    return merged, {f"{mark}{k}": [o[k].value for o in every] for k in differ}


def same_composition(one: Composed, other: Composed, names: Mapping[str, str]) -> bool:
    """Whether two compositions say the same.

    Args:
        one: The first.
        other: The second.
        names: What the second one's hosts are called in the first.
    """
    if [s.name for s, _ in one.demands] != [renamed(s.name, names) for s, _ in other.demands]:
        return False
    if one.own != ((renamed(other.own[0], names), True) if other.own[1] else other.own):
        return False
    mine, theirs = (
        [c.weight, c.workers, *np.ravel(c.times_s), *(np.ravel(v)[0] for s, d in c.demands for v in (s.capacity, d))]
        for c in (one, other)
    )
    return bool(np.allclose(mine, theirs, rtol=_SAME, atol=0.0))


def renamed(name: str, names: Mapping[str, str]) -> str:
    """The name of a station at the host that stands for the one that was composed."""
    host, dot, rest = name.partition(".")
    return f"{names.get(host, host)}{dot}{rest}"


def tried(pairs: Sequence[Sequence[str]]) -> list[int]:
    """Numbers of pairs to compare: such that each source and each target is in one of them, and some more."""
    chosen = dict.fromkeys(np.linspace(0, len(pairs) - 1, _TRIED, dtype=int).tolist())
    seen: tuple[set[str], set[str]] = set(), set()
    for both in (True, False):  # those that bring two new hosts first
        for n, (source, target) in enumerate(pairs):
            fresh = source not in seen[0], target not in seen[1]
            if all(fresh) if both else any(fresh):
                chosen[n] = None
                seen[0].add(source)
                seen[1].add(target)
    return list(chosen)
