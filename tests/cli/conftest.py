"""The command line, run in this process as the installed command would."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from dtnsim import cli


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]
Refused = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``dtnsim ARGUMENTS`` with its output in pipes."""

    def go(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["dtnsim", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        out, err = capsys.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    return go


@pytest.fixture
def refused(run: Run) -> Refused:
    """Runs ``dtnsim ARGUMENTS``, which cannot be done: exit code 2, nothing on standard output; gives what it said."""

    def go(*arguments: str) -> str:
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        return err

    return go
