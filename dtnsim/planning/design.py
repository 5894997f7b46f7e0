"""Which scenarios a sweep has: ranges and lists of keys crossed, a Latin hypercube of them, or a table."""

import csv
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from dtnsim.ground import units, yamlio
from dtnsim.ground.errors import InputError, UnitError

_HOW: Final = "write --vary KEY=1ms..200ms:log20 (or :lin20), or --vary KEY=1,2,4,8"
_STEPS: Final = re.compile(r"(log|lin)?(\d+)?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_DIGITS, _MOST_DIGITS = 4, 12  #: digits of a value, as few as keep all values apart
MOST: Final = 10_000_000  #: scenarios that one command may ask for


@dataclass(frozen=True, slots=True)
class Axis:
    """One key and what it goes through."""

    key: str  #: Dotted key of the path.
    values: tuple[str, ...]  #: Texts, as they would follow ``--set key=``; of a range without a count its two ends.
    #: Ends of a range in SI; None of a list.
    low: float | None = None
    high: float | None = None
    dim: str = "1"  #: Unit of the range.
    log: bool = False  #: Steps are equal ratios.
    whole: bool = False  #: A range of whole numbers.
    counted: bool = True  #: The range says how many steps.
    unit: str | None = None  #: As both ends write it; None where they differ.

    def texts_at(self, parts: np.ndarray) -> list[str]:
        """Texts at parts from 0 to 1 of the range, or of the list."""
        if self.low is None or self.high is None:
            last = len(self.values) - 1
            return [self.values[min(int(u * len(self.values)), last)] for u in parts]
        if self.log:
            numbers = np.exp(math.log(self.low) + parts * math.log(self.high / self.low))
        else:
            numbers = self.low + parts * (self.high - self.low)
        if self.whole:
            return [str(round(v)) for v in numbers]
        for digits in range(_DIGITS + max(len(str(len(numbers))) - 2, 0), _MOST_DIGITS):
            texts = [self._text(v, digits) for v in numbers]
            if len(set(texts)) == len(texts):
                return texts
        return [self._text(v, _MOST_DIGITS) for v in numbers]

    def _text(self, value: float, digits: int) -> str:
        """A value in the unit of the ends, or as people write it."""
        if self.unit is None:
            return units.show(value, self.dim, digits=digits)
        one = units.read(f"1{self.unit}")[0] if self.unit else 1.0
        return f"{value / one:.{digits}g} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Design:
    """The scenarios of a sweep: a column of texts for each key."""

    keys: tuple[str, ...]  #: The keys.
    #: For each key its different values, and the number of the value in each scenario, (S,).
    columns: tuple[tuple[tuple[str, ...], np.ndarray], ...]

    def __len__(self) -> int:
        return len(self.columns[0][1])

    def row(self, number: int) -> tuple[str, ...]:
        """The values of one scenario, in the order of the keys."""
        return tuple(values[codes[number]] for values, codes in self.columns)


def axis(text: str) -> Axis:
    """Reads one ``--vary``; `InputError` where it is neither a range nor a list."""
    key, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not key or not values:
        raise InputError(f"--vary: {text!r} varies nothing; {_HOW}")
    if ".." not in values:
        return Axis(key, _listed(values, text))
    low_text, _, rest = values.partition("..")
    high_text, colon, steps = rest.partition(":")
    for end, which in ((low_text, "lower"), (high_text, "upper")):
        if not end.strip():
            raise InputError(f"--vary {key}: {values!r} has no {which} end; {_HOW}")
    try:
        (low, dim), (high, other) = units.read(low_text.strip()), units.read(high_text.strip())
    except UnitError as error:
        raise InputError(f"--vary {key}: {error}") from None
    match = _STEPS.fullmatch(steps.strip())
    count = int(match[2]) if match and match[2] else 2
    if match is None or (colon and not steps.strip()) or count < 2 or count > MOST:
        raise InputError(f"--vary {key}: {steps!r} is no number of steps from 2 to {MOST}; {_HOW}")
    if dim != other or not low < high:
        raise InputError(f"--vary {key}: {values!r} needs a smaller and a larger value of one unit; {_HOW}")
    log = (match[1] or "").lower() == "log"
    if log and low <= 0:
        raise InputError(f"--vary {key}: a logarithmic range begins above 0; {_HOW}")
    whole = dim == "1" and all(re.fullmatch(r"\s*[0-9]+\s*", text) for text in (low_text, high_text))
    ends = [_spaced(text.strip()) for text in (low_text, high_text)]
    named = {_NUMBER.sub("", end, count=1).strip() for end in ends}
    unit = named.pop() if len(named) == 1 else None
    ranged = Axis(key, (), low, high, dim, log, whole, counted=bool(match[2]), unit=unit)
    between = ranged.texts_at(np.linspace(0, 1, count))[1:-1]
    return replace(ranged, values=tuple(dict.fromkeys([ends[0], *between, ends[1]])))


def _spaced(text: str) -> str:
    """A number with a space before its unit."""
    match = _NUMBER.match(text)
    return f"{match[0]} {text[match.end() :].strip()}".strip() if match else text


def cartesian(axes: Sequence[Axis]) -> Design:
    """Every value of each key with every value of the others; the last key changes fastest."""
    for one in axes:
        if not one.counted:
            raise InputError(f"--vary {one.key}: how many steps? {_HOW}; or take --sample lhs:1000")
    if math.prod(len(a.values) for a in axes) > MOST:
        raise InputError(f"more than {MOST:,} scenarios; take fewer steps, or --sample lhs:1000")
    grid = np.meshgrid(*(np.arange(len(a.values)) for a in axes), indexing="ij")
    return Design(tuple(a.key for a in axes), tuple((a.values, g.ravel()) for a, g in zip(axes, grid, strict=True)))


def hypercube(axes: Sequence[Axis], count: int, seed: int) -> Design:
    """A Latin hypercube (McKay, Beckman and Conover 1979): each range, or list, is hit evenly.

    Its points are those of `scipy.stats.qmc.LatinHypercube`, which takes a second to import.
    """
    draw = np.random.default_rng(seed).spawn(1)[0]
    within = draw.uniform(size=(count, len(axes)))
    parts = [(draw.permutation(np.arange(1, count + 1)) - within[:, n]) / count for n in range(len(axes))]
    return _design([a.key for a in axes], [a.texts_at(part) for a, part in zip(axes, parts, strict=True)])


def table(file: str | Path) -> Design:
    """Scenarios of a CSV file: its heading has the keys."""
    try:
        text = yamlio.decoded(Path(file).read_bytes())
        rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if any(c.strip() for c in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        unread = isinstance(error, UnicodeDecodeError)
        why = "it is not text; give a CSV file" if unread else getattr(error, "strerror", None) or error
        raise InputError(f"--table: {file} cannot be read: {why}") from None
    if len(rows) < 2 or not all(rows[0]) or len(set(rows[0])) < len(rows[0]):
        raise InputError(f"--table: {file} needs a heading of different keys, like 'wan.rtt,transfer.tool.p', and rows")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise InputError(f"--table: {file}: row {number} has {len(row)} cells where the heading has {len(rows[0])}")
    return _design(rows[0], [list(column) for column in zip(*rows[1:], strict=True)])


def sampling(text: str) -> int:
    """How many scenarios ``lhs:1000`` asks for; `InputError` where it is not of that form."""
    kind, _, count = text.partition(":")
    if kind.strip().lower() != "lhs" or not re.fullmatch(r"\s*[0-9]+\s*", count) or not 0 < int(count) <= MOST:
        raise InputError(f"--sample: {text!r} is no sample; write lhs:1000")
    return int(count)


def check(axes: Sequence[Axis]) -> None:
    """Refuses no axis at all, and two of one key."""
    if not axes:
        raise InputError(f"nothing is varied; {_HOW}, or --table FILE")
    seen: set[str] = set()
    for one in axes:
        if one.key in seen:
            raise InputError(f"--vary: {one.key} is varied twice; write all its values behind one --vary")
        seen.add(one.key)


def _design(keys: Sequence[str], columns: Sequence[Sequence[str]]) -> Design:
    coded = []
    for column in columns:
        number = {value: n for n, value in enumerate(dict.fromkeys(column))}
        coded.append((tuple(number), np.array([number[v] for v in column])))
    return Design(tuple(keys), tuple(coded))


def _listed(values: str, text: str) -> tuple[str, ...]:
    """The items of a list; commas within brackets are the item's own."""
    items, depth, start = [], 0, 0
    for n, sign in enumerate(itertools.chain(values, ",")):
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0:
            items.append(values[start:n].strip())
            start = n + 1
    if not all(items):
        raise InputError(f"--vary: {text!r} has an empty value; {_HOW}")
    for item in items:
        yamlio.loads(f"v: {item}", "--vary")
    return tuple(dict.fromkeys(items))
