"""What commands refuse, in one line and with exit code 2: the rows of refused.txt; what their help shows."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Refused, Run

LINES = Path(__file__).with_name("refused.txt").read_text(encoding="utf-8").splitlines()
ROWS = [line.partition("=> ")[::2] for line in LINES if line and not line.startswith("#")]


@pytest.mark.parametrize(("typed", "says"), [pytest.param(*row, id=row[0].strip()) for row in ROWS])
def test_row(refused: Refused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, says: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.chdir(tmp_path)
    err = refused(*shlex.split(typed))
    message = err.strip().rpartition("\n\n")[2]  # below how the command is used
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("predict", "--set --json --samples --seed --calibration PATH..."),
        ("predict", "dtnsim predict venadi/gridftp-gpfs"),
        ("explain", "dtnsim explain venadi/gridftp-gpfs --json"),
        ("components", "dtnsim components ssd"),
        ("schema", "dtnsim schema > path.schema.json"),
        ("tcp", "dtnsim tcp --"),
    ],
)
def test_help_shows_options_and_examples(run: Run, command: str, shown: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert all(part in out for part in (shown.split() if shown.startswith("--") else [shown]))
    assert out.count(f"dtnsim {command} ") >= (4 if command == "tcp" else 1)
