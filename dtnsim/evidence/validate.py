"""Measured beside predicted, over all cases: errors, coverage and bottlenecks; fit and blind apart."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.composition.compose import run_together
from dtnsim.description.spec import PathSpec
from dtnsim.evidence import baseline, fit
from dtnsim.evidence.cases import Case, load_all
from dtnsim.evidence.figures import Figure, Paths, Solved, transfer_index, values, with_rates
from dtnsim.evidence.fit_model import Model
from dtnsim.evidence.trust import Judgement, Parts, Summary, by_kind, error_of, first, summarise, trust
from dtnsim.ground import library, runtime, yamlio
from dtnsim.ground.grouping import by_key
from dtnsim.ground.output import fields
from dtnsim.ground.pool import Pool
from dtnsim.ground.quantity import Draw
from dtnsim.ground.term import without_words
from dtnsim.steady import discrepancy
from dtnsim.steady.discrepancy import Discrepancy
from dtnsim.steady.meetings import meetings
from dtnsim.steady.reasons import bottleneck, cause_of
from dtnsim.steady.regime import Regime
from dtnsim.steady.scenarios import Scenarios, interval, scenarios
from dtnsim.steady.timed import composer

SAMPLES: Final = 256
ROLES: Final = ("fit", "blind")
_Options = tuple[int, int, bool, bool]  #: draws, their seed, with reasons, with what residuals are made of
_Piece = tuple[PathSpec, Sequence[Case]]


@dataclass(frozen=True, slots=True)
class Validation:
    """All cases judged."""

    judgements: tuple[Judgement, ...]

    @property
    def sites(self) -> list[str]:
        """Sites in the order of their files."""
        return list(dict.fromkeys(j.case.site for j in self.judgements))

    def with_role(self, role: str, site: str | None = None) -> list[Judgement]:
        """Counted cases of a role, of one site or all."""
        return [j for j in self.judgements if j.counted and j.case.role == role and site in (None, j.case.site)]

    def summary(self, role: str, site: str | None = None) -> Summary:
        """Summary of the model for a role."""
        chosen = self.with_role(role, site)
        covered = [j.covered for j in chosen if j.covered is not None]
        return summarise([abs(j.error) for j in chosen if j.error is not None], covered)

    def baseline_summary(self, role: str = "blind", site: str | None = None) -> Summary:
        """Summary of min(disk, network, disk) for a role; it has no interval."""
        return summarise(
            [abs(error_of(j.baseline, j.case)) for j in self.with_role(role, site) if j.baseline is not None], []
        )

    def bottlenecks(self, role: str, site: str | None = None) -> tuple[int, int]:
        """(bottlenecks predicted as stated, bottlenecks stated); a path counts once, however many cases it has."""
        stated = {
            (str(j.case.path), j.case.overrides, j.case.transfer): bool(j.bottleneck_right)
            for j in self.judgements
            if j.case.role == role and site in (None, j.case.site) and j.bottleneck_right is not None
        }
        return sum(stated.values()), len(stated)

    def left_out_summary(self) -> Summary:
        """Summary of the fit cases, each predicted by parameters fitted without it."""
        chosen = [j for j in self.with_role("fit") if j.left_out is not None]
        return summarise([abs(error_of(j.left_out or 0.0, j.case)) for j in chosen], [])

    def as_dict(self) -> dict[str, Any]:
        """The document of ``dtnsim validate --json``."""
        summary = {**{role: self.summary(role) for role in ROLES}, "baseline_blind": self.baseline_summary()}
        if any(j.left_out is not None for j in self.judgements):
            summary["leave_one_out"] = self.left_out_summary()
        overall, then = trust(self.judgements), trust(first(self.judgements))
        return {
            "schema": "dtnsim.validation/1",
            "summary": {name: asdict(entry) for name, entry in summary.items()},
            "trust": overall.as_dict() if overall is not None else None,
            "first_predicted": then.as_dict() if then is not None else None,
            "kinds": {kind: t.as_dict() for kind, t in by_kind(self.judgements).items()},
            "cases": [_case_dict(j) for j in self.judgements],
        }


def _case_dict(j: Judgement) -> dict[str, Any]:
    case = j.case
    document = {
        **fields(case, "id", "site", "study", "role"),
        "quantity": case.quantity if case.pattern is None else f"{case.quantity}:{case.pattern}",
        "unit": case.unit,
        "measured": None if case.withheld else case.measured,
        **fields(j, "p10", "p50", "p90", "ceiling", "error", kind="regime.kind"),
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
    reasons: bool = True,
    residuals: bool = False,
    progress: Callable[[int, int], None] | None = None,
    scheduler: str | None = None,
) -> Validation:
    """Measured beside predicted.

    Args:
        cases: Cases, or files and folders of them; None for all that are shipped.
        calibration: Fitted parameters instead of those that the paths name; ``none`` for none.
        samples: Draws behind the interval.
        seed: Seed of the draws.
        leave_one_out: Predict every fit case also by parameters that were fitted without it.
        reasons: Say by which numbers what binds does; which station it is is said anyhow.
        residuals: Find also what `Judgement.residual` is made of, from which the model's own error is learned.
        progress: Called with (done, all).
        scheduler: Address of a Dask scheduler, ``tcp://login1:8786``, whose workers predict the cases instead.

    Returns:
        The `Validation`: every figure with its prediction and interval.

    Raises:
        SpecError: a path or a case cannot be used.
    """
    files = None if cases is None else [Path(c) for c in cases if not isinstance(c, Case)]
    listed = [c for c in cases or () if isinstance(c, Case)]
    listed += load_all(files) if files or cases is None else []
    paths = Paths(calibration)
    groups = by_key(((case.path, case.overrides), number) for number, case in enumerate(listed))
    with runtime.gc_paused():  # all paths are kept
        pieces = [(paths(listed[those[0]]), [listed[n] for n in those]) for those in groups.values()]
        if scheduler is None:
            run_together(path for path, _ in pieces)
        options = samples, seed, reasons, residuals
        spread = Pool(judged_on, options, pieces, scheduler=scheduler) if scheduler else None
        results = _here(options, pieces) if spread is None else spread.results()
        numbers, by_number = list(groups.values()), dict[int, Judgement]()
        with runtime.gc_resumed(aside=True):
            for number, batch in results:
                by_number.update(zip(numbers[number], batch, strict=True))
                if progress is not None:
                    progress(len(by_number), len(listed))
    judged = [by_number[n] for n in range(len(listed))]
    if leave_one_out:
        judged = _left_out(judged, progress, scheduler)
    return Validation(tuple(judged))


def _here(options: _Options, pieces: Sequence[_Piece]) -> Iterator[tuple[int, list[Judgement]]]:
    """Judges in this process: paths whose rounds of TCP are not known yet come last, and those run at once."""
    from dtnsim.physics.tcp.rate_over_time import NotYet, gathered

    later: list[int] = []
    with gathered():
        for number, piece in enumerate(pieces):
            try:
                yield number, judged_on(options, piece)
            except NotYet:
                later.append(number)
    yield from ((number, judged_on(options, pieces[number])) for number in later)


def judged_on(options: _Options, piece: _Piece) -> list[Judgement]:
    """Cases of one path."""
    (samples, seed, reasons, residuals), (path, those) = options, piece
    with nullcontext() if reasons else without_words():
        composed = composer(path, Draw())
        problem = composed.problem()
    meeting = meetings(problem)
    nominal = Solved(problem, meeting.m, meeting.solution)
    drawn = scenarios(composed, problem, samples, seed) if samples else None
    folds, common = shipped_folds(), discrepancy.load()
    laws = [folds.get(case.study, common) if case.role != "fit" else common for case in those]
    judged = [_judge(case, path, nominal, drawn, law) for case, law in zip(those, laws, strict=True)]
    return [_with_parts(j, nominal, drawn) for j in judged] if residuals and drawn is not None else judged


def _judge(case: Case, path: PathSpec, nominal: Solved, drawn: Scenarios | None, laws: Discrepancy) -> Judgement:
    f = transfer_index(case, nominal.problem) or 0
    ceiling = float(values(case, nominal)[0])
    runs = np.array([ceiling])
    if drawn is not None:
        with_errors = case.quantity != "throughput_sd"
        runs = values(case, with_rates(drawn, drawn.rates(laws) if with_errors else drawn.parameters))
    within = interval(runs)
    m = replace(nominal.matrices, capacity=nominal.solution.capacity)
    limit = bottleneck(nominal.problem, f, cause_of(m, f, int(nominal.solution.binding[0, f])))
    kind = drawn.held[f].own if drawn is not None else Regime("", "")
    rule = baseline.predict(case, path)
    return Judgement(case, within.p10, within.p50, within.p90, ceiling, rule, limit, kind, runs)


def _with_parts(j: Judgement, nominal: Solved, drawn: Scenarios) -> Judgement:
    """A judgement with what its residual is made of."""
    explained, most = (values(j.case, with_rates(drawn, rates)) for rates in (drawn.parameters, drawn.wire_limits()))
    return replace(j, parts=Parts(explained, most, drawn.rooms(transfer_index(j.case, nominal.problem) or 0)))


@lru_cache(maxsize=1)
def shipped_folds() -> dict[str, Discrepancy]:
    """For every study of the shipped cases the laws that were learned without it."""
    file = library.root("calibration") / "discrepancy-folds.yaml"
    if not file.is_file():
        return {}
    raw = yamlio.load(file)
    common = discrepancy.load()
    return {
        study: replace(discrepancy.read(fold), noises=common.noises, default_noise=common.default_noise)
        for study, fold in raw["folds"].items()
    }


# -- leave one out: every fit case predicted by parameters that were fitted without it -----------------

LEVERAGE: Final = 0.05  #: share of a figure that its own fit follows, from which the others are fitted anew without it


def _left_out(
    judged: Sequence[Judgement], progress: Callable[[int, int], None] | None, scheduler: str | None
) -> list[Judgement]:
    """Adds to the fit cases of every site what a fit that never saw them predicts."""
    result, paths, sites = list(judged), Paths("none"), list[tuple[list[int], tuple[list[Figure], list[str]]]]()
    for site in dict.fromkeys(j.case.site for j in judged):
        mine = [n for n, j in enumerate(judged) if j.case.site == site and j.case.role == "fit" and not j.case.withheld]
        if len(mine) < 2:
            continue
        chosen = [judged[n].case for n in mine]
        figures = [Figure(c, paths(c)) for c in chosen]
        hosts = sorted({h for f in figures for h in f.spec.host_files.values()})
        sites.append((mine, (figures, hosts)))
    tell = progress if scheduler is None else None  # nobody is told by workers elsewhere
    for k, those in Pool(ratios, tell, [site for _, site in sites], scheduler=scheduler).results():
        for n, ratio in zip(sites[k][0], those, strict=True):
            result[n] = replace(judged[n], left_out=judged[n].case.measured * math.exp(ratio))
    return result


def ratios(progress: Callable[[int, int], None] | None, site: tuple[Sequence[Figure], Sequence[str]]) -> list[float]:
    """ln(predicted / measured) of every figure of some hosts by a fit without it.

    A figure that its own fit hardly follows (`LEVERAGE`) is taken out by one Gauss-Newton step; for the others the
    remaining figures are fitted again, from where the fit to all of them ended.
    """
    figures, model = site[0], Model(*site)
    search, u, error = fit.search_minimum(model)
    ratio, slope = search.at(u)
    weight = 1 / (1 + (ratio / error) ** 2)
    scaled = slope * (np.sqrt(weight) / error)[:, None]
    information = scaled.T @ scaled + np.diag(search.sd**-2)
    gradient = scaled.T @ (np.sqrt(weight) * ratio / error) + u / search.sd**2
    share = np.einsum("np,np->n", scaled, np.linalg.solve(information, scaled.T).T)
    points = np.empty((len(figures), u.size))
    for n, row in enumerate(scaled):
        if share[n] < LEVERAGE:
            rest = information - np.outer(row, row)
            points[n] = u - np.linalg.solve(rest, gradient - row * np.sqrt(weight[n]) * ratio[n] / error[n])
        else:  # an error so large that it weighs nothing
            points[n] = search.minimum(u, np.where(np.arange(error.size) == n, 1e9, error), firm=True)
        if progress is not None:
            progress(n + 1, len(figures))
    points = np.clip(points, search.low, search.high)
    return [float(r) for r in np.diag(model.ratios(search.full(points)))]
