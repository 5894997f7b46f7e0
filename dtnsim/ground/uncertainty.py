"""What an answer rests on: defaults that nobody wrote, their alternatives, changes that were tried, the draws."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Generic, NamedTuple, TypeVar

from dtnsim.ground import units
from dtnsim.ground.errors import UnitError
from dtnsim.ground.quantity import Mixture, Quantity
from dtnsim.physics._arrays import LEVELS, FloatArray as Array

R = TypeVar("R")

COVERED: Final = round(LEVELS[2] - LEVELS[0], 6)  #: part of the runs that lie in an interval [1]
WITHIN: Final = f"{100 * COVERED:g} %"  #: the same as people write it
#: what people call the levels; keys of JSON and fields of records are a promise to programs and keep their names
NAMES: Final = tuple(f"p{100 * level:g}" for level in LEVELS)
HEADS: Final = tuple(f">{name}" for name in NAMES)  #: the same as headings of columns


def often(noun: str = "") -> str:
    """How often a run lies in an interval, as people say it: ``8 in 10``, ``8 runs in 10``."""
    total = next(n for n in (10, 20, 1000) if (COVERED * n).is_integer())
    return " ".join(filter(None, (f"{COVERED * total:.0f}", noun, f"in {total}")))


@dataclass(frozen=True, slots=True)
class Interval:
    """Quantiles of a figure's scenarios at `LEVELS`; without scenarios all three are the figure itself."""

    p10: float
    p50: float
    p90: float

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return {"p10": self.p10, "p50": self.p50, "p90": self.p90}

    def ends(self, unit: str) -> str:
        """Both ends in words: ``p10 8.5 Gb/s, p90 17.7 Gb/s``."""
        return f"{NAMES[0]} {units.show(self.p10, unit)}, {NAMES[2]} {units.show(self.p90, unit)}"


@dataclass(frozen=True, slots=True)
class Assumption:
    """A default that moves the answer."""

    key: str  #: What to write in the path file.
    value: str  #: What the ceiling takes.
    #: Its p10 and p90: most such systems lie between; twice the other usual value of a default without a spread.
    low: str
    high: str
    #: What the answer becomes there, over what it is [1].
    at_low: float
    at_high: float
    source: str  #: Where value and spread come from.
    drawn: str = ""  #: Key of its draw; empty for a default without a spread.
    best: bool = False  #: Whether ``value`` is the best there may be, and draws are of what is usual.

    @property
    def ranges(self) -> bool:
        """Whether it lies between two values; else it has another usual one."""
        return self.low != self.high

    @property
    def moves(self) -> float:
        """By what part the answer moves at most."""
        return max(abs(self.at_low - 1), abs(self.at_high - 1))


class Raised(NamedTuple):
    """A buffer that is raised: what sentences call it, its key (none where a program asks for it), its sizes [B]."""

    name: str
    key: str
    now_B: float
    size_B: float


class Change(NamedTuple):
    """What relieves a station: in words, as ``key=value`` where it can be tried, and the buffers that it raises."""

    words: str
    overrides: tuple[str, ...] = ()
    buffers: tuple[Raised, ...] = ()


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change that was tried against what holds a transfer, and helps."""

    words: str  #: What it is.
    overrides: tuple[str, ...]  #: ``key=value`` of it.
    ceiling_Bps: float  #: The transfer's ceiling with it.


_LEAST, _MOST = 0.01, 1e4  #: numbers that a unit still fits


def written(quantity: Quantity, value: float) -> str:
    """Another value of a quantity, as people write it: in the unit that it has."""
    unit = str(quantity).lstrip("0123456789.").strip()
    with suppress(UnitError):
        one = units.parse(f"1 {unit}", quantity.dim)
        if unit and _LEAST < value / one < _MOST:
            return f"{units.digits(value / one, 3)} {unit}"
    number, _, rest = units.show(value, quantity.dim, digits=3, line="B/s" not in quantity.text).partition(" ")
    return f"{units.digits(float(number), 3)} {rest}".rstrip() if "e+" in number else f"{number} {rest}".rstrip()


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What many systems have in the place of a default without a spread: jumbo frames instead of 1500 bytes.

    Annotation of a field, one or several: ``mtu: Annotated[Quantity, Unit("B"), Otherwise("9000 B", "jumbo frames")]``.
    Where nobody wrote the field, `dtnsim.steady.assumed` tries these values and says by how much the answer moves.
    """

    text: str  #: The value, as it would be written.
    why: str  #: Where systems have it.
    now: str = ""  #: What the default is in words, where the field alone does not say it.
    role: str = ""  #: Of a tool's option: tried only where an end has this role (``dtn``).


@dataclass(frozen=True, slots=True)
class Since:
    """Annotation of a version, or a number that goes with it, which nobody wrote: what hosts of a year have."""

    #: (first year, version) in order, of earlier years the first; None is the field's default.
    versions: tuple[tuple[int, str | int | None], ...]

    def version_in(self, year: int) -> str | int | None:
        """The version of a year; None for the default."""
        return next((v for first, v in reversed(self.versions) if first <= year), self.versions[0][1])


@dataclass(frozen=True, slots=True)
class Releases(Generic[R]):
    """Releases that a tool or a kernel may be of."""

    now: R  #: What the median answer takes.
    each: tuple[R, ...]  #: What scenarios are drawn from, each as likely.
    chooser: str  #: Key of the draw that chooses one, for all laws that ask.

    def number(self, cost: Callable[[R], Quantity]) -> Quantity:
        """A number that each release has; drawn among those that it may be of, where they differ."""
        now, each = cost(self.now), [cost(release) for release in self.each]
        if all(one == now for one in each):
            return now
        key = next((one.key for one in (now, *each) if one.key), "")
        return replace(Mixture.of_kinds(self.chooser, each), value=now.value, source=now.source, text=now.text, key=key)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """The scenarios behind an interval."""

    rates_Bps: Array  #: Rates of the transfers, (S, F).
    total_Bps: Array  #: Rate of the whole path: all bytes over the time of all, (S,).
    seconds: Array  #: Time from the first transfer's start to the last one's end, (S,).
    scores: Mapping[str, Array]  #: Standard normal scores of everything that was drawn, by key, (S,) each.
    #: How they were drawn, as `predict` has it.
    seed: int = 1
    mean: bool = False
