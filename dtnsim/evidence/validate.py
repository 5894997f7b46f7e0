"""Measured beside predicted, over all cases: errors, coverage and bottlenecks; fit and blind apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dtnsim.evidence import baseline
from dtnsim.evidence.cases import Case, load_all
from dtnsim.evidence.figures import Paths, Solved, at, solved, transfer_index, values
from dtnsim.evidence.learn import Residual
from dtnsim.evidence.trust import METER, by_kind, trust
from dtnsim.ground import library, yamlio
from dtnsim.ground.pool import Pool
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Bottleneck
from dtnsim.steady import discrepancy
from dtnsim.steady.prediction import bottleneck
from dtnsim.steady.reasons import cause_of
from dtnsim.steady.regime import Regime
from dtnsim.steady.scenarios import Scenarios, interval, scenarios
from dtnsim.steady.timed import composed

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.steady.discrepancy import Discrepancy
    from dtnsim.steady.solve import Array

SAMPLES: Final = 256
ROLES: Final = ("fit", "blind")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One case: measured beside predicted.

    Attributes:
        case: The case.
        p10: Predicted [SI unit], one time in ten below this.
        p50: Predicted, as often above this as below.
        p90: One time in ten above this.
        ceiling: With every parameter at its median and everything unstated at its best.
        baseline: What min(disk, network, disk) says, None where it says nothing.
        held: The predicted bottleneck.
        regime: What holds it, as evidence is collected by.
        samples: The figure in scenarios of single runs, (S,); laws learned without its study.
        explained: The same with nothing but the parameters drawn.
        left_out: Prediction by parameters that were fitted without this case (leave-one-out), where asked for.
    """

    case: Case
    p10: float
    p50: float
    p90: float
    ceiling: float
    baseline: float | None
    held: Bottleneck
    regime: Regime
    samples: Array = field(compare=False, repr=False)
    explained: Array = field(compare=False, repr=False)
    left_out: float | None = None

    @property
    def error(self) -> float | None:
        """Predicted over measured, less one; None where the figure is withheld."""
        return None if self.case.withheld else _error(self.p50, self.case)

    @property
    def covered(self) -> bool | None:
        """Whether the figure lies between p10 and p90; None where there is no figure, or no interval for it."""
        if self.case.withheld or self.case.quantity == "throughput_sd" or self.case.bound is not None:
            return None
        return self.within(0.8)

    def within(self, level: float) -> bool:
        """Whether the figure lies in the central interval of so much probability."""
        found = interval(self.samples, level)
        return found.p10 * (1 - METER) <= self.case.measured <= found.p90 * (1 + METER)

    @property
    def sign(self) -> float:
        """1 for figures that grow with the rate, -1 for durations."""
        return -1.0 if self.case.quantity == "duration" else 1.0

    @property
    def residual(self) -> Residual | None:
        """What the discrepancy is learned from; None for figures that fit, bound, or are no rates."""
        case = self.case
        if case.role != "blind" or self.covered is None or case.quantity == "cpu_share":
            return None
        off = self.sign * np.log(case.measured / self.ceiling)
        explained = self.sign * np.log(np.maximum(self.explained, 1e-300) / self.ceiling)
        return Residual(case.study, self.regime, float(off), np.asarray(explained), 0.0)

    @property
    def bottleneck_right(self) -> bool | None:
        """Whether the bottleneck is the one that the source states; None where it states none."""
        stated = self.case.stated
        return None if stated is None or stated.inferred else stated.met_by(self.held)

    @property
    def counted(self) -> bool:
        """Whether it enters the summary: bounds and withheld figures do not."""
        return not self.case.withheld and self.case.bound is None


@dataclass(frozen=True, slots=True)
class Summary:
    """Errors of a group of cases; fractions."""

    n: int
    mdape: float | None
    max_ape: float | None
    coverage80: float | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"n": self.n, "mdape": self.mdape, "max_ape": self.max_ape, "coverage80": self.coverage80}


@dataclass(frozen=True, slots=True)
class Validation:
    """All cases judged."""

    judgements: tuple[Judgement, ...]

    @property
    def sites(self) -> list[str]:
        """Sites in the order of their files."""
        return list(dict.fromkeys(j.case.site for j in self.judgements))

    def of(self, role: str, site: str | None = None) -> list[Judgement]:
        """Counted cases of a role, of one site or all."""
        return [j for j in self.judgements if j.counted and j.case.role == role and site in (None, j.case.site)]

    def summary(self, role: str, site: str | None = None) -> Summary:
        """Summary of the model for a role."""
        chosen = self.of(role, site)
        known = [j.covered for j in chosen if j.covered is not None]
        return summarise([abs(j.error) for j in chosen if j.error is not None], known)

    def baseline_summary(self, role: str = "blind", site: str | None = None) -> Summary:
        """Summary of min(disk, network, disk) for a role; it has no interval."""
        return summarise([abs(_error(j.baseline, j.case)) for j in self.of(role, site) if j.baseline is not None], [])

    def bottlenecks(self, role: str, site: str | None = None) -> tuple[int, int]:
        """(bottlenecks predicted as stated, bottlenecks stated); a path counts once, however many cases it has."""
        stated = {
            (str(j.case.path), j.case.overrides, j.case.transfer): bool(j.bottleneck_right)
            for j in self.judgements
            if j.case.role == role and site in (None, j.case.site) and j.bottleneck_right is not None
        }
        return sum(stated.values()), len(stated)

    def left_out_summary(self, site: str | None = None) -> Summary:
        """Summary of the fit cases, each predicted by parameters fitted without it."""
        chosen = [j for j in self.of("fit", site) if j.left_out is not None]
        return summarise([abs(_error(j.left_out or 0.0, j.case)) for j in chosen], [])

    def as_dict(self) -> dict[str, Any]:
        """The document of ``dtnsim validate --json``."""
        summary = {role: self.summary(role).as_dict() for role in ROLES}
        summary["baseline_blind"] = self.baseline_summary().as_dict()
        if any(j.left_out is not None for j in self.judgements):
            summary["leave_one_out"] = self.left_out_summary().as_dict()
        whole = trust(self.judgements)
        return {
            "schema": "dtnsim.validation/1",
            "summary": summary,
            "trust": whole.as_dict() if whole is not None else None,
            "kinds": {kind: t.as_dict() for kind, t in by_kind(self.judgements).items()},
            "cases": [_case_dict(j) for j in self.judgements],
        }


def summarise(errors: Sequence[float], covered: Sequence[bool]) -> Summary:
    """Median and worst absolute error, and the share of figures inside their 80 % interval."""
    if not errors:
        return Summary(0, None, None, None)
    return Summary(len(errors), float(np.median(errors)), max(errors), sum(covered) / len(covered) if covered else None)


def _error(predicted: float, case: Case) -> float:
    error = predicted / case.measured - 1.0
    if case.bound == "at least":
        return min(error, 0.0)
    return max(error, 0.0) if case.bound == "at most" else error


def _case_dict(j: Judgement) -> dict[str, Any]:
    case = j.case
    document = {
        "id": case.id,
        "site": case.site,
        "study": case.study,
        "role": case.role,
        "quantity": case.quantity if case.pattern is None else f"{case.quantity}:{case.pattern}",
        "unit": case.unit,
        "measured": None if case.withheld else case.measured,
        "p10": j.p10,
        "p50": j.p50,
        "p90": j.p90,
        "ceiling": j.ceiling,
        "error": j.error,
        "kind": j.regime.kind,
        "bottleneck": f"{j.held.station}: {j.held.reason}",
        "bottleneck_stated": case.stated.says if case.stated is not None else None,
    }
    return document if j.left_out is None else {**document, "left_out": j.left_out}


def validate(
    cases: Sequence[Case | str | Path] | None = None,
    *,
    calibration: str | None = None,
    samples: int = SAMPLES,
    seed: int = 1,
    leave_one_out: bool = False,
    progress: Callable[[int, int], None] | None = None,
    scheduler: str | None = None,
) -> Validation:
    """Measured beside predicted.

    Args:
        cases: Cases, or files and folders of them; None for all that are shipped.
        calibration: Fitted parameters instead of those that the paths name; ``none`` for none.
        samples: Draws behind p10 and p90.
        seed: Seed of the draws.
        leave_one_out: Predict every fit case also by parameters that were fitted without it.
        progress: Called with (done, all).
        scheduler: Address of a Dask scheduler, ``tcp://login1:8786``, whose workers predict the cases instead.

    Returns:
        The `Validation`: every figure with its prediction and interval.

    Raises:
        SpecError: a path or a case cannot be used.
    """
    cases = _cases(cases)
    paths = Paths(calibration)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, case in enumerate(cases):
        groups.setdefault((case.path, case.overrides), []).append(number)
    task = Task(samples, seed)
    pieces = [(paths(cases[those[0]]), [cases[n] for n in those]) for those in groups.values()]
    made = Pool(judged_on, task, pieces, scheduler=scheduler).results()
    numbers, found = list(groups.values()), dict[int, Judgement]()
    for number, here in made:
        found.update(zip(numbers[number], here, strict=True))
        if progress is not None:
            progress(len(found), len(cases))
    judged = [found[n] for n in range(len(cases))]
    if leave_one_out:
        from dtnsim.evidence.leave_one_out import left_out

        judged = left_out(judged, progress, scheduler)
    return Validation(tuple(judged))


def _cases(given: Sequence[Case | str | Path] | None) -> list[Case]:
    files = None if given is None else [Path(c) for c in given if not isinstance(c, Case)]
    listed = [c for c in given or () if isinstance(c, Case)]
    return listed + (load_all(files) if files or given is None else [])


@dataclass(frozen=True, slots=True)
class Run:
    """A path at its medians, and drawn."""

    given: PathSpec
    nominal: Solved
    scenarios: Scenarios | None


@dataclass(frozen=True, slots=True)
class Task:
    """What the predictions of all cases have in common.

    Attributes:
        samples: Draws behind p10 and p90.
        seed: Seed of the draws.
    """

    samples: int
    seed: int


def judged_on(task: Task, piece: tuple[PathSpec, Sequence[Case]]) -> list[Judgement]:
    """Cases of one path."""
    given, those = piece
    run, folds, whole = _run(given, task.samples, task.seed), shipped_folds(), discrepancy.load()
    return [_judge(case, run, folds.get(case.study, whole) if case.role != "fit" else whole) for case in those]


def _run(given: PathSpec, samples: int, seed: int) -> Run:
    nominal = solved(composed(given, Draw()))
    return Run(given, nominal, scenarios(given, nominal.problem, samples, seed) if samples else None)


def _judge(case: Case, run: Run, laws: Discrepancy) -> Judgement:
    nominal, drawn = run.nominal, run.scenarios
    f = transfer_index(case, nominal.problem) or 0
    ceiling = float(values(case, nominal)[0])
    explained = runs = np.array([ceiling])
    if drawn is not None:
        explained = values(case, at(drawn, drawn.parameters))
        runs = values(case, at(drawn, drawn.rates(laws)))
    if case.quantity == "throughput_sd":
        runs = explained
    within = interval(runs)
    m = replace(nominal.matrices, capacity=nominal.solution.capacity)
    held = bottleneck(nominal.problem, f, cause_of(m, f, int(nominal.solution.binding[0, f])))
    kind = drawn.regimes[f] if drawn is not None else Regime("", "")
    rule = baseline.predict(case, run.given)
    return Judgement(case, within.p10, within.p50, within.p90, ceiling, rule, held, kind, runs, explained)


@lru_cache(maxsize=1)
def shipped_folds() -> dict[str, Discrepancy]:
    """For every study of the shipped cases the laws that were learned without it."""
    file = library.root("calibration") / "discrepancy-folds.yaml"
    if not file.is_file():
        return {}
    raw = yamlio.load(file)
    whole = discrepancy.load()
    return {
        study: replace(discrepancy.read(fold), noises=whole.noises, default_noise=whole.default_noise)
        for study, fold in raw["folds"].items()
    }
