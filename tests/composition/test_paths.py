"""What whole paths come to: rows of paths.yaml, and of the files of topics beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.ground.errors import SpecError
from tests.each import cases, holds, named, tables
from tests.lab import expect, of_path, of_table, rate

#: a row has a path (`of_table`) and its figures (`expect`); or one that is `refused`; or several by the names under
#: which claims (`holds`) ask for their figures, ``one("answer") > other("answer")``, of a `path` alone ``it``
ROWS = named("composition/paths") | {
    f"{topic}: {promise}": row
    for topic in sorted({file.stem for file in Path(__file__).parent.glob("*.yaml")} - {"paths", "tables"})
    for promise, row in tables(f"composition/{topic}").items()
    if promise != "given"
}


@cases("row", ROWS)
def test_what_paths_come_to(row: Any) -> None:
    if isinstance(row, list):
        path, figures = row
        expect(figures_of(path), figures)
    elif "refused" in row:
        with pytest.raises(SpecError, match=row["refused"]):
            rate(of_table(row["path"]))
    else:
        paths = row["paths"] if "paths" in row else {"it": row["path"]}
        holds(row["holds"], **{name: figures_of(path) for name, path in paths.items()})


def figures_of(path: dict[str, Any]) -> Callable[[str], Any]:
    return of_path(of_table(path))


@settings(max_examples=12)
@given(st.integers(1, 64), st.integers(1, 64))
def test_more_queues_and_more_streams_never_hurt(queues: int, streams: int) -> None:
    def cores(q: int, n: int) -> float:
        nic = {"kind": "nic", "rate": "100 Tb/s", "mtu": "9000 B", "queues": q}
        there = {"costs": {"interrupt_byte": "1 cycles/B"}, "nic": nic}
        return float(figures_of({"b": there, "tool": {"name": "iperf3", "P": n}})("rate b.cpu.nic queues"))

    here = cores(queues, streams)
    assert cores(queues + 1, streams) >= here * (1 - 1e-12)
    assert cores(queues, streams + 1) >= here * (1 - 1e-12)
