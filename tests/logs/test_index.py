"""Every sample of the shared log collection parses to the figure its index states.

The expectations are data: ``index_expectations.json`` says which figures every file ``has``, which must be among the
records, each with ``quantity``, ``value`` [SI, or as printed with the tool's own unit word], ``unit`` and optionally
``rel`` (tolerance; the printed digits by default 0.1 %), ``where`` (conditions that the record must have), ``status``
(``complete`` by default) and ``n`` (how many such records there are); and quantities that it ``has_not``.
"""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from dtnsim.logs import read_logs
from dtnsim.logs.measurement import Measurement

HERE = Path(__file__).parent
LOGS = HERE.parents[2] / "shared" / "logs"

pytestmark = pytest.mark.skipif(not (LOGS / "INDEX.csv").exists(), reason="the shared log collection is absent")


#: unit words of values, as FORMATS.md found them for each tool
WORDS = {
    "kbit": 1e3 / 8,
    "Mbit": 1e6 / 8,
    "Gbit": 1e9 / 8,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}


def _in_si(given: dict[str, Any]) -> dict[str, Any]:
    for key, value in given.items():
        number, _, word = str(value).partition(" ")
        if word in WORDS:
            given[key] = float(number) * WORDS[word]
    return given


_SAID = json.loads((HERE / "index_expectations.json").read_text(), object_hook=_in_si)
EXPECTED: dict[str, list[dict[str, Any]]] = _SAID["has"]
ABSENT: dict[str, list[str]] = _SAID["has_not"]


def _index() -> list[dict[str, str]]:
    if not (LOGS / "INDEX.csv").exists():
        return []
    with (LOGS / "INDEX.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _fits(record: Measurement, figure: dict[str, Any]) -> bool:
    return (
        record.quantity == figure["quantity"]
        and record.unit == figure["unit"]
        and record.status == figure.get("status", "complete")
        and math.isclose(record.value, figure["value"], rel_tol=figure.get("rel", 1e-3), abs_tol=1e-12)
        and all(record.conditions.get(key) == value for key, value in figure.get("where", {}).items())
    )


def test_every_row_has_an_expectation() -> None:
    missing = [row["file"] for row in _index() if row["file"] not in EXPECTED and row["file"] not in ABSENT]
    assert not missing
    unknown = (EXPECTED.keys() | ABSENT.keys()) - {row["file"] for row in _index()}
    assert not unknown


@pytest.mark.parametrize("row", _index(), ids=[row["file"] for row in _index()])
def test_headline(row: dict[str, str]) -> None:
    name = row["file"]
    found, _ = read_logs(LOGS / name)
    for figure in EXPECTED.get(name, []):
        hits = [record for record in found if _fits(record, figure)]
        close = [(r.quantity, r.value, r.unit, dict(r.conditions), r.status) for r in found][:40]
        if "n" in figure:
            assert len(hits) == figure["n"], f"{figure}\n{close}"
        else:
            assert hits, f"{figure} is not among\n{close}"
    assert not {r.quantity for r in found} & set(ABSENT.get(name, []))
    assert all(r.line is not None and r.line >= 1 for r in found)
