"""A number with unit, spread and source, and how such numbers are drawn for intervals.

`Quantity` is what every parameter of every component is. `Draw` turns quantities into floats: the nominal value, or
``samples`` values each (Latin hypercube, so that a few hundred draws fill every margin evenly), which makes the model
an array calculation over scenarios. A draw belongs to the key of what is drawn, whatever the order of keys or of use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from dtnsim.ground import draws, units
from dtnsim.ground.errors import UnitError
from dtnsim.physics._arrays import FloatArray as Array, IntArray

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.fields import FieldInfo
    from pydantic_core import CoreSchema

    Value = float | Array

else:
    Value = Any


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of the model.

    Attributes:
        value: Central value (median) in SI.
        dim: Its SI unit (a key of `units.EXAMPLES`).
        spread: Relative standard deviation; the number is drawn around ``value`` (`dtnsim.ground.draws`).
        source: Where it comes from: datasheet, document and line, log file, or ``assumed: why``.
        text: The value as it was written, for people.
        typical: What such a number is where nobody states it. ``value`` is then the ideal, which the median answer
            is calculated with; scenarios are drawn from ``typical``.
        key: What the number belongs to: host and dotted key, segment, tool. Quantities of one key share one draw.
    """

    value: float
    dim: str
    spread: float = 0.0
    source: str = ""
    text: str = field(default="", compare=False)
    typical: Quantity | None = None
    key: str = field(default="", compare=False)

    @property
    def any_value(self) -> float:
        """A value of it where any will do: of many scenarios that of the first."""
        return self.value

    @property
    def is_share(self) -> bool:
        """Whether it is a share or a probability; what is 1 in the middle is a factor."""
        return self.dim == "1" and self.value < 1

    @property
    def several(self) -> bool:
        """Whether scenarios have different values of it."""
        return False

    def worth(self, value: float, source: str = "") -> Quantity:
        """The same parameter with another value; what was written no longer holds, so the text goes."""
        return replace(self, value=value, text="", source=source or self.source)

    def times(self, factor: float, source: str = "") -> Quantity:
        """So much larger or smaller."""
        return self.worth(self.value * factor, source)

    def with_key(self, key: str) -> Quantity:
        """The same number with its key; built without `dataclasses.replace`, since every number of a path is."""
        if self.__class__ is not Quantity:
            return replace(self, key=key)
        return Quantity(self.value, self.dim, self.spread, self.source, self.text, self.typical, key)

    def __str__(self) -> str:
        return self.text or units.show(self.value, self.dim)


@dataclass(frozen=True, slots=True)
class Mixture(Quantity):
    """A number of something of which not even the kind is stated: drawn by one of several laws.

    ``value`` and ``spread`` are the median and spread of all together.
    """

    chooser: str = ""  #: Key of the draw that chooses, which quantities share.
    #: The laws, equally likely, in the order in which they are chosen as the draw grows.
    kinds: tuple[Quantity, ...] = ()

    @property
    def is_share(self) -> bool:
        """Whether it is one whatever its kind."""
        return self.dim == "1" and all(k.value < 1 for k in self.kinds)

    def times(self, factor: float, source: str = "") -> Quantity:
        """So much larger or smaller, of each kind."""
        scaled = replace(self, kinds=tuple(k.times(factor) for k in self.kinds))
        return scaled.worth(self.value * factor, source)

    @classmethod
    def of_kinds(cls, chooser: str, kinds: Iterable[Quantity]) -> Mixture:
        """The mixture of these laws."""
        parts = tuple(kinds)
        if not all(k.value for k in parts):  # what costs nothing has no logarithm
            mean = sum(k.value for k in parts) / len(parts)
            return cls(mean, parts[0].dim, 0.0, parts[0].source, key=parts[0].key, chooser=chooser, kinds=parts)
        logs = [math.log(k.value) for k in parts]
        middle_of = sum(logs) / len(parts)
        variance = sum(math.log1p(k.spread**2) + (m - middle_of) ** 2 for k, m in zip(parts, logs, strict=True))
        overall = math.exp(middle_of), parts[0].dim, math.sqrt(math.expm1(variance / len(parts)))
        source = "one of several kinds: " + "; ".join(dict.fromkeys(k.source for k in parts))
        return cls(*overall, source, key=parts[0].key, chooser=chooser, kinds=parts)


def prior(text: str, spread: float, source: str) -> Quantity:
    """A default of a component: ``prior("7.4 ms", 0.1, "WD Ultrastar DC HC310 specification p. 23")``."""
    value, dim = units.read(text)
    return Quantity(value, dim, spread, source, text)


def middle(value: Value) -> float:
    """Median of a number that may be one value a scenario (numpy's own loads masked arrays: 25 ms)."""
    if isinstance(value, float):
        return float(value)
    flat = np.sort(np.ravel(np.asarray(value, float)))
    return float((flat[(flat.size - 1) // 2] + flat[flat.size // 2]) / 2)


def factor_spread(factor: float) -> float:
    """Relative standard deviation of a number of which two thirds lie within a factor of the median."""
    return math.sqrt(math.expm1(math.log(factor) ** 2))


def ideally(ideal: str, usual: Quantity) -> Quantity:
    """A default that is calculated with as it is at its best, and drawn as it usually is."""
    factor = math.exp(math.sqrt(math.log1p(usual.spread**2)))
    around = units.show(usual.value, usual.dim)
    why = f"not stated: the ideal; drawn around {around} within a factor of {factor:.2g}: {usual.source}"
    return replace(prior(ideal, 0.0, why), typical=usual)


class Scalar(str):
    """A scalar of a YAML file: its text, the file and line it is on, and the source it inherits."""

    __slots__ = ("file", "line", "source")
    file: str
    line: int
    source: str

    def __new__(cls, text: str, file: str = "", line: int = 0, source: str = "") -> Self:
        """Makes the text carry its place."""
        self = super().__new__(cls, text)
        self.file, self.line, self.source = file, line, source
        return self

    @property
    def origin(self) -> str:
        """Source to quote for this number."""
        place = f"{self.file}:{self.line}" if self.file else "given on the command line"
        return f"{self.source} ({place})" if self.source else place


@dataclass(frozen=True, slots=True)
class Unit:
    """Annotation of a pydantic field: ``rate: Annotated[Quantity, Unit("B/s", spread=0.05)]``."""

    dim: str  #: Unit of the field.
    spread: float = 0.0  #: Spread where the file gives none (its default says how far such figures usually err).
    low: float = 0.0  #: Smallest value allowed [SI].
    high: float = 1e18  #: Largest value allowed [SI]: beyond all there is, and no product of a few overflows.
    line: bool = False  #: Whether it is the rate of a line, which people write in bits.
    plain: bool = False  #: Whether a bare number is one of ``dim``, as an MTU is bytes to everybody.

    def read(self, raw: object) -> Quantity:
        """Turns what a file or a caller gave into a `Quantity`; its `ValueError` says what to write instead."""
        if isinstance(raw, Quantity):
            if raw.dim != self.dim:
                raise ValueError(f"{raw} has unit {raw.dim} where {self.dim} is due")
            quantity = raw
        elif isinstance(raw, Mapping):
            quantity = self._from_mapping(raw)
        elif isinstance(raw, str | int | float):
            source = raw.origin if isinstance(raw, Scalar) else "given by the caller"
            text, spread = units.around(str(raw).strip(), self.spread)
            if self.plain and text.isdigit():
                text = f"{text} {self.dim}"
            parsed = _parse(text if self.plain or isinstance(raw, str) else raw, self.dim)
            quantity = Quantity(parsed, self.dim, spread, source, text)
        else:
            raise ValueError(f"needs a number with a unit, like {units.EXAMPLES[self.dim]}")  # noqa: TRY004 - pydantic
        if not self.low * (1 - 1e-12) <= quantity.value <= self.high * (1 + 1e-12):  # 99.9 % is 0.999 and a bit
            ends = " to ".join(units.show(end, self.dim) for end in (self.low, self.high))
            raise ValueError(f"{quantity} is out of range; write a value from {ends}")
        return quantity

    def _from_mapping(self, raw: Mapping[Any, Any]) -> Quantity:
        unknown = set(raw) - {"value", "spread", "source"}
        if unknown or "value" not in raw:
            raise ValueError("a number like 45 ms +- 5 ms may have the keys value, spread and source, and no others")
        for key in ("value", *(k for k in ("spread", "source") if k in raw)):
            if not isinstance(raw[key], str | int | float | Quantity):
                raise ValueError(f"{key} needs one word or text; leave the key out where it is not known")  # noqa: TRY004
        base = self.read(raw["value"])
        spread = _parse(raw["spread"], "1") if "spread" in raw else base.spread
        if not 0 <= spread <= 3:
            raise ValueError(f"spread {spread} is out of range; write a relative standard deviation like 0.1 or 10 %")
        return replace(base, spread=spread, source=str(raw.get("source", base.source)))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validation: `read`."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """JSON Schema: what `dtnsim.description.schema_nodes.unit` makes of it."""
        return {"x-unit": self.dim, "x-plain": self.plain}


def unit_of(field: FieldInfo) -> Unit | None:
    """What a model's field says of its number, also within ``Size | None``."""

    def first(types: Iterable[object]) -> Unit | None:
        within = (kind if isinstance(kind, Unit) else first(get_args(kind)) for kind in types)
        return next((unit for unit in within if unit is not None), None)

    return first((*field.metadata, field.annotation))


def _parse(raw: str | float, dim: str) -> float:
    try:
        return units.parse(raw, dim)
    except UnitError as error:
        raise ValueError(str(error)) from None


REPEAT = "repeat "  #: what the keys of draws begin with that differ from run to run, and not in the long-run mean


def key_of(quantity: Quantity) -> str:
    """What a quantity's draw goes by; a number of the model itself has no key in the path."""
    law = quantity.typical or quantity
    return quantity.key or f"{law.source} {law.value:g} {law.dim}"


def in_scenario(value: Any, scenario: int) -> float:
    """The value of a parameter in one scenario."""
    if isinstance(value, float):  # numpy's own float is one, and must not become the clock's
        return float(value)
    flat = np.ravel(value)
    return float(flat[scenario if flat.size > 1 else 0])


class Draw:
    """Gives each quantity its value: nominal (``samples=0``) or an array of draws.

    The same seed gives the same numbers. Quantities of one key share a draw, so two uses of one parameter are
    correlated as they are in the machine; a number of the model itself, which belongs to no component, is one and
    the same wherever it is used.
    """

    def __init__(
        self, samples: int = 0, seed: int = 1, correlation: draws.Correlation | None = None, *, mean: bool = False
    ) -> None:
        self.samples, self.seed, self._mean = samples, seed, mean
        #: what was drawn so far: standard normal scores by key, (samples,) each
        self.scores: dict[str, Array] = {}
        self._drawn: dict[tuple[str, float, float, str], Array] = {}
        self.quantities: dict[str, Quantity] = {}  #: what has a key in the path and was drawn, by its key
        #: keys of those that nobody stated
        self.unstated: set[str] = set()
        self._known = correlation
        self._row = {key: number for number, key in enumerate(correlation.keys if correlation is not None else ())}

    @property
    def many(self) -> bool:
        """Whether values are arrays of scenarios."""
        return self.samples > 0

    @property
    def nominal(self) -> Draw:
        """The draw of nominal values, which level and shape of what is run step by step are found at."""
        return Draw()

    def __call__(self, quantity: Quantity) -> Value:
        """Value of ``quantity``: a float, or an array of shape (samples,)."""
        if not self.samples:
            return quantity.value
        law = quantity.typical or quantity
        if not law.spread or (self._mean and quantity.key.startswith(REPEAT)):
            return law.value
        key = key_of(quantity)
        if quantity.typical is not None:
            self.unstated.add(key)
        same = key, law.value, law.spread, law.dim
        if (values := self._drawn.get(same)) is None:
            if quantity.key:
                self.quantities[key] = quantity
            values = self._by_law(law, key)
            values.flags.writeable = False  # many ask for it
            self._drawn[same] = values
        return values

    def _by_law(self, law: Quantity, key: str) -> Array:
        """A number that is drawn by its law, or by one of several."""
        score = self.score(key)
        if not isinstance(law, Mixture):
            if key in self._row or self.samples > draws.FEW:
                return draws.around(law.value, law.spread, score, share=law.is_share)
            return draws.drawn(self.seed, self.samples, key, law.value, law.spread, share=law.is_share)
        if not key.startswith(REPEAT):
            self.unstated.add(law.chooser)
        spreads = np.array([one.spread for one in law.kinds])[self._kinds(law)]
        return draws.around(self.medians(law), spreads, score, share=law.is_share)

    def medians(self, law: Mixture) -> Array:
        """Median of the kind that a number is of in each scenario."""
        return np.array([one.value for one in law.kinds])[self._kinds(law)]

    def _kinds(self, law: Mixture) -> IntArray:
        return np.argsort(np.argsort(self.score(law.chooser))) * len(law.kinds) // self.samples

    def score(self, key: str) -> Array:
        """Standard normal scores of what ``key`` names, (samples,), one in each of as many equal parts."""
        scores = self.scores.get(key)
        if scores is None:
            row = self._row.get(key)
            if row is None or self._known is None:
                scores = self._permuted(key)
            else:
                independent = np.array([self._permuted(k) for k in self._known.keys[: row + 1]])
                scores = self._known.factor[row, : row + 1] @ independent
            self.scores[key] = scores
        return scores

    def _permuted(self, key: str) -> Array:
        scores = draws.scores if self.samples <= draws.FEW else draws.scores.__wrapped__  # searches ask again
        return scores(self.seed, self.samples, key)


class Table(Draw):
    """Gives some quantities, by their keys or as they are, a value in each scenario, all others their nominal one."""

    def __init__(self, values: Mapping[Any, Any]) -> None:
        super().__init__()
        self._values = values

    @property
    def many(self) -> bool:
        """Yes: what is in the table has scenarios."""
        return True

    def __call__(self, quantity: Quantity) -> Value:
        """Values of a quantity, (scenarios,), or its nominal value."""
        values: Value | None = self._values.get(quantity.key)
        return self._values.get(quantity, quantity.value) if values is None else values
