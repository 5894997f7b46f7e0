"""Tests over many things: one over all of some names, one for each row of a table that lies beside them."""

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest
import yaml

from dtnsim.ground import yamlio

UNITS: Final = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "inf": math.inf, "sqrt": math.sqrt}
_SUM: Final = re.compile(r"(?=.*(\*| [+/-] |[KMG]iB))[\dKMG(][\d.e+*/ ()_KMGiB-]*")


@functools.cache
def tables(file: str) -> dict[str, Any]:
    """The tables of ``tests/FILE.yaml``."""
    return dict(yamlio.plain(Path(__file__).parent / f"{file}.yaml"))


def texts(document: str) -> Any:
    """What a YAML document holds, every number and word of it as its text."""
    return yaml.load(document, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def rows(file: str, table: str) -> Any:
    """A table of ``tests/FILE.yaml``: rows as `pytest.mark.parametrize` takes them, or by promises as `cases` does."""
    found = _summed(tables(file)[table])
    if isinstance(found, dict):
        return {promise: tuple(row) if isinstance(row, list) else row for promise, row in found.items()}
    return [tuple(row) if isinstance(row, list) else row for row in found]


def _summed(given: Any) -> Any:
    """With the numbers that are written as sums worked out."""
    if isinstance(given, dict):
        return {key: _summed(value) for key, value in given.items()}
    if isinstance(given, list):
        return [_summed(value) for value in given]
    return worked_out(given, {}) if isinstance(given, str) and _SUM.fullmatch(given) else given


def worked_out(given: Any, names: Mapping[str, Any]) -> Any:
    """What a table holds, of texts that are sums (``16 * MiB / 15e-3``) their number; others stay what they are."""
    if isinstance(given, dict):
        return {key: worked_out(value, names) for key, value in given.items()}
    if isinstance(given, list):
        return [worked_out(value, names) for value in given]
    if not isinstance(given, str):
        return given
    try:
        found = eval(given, {"__builtins__": {}}, {**UNITS, **names})
    except (NameError, SyntaxError):
        return given
    return given if callable(found) or isinstance(found, ModuleType) else found


def named(file: str) -> dict[str, Any]:
    """All rows of a file, each table of which is by promises, but what is ``given`` to them."""
    all_of = ((table, rows) for table, rows in tables(file).items() if table != "given")
    return {f"{table}: {promise}": row for table, rows in all_of for promise, row in rows.items()}


def holds(claims: list[Any], **named: Any) -> None:
    """Claims over named things: ``"one.rate > other.rate"``, or ``["one.rate", value, relative tolerance]``."""
    for claim in claims:
        said, *told = claim if isinstance(claim, list) else [claim]
        found, *wanted = (_asked(text, named) for text in (said, *told))
        # pytest rewrites no assertion of this file: what failed is its message
        if wanted:
            value, rel = (*wanted, 1e-6)[:2]
            assert found == pytest.approx(value, rel, abs=0), f"{said} is {found}, not {value}"
        else:
            assert isinstance(found, bool | np.bool_), f"{said} is {found}, which is neither true nor false"
            assert found, f"{said} does not hold"


def _asked(text: Any, named: dict[str, Any]) -> Any:
    return eval(text, {"__builtins__": {}, **UNITS, **named}) if isinstance(text, str) else text


def cases(names: str, table: dict[str, Any] | list[Any]) -> pytest.MarkDecorator:
    """One test for each row: of `rows`, or of a table by what it promises, ``{"promise": (value, ...), ...}``."""
    if isinstance(table, list):
        return pytest.mark.parametrize(names, table)
    return pytest.mark.parametrize(names, list(table.values()), ids=list(table))


def of_each(things: Iterable[Any]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Checks all of some names or functions in one test; those that fail are named with what was found."""
    every = list(things)

    def decorate(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            failed = {}
            for thing in every:
                try:
                    check(thing)
                except AssertionError as error:
                    failed[getattr(thing, "__name__", thing)] = str(error)
            assert every
            # pytest rewrites no assertion of this file: what failed is its message
            assert not failed, "\n".join(f"{thing}: {said}" for thing, said in failed.items())

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return decorate
