"""Child processes end with their parent, however it ends."""

from __future__ import annotations

import os
import threading
from time import sleep
from typing import Final

#: seconds between two looks at who the parent is
_POLL_S: Final = 0.5


def end_with(parent: int) -> None:
    """Has this process end soon after its parent, also in the middle of its work and when that was killed."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        sleep(_POLL_S)
    os._exit(1)
