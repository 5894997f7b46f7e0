"""Settings of the whole test suite, and the command line, run in this process as the installed command would."""

import gc
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from dtnsim import cli
from dtnsim.cli import _watch
from dtnsim.ground import runtime

# Machines that run tests are shared: how long an example takes says nothing about the code. The suite asks the same of
# everybody's copy, so a failure is the code's; `pytest --hypothesis-profile=explore` looks for new examples. Fewer than
# these fifty has what takes long.
settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, max_examples=50
)
settings.register_profile("explore", settings.get_profile("house"), derandomize=False, max_examples=1000)
settings.load_profile("house")
# as commands do: threads of numpy on cores that all have a worker wait for each other
runtime.one_thread()

# so is what a long run says of itself while it is under way: tests/cli/test_terminals.py hurries it
_watch._PATIENCE_S = 3600.0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """What is collected stays to the end: the garbage collector looks at none of it, and seldom at what tests make."""
    with runtime.gc_paused():
        collected = yield
    gc.freeze()
    gc.set_threshold(200_000, 50, 20)
    return collected


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files whose tests are all long, and what they import (browsers, clusters), are not loaded to leave them out."""
    left = config.option.markexpr == "not long" and collection_path.suffix == ".py"
    return True if left and "\npytestmark = pytest.mark.long\n" in collection_path.read_text() else None


class Terminal(io.StringIO):
    """A stream at which somebody sits."""

    def isatty(self) -> bool:
        return True


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
