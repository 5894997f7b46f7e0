r"""Distributions of file sizes, as groups of equal files.

Lists of files as tools write them: how many of which sizes in how many folders.

Read by what the lines look like: sizes alone, or with names (``find DIR -type f -printf '%s\n'`` or ``'%s %p\n'``,
``lfs find`` likewise, ``rclone ls``, ``du -ab``), ``ls -lR`` and ``find -ls``, ``aws s3 ls --recursive``, ``rclone
lsjson``; and what counts files and bytes alone: ``aws s3 ls --summarize``, ``rclone size`` (or ``--json``), ``du -sh``.
What a line says goes into no error, because names of files may be private.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.errors import SpecError
from dtnsim.physics._arrays import FloatArray as Array, IntArray

Groups = tuple[Array, IntArray]

MAX_GROUPS: Final = 1000  #: a distribution or list of sizes is kept as at most so many groups of equal files
MAX_DRAWN: Final = 1_000_000  #: up to so many files are drawn one by one where a seed is given


def grouped(sizes_B: Array) -> Groups:
    """Sizes of files one by one, in groups."""
    sizes, counts = np.unique(sizes_B, return_counts=True)
    if sizes.size > MAX_GROUPS:
        every = np.repeat(sizes, counts)
        edges = edges_of(every.size)
        counts = np.diff(edges)
        sizes = np.add.reduceat(every, edges[:-1]) / counts
    return sizes, counts


def scaled(groups: Groups, files: int | None) -> Groups:
    """As many files as asked for, with the distribution of sizes of those that are known."""
    total = int(groups[1].sum())
    if files is None or files == total:
        return groups
    counts = np.diff(np.rint(np.cumsum(groups[1]) * (files / total)).astype(np.int64), prepend=0)
    return groups[0][counts > 0], counts[counts > 0]


def between(files: int, low_B: float, high_B: float, total_B: float) -> Groups:
    """Sizes of files of which only number, ends and sum are known.

    The quantile function low + (high - low) u^k, with k such that the sum is right: one exponent, no
    further assumption, and k = 1 (uniform) where the sum says nothing else.

    Args:
        files: Number of files.
        low_B: Smallest size [B].
        high_B: Largest size [B].
        total_B: Sum of all sizes [B], between files x low and files x high.

    Returns:
        (sizes [B], counts), each the mean of its quantile range, so that the sum is kept exactly.

    Valid: low_B <= total_B / files <= high_B.
    Neglects: what the real distribution looks like between its ends.
    Source: derived here: the mean of u^k over [0, 1] is 1 / (k + 1).
    """
    edges = edges_of(files)
    counts = np.diff(edges)
    over, under = total_B / files - low_B, high_B - total_B / files
    if over <= 0 or under < 0:
        return np.full(counts.size, total_B / files), counts
    power = under / over + 1.0
    with np.errstate(divide="ignore"):  # the lowest edge: log 0
        above = -np.expm1(power * np.log1p((edges - files) / files))  # 1 - u^power, exact near the top
    sizes = low_B - (high_B - low_B) * np.diff(above) / power * files / counts
    return sizes, counts


def histogram(high_B: Array, counts: IntArray, total_B: float | None = None) -> Groups:
    """Files up to each size and above the one before.

    Where in its bin a file lies is the same part of the way for all, on a scale of logarithms: half of it, or what
    makes the sum right.

    Args:
        high_B: Largest size of each bin, rising [B], shape (bins,).
        counts: Files of each.
        total_B: Sum of all sizes [B]; None: not known.

    Returns:
        (sizes [B], counts).

    Valid: total_B between the sums with all files at the lower and at the upper ends of their bins.
    Neglects: differences within a bin.
    Source: derived here: the bins of storage reports are equal on a scale of logarithms.
    """
    low = np.concatenate([[1.0], high_B[:-1]])

    def sizes(part: float) -> Array:
        return np.asarray(low ** (1 - part) * high_B**part)

    if total_B is None:
        return sizes(0.5), counts
    below, above = 0.0, 1.0
    for _ in range(60):
        middle = (below + above) / 2
        below, above = (middle, above) if sizes(middle) @ counts < total_B else (below, middle)
    return sizes(above), counts


def log_normal(files: int, median_B: float, sigma: float, seed: int | None = None) -> Groups:
    """Log-normal file sizes in at most `MAX_GROUPS` groups.

    Without a seed each group has the mean of its range of quantiles, so that the sum is that of the
    distribution: files x median x exp(sigma^2 / 2). With a seed (and up to `MAX_DRAWN` files) the
    files are drawn and put together; count and sum of the draw are kept.

    Args:
        files: Number of files.
        median_B: Median size [B].
        sigma: Standard deviation of the natural logarithm of the size [1].
        seed: Seed of the draw.

    Returns:
        (sizes [B], counts).

    Valid: sigma up to 5.
    Neglects: correlation of sizes within directories.
    Source: partial expectation of the log-normal distribution, N. L. Johnson, S. Kotz and
        N. Balakrishnan, Continuous Univariate Distributions, vol. 1, 2nd edition, ch. 14.
    """
    edges = edges_of(files)
    counts = np.diff(edges)
    if seed is not None and files <= MAX_DRAWN:
        drawn = np.sort(np.random.default_rng(seed).lognormal(math.log(median_B), sigma, files))
        return np.add.reduceat(drawn, edges[:-1]) / counts, counts
    from scipy.special import ndtr, ndtri

    # part of the bytes in files above each quantile; counted from the top, where groups are small
    above = ndtr(sigma + ndtri((files - edges) / files))
    mean = median_B * math.exp(sigma**2 / 2)
    return -mean * np.diff(above) * files / counts, counts


def edges_of(files: int) -> IntArray:
    """Where files in rising order are cut into groups: the largest stay alone, as they hold the bytes."""
    if files <= MAX_GROUPS:
        return np.arange(files + 1)
    from_top = np.unique(np.rint(np.geomspace(1, files, MAX_GROUPS)).astype(np.int64))
    return np.append(files - from_top[::-1], files)


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
    """Reads a list.

    Raises:
        SpecError: it cannot be read, or is no list of files; with the line, never with what stands there.
    """
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
