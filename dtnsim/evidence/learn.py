"""Learns the model's own error from figures that fitted nothing.

Every judging figure has a residual ``r = ln(measured / predicted)`` (of a rate; durations are turned over). It is the
sum of what the parameters' spreads explain, of repeat noise, and of the discrepancy of its kind,

    r_i = x_i + e_i + d_i,    d_i ~ two-piece t2(m_g, a_g, b_g),    g = setting / kind / class of tool,

where ``x_i`` comes from the draws of the parameters and ``e_i`` from repeats. What wires carry ends it: a figure at
what they carry says only that ``r_i`` would have been at least that (Tobin, Econometrica 1958). So do other kinds of
things on its way, each a room above what holds it and with an error of its own: ``r_i - x_i - e_i`` is the least of
``d_g + room_g``, whose survivals have a Clayton copula (`dtnsim.steady.discrepancy.clayton`). The three numbers of a
group are normal around those of its kind, those of a kind around its setting's, these around common ones, and the
common ones around a wide prior, so that a kind with few figures borrows from the others (hierarchical shrinkage;
Gelman et al., Bayesian Data Analysis, ch. 5). The mode of that posterior is taken. Figures of one study share machines
and authors: n of them of one kind weigh like n / (1 + (n - 1) rho) independent ones (design effect, Kish 1965).

Mechanisms are mended by figures that have been seen, and so is the error that is left of those. A figure that says
what it was first predicted to be (`Case.first_predicted`) is held against that, with scales ``k`` times those of its
group: one factor, learned with the laws; medians stay. Who asks next has an unseen system as well, so the laws of a
setting with such figures are written with it (optimism of the apparent error: Efron, JASA 1983).

A study is judged by laws that were learned without it (`folds`).

``dtnsim validate --discrepancy`` writes them as data: ``discrepancy.yaml`` has the laws of every kind of evidence and
of every class of tool in it, with n and the studies they come from; ``discrepancy-folds.yaml`` those of every fold.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.evidence.repeats import noise_of
from dtnsim.evidence.trust import Judgement, Residual
from dtnsim.ground import output
from dtnsim.physics._arrays import FloatArray as Array, Index
from dtnsim.steady.discrepancy import FREEDOM, SCHEMA, UNIT, Discrepancy, Law, Noise, t2_quantile, t4_quantile
from dtnsim.steady.rows import begins, over_rows

#: correlation of figures of one study within a kind and a setting: 0.25 over 1,021 judging figures, told in deviations
#: of their kind there (analysis of variance)
RHO: Final = 0.25
#: A law is three numbers: median over mean scale, mean log scale, and half the log ratio of the scales below and above.
#: Prior of the common ones, and how far those of settings, kinds and groups lie from what they belong to. Medians are
#: told in scales, so that half a scale means as much where figures agree to a percent as where they differ by half.
_COMMON: Final = (np.array([0.0, np.log(0.25), 0.2]), np.array([0.3, 1.0, 0.3]))
_DEVIATION: Final = (_COMMON[1], np.array([0.5, 1.0, 0.2]), np.array([0.5, 0.6, 0.2]), np.array([0.35, 0.4, 0.15]))
_UNSEEN: Final = 0.5  #: prior of ln k, around nothing
#: scales that a law never falls below: figures are printed and framed to some parts in a thousand
_FLOOR: Final = 0.003
_PEAK: Final = 1 / np.sqrt(8)  #: density of the t at its mode, times its scale
#: how exactly figures say what they say: their last digit, what a tool counts as bytes, the ends of a run
_EXACT: Final = 0.01
_FAR: Final = 3.0  #: rooms beyond which a kind is taken to hold nobody
#: relative changes of the log posterior that searches end at: from nothing, and from nearly the same laws
_EXACTLY: Final = 2e-9
_NEARLY: Final = 1e-6
_TOGETHER: Final = 32  #: figures whose probabilities are worked out at once: what a cache holds
#: points that represent the parameters' and for the repeats' part of a residual
_POINTS: Final = 17
_NOISE: Final = UNIT * t4_quantile(np.array([0.1, 0.3, 0.5, 0.7, 0.9]))  # equally likely


@dataclass(frozen=True, slots=True)
class Learned:
    """Laws with what they were learned from: figures and studies by name of kind or group, and where the mode lies."""

    discrepancy: Discrepancy
    figures: dict[str, int]
    studies: dict[str, int]
    deviations: dict[str, Array]
    unseen: float  #: How much wider errors of unseen systems are, as the logarithm of the factor.


def learn(residuals: Sequence[Residual], noises: Discrepancy, near: Learned | None = None) -> Learned:
    """The laws of all kinds and groups that have figures; ``near``, of nearly the same, is where the search begins."""
    from scipy.optimize import minimize

    model = _Model(residuals)
    if near is not None:
        model.start = np.concatenate([*(near.deviations[name] for name in model.rows), [near.unseen / _UNSEEN]])
    exact = _EXACTLY if near is None else _NEARLY
    optimum = minimize(model.cost, model.start, jac=True, method="L-BFGS-B", options={"maxiter": 300, "ftol": exact})
    unseen = _UNSEEN * float(optimum.x[-1])
    default, *laws = map(_law, model.laws(optimum.x[:-1]), model.doubt(), unseen * model.met)
    figures, studies = model.count()
    named = {name: law for name, law in zip(list(model.rows)[1:], laws, strict=True) if figures[name]}
    discrepancy = Discrepancy(default, named, noises.default_noise, noises.noises)
    deviations = dict(zip(model.rows, optimum.x[:-1].reshape(-1, 3), strict=True))
    return Learned(discrepancy, figures, studies, deviations, unseen)


def folds(residuals: Sequence[Residual], noises: Discrepancy, whole: Learned | None = None) -> dict[str, Discrepancy]:
    """For every study the laws that were learned without it; ``whole`` is what was learned from all residuals."""
    studies = dict.fromkeys(r.study for r in residuals)
    return {s: learn([r for r in residuals if r.study != s], noises, whole).discrepancy for s in studies}


def _law(theta: Array, doubt: Array, wider: float) -> Law:
    """The law that the next study's figures are expected to follow.

    A few figures do not determine a law exactly. Its own variance and that of what is known of it add up: a scale
    that is known within a factor exp(v) is exp(v**2 / 2) larger in the mean, and doubt about the mode widens both.

    Args:
        theta: Its three numbers.
        doubt: Their standard deviations.
        wider: Logarithm of how much wider it is for unseen systems; its median stays.
    """
    mean, half = float(theta[1] + wider + (doubt[1] ** 2 + doubt[2] ** 2) / 2), float(theta[2])
    unit = float(np.exp(theta[1]))
    sides = [max(float(np.exp(mean + side * half)), _FLOOR) for side in (1.0, -1.0)]
    below, above = (float(np.hypot(s, doubt[0] * unit)) for s in sides)
    skew = float(_skew(np.array(np.log(below / above) / 2))[0])
    return Law(float(theta[0]) * unit - skew * float(np.sqrt(below * above)), below, above)


def _skew(half: Array) -> tuple[Array, Array]:
    """How far the median of a law lies above its mode, over the mean scale, and the slope of that over ``half``."""

    def median(h: Array) -> Array:
        wide, share = np.exp(np.abs(h)), 1 / (1 + np.exp(-2 * np.abs(h)))  # the wider side has so much of it
        return np.asarray(-np.sign(h) * wide * t2_quantile(1 - 0.25 / share))

    step = 1e-5
    return median(half), (median(half + step) - median(half - step)) / (2 * step)


class _Model:
    """Minus the log posterior of all laws, and its gradient.

    Its variables are how far each law lies from that of what it belongs to, and how much wider unseen figures are, in
    standard deviations.
    """

    def __init__(self, residuals: Sequence[Residual]) -> None:
        self._studies = [r.study for r in residuals]
        # every figure has an entry for what holds it, and for each kind that is near
        points = [_points(r) for r in residuals]
        entries = [(n, r.regime._replace(kind=kind), room) for n, r in enumerate(residuals)
                   for kind, room in points[n][3].items()]  # fmt: skip
        names = ["", *dict.fromkeys(name for names in zip(*(regime.names for _, regime, _ in entries), strict=True)
                                    for name in names)]  # fmt: skip
        self.rows = {name: row for row, name in enumerate(names)}
        self._depth = [0, *(1 + n.count("/") for n in names[1:])]
        self._spread = np.array([_DEVIATION[depth] for depth in self._depth])
        #: whether a law belongs to another, or is it
        self._within = np.array([[not a or f"{n}/".startswith(f"{a}/") for a in names] for n in names], dtype=float)
        self._own = np.array([self.rows[r.regime.name] for r in residuals])
        self._of = np.array([n for n, _, _ in entries])
        self._row = np.array([self.rows[regime.name] for _, regime, _ in entries])
        first, edges = np.append(begins(self._of), len(self._of)), [*range(0, len(points), _TOGETHER), len(points)]
        self._blocks = [(slice(a, b), slice(first[a], first[b])) for a, b in itertools.pairwise(edges)]
        error, edge, self._full = (np.array([p[k] for p in points]) for k in range(3))
        self._left = np.where(self._full, edge, error)[self._of] - np.array([room for _, _, room in entries])
        number = Counter((r.study, r.regime.kind) for r in residuals)
        self._weight = np.array([1 / (1 + (number[r.study, r.regime.kind] - 1) * RHO) for r in residuals])
        self._unseen = np.array([r.unseen for r in residuals], dtype=float)
        settings = {r.regime.setting for r in residuals if r.unseen}
        #: whether a law is of a setting in which there are unseen figures
        self.met = np.array([n.split("/")[0] in settings for n in names], dtype=float)
        self.start = np.zeros(3 * len(names) + 1)

    def laws(self, deviations: Array) -> Array:
        """The three numbers of every law, (laws, 3)."""
        return np.asarray(_COMMON[0] + self._within @ (self._spread * deviations.reshape(-1, 3)))

    def count(self) -> tuple[dict[str, int], dict[str, int]]:
        """Figures and studies behind every law."""
        of_law = {name: np.flatnonzero(self._within[self._own, row]) for name, row in self.rows.items() if name}
        studies = {name: len({self._studies[n] for n in those}) for name, those in of_law.items()}
        return {name: len(those) for name, those in of_law.items()}, studies

    def doubt(self) -> Array:
        """Standard deviations of the three numbers of every law (Laplace), (laws, 3).

        A figure has the information (f + 1) / (f + 3) of the mode of a t over its scale, and 2 f / (f + 3) of its log
        scale. A law of more than one group is for those that nobody has measured: they lie as far from it as others.
        """
        n = self._weight @ self._within[self._own]
        precision = n[:, None] * np.array([FREEDOM + 1, 2 * FREEDOM, 2 * FREEDOM]) / (FREEDOM + 3)
        variance = 1 / (precision + 1 / self._spread**2)
        beyond = np.array([*_DEVIATION[1:], np.zeros(3)])[self._depth]
        return np.asarray(np.sqrt(variance + beyond**2))

    def cost(self, deviations: Array) -> tuple[float, Array]:
        """The value and the gradient."""
        unseen, weight = self._unseen[self._of], self._weight[self._of]
        wider = _UNSEEN * deviations[-1] * unseen
        mine = self.laws(deviations[:-1])[self._row]
        mine[:, 0] *= np.exp(-wider)  # the median, which is told in scales, stays
        mine[:, 1] += wider
        unit = np.exp(mine[:, 1])
        skew, steeper = _skew(mine[:, 2])
        law = np.stack([(mine[:, 0] - skew) * unit, unit * np.exp(mine[:, 2]), unit * np.exp(-mine[:, 2])])
        parts = [self._likelihood(law, *block) for block in self._blocks]
        likelihood, (shift, slow_side, fast_side) = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
        sides = slow_side - fast_side - shift * unit * steeper
        slope = weight * np.stack([shift * unit, shift * law[0] + slow_side + fast_side, sides])
        to_wider = _UNSEEN * float((slope[1] - mine[:, 0] * slope[0]) @ unseen)
        slope[0] *= np.exp(-wider)
        gradient = np.zeros(self._spread.shape)
        np.add.at(gradient, self._row, slope.T)
        of_laws = self._spread * (self._within.T @ gradient)
        value = -float(self._weight @ likelihood - 0.5 * (deviations**2).sum())
        return value, deviations - np.append(of_laws.ravel(), to_wider)

    def _likelihood(self, law: Array, figures: slice, entries: slice) -> tuple[Array, Array]:
        """Logarithm of the probability of some figures, and its slopes over what their entries have.

        Args:
            law: (3, all entries) mode and scales.
        """
        mode, *scales = law[:, entries, None]
        off, owner = self._left[entries] - mode, self._of[entries] - figures.start
        near = np.stack(_density(off, *scales)), np.stack(_survival(off, *scales))
        log_f, slopes = _least_of_kinds(*near, owner, self._full[figures])
        top = log_f.max(axis=1)
        share = np.exp(log_f - top[:, None])
        likelihood = np.log(share.mean(axis=1)) + top
        share /= share.sum(axis=1, keepdims=True)
        return likelihood, (share[owner] * slopes).sum(axis=2)


def _least_of_kinds(density: Array, survival: Array, owner: Index, full: Array) -> tuple[Array, Array]:
    """Logarithm of the probability of figures, the least of their entries; its slopes over what entries have.

    Args:
        density: (4, entries, points) logarithms and slopes of the entries' densities.
        survival: The same of the probabilities that they are larger.
        owner: (entries,) the figure of each.
        full: Whether something ended it, (figures, points).
    """
    first = begins(owner)
    powers = -survival[0]
    top = over_rows(np.maximum, powers, first)
    rest = np.diff(np.append(first, len(owner)))[:, None] - 1
    # 1 / S = 1 + sum of (1 / S_g - 1), Clayton with the parameter of `dtnsim.steady.discrepancy.clayton`
    log_total = np.log(over_rows(np.add, np.exp(powers - top[owner]), first) - rest * np.exp(-top)) + top
    terms = powers - survival[0] + density[0]
    most = over_rows(np.maximum, terms, first)
    parts = np.exp(terms - most[owner])
    filled = over_rows(np.add, parts, first)
    share, near = parts / filled[owner], np.exp(powers - log_total[owner])
    ended = full[owner]
    larger, at_value = np.where(ended, near, 2 * (near - share)), np.where(ended, 0.0, share)
    slopes = larger * survival[1:] + at_value * density[1:]
    one = np.log(filled) + most - 2 * log_total
    return np.where(full, -log_total, one), slopes


def _density(off: Array, below: Array, above: Array) -> tuple[Array, Array, Array, Array]:
    """Logarithm of the probability of a figure, as exact as figures are; its slopes over mode, ln below, ln above."""
    slow, width = off < 0, below + above
    scale = np.where(slow, below, above)
    u = off / scale
    pull = (FREEDOM + 1) * u / (FREEDOM + u**2)
    log_f = np.log(4 * _EXACT * _PEAK / width) - 0.5 * (FREEDOM + 1) * np.log1p(u**2 / FREEDOM)
    to_below = np.where(slow, pull * u, 0.0) - below / width
    to_above = np.where(slow, 0.0, pull * u) - above / width
    return log_f, pull / scale, to_below, to_above


def _survival(edge: Array, below: Array, above: Array) -> tuple[Array, Array, Array, Array]:
    """Logarithm of the probability of at least ``edge``; its slopes over mode, ln below, ln above."""
    slow, width = edge < 0, below + above
    scale = np.where(slow, below, above)
    u = np.abs(edge) / scale
    tail = 1 - u / np.sqrt(FREEDOM + u**2)  # of one side's probability
    beyond = tail * scale / width
    survival = np.where(slow, 1 - beyond, beyond)
    density = 2 * _PEAK / width * (1 + u**2 / FREEDOM) ** (-0.5 * (FREEDOM + 1))
    turn = np.where(slow, -1.0, 1.0)
    other = tail * below * above / width**2  # what the share of the sides moves
    same_side = other + density * np.abs(edge)
    to_below, to_above = (np.where(slow, same_side, -other), np.where(slow, -other, same_side))
    return np.log(survival), density / survival, turn * to_below / survival, turn * to_above / survival


def _points(residual: Residual) -> tuple[Array, Array, Array, dict[str, Array]]:
    """What is left of a residual, what would end it, whether it did, and the room of every kind that is near.

    All over the parameters' draws and the noise.
    """
    order = np.argsort(residual.explained)
    picks = order[((np.arange(_POINTS) + 0.5) / _POINTS * order.size).astype(int)]
    explained, room = residual.explained[picks], residual.room[picks]
    full = np.abs(residual.value - explained - room) <= _EXACT
    noise = [z * residual.noise for z in _NOISE]
    rooms = {kind: np.broadcast_to(r, order.shape)[picks] for kind, r in residual.rooms.items()}
    near = {kind: np.tile(np.minimum(r, 2 * _FAR), len(noise)) for kind, r in rooms.items() if r.min() < _FAR}
    left = np.concatenate([residual.value - explained - n for n in noise])
    own_room = {residual.regime.kind: np.zeros(left.shape)}
    return left, np.concatenate([room - n for n in noise]), np.tile(full, len(noise)), own_room | near


_HEAD = """\
# Made by 'dtnsim validate --discrepancy FILE'; the same cases give the same bytes. ln(measured / predicted) of a rate
# is a two-piece Student t with 2 degrees of freedom: mode 'location', scales 'below' and 'above' it.
"""
_FOLDS = "# Made with discrepancy.yaml: for every study the laws learned without it, by which its figures are judged.\n"


def documents(judged: Sequence[Judgement]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the discrepancy file, the file of its folds) that figures which fitted nothing give."""
    noises = noise_of(repeats(judged))
    resid = residuals(judged, noises)
    whole = learn(resid, noises)
    entries = {
        study: {"default": _entry(d.default), "kinds": {name: _entry(law) for name, law in sorted(d.laws.items())}}
        for study, d in folds(resid, noises, whole).items()
    }
    return document(whole, resid), {"schema": SCHEMA, "folds": entries}


def residuals(judged: Sequence[Judgement], noises: Discrepancy) -> list[Residual]:
    """Residuals of the judging figures, with the noise that runs of their kind have."""
    resid = [r for j in judged if (r := j.residual) is not None]
    apart = {r.regime: noises.noise(r.regime) for r in resid}
    return [
        replace(r, noise=apart[r.regime].same_day if r.regime.dedicated else apart[r.regime].random_day) for r in resid
    ]


def repeats(judged: Sequence[Judgement]) -> list[tuple[str, bool, Sequence[float]]]:
    """Runs of one test: kind of evidence, whether on another day, logarithms of the runs."""
    figures = {(j.case.site, j.case.id): j for j in judged}
    runs: list[tuple[str, bool, Sequence[float]]] = []
    for j in judged:
        if not j.case.teaches:
            continue
        if j.case.runs:
            runs.append((j.regime.kind, False, [float(x) for x in np.log(j.case.runs)]))
        again = j.case.repeats
        if again is not None:
            first = figures[j.case.site, again.of]
            # in the unit of the first: a duration and a rate of one test say the same
            ratio = j.sign * float(np.log(j.case.measured / j.ceiling)) - first.sign * float(
                np.log(first.case.measured / first.ceiling)
            )
            runs.append((j.regime.kind, again.on == "another day", [0.0, ratio]))
    return runs


def document(whole: Learned, resid: Sequence[Residual]) -> dict[str, Any]:
    """The discrepancy file."""
    laws = whole.discrepancy
    kinds = {
        name: {"n": whole.figures[name], **_entry(laws.laws[name]), "source": _source(resid, name, whole.studies[name])}
        for name in sorted(laws.laws)
    }
    noise = {"default": laws.default_noise, **dict(sorted(laws.noises.items()))}
    common = "no evidence of the setting: the common law, one deviation between settings wider"
    default, repeat = {**_entry(laws.default), "source": common}, {k: _entry(n) for k, n in noise.items()}
    return {"schema": SCHEMA, "default": default, "kinds": kinds, "repeat": repeat}


def _source(resid: Sequence[Residual], name: str, studies: int) -> str:
    names = sorted({r.study for r in resid if name in r.regime.names})
    shown = ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")
    return f"{studies} {'study' if studies == 1 else 'studies'}: {shown}"


def _entry(law: Law | Noise) -> dict[str, float]:
    return {name: float(f"{value:.3g}") for name, value in asdict(law).items()}


def write(judged: Sequence[Judgement], file: Path) -> dict[str, Any]:
    """Writes the discrepancy file, and its folds beside it."""
    import yaml

    content, folds = documents(judged)
    output.write(file, _HEAD + yaml.safe_dump(content, sort_keys=False, width=118))
    beside = file.with_name(f"{file.stem}-folds{file.suffix}")
    text = yaml.safe_dump(folds, sort_keys=False, width=1000, default_flow_style=None)
    output.write(beside, _FOLDS + text)
    return content
