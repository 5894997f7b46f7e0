"""What a long run is doing, on standard error, and an orderly end at Ctrl-C."""

import math
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any, Final, Self

_PATIENCE_S = 2.0  #: seconds of work before anything is said
#: seconds between two lines: on a terminal, where each replaces the one before, and elsewhere
_TERMINAL_S: Final = 0.2
_FILE_S: Final = 10.0
STOPPED: Final = 130  #: exit code after Ctrl-C, when what was done by then has been shown


class Watch:
    """Says what a run is doing once it takes long, whether or not it reports.

    The first Ctrl-C ends an ``orderly`` run, once it has reported, between two events, so that what was done is
    whole and can be shown; a second one ends the program as usual.
    """

    def __init__(self, activity: str, *, orderly: bool = False) -> None:
        self._activity, self._orderly, self._began = activity, orderly, time.monotonic()
        self._share, self._more = math.nan, ""
        self.stopped = self._reported = False  #: Whether somebody wants it to end, and whether it reports.
        self._before: Any = None
        self._ended = threading.Event()
        self._terminal = sys.stderr.isatty()
        self._thread = threading.Thread(target=self._speak, daemon=True)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            if self._orderly:
                self._before = signal.signal(signal.SIGINT, self._stop)
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._ended.set()
        self._thread.join()
        self._restore()

    def _stop(self, *_signal: object) -> None:
        self._restore()
        if not self._reported:
            raise KeyboardInterrupt
        self.stopped = True

    def _restore(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    @property
    def seconds(self) -> float:
        """How long it has been at work [s]."""
        return time.monotonic() - self._began

    def tell(self, share: float, more: str = "") -> bool:
        """Notes how far it is, a share of 1 where that is known; returns whether somebody wants it to end."""
        self._share, self._more, self._reported = share, more, True
        return self.stopped

    def tell_simulated(self, now: float, share: float, more: str = "") -> bool:
        """The same with the simulated time [s].

        Args:
            now: Simulated time [s].
            share: How far it is; 1 is the end.
            more: What else to say.
        """
        from dtnsim.ground import units

        shown = "" if math.isnan(now) else units.show(now, "s")
        return self.tell(share, ", ".join(text for text in (shown, more) if text))

    def count(self, done: int, total: int) -> None:
        """Notes how many of how many are done."""
        self.tell(done / max(total, 1), f"{done:,} of {total:,}")

    def _speak(self) -> None:
        wait = _PATIENCE_S
        with suppress(OSError, ValueError):  # nobody reads standard error
            while not self._ended.wait(wait):
                wait = _TERMINAL_S if self._terminal else _FILE_S
                text = f"dtnsim: {self._line()}"
                sys.stderr.write(f"\r{text}\x1b[K" if self._terminal else f"{text}\n")
                sys.stderr.flush()
            if self._terminal and wait == _TERMINAL_S:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

    def _line(self) -> str:
        parts, share = [self._activity], self._share
        if share > 0:
            left = self.seconds * (1 - share) / share
            parts += [f"{share:.0%}", f"{left:,.0f} s left"]
        return ", ".join(text for text in (*parts, self._more, f"{self.seconds:,.0f} s so far") if text)
