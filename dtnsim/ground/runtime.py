"""What is put out of the way: garbage collection, pydantic's search for plugins, numpy's threads, unread output."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen, slots):
        """A frozen dataclass to mypy; at run time nothing holds it, so that one is made in a quarter of the time."""
        return dataclass(unsafe_hash=frozen, slots=slots)


__all__ = ("gc_paused", "gc_resumed", "gc_seldom", "no_plugins_found", "one_thread", "output_nowhere", "record",
           "without_plugins")  # fmt: skip

_RESUMES: Final = ContextVar("resumes", default=False)  #: whether the collector ran before it was paused
#: new records, less those gone, after which a command lets it look: more than a short command makes; Python's own 700
#: are made by one import
_YOUNG: Final = 400_000
#: such looks after which it looks again at what they left; Python's own 10 come within one command
_MIDDLE: Final = 100


def gc_seldom() -> None:
    """Lets the collector look less often for the rest of the process: its looks at imports are a tenth of a command.

    What it has looked at once it leaves alone for long: classes and laws stay, and a second look costs as much. When
    the process ends it looks at none of them: taking apart what goes with the process is a sixth of a command.
    """
    atexit.register(gc.freeze)
    gc.set_threshold(_YOUNG, _MIDDLE, gc.get_threshold()[2])


def one_thread() -> None:
    """Keeps numpy's matrices to one thread, unless the environment says how many, before numpy is loaded.

    Those of a command are small: on two busy cores that wait for each other 156 columns of 4,096 draws take 0.6 s, and
    a hundredth of that on one.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def output_nowhere() -> None:
    """What is still to be written to standard output goes nowhere: writing it has failed."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def without_plugins() -> None:
    """Lets no library look for plugins, of which none is a command's, for the rest of the process.

    Even where they are switched off, pydantic's module that would look loads `importlib.metadata`, `zipfile` and
    `email`, and networkx looks in all that is installed: 20 to 30 ms. A pydantic without such a module never sees ours.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    loader = ModuleType("pydantic.plugin._loader")
    loader.get_plugins = tuple  # type: ignore[attr-defined]
    sys.modules.setdefault(loader.__name__, loader)


@contextmanager
def no_plugins_found() -> Iterator[None]:
    """Nothing is installed that calls itself a plugin, for imports in a command; elsewhere what is there is found."""
    ours = getattr(sys.modules.get("pydantic.plugin._loader"), "get_plugins", None) is tuple
    if "importlib.metadata" in sys.modules or not ours:
        yield
        return
    nothing = ModuleType("importlib.metadata")
    nothing.entry_points = lambda **_: ()  # type: ignore[attr-defined]
    sys.modules[nothing.__name__] = nothing
    try:
        yield
    finally:
        del sys.modules[nothing.__name__]


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pauses the collector while very many records are made of which none is garbage.

    It would look at all of them again and again: a tenth of the time of a large path.
    """
    running = gc.isenabled()
    token = _RESUMES.set(running or _RESUMES.get())
    gc.disable()
    try:
        yield
    finally:
        _RESUMES.reset(token)
        if running:
            gc.enable()


@contextmanager
def gc_resumed(*, aside: bool) -> Iterator[None]:
    """The collector as it was before it was paused.

    With ``aside`` it does not look at what there is: very many records that outlive all that is made meanwhile. Not for
    what is done again and again, whose garbage would pile up.
    """
    running = gc.isenabled()
    if aside:
        gc.freeze()
    if _RESUMES.get():
        gc.enable()
    try:
        yield
    finally:
        if not running:
            gc.disable()
        if aside:
            gc.unfreeze()
