"""What a path does not say is not perfect: what the answer would typically be, and what to state to narrow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.steady import turns

if TYPE_CHECKING:
    from dtnsim.steady.scenarios import Scenarios

#: part of the answer by which the typical one differs before it is worth a word
_WORTH: Final = 0.02
#: correlation with the rate from which on something unstated is named
_MATTERS: Final = 0.15
#: draws that several keys share -> what people call them; any other key is what a path file would say
_WORDS: Final = {"other traffic": "other traffic", "buffers": "TCP buffers"}

#: what keys begin with that are not a host's
_ROOTS: Final = ("wan.", "links.", "tool ")


def words(ceiling_Bps: float, drawn: Scenarios) -> list[str]:
    """A sentence where what is not stated moves the answer: the ceiling, what is typical, and what to state."""
    total = turns.total_rate(drawn.problem, drawn.parameters)
    typical = float(np.quantile(total, 0.5, method="inverted_cdf"))
    names = _that_matter(total, drawn)
    if not names or abs(typical / max(ceiling_Bps, 1e-300) - 1) < _WORTH:
        return []
    first = "ceiling" if typical < ceiling_Bps else "with the system's defaults"
    verb = "are" if len(names) > 1 or names[0] == "TCP buffers" else "is"
    answer = f"{first} {units.show(ceiling_Bps, 'B/s')}; typical {units.show(typical, 'B/s')}"
    return [f"{answer}, because {_and(names)} {verb} not stated: state what is known, and the interval narrows"]


def _that_matter(total: np.ndarray, drawn: Scenarios) -> list[str]:
    """Names of unstated things that go with the rate, the strongest first."""
    order = np.argsort(np.argsort(total)).astype(float)
    found: dict[str, float] = {}
    for key in sorted(drawn.draw.unstated):
        rank = np.argsort(np.argsort(drawn.draw.score(key))).astype(float)
        strength = abs(float(np.corrcoef(order, rank)[0, 1])) if np.ptp(total) > 0 else 0.0
        name = _WORDS.get(key) or (key if key.startswith(_ROOTS) else f"hosts.{key}")
        if strength >= _MATTERS:
            found[name] = max(found.get(name, 0.0), strength)
    return sorted(found, key=lambda n: -found[n])


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
