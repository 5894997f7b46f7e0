"""``dtnsim fleet``: the page, the document, the tables. `dtnsim.report.fleet` and `fleet_page` are tried here."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dtnsim.description import spec
from dtnsim.ground import library
from dtnsim.simulation.fleet import run as runs
from tests.cli.test_documents import keeps
from tests.conftest import Run

YEAR = ("examples/facility-year", "--set", "workload.span=1d", "--replicas", "1")
#: demand that doubles every year: all that is used is full within the ten years that are told
DOUBLES = (*YEAR, "--set", "workload.growth=60%")


@pytest.fixture(scope="module", autouse=True)
def each_runs_once() -> Iterator[None]:
    """The page and the document of a fleet are made of one run of it."""
    known: dict[str, Any] = {}
    whole = runs.fleet

    def fleet(path: str, *, progress: Any, **asked: Any) -> Any:
        key = repr((path, asked))
        if key not in known:
            known[key] = whole(path, progress=progress, **asked)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "fleet", fleet)
        yield


@pytest.fixture
def tables(tmp_path: Path) -> tuple[str, ...]:
    """Where the transfers and the hours are written."""
    return "--transfers", str(tmp_path / "all.csv"), "--hours", str(tmp_path / "use.csv")


def test_the_page(run: Run, tables: tuple[str, ...]) -> None:
    code, page, err = run("fleet", *DOUBLES, *tables)
    assert (code, err) == (0, "")
    said = "300 TB a day,completion p50,deadlines missed,busy day passes 80%,held by,network.wan,19 like it,the week of"
    said += ",an hour in twenty exceeds"
    for words in said.split(","):
        assert words in page, words


def test_document_and_tables(run: Run, tmp_path: Path, tables: tuple[str, ...]) -> None:
    code, text, _ = run("fleet", *DOUBLES, "--json", *tables)
    assert code == 0
    found = json.loads(text)
    assert found["schema"] == "dtnsim.fleet/1"
    keeps("fleet", found)
    assert len(text) < 10e6
    assert found["total"]["asked"] == sum(c["asked"] for c in found["classes"])
    assert set(found["total"]["completion_s"]) == {"p50", "p95", "p99"}
    assert found["upgrades"][0]["due_date"]["p50"] >= "2026-01"
    assert all(len(s["by_hour_of_week"]) == 168 for s in found["stations"])
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    done = [r for r in rows if r["state"] == "done"]
    assert len(done) == found["total"]["done"] > 500
    assert all(abs(float(r["moved_B"]) - float(r["bytes"]) - float(r["resent_B"])) < 1 for r in done)
    assert {r["source_host"][:3] + r["destination_host"][:4] for r in done} == {"dtnsite"}
    with (tmp_path / "use.csv").open(newline="") as file:
        use = [float(r["network.wan"]) for r in csv.DictReader(file)]
    assert len(use) == 24
    assert 0.5 < max(use) <= 1 + 1e-9


def test_a_line_for_each_class_as_csv(run: Run) -> None:
    rows = list(csv.DictReader(run("fleet", *YEAR, "--set", "workload.growth=0", "--format", "csv").out.splitlines()))
    assert [r["class"] for r in rows] == ["replication", "campaign", "users"]
    assert float(rows[2]["completion_s.p95"]) > 0


def test_shipped_workloads_are_used_by_paths() -> None:
    named = {p.stem for p in (library.root("models") / "workloads").glob("*.yaml")}
    paths = "".join(p.read_text() for p in (library.root("models") / "paths").rglob("*.yaml"))
    assert named
    assert all(f"workload: {name}" in paths for name in named)
    given = spec.load("examples/facility-year").workload
    assert given.source


def test_an_end_of_every_class_can_be_predicted(run: Run) -> None:
    code, text, _ = run("predict", "examples/facility-year", "--json", "--samples", "0")
    assert code == 0
    assert [t["name"] for t in json.loads(text)["transfers"]] == ["replication", "campaign", "users"]


@pytest.mark.parametrize("key", ["workload.classes.users.tool.concurrency=2", "workload.classes.users.each=4 GB"])
def test_keys_of_a_workload_that_is_named_can_be_set(key: str) -> None:
    assert spec.load("examples/facility-year", [key]).workload is not None
