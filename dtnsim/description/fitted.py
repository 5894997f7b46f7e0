"""Fitted parameters of a calibration file: put over the hosts that they were made for; their covariance.

A fit remembers what each number was before it (``prior``), which is how it knows its host again::

    parameters:
      venadi:
        cpu.clock: {value: 3.87 GHz, spread: 3.8 %, prior: {value: 3.8 GHz, spread: 4 %}, source: 'fit: dd.txt:4'}

Where a path says something else, what the path says holds, and a note names the key.

The file has the spread of every parameter beside its value, and under ``covariance`` the correlation of their
logarithms, row by row below the diagonal::

    covariance:
      parameters: ['venadi: cpu.clock', 'venadi: stack.file_write_byte']
      correlation: ['1', '0.62 1']

Where tests were run more than once, ``repeats`` has how far runs of a day and days lie apart on these hosts.
"""

import math
from collections.abc import Iterator, Mapping as MappingABC, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import BaseModel

from dtnsim.components.base import place
from dtnsim.description.host import Host
from dtnsim.description.hosts import Built, Hosts, Steps, comes_first, inside
from dtnsim.description.override import override, put, split_key
from dtnsim.ground import library, units
from dtnsim.ground.draws import Correlation
from dtnsim.ground.errors import SpecError, UnitError
from dtnsim.ground.quantity import Quantity
from dtnsim.ground.yamlio import Mapping
from dtnsim.physics._arrays import FloatArray as Array

_LEAST = 1e-6  #: smallest eigenvalue of a correlation that is drawn from: rounding in the file may leave one below zero
#: keys of a fitted value
_KEYS: Final = ("value", "spread", "prior", "source")
_MADE: Final = "give a file that 'dtnsim calibrate' wrote"


@dataclass(frozen=True, slots=True)
class Fits:
    """What a calibration said of a path."""

    correlation: Correlation = field(default_factory=Correlation)  #: How the errors of its parameters go together.
    unused: frozenset[tuple[str, str]] = frozenset()  #: (host, dotted key) of those that the path says itself.
    notes: tuple[str, ...] = ()  #: Sentences on them.
    #: (run to run, day to day or None) by host: standard deviations of the logarithm that were measured.
    noises: MappingABC[str, tuple[float, float | None]] = field(default_factory=dict)
    measured: bool = False  #: Whether a host of the path is as it was fitted, and no figures that agree said otherwise.


def fitted_hosts(
    raw: Mapping, overrides: Sequence[str], beside: Path | None, built: Built
) -> tuple[dict[str, Host], dict[str, str], Fits, list[str]]:
    """The hosts of a path, the names of their files, what was fitted, and what was noted."""
    reader = Hosts(raw, beside, overrides)
    raw.put("hosts", reader.read(), *raw.at("hosts"))
    fits = Fits()
    if raw.get("calibration") not in (None, "none"):
        fits = _fitted(raw, beside, reader.written, built)
    for text in overrides:
        if not comes_first(text) and inside(text) not in raw["hosts"]:
            override(raw, text)
    files = {a: str(h.get("name", a)) if isinstance(h, Mapping) else a for a, h in raw["hosts"].items()}
    return built.hosts(raw["hosts"]), files, fits, reader.notes


def _fitted(raw: Mapping, beside: Path | None, written: MappingABC[str, set[Steps]], built: Built) -> Fits:
    """Puts fitted parameters over those of the hosts they were fitted for, which are found by the name of their file.

    What a number was when it was fitted must be what it is here.
    """
    name = raw["calibration"]
    if not isinstance(name, str):
        raise SpecError("needs a file or a name", **place(raw, "calibration"), key="calibration", remedy=_MADE)
    file = library.calibration(name, beside=beside)
    read, together = _read(file, library.stamp(file))
    unused: set[tuple[str, str]] = set()
    used, notes = False, list[str]()
    for alias, host in raw["hosts"].items():
        table = read["parameters"].get(str(host.get("name", alias)))
        if table is None:
            continue
        before = built.host(alias, host)
        for key, entry, prior in _entries(table):
            steps = split_key(key)
            # an override wrote this key, one above it or one below it
            if any(all(a == b for a, b in zip(steps, mine, strict=False)) for mine in written.get(alias, ())):
                unused.add((alias, key))
            elif prior is not None and not _same(_quantity_at(before, steps), prior):
                unused.add((alias, key))
                notes.append(_note(alias, key, before, prior, entry, read.file))
            else:
                put(raw, ["hosts", alias, *steps], entry, key)
                used = True
    if together.keys and not (used or unused):
        fitted = ", ".join(read["parameters"])
        notes.append(f"calibration: {read.file} was fitted to {fitted}, which is no host here: it changes nothing")
    noise, hosts = _noise(read), read.get("hosts") or []
    mine = [a for a, h in raw["hosts"].items() if str(h.get("name", a)) in hosts] if noise is not None else []
    noises, measured = {a: noise for a in mine if noise is not None}, used and not read.get("unexplained")
    return Fits(together, frozenset(unused), tuple(notes), noises, measured and bool(together.keys))


@lru_cache(maxsize=8)
def _read(file: Path, stamp: tuple[int, int]) -> tuple[Mapping, Correlation]:
    """A calibration file, checked once as long as it is not written anew, and the correlation that it states."""
    del stamp
    read = library.load(file)
    parameters = read.get("parameters")
    if not isinstance(parameters, Mapping):
        raise SpecError("holds no fitted parameters", file=read.file, key="parameters", remedy=_MADE)
    for host, table in parameters.items():
        if not isinstance(table, Mapping):
            raise SpecError("needs keys with fitted values", **place(parameters, host), key=host, remedy=_MADE)
        for key, entry, prior in _entries(table):
            _numbers(table, key, entry, prior)
    return read, fitted_together(read)


def _noise(read: Mapping) -> tuple[float, float | None] | None:
    """How far runs and days lie apart, where tests were run more than once."""
    repeats = read.get("repeats")
    if not isinstance(repeats, Mapping) or repeats.get("run_to_run") is None:
        return None
    day = repeats.get("day_to_day")
    try:
        run = units.parse(str(repeats["run_to_run"]), "1")
        return run, units.parse(str(day), "1") if day not in (None, "null", "") else None
    except UnitError as error:
        raise SpecError(str(error), **place(read, "repeats"), key="repeats", remedy=_MADE) from None


def _entries(table: Mapping) -> Iterator[tuple[str, Any, Mapping | None]]:
    """(dotted key, fitted value as a path file would have it, what it was before) of a host's parameters."""
    for key, raw in table.items():
        where: dict[str, Any] = {**place(table, key), "key": key}
        if isinstance(raw, str):
            yield key, raw, None
            continue
        if not isinstance(raw, Mapping) or raw.get("value") is None:
            raise SpecError("needs a fitted value", **where, remedy=_MADE)
        entry, prior = Mapping(raw.file, raw.line), raw.get("prior")
        for part, value in raw.items():
            if part not in _KEYS:
                message = "is not a key of a fitted value"
                remedy = f"known keys: {', '.join(_KEYS)}"
                raise SpecError(message, **place(raw, part), key=f"{key}.{part}", remedy=remedy)
            if part != "prior":
                entry.put(part, value, *raw.lines[part])
        if prior is not None and not _remembered(prior):
            raise SpecError("needs the value and the spread before the fit", **where, remedy=_MADE)
        yield key, entry, prior


def _numbers(table: Mapping, key: str, entry: Any, prior: Mapping | None) -> None:
    """Checks that a fitted value is a number with its unit, and what it was before another of that unit."""
    values = {f"{key}.prior.{part}": value for part, value in (prior or {}).items()}
    values |= {key: entry} if isinstance(entry, str) else {f"{key}.{p}": v for p, v in entry.items() if p != "source"}
    for name, value in values.items():
        spread = name.endswith(".spread")
        if not isinstance(value, str | int | float):
            raise SpecError("needs one word", **place(table, key), key=name, remedy=_MADE)
        try:
            number, dim = units.read(str(value))
        except UnitError as error:
            raise SpecError(str(error), **(place(value) or place(table, key)), key=name, remedy=_MADE) from None
        if number < 0 or (spread and dim != "1"):
            raise SpecError(
                "is no spread" if spread else "is below 0", **(place(value) or place(table, key)), key=name, value=value
            )
    dims = {units.read(str(value))[1] for name, value in values.items() if not name.endswith(".spread")}
    if len(dims) > 1:
        raise SpecError("has another unit than its prior", **place(table, key), key=key, remedy=_MADE)


def _remembered(prior: object) -> bool:
    both = isinstance(prior, Mapping) and set(prior) == {"value", "spread"}
    return isinstance(prior, Mapping) and both and all(isinstance(v, str) for v in prior.values())


def _quantity_at(model: BaseModel, steps: list[str]) -> Quantity | None:
    """The number that a dotted key leads to; None where there is none."""
    node: Any = model
    for step in steps:
        node = node.get(step) if isinstance(node, dict) else getattr(node, step, None)
    return node if isinstance(node, Quantity) else None


def _same(current: Quantity | None, prior: Mapping) -> bool:
    """Whether a number is what it was when it was fitted, rounding apart."""
    if current is None:
        return False
    try:
        value, spread = units.parse(prior["value"], current.dim), units.parse(prior["spread"], "1")
    except UnitError:
        return False
    return math.isclose(current.value, value, rel_tol=1e-9) and math.isclose(current.spread, spread, rel_tol=1e-6)


def _note(alias: str, key: str, host: BaseModel, prior: Mapping, entry: Any, file: str) -> str:
    current = _quantity_at(host, split_key(key))
    status = "is not there" if current is None else f"is {current} +- {100 * current.spread:.3g} %"
    return (
        f"hosts.{alias}.{key} {status}, which holds: {file} was fitted to {prior['value']} +- {prior['spread']}, "
        f"and would have made it {entry['value']}"
    )


def fitted_together(fitted: Mapping) -> Correlation:
    """The correlation that a calibration file states, checked; none where it states none."""
    covariance = fitted.get("covariance")
    if covariance is None:
        return Correlation()
    where = {**place(fitted, "covariance"), "key": "covariance"}
    if not isinstance(covariance, Mapping):
        raise SpecError("needs parameters and their correlation", **where, remedy=_MADE)
    listed = [covariance.get(k) or [] for k in ("parameters", "correlation")]
    if not all(isinstance(x, list) for x in listed):
        raise SpecError("needs lists of parameters and of rows", **where, remedy=_MADE)
    keys, rows = [str(k) for k in listed[0]], [str(r).split() for r in listed[1]]
    if [len(r) for r in rows] != list(range(1, len(keys) + 1)):
        raise SpecError(f"needs {len(keys)} rows, each one longer than the one before", **where, remedy=_MADE)
    matrix = np.eye(len(keys))
    try:
        for number, row in enumerate(rows):
            matrix[number, : number + 1] = matrix[: number + 1, number] = [float(x) for x in row]
    except ValueError:
        raise SpecError("holds something that is not a number", **where, remedy=_MADE) from None
    if not np.all(np.abs(matrix) <= 1) or len(set(keys)) < len(keys):
        raise SpecError("needs each parameter once, and correlations from -1 to 1", **where, remedy=_MADE)
    return Correlation(tuple(keys), factor(matrix))


def factor(correlation: Array) -> Array:
    """Lower triangular factor of the nearest positive definite correlation, (K, K)."""
    if not correlation.size:
        return correlation
    values, vectors = np.linalg.eigh(correlation)
    matrix = (vectors * np.maximum(values, _LEAST)) @ vectors.T
    scale = np.sqrt(np.diag(matrix))
    return np.asarray(np.linalg.cholesky(matrix / np.outer(scale, scale)))
