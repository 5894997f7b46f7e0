"""Where machine code that numba compiled is kept: in a folder that nobody but the user can write to.

Kept code is executed, and numba's index files are pickles, so who can write there runs code as the user. The folder
is made with mode 0700 below ``NUMBA_CACHE_DIR``, ``XDG_CACHE_HOME`` or ``~/.cache``; one that is a link, that somebody
else owns, or that group or others may write to is not used, and nothing is kept.
"""

import hashlib
import importlib.metadata
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

#: a folder of other code, Python or processor that nobody has used for so long is removed [s]
_STALE_S: Final = 30 * 86400.0


def folder(sources: Iterable[Path]) -> Path | None:
    """The folder for code of these sources, this Python, numba and processor; None where none can be trusted."""
    from llvmlite import binding

    mark = hashlib.sha256()
    versions = [sys.version, *(importlib.metadata.version(name) for name in ("numba", "llvmlite"))]
    for text in (*versions, binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()):
        mark.update(f"{text}\0".encode())
    for path in sorted(sources):
        mark.update(path.read_bytes())
    try:
        root = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        Path(root).mkdir(parents=True, exist_ok=True)
        base = Path(root) / "dtnsim"
        mine = base / mark.hexdigest()[:16]
        if not (_private(base) and _private(mine)):
            return None
        os.utime(mine)
    except (OSError, RuntimeError):
        return None
    _tidy(base, mine)
    return mine


def _private(path: Path) -> bool:
    """Makes a folder where there is none; whether it is one that only its owner, this user, can write to."""
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or not os.access(path, os.W_OK):
        return False
    return os.name == "nt" or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


def _tidy(base: Path, mine: Path) -> None:
    """Removes folders that nobody has used for long, and those of versions that kept object files."""
    for other in base.iterdir():
        if other != mine and not other.is_symlink() and other.is_dir():
            old = time.time() - other.stat().st_mtime > _STALE_S
            if old or any(other.glob("enter-*.o")):
                shutil.rmtree(other, ignore_errors=True)


def holds(where: Path, function: str) -> bool:
    """Whether code of a function (``module.name``) is kept in a folder."""
    return any(where.rglob(f"{function}-*.nbc"))


def source(where: Path, file: Path) -> Path:
    """A source file as it lies in a folder of its code, by whose place and time numba knows kept code again.

    Another copy of the same package (in another virtual environment, say) then compiles nothing anew.
    """
    copy, text = where / file.name, file.read_bytes()
    if not copy.is_file() or copy.read_bytes() != text:
        fresh = where / f"{file.name}.{os.getpid()}"
        try:
            fresh.write_bytes(text)
            os.utime(fresh, (0, 0))
            fresh.replace(copy)
        except OSError:  # no room: code is kept for this copy alone, or not at all
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            return file
    return copy


@contextmanager
def one_process(where: Path | None) -> Iterator[None]:
    """One process at a time, so that others find what the first has compiled; where there are locks of files."""
    if where is None or os.name == "nt":
        yield
        return
    import fcntl

    with (where / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
