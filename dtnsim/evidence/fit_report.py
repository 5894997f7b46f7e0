"""What a fit found, as the file that `predict --calibration` reads and as words."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description.override import split_key
from dtnsim.evidence.cases import UNITS
from dtnsim.evidence.fit import Fit
from dtnsim.evidence.fit_model import Parameter
from dtnsim.evidence.fit_search import Released, is_missed
from dtnsim.evidence.suggest import Suggestion
from dtnsim.ground import output, units
from dtnsim.ground.errors import ModelError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.quantity import Quantity

SCHEMA: Final = "dtnsim.calibration/1"

_MOVED: Final = 0.02  #: a parameter is kept where the data moved it, or made it better known, by more than this
_LINES: Final = 3  #: log lines that are named of a parameter
UNTOLD: Final = 0.9  #: posterior over prior spread from which the data are said not to determine a parameter
TOGETHER: Final = 0.7  #: correlation from which two parameters are said to be determined only together


def informed(fit: Fit) -> list[int]:
    """Parameters of the hosts that the fit says something about."""
    moved = (np.abs(fit.u) > _MOVED) | (np.sqrt(np.diag(fit.covariance)) < 1 - _MOVED)
    return [j for j, p in enumerate(fit.parameters) if p.host in fit.hosts and moved[j]]


def document(fit: Fit, suggested: Sequence[Suggestion] = ()) -> dict[str, Any]:
    """The calibration file."""
    parameters: dict[str, Any] = {}
    rows, rho = informed(fit), fit.correlation
    for j in rows:
        p = fit.parameters[j]
        parameters.setdefault(p.host, {})[p.key] = {
            "value": written(float(fit.values[j]), p.prior.dim),
            "spread": f"{100 * math.sqrt(math.expm1(fit.spread[j] ** 2)):.3g} %",
            "prior": before(p.prior),
            "source": _source(fit, j),
        }
    for fact in fit.facts:
        parameters.setdefault(fact.host, {}).setdefault(fact.key, fact.value)
    return {
        "schema": SCHEMA,
        "hosts": sorted(fit.hosts),
        "figures": len(fit.figures),
        "error": {"before": _errors(fit.ratio_before), "after": _errors(fit.ratio_after)},
        "parameters": {host: dict(sorted(keys.items())) for host, keys in sorted(parameters.items())},
        "covariance": {  # of the logarithms, below the diagonal; their spreads are beside the values
            "parameters": [f"{fit.parameters[j].host}: {fit.parameters[j].key}" for j in rows],
            "correlation": [
                " ".join(f"{rho[i, j]:.3f}".rstrip("0").rstrip(".") for j in rows[: n + 1]) for n, i in enumerate(rows)
            ],
        },
        "unidentifiable": words(fit),
        "suggestions": [{"test": s.test.words, "determines": list(s.determines)} for s in suggested],
        "repeats": _repeats(fit),
        "contradictions": [contradiction(fit, r) for r in fit.released],
        "unexplained": unexplained(fit),
        "outliers": [
            f"{fit.figures[n].case.name}: predicted over measured is {np.exp(fit.ratio_after[n]):.2f}"
            for n in not_followed(fit)
        ],
    }


def before(prior: Quantity) -> dict[str, str]:
    """What a number was before the fit, to the last digit: a fit is put over hosts where it still is that."""
    text = prior.text
    if not text or not math.isclose(units.parse(text, prior.dim), prior.value, rel_tol=1e-12):
        text = f"{prior.value:.15g} {prior.dim}".removesuffix(" 1")
    return {"value": text, "spread": f"{100 * prior.spread:.12g} %"}


def _source(fit: Fit, j: int) -> str:
    prior = fit.parameters[j].prior
    lines = identified_by(fit, j)
    how = f"fit: {', '.join(lines)}" if lines else "fit: moves with others, no figure determines it by itself"
    return f"{how}; prior {prior} +- {100 * prior.spread:.3g} %: {prior.source}"


def identified_by(fit: Fit, j: int) -> list[str]:
    """The log lines that say most about parameter ``j``, most informative first."""
    information = fit.weight * (fit.jacobian[:, j] / fit.error) ** 2
    lines: dict[str, float] = {}
    for n in np.argsort(-information, kind="stable"):
        if information[n] < 0.05 * max(information.sum(), 1.0) / _LINES:
            break
        case = fit.figures[n].case
        line = f"{case.site}/{case.log[0].name}:{case.log[1]}" if case.log else case.name
        lines.setdefault(line, float(information[n]))
    return list(lines)[:_LINES]


def _repeats(fit: Fit) -> dict[str, Any]:
    """How far runs and days lie apart, and what changed."""
    if not fit.repeats:
        return {}
    run, day = fit.repeats[0].run_to_run, fit.repeats[0].day_to_day
    return {
        "run_to_run": f"{100 * run:.2f} %",
        "day_to_day": f"{100 * day:.2f} %" if day is not None else None,
        "tests": [r.as_dict() for r in fit.repeats],
    }


def _errors(ratio: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, str]:
    error = np.abs(np.expm1(ratio))
    return {"median": f"{100 * float(np.median(error)):.2f} %", "worst": f"{100 * float(error.max()):.1f} %"}


def untold(fit: Fit) -> list[str]:
    """Names of the hosts' parameters that the data say next to nothing about."""
    spread = np.sqrt(np.diag(fit.covariance))
    return [p.name for p, s in zip(fit.parameters, spread, strict=True) if p.host in fit.hosts and s > UNTOLD]


def confounded(fit: Fit) -> list[list[str]]:
    """Groups of parameters that the figures determine only together."""
    from scipy.sparse.csgraph import connected_components

    sharp = np.sqrt(np.diag(fit.covariance)) <= 1.0
    relevant = [p.host in fit.hosts or p.host == "" for p in fit.parameters]
    near = (np.abs(fit.correlation) >= TOGETHER) & np.outer(sharp & relevant, sharp & relevant)
    groups = by_key(zip(connected_components(near)[1].tolist(), fit.parameters, strict=True)).values()
    return [[p.name for p in group] for group in groups if len(group) > 1 and any(p.host for p in group)]


def separable(fit: Fit) -> list[str]:
    """What the data determine only together, in sentences."""
    return [
        f"The figures cannot separate {joined(group)}: one can make up for another and every figure stays the same."
        for group in confounded(fit)
    ]


def words(fit: Fit) -> list[str]:
    """What the data cannot determine, in sentences."""
    lines = separable(fit)
    nothing = untold(fit)
    if nothing:
        lines.append(f"The figures hardly narrow {joined(nothing)}: what is known of them stays the prior.")
    if fit.untouched:
        lines.append(f"No figure depends on {joined(list(fit.untouched))}.")
    return lines


def write(fit: Fit, file: Path, suggested: Sequence[Suggestion] = ()) -> None:
    """Writes the calibration file in one piece: either it is complete, or the old one stays."""
    import yaml

    head = "# Made by 'dtnsim calibrate'; the same logs give the same bytes. Values here are put over the hosts' own.\n"
    text = head + yaml.safe_dump(document(fit, suggested), sort_keys=False, width=110, allow_unicode=True)
    output.write(file, text)


_TEXT: Final = {
    "B/s": (1e-6, "MB/s"), "B": (1.0, "B"), "s": (1e3, "ms"), "Hz": (1e-9, "GHz"), "1/s": (1.0, "/s"), "1": (1.0, ""),
    "cycles/B": (1.0, "cycles/B"), "cycles": (1.0, "cycles"), "s/B": (1e9, "ns/B"),
}  # fmt: skip
#: first step of a key below a host: what people call what is there
_THINGS: Final = {"cpu": "processor", "memory": "memory", "stack": "kernel", "slots": "slot", "hbas": "adapter",
                  "nics": "card"}  # fmt: skip


def written(value: float, dim: str) -> str:
    """A value with its unit, as a calibration file writes it: five significant digits, no powers of ten."""
    factor, unit = _TEXT.get(dim, (1.0, dim))
    return f"{float(f'{value * factor:.5g}'):.15g} {unit}".rstrip()


def joined(names: list[str], last: str = "and") -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" {last} " + names[-1]


def part_of(fit: Fit, parameter: Parameter) -> str:
    """Name of the shipped or own part that a parameter belongs to; empty where the host file writes it itself."""
    specs = [figure.spec for figure in fit.figures]
    hosts = ((spec.host_files.get(alias, alias), host) for spec in specs for alias, host in spec.hosts.items())
    node: Any = next((host for file, host in hosts if file == parameter.host), None)
    name = ""
    for step in split_key(parameter.key):
        node = node.get(step) if isinstance(node, dict) else getattr(node, step, None)
        name = getattr(node, "part", None) or name
    return name


def thing(parameter: Parameter) -> str:
    """What people call what a parameter belongs to."""
    steps = split_key(parameter.key)
    if steps[0] == "volumes":
        return "file system" if "filesystem" in steps else "drive"
    return _THINGS.get(steps[0], steps[0])


def contradiction(fit: Fit, released: Released) -> str:
    """What the figures say against what is stated, and what else would explain them."""
    p = released.parameter
    part, noun = part_of(fit, p), thing(p)
    who = f"your {noun} is no {part}" if part else f"your {noun} is not as the host file says"
    stated = f"{written(p.prior.value, p.prior.dim)} \u00b1 {p.prior.spread:.0%}"
    says = f"{part or 'the host file'} says {stated}"
    need = f"{p.key} = {written(released.value, p.prior.dim)}"
    beside = [f"{other.key} = {written(value, other.prior.dim)}" for other, value in released.beside]
    line = f"{who}: the figures need {need}{' with ' * bool(beside)}{joined(beside) if beside else ''}, and {says}"
    if released.instead:
        alternatives = [name.partition(": ")[2] or name for name in released.instead]
        line += f" (as likely: {joined(alternatives, 'or')})"
    return line


def unexplained(fit: Fit) -> list[str]:
    """Tests whose runs agree with each other and that no value of any parameter explains."""
    tests = by_key(((f.case.tool, *f.case.overrides), n) for n, f in enumerate(fit.figures))
    missed = set(not_followed(fit))
    lines = []
    for mine in tests.values():
        if len(mine) < 2 or not set(mine) <= missed:
            continue
        case, ratio = fit.figures[mine[0]].case, float(np.exp(np.median(fit.ratio_after[mine])))
        rates = written(case.measured, UNITS[case.quantity])
        lines.append(
            f"{len(mine)} runs like {case.name} agree on {rates}, and the host as described gives {ratio:.2g} times "
            "that however its parameters lie within what is stated: another kind of part is built in (a drive's link, "
            "a slot, an array), or one is further off than it says: --free NAME lets it go"
        )
    return lines


def check_followed(fit: Fit) -> None:
    """Refuses a fit that follows nothing: its parameters would be the prior's, whatever was measured."""
    if len(not_followed(fit)) < len(fit.figures):
        return
    worst = int(np.argmax(np.abs(fit.ratio_after)))
    case = fit.figures[worst].case
    measured, prior = (
        written(case.measured * r, UNITS[case.quantity]) for r in (1.0, float(np.exp(fit.ratio_before[worst])))
    )
    count = len(fit.figures)
    which = "the only figure is" if count == 1 else f"none of {count} figures is"
    line = f"{which} not followed" if count == 1 else f"{which} followed"
    line += f", and nothing is written. {case.name}: measured {measured}; the host's parts give {prior}. "
    if fit.suspect is None:
        raise ModelError(f"{line}No parameter of the host explains that: another limit was met; write a cases file")
    says, word = contradiction(fit, fit.suspect), split_key(fit.suspect.parameter.key)[-1]
    more = "add a second run that agrees" if count == 1 else "add runs that agree, best of another test"
    raise ModelError(f"{line}If that is right, {says}: free it (--free {word}), choose another part, or {more}")


def not_followed(fit: Fit) -> list[int]:
    """Figures that the fit does not follow."""
    return np.flatnonzero(is_missed(fit.ratio_after, fit.error)).tolist()
