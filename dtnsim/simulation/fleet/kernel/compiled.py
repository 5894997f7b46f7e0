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

from dtnsim.simulation.fleet.kernel import books, changes, heaps, shares, sides, traffic

#: transfers from which on what was compiled before is read (half a second), and from which on compiling pays (twenty)
WORTH_READING: Final = 10_000
WORTH_COMPILING: Final = 200_000
_MODULES: Final = (sides, books, changes, shares, traffic)
#: what is called from outside
_CALLED: Final = (
    "run", "book_all", "book_flow", "book_wait", "hold", "left", "let_go", "release", "set_capacity", "size", "try_at",
    "withdraw", "push", "pop", "entry", "put", "cut",
)  # fmt: skip


def plain() -> Any:
    """The functions as they are, for lists."""
    return SimpleNamespace(**{n: getattr(_home(n), n) for n in _CALLED}, lists=heaps.lists, turns=list)


def _home(name: str) -> Any:
    return next(m for m in (heaps, *_MODULES) if name in vars(m) and vars(m)[name].__module__ == m.__name__)


def compiles() -> bool:
    """Whether numba is installed."""
    try:
        return importlib.util.find_spec("numba") is not None
    except ValueError:  # it is blocked
        return False


def worth(count: int) -> bool:
    """Whether so many transfers are quicker with compiled functions; the digits are the same."""
    if count < WORTH_READING or not compiles():
        return False
    folder = _folder()
    return count >= WORTH_COMPILING or (folder is not None and any(folder.rglob("*.nbi")))


@lru_cache(maxsize=1)
def fast() -> Any:
    """The functions compiled, for arrays; None without numba."""
    if not compiles():
        return None
    import numba

    config: Any = numba.config
    before, folder = config.CACHE_DIR, _folder()
    config.CACHE_DIR = str(folder) if folder is not None else before
    try:
        return _made(numba, cache=folder is not None)
    finally:
        config.CACHE_DIR = before


def _made(numba: Any, *, cache: bool) -> Any:
    """Each file anew, with the compiled functions of those before it."""
    from dtnsim.simulation.fleet.kernel import entry, memory

    done: dict[str, Any] = {}
    for given in (memory, *_MODULES, entry):
        spec = importlib.util.find_spec(given.__name__)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        own = {n: v for n, v in vars(module).items() if isinstance(v, FunctionType) and v.__module__ == given.__name__}
        vars(module).update({n: v for n, v in done.items() if n in vars(module)})
        compiled = {n: numba.njit(v, cache=cache) for n, v in own.items()}
        vars(module).update(compiled)
        done.update(compiled)
    run = done.pop("enter_run")

    def start(f: Any, q: Any, h: Any, turns: Any, t: Any, u: Any, most: int) -> int:
        tables = (h.ctypes.data, len(h), t.ctypes.data, t.shape[1], u.ctypes.data)
        return int(run((f.ctypes.data, len(f), q.ctypes.data, *tables), turns, most))

    def lists(count: int) -> Any:
        return np.zeros(3 * count, np.int64)

    named = {n: done[n] for n in (*_CALLED, "turns", "give_back")}
    return SimpleNamespace(**{**named, "run": start, "lists": lists})


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
