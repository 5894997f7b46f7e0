"""Versions of dtnsim and of what its answers depend on."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from dtnsim import __version__
from dtnsim.ground import library

#: libraries that answers depend on, and those of extras that may change how fast they come
LIBRARIES: Final = ("numpy", "scipy", "networkx", "simpy", "pydantic", "PyYAML", "numba")


def versions() -> str:
    """Lines that a report of a fault needs."""
    lines = [f"dtnsim {__version__}", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"]
    for name in LIBRARIES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} is not installed")
    return "\n".join([*lines, *(f"{room} {digest(room)}" for room in ("models", "calibration"))])


def digest(room: str) -> str:
    """Twelve digits that change with any shipped YAML file of a room."""
    base = library.root(room)
    made = hashlib.blake2b(digest_size=6)
    for file in sorted(base.rglob("*.yaml")):
        made.update(file.relative_to(base).as_posix().encode() + b"\0" + file.read_bytes())
    return made.hexdigest()
