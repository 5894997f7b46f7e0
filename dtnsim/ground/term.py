"""A number that carries how it came about: value, formula, source.

Components calculate with `Term` instead of bare numbers, so the formula that `dtnsim explain` prints is written by
the calculation itself and cannot say anything else. A formula is plain arithmetic that a reader can check with a pocket
calculator, and a test evaluates: ``16 drives x 200 MB/s``, ``min(3 GB/s, 550 MB/s)``, or a law of
`dtnsim.physics` with its arguments, ``hdd.zone_rate(position=0.5, outer_rate=262 MB/s, radius_ratio=0.55)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, reduce
from typing import Any, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.quantity import Draw, Quantity, Value, middle
from dtnsim.ground.runtime import record

#: how tightly a formula holds together: a sum, a product, a single number or call
_SUM: Final = 0
PRODUCT: Final = 1
_ATOM: Final = 2

_NEUTRAL: Final = {" x ": 1.0, " / ": 1.0, " + ": 0.0, " - ": 0.0}  #: what changes nothing on the right of a sign
_EITHER_WAY: Final = (" x ", " + ")  #: signs whose sides may change places

_KEPT_B: Final = 4096  #: bytes of draws up to which what laws give of them is kept: 16 MB of all

_WORDED: Final = ContextVar("worded", default=True)


@contextmanager
def without_words() -> Iterator[None]:
    """Terms made meanwhile are values alone: of scenarios nobody reads how each number came about."""
    before = _WORDED.set(False)
    try:
        yield
    finally:
        _WORDED.reset(before)


def worded() -> bool:
    """Whether terms carry formulas and sources now."""
    return _WORDED.get()


@record(frozen=True, slots=True)
class Term:
    """A number, the formula it came from and the sources of the numbers in it."""

    value: Value  #: A float, or one value a scenario (S,).
    formula: str  #: Arithmetic that gives ``value`` at the median scenario.
    source: str = ""  #: Where the numbers of the formula come from.
    binds: int = _ATOM  #: Precedence of the formula's outermost operation (internal).

    def __mul__(self, other: Term | float) -> Term:
        return _joined(self, " x ", other, lambda a, b: a * b, PRODUCT)

    def __rmul__(self, other: float) -> Term:
        return _joined(other, " x ", self, lambda a, b: a * b, PRODUCT)

    def __truediv__(self, other: Term | float) -> Term:
        return _joined(self, " / ", other, _ratio, PRODUCT)

    def __rtruediv__(self, other: float) -> Term:
        return _joined(other, " / ", self, _ratio, PRODUCT)

    def __add__(self, other: Term | Value) -> Term:
        return _joined(self, " + ", other, lambda a, b: a + b, _SUM)

    def __radd__(self, other: float) -> Term:
        return _joined(other, " + ", self, lambda a, b: a + b, _SUM)

    def __sub__(self, other: Term | float) -> Term:
        return _joined(self, " - ", other, lambda a, b: a - b, _SUM)

    def __rsub__(self, other: float) -> Term:
        return _joined(other, " - ", self, lambda a, b: a - b, _SUM)


def term(value: Term | Value, dim: str = "1", source: str = "") -> Term:
    """A bare number, or one a scenario, as a term; ``dim`` is the unit that its formula shows."""
    if isinstance(value, Term):
        return value
    return Term(value, shown(value, dim), source) if _WORDED.get() else Term(value, "")


def parameter(draw: Draw, quantity: Quantity) -> Term:
    """A parameter as a term: its value in this scenario, or in all of them."""
    return Term(draw(quantity), str(quantity), quantity.source) if _WORDED.get() else Term(draw(quantity), "")


def count(number: int, noun: str) -> Term:
    """A counted thing: ``16 drives``, ``1 drive``."""
    return Term(float(number), units.plural(number, noun) if _WORDED.get() else "")


def minimum(*terms: Term) -> Term:
    """The smallest of several; the formula keeps only what differs."""
    return _extreme("min", np.minimum, terms)


def largest(*terms: Term) -> Term:
    """The largest of several."""
    return _extreme("max", np.maximum, terms)


def law(function: Callable[..., Any], **arguments: Any) -> Term:
    """The result of a law of `dtnsim.physics`, by its arguments' names; the formula is the call itself."""
    value = _answer(function, {name: a.value if isinstance(a, Term) else a for name, a in arguments.items()})
    if not _WORDED.get():
        return Term(value, "")
    name = f"{function.__module__.removeprefix('dtnsim.physics.')}.{function.__name__}"
    written = ", ".join(f"{key}={_argument(a)}" for key, a in arguments.items())
    sources = [a.source for a in arguments.values() if isinstance(a, Term)]
    return Term(value, f"{name}({written})", _sources(f"dtnsim.physics.{name}", *sources))


def _answer(function: Callable[..., Any], values: dict[str, Any]) -> Value:
    """What a law gives of numbers: half of what a path asks it asks again, and like paths nine tenths."""
    keys: list[object] = []
    for value in values.values():
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == float and value.nbytes <= _KEPT_B:
            keys.append(value.tobytes())
        elif isinstance(value, float | int | str):
            keys.append(value)
        else:
            return _worked_out(function, values)
    return _asked(function, tuple(values), tuple(keys))


@lru_cache(maxsize=2048)
def _asked(function: Callable[..., Any], names: tuple[str, ...], keys: tuple[Any, ...]) -> Value:
    values = (np.frombuffer(key) if isinstance(key, bytes) else key for key in keys)
    value = _worked_out(function, dict(zip(names, values, strict=True)))
    if isinstance(value, np.ndarray):
        value.flags.writeable = False  # many ask for it
    return value


def _worked_out(function: Callable[..., Any], values: dict[str, Any]) -> Value:
    result = np.asarray(function(**values), float)
    return float(result) if result.ndim == 0 else result


def shown(value: Value, dim: str = "1") -> str:
    """A number as a formula has it: six digits at the median scenario."""
    return _written(middle(value), dim)


@lru_cache(maxsize=4096)
def _written(central: float, dim: str) -> str:
    if math.isinf(central):
        return "unlimited"
    return f"{central:.7g}" if dim == "1" else units.show(central, dim, digits=7)


def _argument(value: Any) -> str:
    if isinstance(value, Term):
        return value.formula
    if isinstance(value, bool | str):
        return repr(value)
    return shown(value) if isinstance(value, int | float | np.ndarray) else repr(value)


def _ratio(a: Value, b: Value) -> Value:
    if isinstance(b, float) and b:
        return a / b
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(a, b)


def _joined(
    left: Term | Value, sign: str, right: Term | Value, work: Callable[[Value, Value], Value], binds: int
) -> Term:
    worded = _WORDED.get()
    one, other = left.value if isinstance(left, Term) else left, right.value if isinstance(right, Term) else right
    changes_nothing = isinstance(other, float) and other == _NEUTRAL[sign] and (other is right or not worded)
    if changes_nothing and isinstance(left, Term):
        return left
    if not worded:
        return Term(work(one, other), "")
    a, b = term(left), term(right)
    value = work(a.value, b.value)
    if _is(b, _NEUTRAL[sign]):  # once is not worth a word
        return Term(value, a.formula, a.source, a.binds)
    if sign in _EITHER_WAY and _is(a, _NEUTRAL[sign]):
        return Term(value, b.formula, b.source, b.binds)
    head = a.formula if a.binds >= binds else f"({a.formula})"
    tight = b.binds > binds or (b.binds == binds and sign in _EITHER_WAY)
    tail = b.formula if tight else f"({b.formula})"
    return Term(value, f"{head}{sign}{tail}", _sources(a.source, b.source), binds)


def _is(operand: Term, number: float) -> bool:
    return isinstance(operand.value, int | float) and operand.value == number and not operand.source


def _extreme(name: str, of_two: np.ufunc, terms: tuple[Term, ...]) -> Term:
    if len(terms) == 1:
        return terms[0]
    value = reduce(of_two, (t.value for t in terms))
    read = list({t.formula: t for t in terms}.values())  # those that read alike may still differ in a scenario
    value = float(value) if np.ndim(value) == 0 else value
    if len(read) == 1:
        return Term(value, read[0].formula, read[0].source, read[0].binds)
    return Term(value, f"{name}({', '.join(t.formula for t in read)})", _sources(*(t.source for t in read)))


def _sources(*texts: str) -> str:
    several = [text for text in dict.fromkeys(texts) if text]
    if len(several) < 2:
        return several[0] if several else ""
    return "; ".join(dict.fromkeys(part for text in texts for part in text.split("; ") if part))
