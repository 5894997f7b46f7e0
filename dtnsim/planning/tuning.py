"""What can be had for nothing: which settings help, alone or together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from dtnsim.planning.option import Setting

#: gain that is worth a line
WORTH: Final = 0.002

Rate = Callable[[Sequence[str]], float]


@dataclass(frozen=True, slots=True)
class Win:
    """A setting with what it gives by itself.

    Attributes:
        setting: It.
        alone_Bps: The ceiling with nothing else changed.
        together: Whether it is among those that are taken together.
    """

    setting: Setting
    alone_Bps: float
    together: bool


def wins(
    found: Sequence[Setting], rate: Rate, ahead: Callable[[Iterable[Sequence[str]]], object] = tuple
) -> tuple[Win, ...]:
    """What helps, alone or together with others, the greatest gain first.

    Together: from all of them at once, each is set to what is best beside the others, and left out where that costs
    nothing, so that two that only help both at once are found.

    Args:
        found: What could be set.
        rate: Throughput with overrides; 0 where they cannot be.
        ahead: Told of overrides before their rates are asked for.
    """
    ahead([(), *(s.overrides for s in found)])
    base = rate(())
    alone = {s: rate(s.overrides) for s in found}
    groups: dict[str, list[Setting]] = {}
    for setting in found:
        if alone[setting] > 0:
            groups.setdefault(setting.what, []).append(setting)
    chosen: dict[str, Setting | None] = {what: max(group, key=lambda s: alone[s]) for what, group in groups.items()}

    def with_one(what: str, one: Setting | None) -> list[str]:
        return [o for s in {**chosen, what: one}.values() if s is not None for o in s.overrides]

    each = list(reversed(groups.items()))  # more streams last: what they make up for comes first
    for _ in range(2):
        for n, (what, group) in enumerate(each):
            ahead(with_one(w, one) for w, g in each[n:] for one in (None, *g))  # the rest, should all stay so
            tried: tuple[Setting | None, ...] = (None, *group)
            rates = [(rate(with_one(what, one)), one) for one in tried]
            most = max(r for r, _ in rates)
            chosen[what] = next(s for r, s in rates if r >= most * (1 - WORTH / 2))
    made = [Win(s, alone[s], chosen[s.what] == s) for s in found if alone[s] > 0]
    kept = [w for w in made if w.together or _best_alone(w, made, base)]
    return tuple(sorted(kept, key=lambda w: (not w.together, -w.alone_Bps)))


def _best_alone(win: Win, all_of_them: Sequence[Win], base: float) -> bool:
    same = [w for w in all_of_them if w.setting.what == win.setting.what]
    better = win.alone_Bps > base * (1 + WORTH) and not any(w.together for w in same)
    return better and win.alone_Bps >= max(w.alone_Bps for w in same)
