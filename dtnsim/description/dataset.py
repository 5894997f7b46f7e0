r"""Data sets: how many files of which sizes in how many directories a transfer moves.

A data set is named (``esnet/5GB-in-small-files``), a YAML file, or written inline::

    20 TB in 4000 files                                     or 4000 files of 5 GB
    {size: 77 GB}                                           one file
    {files: 200, size: 6 TB}                                size is the sum of all files
    {files: 1000, each: 1 MB}
    {sizes: [1 MB, 2 MB]}
    {files: 1000000, median: 1 MiB, sigma: 2, seed: 1}      log-normal
    {groups: [{count: 625, size: 1 MB}, {count: 117, from: 1.2 GB, to: 6 GB, total: 240 GB}], directories: 3}
    {sizes_file: sizes.txt}                                 what find, du, ls -lR, aws s3 ls, rclone print
    {files: 3000000, sizes_file: sample.txt}                the sizes of a sample, scaled to so many files
    {histogram: {4 KiB: 200000, 1 MiB: 40000, 1 GiB: 12}, size: 3 TB}   files up to each size, and their sum

Folders: ``directories``, or ``files_per_folder`` and ``depth``.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from dtnsim.components.base import Model, place, validate
from dtnsim.description.file_sizes import Groups, between, grouped, histogram, log_normal, scaled
from dtnsim.ground import library, units, yamlio
from dtnsim.ground.errors import SpecError, UnitError
from dtnsim.ground.quantity import Quantity, Scalar, Unit
from dtnsim.physics._arrays import FloatArray as Array, IntArray

#: limits that keep counts exact in 64 bits and arithmetic finite
MAX_FILES: Final = 10**12
MAX_BYTES: Final = 1e21

_WAYS: Final = ("size", "each", "sizes", "median", "groups", "sizes_file", "histogram")
_REMEDY: Final = "write a name like 'esnet/5GB-in-small-files', or {files: 1, size: 49.9 GB}"


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Files in groups of equal size."""

    name: str  #: Name, or a short description.
    sizes_B: Array  #: Size of one file of each group, rising [B], shape (groups,).
    counts: IntArray  #: Files of each group, shape (groups,).
    directories: int = 0  #: Directories that hold them (0: none to create, or not known).
    source: str = ""  #: Where the figures come from.
    pieces: int = 1  #: Pieces that hosts have of each file, which count as files here.

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

_THOUSANDS: Final = re.compile(r"([\d.]+) ?(k|M|thousand|million|billion)")


def many(number: str, word: str) -> int:
    """A whole number whose size a word says, by its first letter: 2 million, 10k, 3 mio."""
    return round(float(number.replace(",", "")) * {"": 1.0, "k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}[word[:1].lower()])


def _whole_number(raw: object) -> object:
    """A whole number the way people write it: 1496, 1_496, 1,496, 1e6, 10k or 2 million."""
    if isinstance(raw, str) and (words := _THOUSANDS.fullmatch(raw.strip())):
        raw = many(words[1], words[2])
    scalar = not isinstance(raw, bool) and isinstance(raw, str | int | float)
    if scalar and (not isinstance(raw, str) or _WHOLE.fullmatch(raw)):
        number = float(re.sub("[,_]", "", str(raw)))
        if math.isfinite(number) and number == int(number):
            return int(number)
    raise ValueError("needs a whole number; write it like 2000")


Count = Annotated[int, BeforeValidator(_whole_number), Field(ge=1, le=MAX_FILES)]
SIZE: Final = Unit("B", high=MAX_BYTES)
Size = Annotated[Quantity, SIZE]


def _of_a_file(size: Quantity) -> Quantity:
    if 0 < size.value < 1:
        raise ValueError(f"{size} is part of a byte; a file has at least 1 B, or none")
    return size


FileSize = Annotated[Size, AfterValidator(_of_a_file)]

#: sizes between two: 1GB-300GB
_RANGE: Final = re.compile(r"([\d.]+) ?([A-Za-z]*) ?(?:-|–|to|\.\.\.?) ?([\d.]+ ?([A-Za-z]+))")
#: how people say it: 20 TB in 4000 files, 4000 files of 5 GB
_SAID: Final = re.compile(
    r"(?P<size>[\d.]+ ?[A-Za-z]+) in (?P<files>[\d.,]+(?: ?[a-zA-Z]+)?) files?"
    r"|(?P<count>[\d.,]+(?: ?[a-zA-Z]+)?) files? of (?P<each>[\d.]+ ?[A-Za-z]+)"
)


class Group(Model):
    """``count`` files of one ``size``, or between two sizes with a known sum."""

    count: Count
    size: FileSize | None = None
    smallest: Annotated[FileSize | None, Field(alias="from")] = None
    largest: Annotated[Size | None, Field(alias="to")] = None
    total: Size | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
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
    directories: Annotated[int, BeforeValidator(_whole_number), Field(ge=0, le=MAX_FILES)] = 0
    files: Count | None = None
    size: Size | None = None
    each: FileSize | None = None
    sizes: Annotated[list[FileSize], Field(min_length=1)] | None = None
    median: FileSize | None = None
    sigma: Annotated[float, Field(ge=0, le=5)] = 1.0
    seed: Annotated[int, Field(ge=0)] | None = None
    groups: Annotated[list[Group], Field(min_length=1)] | None = None
    sizes_file: str | None = None
    histogram: Annotated[dict[str, Count], Field(min_length=1)] | None = None
    files_per_folder: Count | None = None
    depth: Annotated[int, BeforeValidator(_whole_number), Field(ge=1, le=64)] = 1

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [way for way in _WAYS if getattr(self, way) is not None]
        if len(ways) != 1 and ways != ["size", "histogram"]:
            conflict = f"both {ways[0]!r} and {ways[1]!r}" if ways else "no sizes"
            raise ValueError(f"gives {conflict}; write one of {', '.join(_WAYS)}")
        if ways[-1] in ("each", "median") and self.files is None:
            raise ValueError(f"{ways[0]!r} needs 'files', the number of files")
        if ways == ["size"] and self.size is not None and 0 < self.size.value < (self.files or 1):
            raise ValueError(f"{self.size} is less than 1 B for each of {self.files} files; 'each' is the size of one")
        if ways[-1] in ("sizes", "groups") and self.files is not None:
            raise ValueError(f"{ways[0]!r} counts the files itself; leave 'files' out")
        if (self.directories or self.files_per_folder) and self.files is None and ways == ["size"]:
            raise ValueError("folders need 'files': how many all of them hold")
        if self.directories and self.files_per_folder is not None:
            raise ValueError("gives both 'directories' and 'files_per_folder'; write one of them")
        if self.depth > 1 and self.files_per_folder is None:
            raise ValueError("'depth' needs 'files_per_folder'")
        return self

    def folders(self, files: int) -> int:
        """Folders of so many files: those that hold them, in a tree whose levels all have as many branches."""
        if self.files_per_folder is None:
            return self.directories
        last = math.ceil(files / self.files_per_folder)
        return sum(math.ceil(last ** (level / self.depth)) for level in range(1, self.depth + 1))


def load(spec: object) -> Dataset:
    """A data set by name, from a file, from an inline mapping, or one already loaded.

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


def of_sizes(sizes_B: Array | Sequence[float], *, name: str = "") -> Dataset:
    """A data set of files whose sizes are known one by one, in any order [B].

    More than `file_sizes.MAX_GROUPS` different ones are put together, the largest one by one and the smaller in growing
    groups, count and sum kept exactly.
    """
    return _dataset(grouped(np.asarray(sizes_B, dtype=np.float64)), name, 0, "")


def _listed(described: Description, raw: yamlio.Mapping) -> tuple[Groups, int]:
    """Files of a list, as many as asked for, and their folders."""
    from dtnsim.description import file_list  # and its patterns, for those who give one

    name = str(described.sizes_file)
    where = {**place(raw, "sizes_file"), "key": "dataset.sizes_file", "value": name}
    where["remedy"] = file_list.REMEDY
    listed = file_list.read((Path(raw.file).parent if raw.file else Path()) / name, where)
    if listed.sizes_B.size:
        groups = scaled(grouped(listed.sizes_B), described.files)
        return groups, round(listed.directories * int(groups[1].sum()) / listed.files)
    files = listed.files or described.files
    if not files or not 0 < files <= MAX_FILES:
        raise SpecError("does not say how many files", **{**where, "remedy": "add 'files', their number"})
    return scaled((np.array([listed.total_B / files]), np.array([files])), described.files), 0


def _named(spec: str | Path) -> Dataset:
    file, line = (spec.file or None, spec.line or None) if isinstance(spec, Scalar) else (None, None)
    if match := _SAID.fullmatch(str(spec).strip()):
        keys = {"files": match["files"] or match["count"], "size": match["size"], "each": match["each"]}
        fields = {k: v.replace(",", "") for k, v in keys.items() if v}
        return _build(yamlio.mapping(fields, file or "", line or 0))
    beside = Path(file).parent if file else None
    try:
        raw = library.read("datasets", str(spec), beside=beside)
    except SpecError as error:
        if error.file:
            raise
        remedy = error.remedy or _REMEDY
        if size := re.match(r"[\d.]+ ?[kMGTPE]?i?B?", str(spec)):
            remedy = f"write '{size[0]} in 1000 files': how many files hold them?"
        raise SpecError(error.message, file=file, line=line, key="dataset", value=error.value, remedy=remedy) from None
    raw.setdefault("name", str(spec))
    return _build(raw)


def _mapping(spec: dict[Any, Any]) -> yamlio.Mapping:
    if isinstance(spec, yamlio.Mapping):
        return spec.clone()
    mapping = yamlio.Mapping()
    mapping.update({str(k): v for k, v in spec.items()})
    return mapping


def _build(raw: yamlio.Mapping) -> Dataset:
    if isinstance(raw.get("files"), list):  # in data-set files, 'files' lists the groups
        if "groups" in raw:
            raise SpecError("is given besides a list of 'files'", **place(raw, "groups"), key="dataset.groups")
        raw.put("groups", raw.pop("files"), *raw.at("files"))
    each = _RANGE.fullmatch(str(raw.get("each")))
    if each is not None and "groups" not in raw and "files" in raw:  # {files: 20, each: 1 GB to 300 GB}
        location = raw.at("each")
        del raw["each"]
        group = yamlio.mapping(
            {"count": raw.pop("files"), "from": f"{each[1]} {each[2] or each[4]}", "to": each[3]}, *location
        )
        raw.put("groups", [group], *location)
    described = validate(Description, raw, key="dataset")
    directories, source = 0, described.source or described.sizes_file or ""
    if described.sizes_file is not None:
        groups, directories = _listed(described, raw)
    else:
        groups = scaled(_groups(described, raw), described.files)
    directories = described.folders(int(groups[1].sum())) or directories
    data = _dataset(groups, described.name, directories, source)
    if not 0 < data.payload_B <= MAX_BYTES:
        message = f"holds {units.show(data.payload_B, 'B')} in {data.files} files"
        remedy = "give sizes above 0 B" if data.payload_B == 0 else "give smaller sizes"
        raise SpecError(message, **place(raw), key="dataset", remedy=remedy)
    return data


def _groups(described: Description, raw: yamlio.Mapping) -> Groups:
    if described.histogram is not None:
        return _histogram(described.histogram, described.size, raw)
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


def _histogram(bins: dict[str, int], total: Quantity | None, raw: yamlio.Mapping) -> Groups:
    key = {**place(raw, "histogram"), "key": "dataset.histogram"}
    try:
        high = np.array([units.parse(text, "B") for text in bins])
    except UnitError as error:
        raise SpecError(str(error), **key) from None
    if high[0] < 1 or np.any(np.diff(high) <= 0):
        remedy = "write {4 KiB: 200000, 1 MiB: 40000}: files up to each size"
        raise SpecError("needs sizes that rise", **key, remedy=remedy)
    counts = np.array(list(bins.values()))
    least, most = counts[0] + high[:-1] @ counts[1:], high @ counts
    if total is not None and not least <= total.value <= most:
        remedy = f"give one between {units.show(float(least), 'B')} and {units.show(float(most), 'B')}, or leave it out"
        where = {**place(raw, "size"), "key": "dataset.size", "value": str(total)}
        raise SpecError("is not what these files can add up to", **where, remedy=remedy)
    return histogram(high, counts, None if total is None else total.value)


def _dataset(groups: Groups, name: str, directories: int, source: str) -> Dataset:
    order = np.argsort(groups[0], kind="stable")
    sizes, counts = groups[0][order].astype(np.float64), groups[1][order].astype(np.int64)
    for array in (sizes, counts):
        array.setflags(write=False)
    files = int(counts.sum())
    label = name or f"{files} file{'s' if files > 1 else ''}, {units.show(float(sizes @ counts), 'B')}"
    return Dataset(label, sizes, counts, directories, source)
