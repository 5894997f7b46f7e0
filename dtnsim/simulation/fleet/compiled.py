"""The functions that move a fleet, compiled by numba where it is installed: the same source, the same digits."""

import importlib.util
import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, Final, cast

from dtnsim.engine import flow_lists, heaps, layout as engine_layout, max_min, rate_updates
from dtnsim.ground import machine_code
from dtnsim.simulation.fleet import traffic, transfer_layout

#: transfers of all runs from which on reading code that is kept pays, and from which on compiling does: what each
#: takes over what a transfer then takes less, measured once and rounded up (`tests/benchmarks/README.md`)
WORTH_READING: Final = 10_000
WORTH_COMPILING: Final = 250_000
_MODULES: Final = (flow_lists, rate_updates, max_min, traffic)
#: what is called from outside, and touches heaps
_CALLED: Final = (
    "run", "push", "pop", "let_go", "release", "set_capacity", "size", "withdraw", "entry", "put", "cut",
    "give_back",
)  # fmt: skip


def plain() -> Any:
    """The functions as they are, for lists."""
    named = {n: vars(m)[n] for m in (heaps, *_MODULES) for n in _CALLED if n in vars(m)}
    return SimpleNamespace(**named, lists=heaps.lists)


def compiles() -> bool:
    """Whether numba is installed, and not turned off (``NUMBA_DISABLE_JIT=1``)."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return False
    try:
        return importlib.util.find_spec("numba") is not None
    except ValueError:  # it is blocked
        return False


def worth(count: int, runs: int = 1) -> bool:
    """Whether some runs of so many transfers are quicker with compiled functions; the digits are the same."""
    if count * runs < WORTH_READING or not compiles():
        return False
    if count * runs >= WORTH_COMPILING:
        return True
    folder = _folder()
    return folder is not None and machine_code.holds(folder, "traffic.run")


@lru_cache(maxsize=1)
def fast() -> Any | None:
    """The functions compiled, for arrays; None without numba."""
    if not compiles():
        return None
    import numba
    import numpy as np

    folder = _folder()
    functions = _compiled_functions(folder)
    types: Any = numba.types
    f, q = types.float64[::1], types.int64[::1]
    t, u = types.float64[:, ::1], types.int64[:, ::1]
    with machine_code.one_process(folder):
        functions["run"].compile((f, q, q, t, u, types.int64))
    return SimpleNamespace(**functions, lists=lambda count: np.zeros(3 * count, np.int64))


def _compiled_functions(folder: Path | None) -> dict[str, Any]:
    """What is called from outside: each file anew, with the compiled functions of those before it."""
    import numba

    from dtnsim.engine import compiled_heaps

    config, njit = cast("Any", numba.config), cast("Any", numba.njit)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder) if folder is not None else before
    # a division by zero is a defect here: without a check at each, code is smaller
    inside: dict[str, Any] = {}
    inner = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    outside: dict[str, Any] = {}
    try:
        for origin in (compiled_heaps, *_MODULES):
            file = Path(origin.__file__ or "")
            path = file if folder is None else machine_code.source(folder, file)
            spec = importlib.util.spec_from_file_location(origin.__name__, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            functions = {
                n: v for n, v in vars(module).items() if isinstance(v, FunctionType) and v.__module__ == origin.__name__
            }
            inside.update({n: njit(v, **inner) for n, v in functions.items()})
            vars(module).update({n: v for n, v in inside.items() if n in vars(module)})
            for n in _CALLED:
                if n in functions:
                    outside[n] = njit(functions[n], error_model="numpy", cache=folder is not None)
                    if folder is not None:
                        _at_need(outside[n]._cache)  # noqa: SLF001 - numba has no other way to it
    finally:
        config.CACHE_DIR = before
    return outside


def _at_need(cache: Any) -> None:
    """Has kept code that cannot be read, as after a crash, compiled, and does without keeping it on a full disk."""
    load, save = cache.load_overload, cache.save_overload

    def loaded(*args: Any) -> Any:
        try:
            return load(*args)
        except Exception:  # noqa: BLE001 - whatever unpickling other bytes raises
            with suppress(OSError):
                cache.flush()
            return None

    def saved(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    cache.load_overload, cache.save_overload = loaded, saved


def _folder() -> Path | None:
    """Where compiled code is kept; None where it cannot be."""
    modules = (heaps, engine_layout, transfer_layout, *_MODULES)
    files = [Path(m.__file__) for m in modules if m.__file__]
    return machine_code.folder([Path(__file__), files[0].with_name("compiled_heaps.py"), *files])
