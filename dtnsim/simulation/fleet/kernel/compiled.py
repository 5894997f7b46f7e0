"""The functions that move a fleet, compiled by numba where it is installed: the same source, the same digits."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, Final

import numpy as np

from dtnsim.simulation.fleet.kernel import books, chains, changes, heaps, native, shares, sides, traffic
from dtnsim.simulation.fleet.kernel.layout import BOOK_ALL, GIVE_BACK, GIVEN, NOW, RUN

#: transfers from which on what was compiled before is read (half a second where faults strike: numba reads those
#: functions itself), and from which on, over all runs, compiling pays (twenty seconds)
WORTH_READING: Final = 10_000
WORTH_COMPILING: Final = 200_000
_MODULES: Final = (chains, sides, books, changes, shares, traffic)
#: what is called from outside
_CALLED: Final = (
    "book_flow", "book_wait", "hold", "left", "let_go", "release", "set_capacity", "size", "try_at",
    "withdraw", "push", "pop", "entry", "put", "cut",
)  # fmt: skip


def plain() -> Any:
    """The functions as they are, for lists."""
    named = {n: getattr(_home(n), n) for n in _CALLED}
    return SimpleNamespace(**named, run=traffic.run, book_all=_book_all, lists=heaps.lists, turns=list)


def _book_all(f: Any, q: Any) -> None:
    books.book_all(f, q, f[NOW])


def _home(name: str) -> Any:
    return next(m for m in (heaps, *_MODULES) if name in vars(m) and vars(m)[name].__module__ == m.__name__)


def compiles() -> bool:
    """Whether numba is installed."""
    try:
        return importlib.util.find_spec("numba") is not None
    except ValueError:  # it is blocked
        return False


def worth(count: int, runs: int = 1) -> bool:
    """Whether some runs of so many transfers are quicker with compiled functions; the digits are the same."""
    if count < WORTH_READING or not compiles():
        return False
    folder = _folder()
    return count * runs >= WORTH_COMPILING or (folder is not None and native.there(folder))


class Fast:
    """The functions compiled, for arrays: the loop from code that is kept, the others by numba when they are called."""

    def __init__(self, enter: native.Called) -> None:
        self._enter = enter

    def run(self, f: Any, q: Any, h: Any, turns: Any, t: Any, u: Any, most: int) -> int:
        """Goes on for so many events; returns why it comes back."""
        tables = (h.ctypes.data, len(h), turns.ctypes.data, t.ctypes.data, u.ctypes.data)
        return self._enter(RUN, f.ctypes.data, len(f), q.ctypes.data, *tables, t.shape[1], most)

    def book_all(self, f: Any, q: Any) -> None:
        """Books what is under way."""
        self._enter(BOOK_ALL, f.ctypes.data, len(f), q.ctypes.data, 0, 0, 0, 0, 0, 0, 0)

    def give_back(self, h: Any, turns: Any) -> None:
        """Gives the memory of all heaps back."""
        self._enter(GIVE_BACK, 0, 0, 0, h.ctypes.data, len(h), turns.ctypes.data, 0, 0, 0, 0)

    def lists(self, count: int) -> Any:
        """Heaps without entries."""
        return np.zeros(3 * count, np.int64)

    def turns(self) -> Any:
        """Nobody's turn."""
        return np.zeros(3, np.int64)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _CALLED:
            raise AttributeError(name)
        return _made(_folder())[name]


@lru_cache(maxsize=1)
def fast() -> Fast | None:
    """The functions compiled; None without numba."""
    if not compiles():
        return None
    folder = _folder()
    kept = native.loaded(folder, GIVEN) if folder is not None else None
    return Fast(kept or native.compiled(_made(folder)["enter"], GIVEN, folder))


@lru_cache(maxsize=1)
def _made(folder: Path | None) -> dict[str, Any]:
    """Each file anew, with the compiled functions of those before it; how they are entered is left as it is."""
    import numba

    from dtnsim.simulation.fleet.kernel import entry, memory

    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder) if folder is not None else before
    done: dict[str, Any] = {}
    try:
        for given in (memory, *_MODULES, entry):
            spec = importlib.util.find_spec(given.__name__)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            own = {
                n: v for n, v in vars(module).items() if isinstance(v, FunctionType) and v.__module__ == given.__name__
            }
            vars(module).update({n: v for n, v in done.items() if n in vars(module)})
            made = own if given is entry else {n: numba.njit(v, cache=folder is not None) for n, v in own.items()}
            vars(module).update(made)
            done.update(made)
    finally:
        config.CACHE_DIR = before
    return done


def _folder() -> Path | None:
    """Where compiled code is kept: one folder for each state of the source; None where nothing can be written."""
    mark = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        mark.update(path.read_bytes())
    root = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(root) / "dtnsim" / mark.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None
