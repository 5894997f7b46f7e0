"""Python's collector of cycles, out of the way while very many records are made of which none is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pauses the collector: it would look at all records again and again, a tenth of the time of a large path."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@contextmanager
def aside() -> Iterator[None]:
    """Sets what there is aside, where the collector does not look: records that outlive all that is made meanwhile."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
