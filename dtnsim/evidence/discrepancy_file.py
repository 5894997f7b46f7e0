"""The discrepancy as data: what ``dtnsim validate --discrepancy`` writes, and everybody reads.

``discrepancy.yaml`` has the laws of every kind of evidence and of every class of tool in it, with n and the studies
they come from; ``discrepancy-folds.yaml`` has for every study the laws that were learned without it, by which its
figures are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnsim.evidence import learn
from dtnsim.ground import output
from dtnsim.steady.discrepancy import SCHEMA, Discrepancy, Law

if TYPE_CHECKING:
    from dtnsim.evidence.learn import Learned, Residual
    from dtnsim.evidence.validate import Judgement

_HEAD = """\
# Made by 'dtnsim validate --discrepancy FILE'; the same cases give the same bytes. ln(measured / predicted) of a rate
# is a two-piece Student t with 4 degrees of freedom: mode 'location', scales 'below' and 'above' it.
"""
_FOLDS = "# Made with discrepancy.yaml: for every study the laws learned without it, by which its figures are judged.\n"


def made(judged: Sequence[Judgement]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the discrepancy file, the file of its folds) that figures which fitted nothing give."""
    noises = learn.noise_of(repeats(judged))
    found = residuals(judged, noises)
    whole = learn.learn(found, noises)
    folds = learn.folds(found, noises, whole)
    return document(whole, found), {"schema": SCHEMA, "folds": {study: _laws(fold) for study, fold in folds.items()}}


def residuals(judged: Sequence[Judgement], noises: Discrepancy) -> list[Residual]:
    """Residuals of the judging figures, with the noise that runs of their kind have."""
    found = [r for j in judged if (r := j.residual) is not None]
    apart = {r.regime: noises.noise(r.regime) for r in found}
    return [
        replace(r, noise=apart[r.regime].same_day if r.regime.dedicated else apart[r.regime].random_day) for r in found
    ]


def repeats(judged: Sequence[Judgement]) -> list[tuple[str, bool, Sequence[float]]]:
    """Runs of one test: kind of evidence, whether on another day, logarithms of the runs."""
    figures = {(j.case.site, j.case.id): j for j in judged}
    found: list[tuple[str, bool, Sequence[float]]] = []
    for j in judged:
        if j.case.runs:
            found.append((j.regime.kind, False, [float(x) for x in np.log(j.case.runs)]))
        again = j.case.repeats
        if again is not None:
            first = figures[j.case.site, again.of]
            # in the unit of the first: a duration and a rate of one test say the same
            ratio = j.sign * float(np.log(j.case.measured / j.ceiling)) - first.sign * float(
                np.log(first.case.measured / first.ceiling)
            )
            found.append((j.regime.kind, again.on == "another day", [0.0, ratio]))
    return found


def document(whole: Learned, found: Sequence[Residual]) -> dict[str, Any]:
    """The discrepancy file."""
    made = whole.discrepancy
    kinds = {
        name: {
            "n": whole.figures[name],
            **_law(made.laws[name]),
            "source": _source(found, name, whole.studies[name]),
        }
        for name in sorted(made.laws)
    }
    noise = {"default": made.default_noise, **dict(sorted(made.noises.items()))}
    return {
        "schema": SCHEMA,
        "default": {
            **_law(made.default),
            "source": "no evidence of the setting: the common law, one deviation between settings wider",
        },
        "kinds": kinds,
        "repeat": {
            k: {"same_day": _digits(n.same_day), "another_day": _digits(n.another_day)} for k, n in noise.items()
        },
    }


def _source(found: Sequence[Residual], name: str, studies: int) -> str:
    names = sorted({r.study for r in found if name in r.regime.names})
    shown = ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")
    return f"{studies} {'study' if studies == 1 else 'studies'}: {shown}"


def _laws(fold: Discrepancy) -> dict[str, Any]:
    return {"default": _law(fold.default), "kinds": {name: _law(law) for name, law in sorted(fold.laws.items())}}


def _law(law: Law) -> dict[str, float]:
    return {"location": _digits(law.location), "below": _digits(law.below), "above": _digits(law.above)}


def _digits(value: float) -> float:
    return float(f"{value:.3g}")


def write(judged: Sequence[Judgement], file: Path) -> dict[str, Any]:
    """Writes the discrepancy file, and its folds beside it."""
    import yaml

    whole, folds = made(judged)
    output.write(file, _HEAD + yaml.safe_dump(whole, sort_keys=False, width=118))
    beside = file.with_name(f"{file.stem}-folds{file.suffix}")
    text = yaml.safe_dump(folds, sort_keys=False, width=1000, default_flow_style=None)
    output.write(beside, _FOLDS + text)
    return whole
