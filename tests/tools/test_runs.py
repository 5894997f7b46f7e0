"""What whole runs of tools come to: the rows of runs.yaml."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from dtnsim.ground.records import Prediction
from tests.each import cases, holds, tables

ROWS = {promise: row for promise, row in tables("tools/runs").items() if promise != "given"}


@cases("row", ROWS)
def test_what_runs_come_to(row: dict[str, Any], run: Callable[..., Prediction]) -> None:
    found = {}
    for name, made in row["runs"].items():
        given = {**row.get("given", {}), **(made if "tool" in made else {"tool": made})}
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}
        told = run(texts.pop("tool"), **texts)
        found[name] = SimpleNamespace(rate=told.throughput_Bps.p50, seconds=told.duration_s.p50)
    holds(row["holds"], **found)
