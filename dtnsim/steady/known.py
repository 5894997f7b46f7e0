"""The median once an assumed number is known: that of the same draws with the number fixed."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from dtnsim.composition import sharing
from dtnsim.composition.compose import Composer, run_together
from dtnsim.description.spec import PathSpec
from dtnsim.ground.lazy import Lazy, LazyItems
from dtnsim.ground.quantity import Draw, Quantity, Value, key_of
from dtnsim.ground.records import Problem
from dtnsim.ground.term import without_words
from dtnsim.ground.uncertainty import Assumption
from dtnsim.physics._arrays import FloatArray as Array, quantile
from dtnsim.steady import discrepancy, ordering
from dtnsim.steady.assumed import WORTH, assumed, ends, place_key, unwritten, with_values
from dtnsim.steady.regime import ISOLATED, PRODUCTION, follows, setting
from dtnsim.steady.scenarios import Scenarios, composed_and_drawn, holders_of, laid_out
from dtnsim.steady.usual import usual

_AND: Final = re.compile(r", | and ")  #: between keys that go together
#: whose numbers are tried by themselves: connections run round by round where a loss is stated, and by the closed form
#: where it is drawn
_ROUNDS: Final = ("wan.", "links.")
_ENOUGH: Final = 1024  #: scenarios that tell where a median lies with such a number, however many the answer has


class _KnownDraws(Draw):
    """The draws of an answer, once for each of some numbers that are known.

    Args:
        draw: The draws of the answer.
        known: Key of each of these numbers, and at which end of its interval it is (0 or 1).
    """

    def __init__(self, draw: Draw, bounds: Sequence[tuple[str, int]]) -> None:
        super().__init__()
        self._draw, self._ends = draw, bounds
        self.samples = draw.samples * len(bounds)

    def __call__(self, quantity: Quantity) -> Value:
        """Value of ``quantity``: a float, or one a scenario of each of the numbers."""
        value = self._draw(quantity)
        places = [n for n, (key, _) in enumerate(self._ends) if key == quantity.key]
        if not places and np.ndim(value) == 0:
            return value
        same = key_of(quantity), quantity.value, quantity.spread, quantity.dim
        if same not in self._drawn:
            rows = np.array(np.broadcast_to(value, (len(self._ends), self._draw.samples)))
            for n in places:
                rows[n] = ends(quantity)[self._ends[n][1]]
            self._drawn[same] = rows.ravel()
            self._drawn[same].flags.writeable = False
        return self._drawn[same]

    def score(self, key: str) -> Array:
        """Scores of what ``key`` names, those of the answer for each of the numbers."""
        return np.tile(self._draw.score(key), len(self._ends))


def _all(composer: Composer, nominal: Problem, drawn: Scenarios, whole_Bps: float) -> tuple[Assumption, ...]:
    """What an answer assumes, the setting as well, the strongest first."""
    assumptions = (*assumed(composer, nominal, drawn, whole_Bps), *_of_setting(composer, nominal, drawn))
    return tuple(sorted(assumptions, key=lambda a: -a.moves))


def _of_setting(composer: Composer, nominal: Problem, drawn: Scenarios) -> tuple[Assumption, ...]:
    """The settings, by whose errors the model's own may be taken, where the network says which it is."""
    path = composer.spec
    if not follows(path):
        return ()
    lab = setting(path) == ISOLATED
    low, high, laws = PRODUCTION if lab else ISOLATED, PRODUCTION, discrepancy.load()
    variants = (replace(drawn, held=holders_of(path.model_copy(update={"setting": s}), nominal)) for s in (low, high))
    total = (ordering.total_rate(s.problem, s.rates(laws, mean=True)) for s in (drawn, *variants))
    was, at_low, at_high = (max(float(np.median(rates)), 1e-300) for rates in total)
    current, traffic = (ISOLATED, "no other traffic") if lab else ("between the two", "other traffic not known exactly")
    source = f"the network has a stated loss and {traffic}; isolated is a lab, production what is in daily use"
    assumption = Assumption("setting", current, low, high, at_low / was, at_high / was, source)
    return (assumption,) if assumption.moves > WORTH else ()


class Assumed(Lazy[Assumption]):
    """What an answer assumes, found when it is looked at.

    Args:
        seed, mean: How they were drawn, as `predict` has it.
    """

    def __init__(
        self, composer: Composer, nominal: Problem, drawn: Scenarios, whole_Bps: float, seed: int, *, mean: bool
    ) -> None:
        super().__init__(partial(_all, composer, nominal, drawn, whole_Bps))
        #: what holds each transfer in most of its draws, where that is not what does at the medians
        self.usual = LazyItems(len(nominal.transfers), partial(usual, composer, nominal, drawn))
        self.composer, self.nominal, self.drawn, self._mean = composer, nominal, drawn, mean
        self._draw, self._seed = drawn.draw, seed
        if drawn.draw.samples > _ENOUGH:
            self._draw = Draw(_ENOUGH, seed, composer.spec.correlation, mean=mean)

    def medians(self, numbers: Sequence[Assumption]) -> Array:
        """Rate of all transfers together with each of some numbers at the ends of its interval, (n, 2) [B/s]."""
        rates = np.empty((len(numbers), 2))
        together = [n for n, a in enumerate(numbers) if a.drawn and not a.key.startswith(_ROUNDS)]
        if together:
            rates[together] = self._with([(numbers[n].drawn, end) for n in together for end in (0, 1)]).reshape(-1, 2)
        stated = {
            n: [self._with_text(numbers[n], text) for text in dict.fromkeys((numbers[n].low, numbers[n].high))]
            for n in sorted({*range(len(numbers))}.difference(together))
        }
        run_together(path for paths in stated.values() for path in paths)
        for n, paths in stated.items():
            rates[n] = [self._median(path) for path in paths]
        return rates

    def _with(self, bounds: Sequence[tuple[str, int]]) -> Array:
        """Medians with numbers at the ends of their intervals, one after the other, (n,) [B/s]."""
        draw = _KnownDraws(self._draw, bounds)
        problem = sharing.as_in(self.composer.drawn(draw), self.nominal)
        rates = laid_out(problem, draw, self.drawn.held).rates(discrepancy.load(), mean=self._mean)
        return np.asarray(quantile(ordering.total_rate(problem, rates).reshape(len(bounds), -1), 0.5, axis=1))

    def _with_text(self, a: Assumption, text: str) -> PathSpec:
        """The path with a number or a default that has another value."""
        path = self.composer.spec
        if a.drawn or a.key == "setting":
            return path.changed([f"{key}={text}" for key in (path.written_as[a.drawn] if a.drawn else [a.key])])
        first, changes = _AND.split(a.key)[0], (c for c in unwritten(path) if c.other.text == text)
        return with_values(path, [c for c in changes if first in (place_key(path, place) for place, _ in c.found)])

    def _median(self, path: PathSpec) -> float:
        """The median of another path by the same draws [B/s]."""
        with without_words():
            _, drawn = composed_and_drawn(path, self._draw.samples, self._seed, mean=self._mean)
        total = ordering.total_rate(drawn.problem, drawn.rates(discrepancy.load(), mean=self._mean))
        return float(quantile(total, 0.5))
