"""What a long run says of itself."""

from __future__ import annotations

import time

import pytest

from dtnsim.cli import _watch


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_watch, "_PATIENCE_S", 0.02)
    monkeypatch.setattr(_watch, "_FILE_S", 0.02)
    monkeypatch.setattr(_watch, "_TERMINAL_S", 0.02)


def until(capsys: pytest.CaptureFixture[str], words: str) -> str:
    said, end = "", time.monotonic() + 20
    while words not in said and time.monotonic() < end:
        time.sleep(0.02)
        said += capsys.readouterr().err
    return said


@pytest.mark.usefixtures("hurried")
def test_a_run_that_reports_nothing_is_spoken_for(capsys: pytest.CaptureFixture[str]) -> None:
    with _watch.Watch("searching"):
        said = until(capsys, "so far\n")
    assert said.startswith("dtnsim: searching, 0 s so far\n")


@pytest.mark.usefixtures("hurried")
def test_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with _watch.Watch("predicting scenarios") as watch:
        watch.count(3, 4)
        assert "dtnsim: predicting scenarios, 75%, 0 s left, 3 of 4" in until(capsys, "3 of 4")
        assert not watch.tell_simulated(7200.0, 0.5, "9 files")
        assert "50%" in until(capsys, "2 h, 9 files")


@pytest.mark.usefixtures("hurried")
def test_on_a_terminal_one_line_that_goes_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with _watch.Watch("searching"):
        said = until(capsys, "so far")
    said += capsys.readouterr().err
    assert said.endswith("\r\x1b[K")
    assert "\n" not in said


def test_a_quick_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with _watch.Watch("searching"):
        pass
    assert capsys.readouterr().err == ""
