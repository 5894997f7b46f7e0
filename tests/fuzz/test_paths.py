"""Six hundred mutants of descriptions (more: ``python -m tests.fuzz.paths 100000``); what they found stays found."""

from pathlib import Path

import pytest

from dtnsim.steady.prediction import predict
from tests.each import rows
from tests.fuzz import paths as fuzz


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.long) for first in range(25, 600, 25))])
def test_mutants_are_answered_or_refused(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And enough of them get an answer: those that the reader refuses test the reader only."""
    codes = []
    judged = fuzz._wrong
    monkeypatch.setattr(fuzz, "_wrong", lambda code, *a, **k: codes.append(code) or judged(code, *a, **k))
    wrong = {
        seed: problem
        for seed in range(first, first + 25)
        if (problem := fuzz.check(*fuzz.mutant(seed), tmp_path)) is not None
    }
    assert not wrong
    assert len(codes) == 25
    assert codes.count(0) >= 1  # most mutants are refused, not all


@pytest.mark.parametrize(("code", "out", "change", "err", "says"), rows("fuzz/tables", "the_check_finds_what_is_wrong"))
def test_the_check_finds_what_is_wrong(code: int, out: str, change: list[str], err: str, says: str | None) -> None:
    out = out.replace(*change) if change else out
    found = fuzz._wrong(code, out, err, json_wanted=True)
    assert found is None if says is None else says in found


def test_the_check_stops_what_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(fuzz, "CPU_S", 0.05)
    monkeypatch.setattr(fuzz, "run", hang)
    assert "of CPU" in fuzz.check({"path.yaml": {}}, ["predict", "path.yaml"], tmp_path)
    monkeypatch.setattr(fuzz, "run", lambda _: 1 // 0)
    assert "ZeroDivisionError" in fuzz.check({"path.yaml": {}}, ["predict", "path.yaml"], tmp_path)


# -- findings --------------------------------------------------------------------------------------------------
def test_workers_that_queue_at_a_shared_station_are_busy_at_most_all_the_time() -> None:
    """100 equal files on 8 workers at one full station: the last round is not full, the station is."""
    for files in (100, 500, 9):
        answer = predict("examples/dtn-100g-xfs", overrides=[f"transfer.dataset={{files: {files}, each: 50 GB}}"])
        for use in answer.stations:
            assert use.utilization <= 1 + 1e-9, use.station.name


def test_names_of_any_length_are_short_in_messages() -> None:
    for arguments in (["x" * 3000], ["esnet/lbl-anl", "--calibration", "x" * 3000]):
        code, out, err = fuzz.run(["predict", *arguments])
        assert (code, out) == (2, "")
        assert fuzz._wrong(code, out, err, json_wanted=False) is None


@pytest.mark.parametrize("seed", [539, 8350, 13510, 25729, 35724, 52190, 76272, 3001519])
def test_mutants_that_were_wrong(seed: int, tmp_path: Path) -> None:
    """Long names, words where mappings belong, events that multiply to nothing, bonds of 1,600 streams."""
    assert fuzz.check(*fuzz.mutant(seed), tmp_path) is None
