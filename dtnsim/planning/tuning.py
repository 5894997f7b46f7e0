"""Settings that cost nothing: which of them help, alone or together."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.quantity import Draw
from dtnsim.planning import swept
from dtnsim.planning.actions import Scope
from dtnsim.planning.actions.tcp import mtu
from dtnsim.planning.bounds import times
from dtnsim.planning.option import Setting
from dtnsim.planning.rating import Paths
from dtnsim.steady import timed

WORTH: Final = 0.002  #: gain that is worth a line


@dataclass(frozen=True, slots=True)
class Win:
    """A setting with its own effect."""

    setting: Setting  #: It.
    #: What it gives with nothing else changed: the ceiling while they are looked for, in a plan the median. Beside
    #: another tool that is taken: the path's rate times what it brings there.
    alone_Bps: float
    together: bool  #: Whether it is among those that are taken together.


def ceiling_Bps(path: PathSpec) -> float:
    """Throughput of all transfers at the ceiling [B/s]."""
    return float(swept.rates(path).rate_Bps[0])


class Throughputs:
    """Throughput of a path with overrides [B/s]; 0 where they cannot be.

    ``known`` is what is known already of what the same file was read into, by all that was put over it.
    """

    def __init__(
        self,
        path: PathSpec,
        cache: dict[tuple[str, ...], float],
        rate_of: Callable[[PathSpec], float] = ceiling_Bps,
        each: Callable[[Collection[Any]], Iterable[Any]] = iter,
    ) -> None:
        self.each = each
        self._known, self._paths, self._rate_of = cache, Paths(path), rate_of

    def __call__(self, overrides: Sequence[str]) -> float:
        """Of one set of overrides."""
        key = (*self._paths.given.overrides, *overrides)
        if key not in self._known:
            self._known[key] = 0.0
            with suppress(DtnsimError):
                self._known[key] = self._rate_of(self._paths(overrides))
        return self._known[key]

    def ahead(self, every: Iterable[Sequence[str]]) -> None:
        """Announces overrides that will be asked for."""
        self._paths.ahead(o for o in every if (*self._paths.given.overrides, *o) not in self._known)


def wires_Bps(path: PathSpec, *, cards: bool = True) -> float:
    """Ceiling that wires, with ``cards`` ports too, set for all tools and settings [B/s]; inf if frames could grow."""
    if any(mtu(Scope(path, list(path.hosts)))):
        return math.inf
    problem = timed.composer(path, Draw()).problem()
    # of a bond that the tool's streams fill, the ports of which it uses
    ports = [f"{host}.{name}.port" for host, h in path.hosts.items() for name, card in h.nics.items()
           if cards and card.bonding != "application"]  # fmt: skip
    wires = {s.name for s in problem.stations if s.kind == "network" or s.name.startswith(tuple(ports))}
    longest = dict.fromkeys((t.name for t in problem.transfers), 0.0)
    for (name, station), seconds in times(problem).items():
        if station in wires:
            longest[name] = max(longest[name], float(seconds[0]))
    return sum(1 / s if s > 0 else math.inf for s in longest.values())


def wins(settings: Sequence[Setting], rate: Throughputs, most_Bps: float = math.inf) -> tuple[Win, ...]:
    """Settings that help, alone or together with others, the greatest gain first.

    Together: starting from all at once, each is set to its best value beside the others and left out if that costs
    nothing, so that pairs that only help jointly are found. ``rate`` is the throughput with overrides, 0 where they
    cannot be, and ``most_Bps`` what none exceeds.
    """
    enough = most_Bps * (1 - WORTH / 2)
    base = rate(())
    if base >= enough:
        return ()
    rate.ahead(s.overrides for s in settings)
    alone = {s: rate(s.overrides) for s in rate.each(settings)}
    groups = by_key((setting.what, setting) for setting in settings if alone[setting] > 0)
    chosen: dict[str, Setting | None] = {name: max(group, key=lambda s: alone[s]) for name, group in groups.items()}

    def with_some(changes: Mapping[str, Setting | None]) -> list[str]:
        return [o for s in {**chosen, **changes}.values() if s is not None for o in s.overrides]

    each = list(reversed(groups.items()))  # more streams last: what they make up for comes first

    def left_out(n: int) -> None:
        """Tells of all at once, and of those from the n-th on left out one after the other."""
        rate.ahead(with_some(dict.fromkeys(w for w, _ in each[n:k])) for k in range(n, len(each) + 1))

    if math.isfinite(most_Bps):
        left_out(0)
    full = rate(with_some({})) >= enough
    for again in range(2):
        for n, (name, group) in enumerate(rate.each(each)):
            tried: tuple[Setting | None, ...] = (None, *group)
            if full:  # the first that leaves enough is the one
                left_out(n)
                if rate(with_some({name: None})) >= enough:
                    chosen[name] = None
                    continue
            coming = each[n:] if again and not full else each[n : n + 1]  # most of the rest stay as they are by then
            rate.ahead(with_some({w: one}) for w, g in coming for one in (None, *g))
            rates = [(rate(with_some({name: one})), one) for one in tried]
            most = max(r for r, _ in rates)
            costs = 1 - max(alone[s] for s in group) / base if base > 0 else 0.0
            lost = max(WORTH / 2, group[0].worth, costs)  # what is slower alone has to bring as much beside others
            chosen[name] = next(s for r, s in rates if r >= most * (1 - (lost if s is None else WORTH / 2)))
    rated = [Win(s, alone[s], chosen[s.what] == s) for s in settings if alone[s] > 0]
    helpful = [w for w in rated if w.together or _best_alone(w, rated, base)]
    return tuple(sorted(helpful, key=lambda w: (not w.together, -w.alone_Bps)))


def _best_alone(win: Win, all_of_them: Sequence[Win], base: float) -> bool:
    same = [w for w in all_of_them if w.setting.what == win.setting.what]
    better = win.alone_Bps > base * (1 + WORTH) and not any(w.together for w in same)
    return better and win.alone_Bps >= max(w.alone_Bps for w in same)
