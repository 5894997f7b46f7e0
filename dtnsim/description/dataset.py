r"""Data sets: how many files of which sizes in how many directories a transfer moves.

A data set is named (``esnet/5GB-in-small-files``), a YAML file, or written inline::

    {size: 77 GB}                                           one file
    {files: 200, size: 6 TB}                                size is the sum of all files
    {files: 1000, each: 1 MB}
    {sizes: [1 MB, 2 MB]}
    {files: 1000000, median: 1 MiB, sigma: 2, seed: 1}      log-normal
    {groups: [{count: 625, size: 1 MB}, {count: 117, from: 1.2 GB, to: 6 GB, total: 240 GB}], directories: 3}
    {sizes_file: sizes.txt}                                 of: find DIR -type f -printf '%s\n'
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from dtnsim.components.base import Model, place, validate
from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, Scalar, Unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Groups = tuple[NDArray[np.float64], NDArray[np.int64]]
#: limits that keep counts exact in 64 bits and arithmetic finite
MAX_FILES: Final = 10**12
MAX_BYTES: Final = 1e21
#: a distribution or list of sizes is kept as at most so many groups of equal files
MAX_GROUPS: Final = 1000
#: up to so many files are drawn one by one where a seed is given
MAX_DRAWN: Final = 1_000_000
#: a list of sizes has at most so many, and is read in blocks of so many bytes
MAX_LISTED: Final = 100_000_000
_BLOCK: Final = 1 << 22

_WAYS: Final = ("size", "each", "sizes", "median", "groups", "sizes_file")
_REMEDY: Final = "write a name like 'esnet/5GB-in-small-files', or {files: 1, size: 49.9 GB}"


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Files in groups of equal size.

    Attributes:
        name: Name, or a short description.
        sizes_B: Size of one file of each group, rising [B], shape (groups,).
        counts: Files of each group, shape (groups,).
        directories: Directories that hold them (0: none to create, or not known).
        source: Where the figures come from.
    """

    name: str
    sizes_B: NDArray[np.float64]
    counts: NDArray[np.int64]
    directories: int = 0
    source: str = ""

    @property
    def files(self) -> int:
        """Number of files."""
        return int(self.counts.sum())

    @property
    def payload_B(self) -> float:
        """Bytes of all files."""
        return float(self.sizes_B @ self.counts)

    @property
    def mean_B(self) -> float:
        """Mean file size [B]."""
        return self.payload_B / self.files

    @property
    def largest_B(self) -> float:
        """Size of the largest file [B] (of its group's mean where files were put together)."""
        return float(self.sizes_B[-1])


_WHOLE: Final = re.compile(rf"\s*(?:{units.NUMBER}|[0-9]{{1,3}}(?:,[0-9]{{3}})+)\s*")


def _whole(given: object) -> object:
    """A whole number the way people write it: 1496, 1_496, 1,496 or 1e6."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ValueError("needs a whole number")  # noqa: TRY004 - pydantic collects ValueError
    if isinstance(given, str) and not _WHOLE.fullmatch(given):
        raise ValueError("needs a whole number")
    number = float(re.sub("[,_]", "", given)) if isinstance(given, str) else float(given)
    if not math.isfinite(number) or number != int(number):
        raise ValueError("needs a whole number")
    return int(number)


Count = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=MAX_FILES)]
SIZE: Final = Unit("B", high=MAX_BYTES)
Size = Annotated[Quantity, SIZE]


def _of_a_file(size: Quantity) -> Quantity:
    if 0 < size.value < 1:
        raise ValueError(f"{size} is part of a byte; a file has at least 1 B, or none")
    return size


FileSize = Annotated[Size, AfterValidator(_of_a_file)]


class Group(Model):
    """``count`` files of one ``size``, or between two sizes with a known sum."""

    count: Count
    size: FileSize | None = None
    smallest: Annotated[FileSize | None, Field(alias="from")] = None
    largest: Annotated[Size | None, Field(alias="to")] = None
    total: Size | None = None

    @model_validator(mode="after")
    def _complete(self) -> Group:
        if self.size is not None:
            if self.smallest or self.largest or self.total:
                raise ValueError("a group has either 'size' or 'from', 'to' and 'total'")
            return self
        if self.smallest is None or self.largest is None:
            raise ValueError("a group needs 'count' and 'size', or 'count', 'from', 'to' and 'total'")
        low, high = self.smallest.value, self.largest.value
        mean = (low + high) / 2 if self.total is None else self.total.value / self.count
        if not low <= mean <= high or low > high:
            raise ValueError(
                f"{self.count} files from {self.smallest} to {self.largest} cannot add up to "
                f"{self.total or 'anything'}: the mean would be {units.show(mean, 'B')}"
            )
        return self


class Description(Model):
    """What a data-set file or an inline data set may hold."""

    name: str = ""
    source: str = ""
    description: str = ""
    directories: Annotated[int, BeforeValidator(_whole), Field(ge=0, le=MAX_FILES)] = 0
    files: Count | None = None
    size: Size | None = None
    each: FileSize | None = None
    sizes: Annotated[list[FileSize], Field(min_length=1)] | None = None
    median: FileSize | None = None
    sigma: Annotated[float, Field(ge=0, le=5)] = 1.0
    seed: Annotated[int, Field(ge=0)] | None = None
    groups: Annotated[list[Group], Field(min_length=1)] | None = None
    sizes_file: str | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Description:
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1:
            said = f"both {ways[0]!r} and {ways[1]!r}" if ways else "no sizes"
            raise ValueError(f"gives {said}; write one of {', '.join(_WAYS)}")
        counted = ways[0] in ("size", "each", "median")
        if counted and self.files is None and ways[0] != "size":
            raise ValueError(f"{ways[0]!r} needs 'files', the number of files")
        if self.size is not None and 0 < self.size.value < (self.files or 1):
            raise ValueError(f"{self.size} is less than 1 B for each of {self.files} files")
        if not counted and self.files is not None:
            raise ValueError(f"{ways[0]!r} counts the files itself; leave 'files' out")
        return self


def load(spec: object) -> Dataset:
    """A data set by name, from a file, or from an inline mapping.

    Args:
        spec: Name of a shipped data set, path of a YAML file, a mapping as above, or a `Dataset`.

    Raises:
        SpecError: with file, line, key, value and remedy.

    Examples:
        >>> load({"files": 1000, "each": "1 MB"}).payload_B
        1000000000.0
        >>> load("esnet/5GB-in-small-files").files
        1875
    """
    if isinstance(spec, Dataset):
        return spec
    if isinstance(spec, str | Path):
        return _named(spec)
    if not isinstance(spec, dict):
        raise SpecError("needs a data set", key="dataset", value=spec, remedy=_REMEDY)
    return _build(_mapping(spec))


def of_sizes(sizes_B: ArrayLike, *, name: str = "", directories: int = 0, source: str = "") -> Dataset:
    """A data set of files whose sizes are known one by one.

    Args:
        sizes_B: Sizes [B], any order; more than `MAX_GROUPS` different ones are put together, the
            largest one by one and the smaller in growing groups, count and sum kept exactly.
        name: Name of the data set.
        directories: Directories that hold the files.
        source: Where the sizes come from.
    """
    sizes, counts = np.unique(np.asarray(sizes_B, dtype=np.float64), return_counts=True)
    if sizes.size > MAX_GROUPS:
        every = np.repeat(sizes, counts)
        edges = _edges(every.size)
        counts = np.diff(edges)
        sizes = np.add.reduceat(every, edges[:-1]) / counts
    return _dataset((sizes, counts), name, directories, source)


def _named(spec: str | Path) -> Dataset:
    file, line = (spec.file or None, spec.line or None) if isinstance(spec, Scalar) else (None, None)
    beside = Path(file).parent if file else None
    try:
        raw = library.read("datasets", str(spec), beside=beside)
    except SpecError as error:
        if error.file:
            raise
        remedy = error.remedy or _REMEDY
        raise SpecError(error.message, file=file, line=line, key="dataset", value=error.value, remedy=remedy) from None
    raw.setdefault("name", str(spec))
    return _build(raw)


def _mapping(given: dict[Any, Any]) -> yamlio.Mapping:
    if isinstance(given, yamlio.Mapping):
        return given.clone()
    mapping = yamlio.Mapping()
    mapping.update({str(k): v for k, v in given.items()})
    return mapping


def _build(raw: yamlio.Mapping) -> Dataset:
    if isinstance(raw.get("files"), list):  # in data-set files, 'files' lists the groups
        if "groups" in raw:
            raise SpecError("is given besides a list of 'files'", **place(raw, "groups"), key="dataset.groups")
        raw.put("groups", raw.pop("files"), *raw.lines.get("files", (raw.file, raw.line)))
    described = validate(Description, raw, key="dataset")
    if described.sizes_file is not None:
        sizes, source = _read_list(described.sizes_file, raw), described.source or described.sizes_file
        data = of_sizes(sizes, name=described.name, directories=described.directories, source=source)
    else:
        data = _dataset(_groups(described), described.name, described.directories, described.source)
    if not 0 < data.payload_B <= MAX_BYTES:
        raise SpecError(
            f"holds {units.show(data.payload_B, 'B')} in {data.files} files",
            **place(raw),
            key="dataset",
            remedy="give sizes above 0 B" if data.payload_B == 0 else "give smaller sizes",
        )
    return data


def _groups(described: Description) -> Groups:
    if described.files is not None and described.median is not None:
        return log_normal(described.files, described.median.value, described.sigma, described.seed)
    if described.files is not None and described.each is not None:
        return np.array([described.each.value]), np.array([described.files])
    if described.size is not None:
        files = described.files or 1  # a size alone is one file
        return np.array([described.size.value / files]), np.array([files])
    if described.sizes is not None:
        return np.array([q.value for q in described.sizes]), np.ones(len(described.sizes), dtype=np.int64)
    parts = [_group(group) for group in described.groups or []]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _group(group: Group) -> Groups:
    if group.size is not None:
        return np.array([group.size.value]), np.array([group.count])
    low = group.smallest.value if group.smallest else 0.0
    high = group.largest.value if group.largest else 0.0
    total = group.total.value if group.total else group.count * (low + high) / 2
    return between(group.count, low, high, total)


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
    edges = _edges(files)
    counts = np.diff(edges)
    over, under = total_B / files - low_B, high_B - total_B / files
    if over <= 0 or under < 0:
        return np.full(counts.size, total_B / files), counts
    power = under / over + 1.0
    with np.errstate(divide="ignore"):  # the lowest edge: log 0
        above = -np.expm1(power * np.log1p((edges - files) / files))  # 1 - u^power, exact near the top
    sizes = low_B - (high_B - low_B) * np.diff(above) / power * files / counts
    return sizes, counts


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
    edges = _edges(files)
    counts = np.diff(edges)
    if seed is not None and files <= MAX_DRAWN:
        drawn = np.sort(np.random.default_rng(seed).lognormal(math.log(median_B), sigma, files))
        return np.add.reduceat(drawn, edges[:-1]) / counts, counts
    from scipy.special import ndtr, ndtri

    # part of the bytes in files above each quantile; counted from the top, where groups are small
    above = ndtr(sigma + ndtri((files - edges) / files))
    mean = median_B * math.exp(sigma**2 / 2)
    return -mean * np.diff(above) * files / counts, counts


def _edges(files: int) -> NDArray[np.int64]:
    """Where files in rising order are cut into groups: the largest stay alone, as they hold the bytes."""
    if files <= MAX_GROUPS:
        return np.arange(files + 1)
    from_top = np.unique(np.rint(np.geomspace(1, files, MAX_GROUPS)).astype(np.int64))
    return np.append(files - from_top[::-1], files)


def _dataset(groups: Groups, name: str, directories: int, source: str) -> Dataset:
    order = np.argsort(groups[0], kind="stable")
    sizes, counts = groups[0][order].astype(np.float64), groups[1][order].astype(np.int64)
    for array in (sizes, counts):
        array.setflags(write=False)
    files = int(counts.sum())
    label = name or f"{files} file{'s' if files > 1 else ''}, {units.show(float(sizes @ counts), 'B')}"
    return Dataset(label, sizes, counts, directories, source)


def _read_list(name: str, raw: yamlio.Mapping) -> NDArray[np.float64]:
    """Sizes from a text file, one number of bytes in each line."""
    path = (Path(raw.file).parent if raw.file else Path()) / name
    remedy = "write it with: find DIR -type f -printf '%s\\n'"
    parts, found, lines = [], 0, 0
    where: dict[str, Any] = {**place(raw, "sizes_file"), "key": "dataset.sizes_file", "value": name, "remedy": remedy}
    if not path.is_file():
        raise SpecError(f"cannot be read: {'it is' if path.exists() else 'there is'} no file", **where)
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK) + file.readline(_BLOCK):
                parts.append(_numbers(block, str(path), lines, remedy))
                lines += block.count(b"\n")
                if (found := found + parts[-1].size) > MAX_LISTED:
                    raise SpecError(f"has more than {MAX_LISTED:,} sizes", file=str(path), remedy="use 'groups'")
    except OSError as error:
        raise SpecError(f"cannot be read: {error.strerror}", **where) from None
    if not found:
        raise SpecError("holds no sizes", file=str(path), remedy=remedy)
    return np.concatenate(parts)


def _numbers(block: bytes, file: str, before: int, remedy: str) -> NDArray[np.float64]:
    """The sizes in whole lines of a list, ``before`` of which came earlier. Other text is quoted to nobody."""
    if len(block) == 2 * _BLOCK:
        raise SpecError(f"has a line of more than {_BLOCK:,} bytes", file=file, line=before + 1, remedy=remedy)
    words, longest = block.split(), len(str(int(MAX_BYTES)))
    if block.translate(None, b"0123456789 \t\r\n") or (words and len(max(words, key=len)) > longest):
        rows = (line.split() for line in block.split(b"\n"))
        bad = next(n for n, row in enumerate(rows) if any(not w.isdigit() or len(w) > longest for w in row))
        raise SpecError("is not a number of bytes", file=file, line=before + bad + 1, remedy=remedy)
    return np.array(words, dtype=np.float64)
