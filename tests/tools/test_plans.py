"""What a tool makes of a job by its options, and what it refuses: the rows of plans.yaml."""

import functools
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dtnsim.ground import units
from dtnsim.ground.errors import SpecError, UnitError
from dtnsim.ground.quantity import Quantity
from dtnsim.tools.plan import Plan
from tests.each import texts
from tests.tools.conftest import MakeJob, MakeTool

#: every number and word of the table as its text
TABLE = texts(Path(__file__).with_name("plans.yaml").read_text(encoding="utf-8"))
ROWS = [
    pytest.param(kind, row, id=f"{kind} {row.get('with', '')} {row.get('job', '')}")
    for kind, rows in TABLE.items()
    for row in rows
]


def value(text: Any) -> Any:
    """What a word of the table says: a number with or without its unit, true, false, nothing, a list or a word."""
    if isinstance(text, list):
        return tuple(map(value, text))
    words = {"true": True, "false": False, "nothing": None}
    if text in words:
        return words[text]
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        return float(text)
    with suppress(UnitError):
        return units.read(text)[0]
    return text


def part(plan: Plan, path: str) -> Any:
    """A part of the plan or, where the plan has none of this name, of its first step."""
    first = path.partition(".")[0]
    at: Any = plan.steps if first.isdigit() else plan if hasattr(plan, first) else plan.steps[0]
    found = functools.reduce(_within, path.split("."), at)
    return found.value if isinstance(found, Quantity) else found


def _within(whole: Any, key: str) -> Any:
    """One of a list by its number, or what every one of them has of this name."""
    if isinstance(whole, tuple):
        return whole[int(key)] if key.isdigit() else tuple(getattr(each, key) for each in whole)
    return getattr(whole, key)


@pytest.mark.parametrize(("kind", "row"), ROWS)
def test_row(kind: str, row: dict[str, Any], tool: MakeTool, job: MakeJob) -> None:
    assert set(row) <= {"with", "job", "plan", "same", "warns", "refused"}
    given = job(**{key: value(text) for key, text in row.get("job", {}).items()})
    if "refused" in row:
        with pytest.raises(SpecError, match=row["refused"]):
            tool(kind, **row["with"]).plan(given)
        return
    plan = tool(kind, **row.get("with", {})).plan(given)
    for path, expected in row.get("plan", {}).items():
        want = value(expected)
        exact = isinstance(want, str | bool | tuple | None)
        assert part(plan, path) == (want if exact else pytest.approx(want, rel=1e-9)), path
    if "same" in row:
        one, other = row["same"]
        assert part(plan, one) == part(plan, other)
    assert re.search(row.get("warns", ""), " ".join(plan.warnings))
