"""The collector of cycles rests where it is asked to, and is afterwards what it was."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dtnsim.ground import runtime


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    running = gc.isenabled()
    yield
    (gc.enable if running else gc.disable)()


@pytest.mark.parametrize("running", [True, False])
def test_it_rests_and_comes_back(running: bool) -> None:
    (gc.enable if running else gc.disable)()
    with runtime.gc_paused():
        assert not gc.isenabled()
        with runtime.gc_paused():
            assert not gc.isenabled()
            with runtime.gc_resumed(aside=False):
                assert gc.isenabled() is running
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is running


def test_what_is_set_aside_comes_back() -> None:
    before = gc.get_freeze_count()
    with runtime.gc_paused(), runtime.gc_resumed(aside=True):
        assert gc.get_freeze_count() > before
    assert gc.get_freeze_count() == 0


def test_what_goes_with_a_command_is_not_taken_apart() -> None:
    """Told by the hook that was there before the command's own, which runs after it."""
    code = (
        "import atexit, gc\natexit.register(lambda: print(gc.get_freeze_count()))\n"
        "from dtnsim.ground import runtime\nruntime.gc_seldom()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 1000


def test_a_command_keeps_small_matrices_to_one_thread() -> None:
    code = "import os, dtnsim.cli as c\ntry: c.main()\nexcept SystemExit: print(os.environ['OPENBLAS_NUM_THREADS'])\n"
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout.split()[-1] == "1"
