r"""Lists of files as tools write them: how many of which sizes in how many folders.

Read by what the lines look like: sizes alone, or with names (``find DIR -type f -printf '%s\n'`` or ``'%s %p\n'``,
``lfs find`` likewise, ``rclone ls``, ``du -ab``), ``ls -lR`` and ``find -ls``, ``aws s3 ls --recursive``, ``rclone
lsjson``; and what counts files and bytes alone: ``aws s3 ls --summarize``, ``rclone size`` (or ``--json``), ``du -sh``.
What a line says goes into no error, because names of files may be private.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.errors import SpecError
from dtnsim.physics._arrays import FloatArray as Array

#: a list has at most so many files, and is read in blocks of so many bytes; JSON is read whole, up to so many
MAX_LISTED: Final = 100_000_000
BLOCK: Final = 1 << 22
_JSON_B: Final = 1 << 30
#: digits of the largest size
_DIGITS: Final = 22
REMEDY: Final = r"write it with: find DIR -type f -printf '%s\n'"

#: what ls -l has before the size; find -ls has inode and blocks in front
_BEFORE: Final = rb"^(?: *\d+ +\d+ +)?"
_MODE: Final = rb"[rwxsStTl-]{9}[.+@]? +\d+ +\S+ +\S+ +"
#: how a file is written, by the kind of list: its size and its name
_FILES: Final[dict[str, re.Pattern[bytes]]] = {
    "ls": re.compile(_BEFORE + b"-" + _MODE + rb"(\d+) ([^\n]+)$", re.MULTILINE),
    "aws": re.compile(rb"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +(\d+) ([^\n]+)$", re.MULTILINE),
    "du": re.compile(rb"^(\d+(?:\.\d+)?[KMGTPE]?)\t([^\n]+)$", re.MULTILINE),
    "names": re.compile(rb"^ *(\d+) +([^\n]+)$", re.MULTILINE),
}
#: lines that are no file: folders, links, headings and totals of ls; what aws s3 ls counts
_OTHER: Final[dict[str, re.Pattern[bytes]]] = {
    "ls": re.compile(_BEFORE + rb"[bcdlpsD]" + _MODE + rb"[^\n]*$|^total [^\n]*$|^[^\n]+:$", re.MULTILINE),
    "aws": re.compile(rb"^ +PRE [^\n]*$|^ *Total (?:Objects|Size): [^\n]*$", re.MULTILINE),
}
_INSTEAD: Final = {
    "ls": "write it with: ls -lR (without -h)",
    "aws": "write it with: aws s3 ls --recursive (without --human-readable)",
    "du": "write it with: du -ab DIR, or du -sh DIR and 'files'",
}
#: sums of files and bytes: aws s3 ls --summarize, rclone size
_FILES_IN_ALL: Final = re.compile(rb"^ *Total objects: *(?:[^\n(]*\()?(\d+)\)? *$", re.MULTILINE | re.IGNORECASE)
_BYTES_IN_ALL: Final = re.compile(
    rb"^ *Total size: *(?:[^\n(]*\((\d+) Bytes?\)|(\d+(?:\.\d+)?(?: \w+)?)) *$", re.MULTILINE | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list says."""

    sizes_B: Array  #: Size of each file [B]; empty where the list has sums alone.
    directories: int  #: Folders with files; 0 where the list does not say.
    total_B: float  #: Bytes of all files.
    files: int  #: Number of files; 0 where the list does not say.


def read(path: Path, where: dict[str, Any]) -> Listed:
    """Reads a list; what it refuses has the line, never what stands there."""
    if not path.is_file():
        raise SpecError(f"cannot be read: {'it is' if path.exists() else 'there is'} no file", **where)
    try:
        return _read(path)
    except OSError as error:
        raise SpecError(f"cannot be read: {error.strerror}", **where) from None


def _read(path: Path) -> Listed:
    parts: list[Array] = []
    folders, files, kind = _Folders(), 0, ""
    for line, block in _blocks(path):
        kind = kind or _kind(block)
        if kind in ("json", "sums"):
            return _json(path) if kind == "json" else _sums(path, block)
        parts.append(_numbers(block, path, line) if kind == "sizes" else _files(kind, block, path, line, folders))
        if (files := files + parts[-1].size) > MAX_LISTED:
            raise SpecError(f"has more than {MAX_LISTED:,} sizes", file=str(path), remedy="use 'groups'")
    if not files:
        raise SpecError("holds no sizes", file=str(path), remedy=REMEDY)
    sizes = np.concatenate(parts)
    if kind == "du":
        if folders.last if folders.rounded else not np.any(sizes % 4):
            raise SpecError("has sizes in blocks or rounded, not in bytes", file=str(path), remedy=_INSTEAD["du"])
        if not folders.last:  # du -s: no files, but folders with all in them
            return Listed(np.empty(0), 0, float(sizes.sum()), 0)
        return Listed(sizes, folders.count - 1, float(sizes.sum()), files)  # one is what the first folder lies in
    return Listed(sizes, folders.count, float(sizes.sum()), files)


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines, with the number of those before them."""
    lines = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK) + file.readline(BLOCK):
            if len(block) == 2 * BLOCK:
                message = f"has a line of more than {BLOCK:,} bytes"
                raise SpecError(message, file=str(path), line=lines + 1, remedy=REMEDY)
            yield lines, block.replace(b"\r\n", b"\n")
            lines += block.count(b"\n")


def _kind(block: bytes) -> str:
    """The kind of a list, from the first line that shows one."""
    text = block.lstrip()
    if text[:1] in (b"{", b"["):
        return "json"
    first = text.partition(b"\n")[0]
    if first.translate(None, b"0123456789 \t") == b"":
        return "sizes"
    for kind, pattern in _FILES.items():
        if pattern.match(first) or (kind in _OTHER and pattern.search(block) and _OTHER[kind].match(first)):
            return kind
    return "sums" if _BYTES_IN_ALL.search(block) else "sizes"


@dataclass(slots=True)
class _Folders:
    """Folders that the names of a list have shown."""

    names: set[bytes] = field(default_factory=set)  #: Those that hold files or folders.
    headings: int = 0  #: Headings of ls -lR.
    last: bool = False  #: Whether the last name is one of them, as du ends.
    rounded: bool = False  #: Whether sizes are rounded to a unit (du -h).

    @property
    def count(self) -> int:
        """How many."""
        return self.headings or len(self.names)


def _files(kind: str, block: bytes, path: Path, before: int, folders: _Folders) -> Array:
    """Sizes of the files in whole lines, ``before`` of which came earlier."""
    rows = _FILES[kind].findall(block)
    other_lines = _OTHER[kind].findall(block) if kind in _OTHER else []
    if len(rows) + len(other_lines) < sum(1 for line in block.split(b"\n") if line.strip()):
        patterns = [_FILES[kind], *([_OTHER[kind]] if other_lines or kind in _OTHER else [])]
        lines = block.split(b"\n")
        bad = next(n for n, line in enumerate(lines) if line.strip() and not any(p.match(line) for p in patterns))
        message = "is no file with its size in bytes"
        raise SpecError(message, file=str(path), line=before + bad + 1, remedy=_INSTEAD.get(kind, REMEDY))
    if kind == "ls":
        folders.headings += sum(line.endswith(b":") for line in other_lines)
    sizes = []
    for size, name in rows:
        name = name[name.find(b"/") :] if kind == "ls" else name.rstrip(b"/")
        folders.last = kind == "du" and name in folders.names
        if not folders.headings:
            folders.names.add(name.rpartition(b"/")[0])
        if folders.last:  # du names a folder behind what it holds
            continue
        if size.isdigit():
            sizes.append(min(float(size), 10.0**_DIGITS))
        else:
            folders.rounded = True
            sizes.append(units.parse(f"{size[:-1].decode()} {size[-1:].decode()}iB", "B"))
    return np.array(sizes, dtype=np.float64)


def _json(path: Path) -> Listed:
    """``rclone size --json``: sums; ``rclone lsjson -R``: each file."""
    instead = "give what rclone size --json or rclone lsjson -R prints"
    if path.stat().st_size > _JSON_B:
        raise SpecError(f"has more than {_JSON_B:,} bytes of JSON", file=str(path), remedy="write it with: rclone ls")
    try:
        parsed = json.loads(path.read_bytes())
        if isinstance(parsed, dict):
            return Listed(np.empty(0), 0, float(parsed["bytes"]), int(parsed["count"]))
        files = [each for each in parsed if not each.get("IsDir")]
        sizes = np.array([max(each["Size"], 0) for each in files], dtype=np.float64)
        folders = {each["Path"].rpartition("/")[0] for each in files}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise SpecError("is no list of files", file=str(path), remedy=instead) from None
    return Listed(sizes, len(folders), float(sizes.sum()), len(files))


def _sums(path: Path, block: bytes) -> Listed:
    """``aws s3 ls --summarize`` or ``rclone size``, without the files."""
    files, size = _FILES_IN_ALL.search(block), _BYTES_IN_ALL.search(block)
    if files is None or size is None:
        raise SpecError("has no sums of files and bytes", file=str(path), remedy=REMEDY)
    text = (size[1] or size[2]).decode().replace("Bytes", "B")
    total = float(text) if re.fullmatch(r"[\d.]+", text) else units.parse(text, "B")
    return Listed(np.empty(0), 0, total, int(files[1]))


def _numbers(block: bytes, path: Path, before: int) -> Array:
    """Sizes alone, in whole lines of which ``before`` came earlier."""
    words = block.split()
    if block.translate(None, b"0123456789 \t\r\n") or (words and len(max(words, key=len)) > _DIGITS):
        rows = (line.split() for line in block.split(b"\n"))
        bad = next(n for n, row in enumerate(rows) if any(not w.isdigit() or len(w) > _DIGITS for w in row))
        raise SpecError("is not a number of bytes", file=str(path), line=before + bad + 1, remedy=REMEDY)
    return np.array(words, dtype=np.float64)
