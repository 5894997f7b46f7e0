"""A cap on the memory of a command: hostile or huge input ends with a sentence, not with the machine."""

import contextlib
import os
from pathlib import Path
from typing import Final

from dtnsim.ground.errors import InputError

VARIABLE: Final = "DTNSIM_MEMORY"  #: variable that sets the cap, like ``2 GB``, or ``unlimited``
SHARE: Final = 0.8  #: part of the memory of the machine, or of the container, that a command may take by itself
#: less than this does not load the program
_LEAST_B: Final = 200_000_000
_CONTAINERS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def cap() -> None:
    """Limits the data of this process and of those that it starts, where the system can (Linux 4.7 and later)."""
    text = os.environ.get(VARIABLE, "").strip()
    if text.lower() == "unlimited":
        return
    most = _limit_B(text) if text else None
    try:
        import resource
    except ImportError:  # no Unix
        return
    most = _usual() if most is None else most
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    none = resource.RLIM_INFINITY
    wanted = most if hard == none else min(most, hard)
    if soft == none or soft > wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _limit_B(text: str) -> int:
    from dtnsim.ground import units

    most = units.of_option(VARIABLE, text, "B")
    if not _LEAST_B <= most < 2**62:
        raise InputError(f"{VARIABLE}: {text} is out of range; write a size from 200 MB, or 'unlimited'")
    return int(most)


def _usual() -> int:
    """The usual share of what this machine or this container has [B]."""
    most = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for file in _CONTAINERS:
        with contextlib.suppress(OSError, ValueError):  # "max", or not there
            most = min(most, float(file.read_text()))
    return max(int(SHARE * most), _LEAST_B)
