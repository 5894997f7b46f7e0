"""Work that child processes do in `test_pool`: by itself, since each child loads its module."""

import os
import signal
import threading

from dtnsim.ground.errors import SpecError


def divided(shared: int, piece: int) -> float:
    return shared / piece


def refused(shared: str, piece: int) -> None:
    raise SpecError("is no rate", key=shared, value=piece)


def gone(_: None, piece: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return piece


def local(_: None, piece: int) -> object:
    error = ValueError("not to be sent")
    error.lock = threading.Lock()  # type: ignore[attr-defined]
    raise error
