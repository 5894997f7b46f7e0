"""What measurements and the description of a host contradict each other in, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import BaseModel

from dtnsim.description.override import split_key
from dtnsim.evidence.cases import UNITS
from dtnsim.ground.errors import ModelError

if TYPE_CHECKING:
    from dtnsim.evidence.fit import Fit
    from dtnsim.evidence.fit_parameters import Parameter
    from dtnsim.evidence.fit_release import Released

_TEXT: Final = {
    "B/s": (1e-6, "MB/s"),
    "B": (1.0, "B"),
    "s": (1e3, "ms"),
    "Hz": (1e-9, "GHz"),
    "1/s": (1.0, "/s"),
    "1": (1.0, ""),
    "cycles/B": (1.0, "cycles/B"),
    "cycles": (1.0, "cycles"),
    "s/B": (1e9, "ns/B"),
}
#: first step of a key below a host: what people call what is there
_THINGS: Final = {"cpu": "processor", "memory": "memory", "stack": "kernel", "slots": "slot", "hbas": "adapter",
                  "nics": "card"}  # fmt: skip


def written(value: float, dim: str) -> str:
    """A value with its unit, as a calibration file writes it: five significant digits."""
    factor, unit = _TEXT.get(dim, (1.0, dim))
    return f"{value * factor:.5g} {unit}".rstrip()


def joined(names: list[str], last: str = "and") -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" {last} " + names[-1]


def part_of(found: Fit, parameter: Parameter) -> str:
    """Name of the shipped or own part that a parameter belongs to; empty where the host file writes it itself."""
    for figure in found.figures:
        for alias, host in figure.spec.hosts.items():
            if figure.spec.host_files.get(alias, alias) == parameter.host:
                return _part(host, split_key(parameter.key))
    return ""


def _part(host: BaseModel, steps: list[str]) -> str:
    node: Any = host
    name = ""
    for step in steps:
        node = node.get(step) if isinstance(node, dict) else getattr(node, step, None)
        name = getattr(node, "part", None) or name
    return name


def thing(parameter: Parameter) -> str:
    """What people call what a parameter belongs to."""
    steps = split_key(parameter.key)
    if steps[0] == "volumes":
        return "file system" if "filesystem" in steps else "drive"
    return _THINGS.get(steps[0], steps[0])


def contradiction(found: Fit, released: Released) -> str:
    """What the figures say against what is stated, and what else would explain them."""
    p = released.parameter
    part, what = part_of(found, p), thing(p)
    who = f"your {what} is no {part}" if part else f"your {what} is not as the host file says"
    stated = f"{written(p.prior.value, p.prior.dim)} \u00b1 {p.prior.spread:.0%}"
    says = f"{part or 'the host file'} says {stated}"
    line = f"{who}: the figures need {p.key} = {written(released.value, p.prior.dim)}, and {says}"
    if released.instead:
        others = [name.partition(": ")[2] or name for name in released.instead]
        line += f" (as likely: {joined(others, 'or')})"
    return line


def unexplained(found: Fit) -> list[str]:
    """Tests whose runs agree with each other and that no value of any parameter explains."""
    tests: dict[tuple[str, ...], list[int]] = {}
    for n, figure in enumerate(found.figures):
        tests.setdefault((figure.case.tool, *figure.case.overrides), []).append(n)
    missed = set(not_followed(found))
    lines = []
    for mine in tests.values():
        if len(mine) < 2 or not set(mine) <= missed:
            continue
        case, ratio = found.figures[mine[0]].case, float(np.exp(np.median(found.ratio_after[mine])))
        rates = written(case.measured, UNITS[case.quantity])
        lines.append(
            f"{len(mine)} runs like {case.name} agree on {rates}, and the host as described gives {ratio:.2g} times "
            "that however its parameters lie within what is stated: another kind of part is built in (a drive's link, "
            "a slot, an array), or one is further off than it says: --free NAME lets it go"
        )
    return lines


def check_followed(found: Fit) -> None:
    """Refuses a fit that follows nothing: its parameters would be the prior's, whatever was measured.

    Raises:
        ModelError: which figure is furthest off, by how much, and what would have to be otherwise.
    """
    if len(not_followed(found)) < len(found.figures):
        return
    worst = int(np.argmax(np.abs(found.ratio_after)))
    case = found.figures[worst].case
    measured, prior = (
        written(case.measured * r, UNITS[case.quantity]) for r in (1.0, float(np.exp(found.ratio_before[worst])))
    )
    count = len(found.figures)
    which = "the only figure is" if count == 1 else f"none of {count} figures is"
    line = f"{which} not followed" if count == 1 else f"{which} followed"
    line += f", and nothing is written. {case.name}: measured {measured}; the host's parts give {prior}. "
    if found.suspect is None:
        raise ModelError(f"{line}No parameter of the host explains that: another limit was met; write a cases file")
    says, word = contradiction(found, found.suspect), split_key(found.suspect.parameter.key)[-1]
    more = "add a second run that agrees" if count == 1 else "add runs that agree, best of another test"
    raise ModelError(f"{line}If that is right, {says}: free it (--free {word}), choose another part, or {more}")


def not_followed(found: Fit) -> list[int]:
    """Figures that the fit does not follow: further off than three of their errors."""
    return [int(n) for n in np.flatnonzero(np.abs(found.ratio_after) > 3 * found.error)]
