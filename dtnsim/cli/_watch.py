"""How far a long run is, on standard error, and an orderly end at Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from typing import Any, Final, Self

#: seconds of work before a progress bar appears
_PATIENCE_S: Final = 2.0
#: exit code after Ctrl-C, when what was done by then has been shown
STOPPED: Final = 130


class Watch:
    """Watches a run: a progress bar on stderr when it takes long, and an orderly end at Ctrl-C.

    The first Ctrl-C ends the run between two events, so that what was done is whole and can be shown; a
    second one ends the program as usual.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bar: Any = None
        self._stopped = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *reason: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._restore()

    def _stop(self, *_signal: object) -> None:
        self._stopped = True
        self._restore()

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    @property
    def stopped(self) -> bool:
        """Whether somebody wants it to end."""
        return self._stopped

    @property
    def seconds(self) -> float:
        """How long it has been at work [s]."""
        return time.monotonic() - self._began

    def tell(self, now: float, share: float, more: str = "") -> bool:
        """Shows how far it is; returns whether somebody wants it to end."""
        if self._bar is None and time.monotonic() - self._began > _PATIENCE_S:
            self._bar = _bar()
        if self._bar is not None:
            from dtnsim.ground import units

            shown = "" if math.isnan(now) else units.show(now, "s")
            self._bar.update(self._bar.task_ids[0], completed=share, now=shown, more=more)
        return self._stopped


def _bar() -> Any:
    """A progress bar: simulated time, share done, time left; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    terminal = Console(stderr=True)
    bar = Progress(
        TextColumn("simulated {task.fields[now]}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f}%"),
        TextColumn("{task.fields[more]}"),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    )
    bar.start()
    bar.add_task("", total=1.0, now="", more="")
    return bar
