"""Transfers of a path file: a data set of one file, which very many have, is read at once."""

from __future__ import annotations

import pytest

from dtnsim.description import dataset
from dtnsim.description.transfer import _one_file
from dtnsim.ground import yamlio


@pytest.mark.parametrize("size", ["10 GB", "74614 MiB", "1 B", "0.5 TB", "{value: 3 GB, source: a log}"])
def test_one_file_is_read_as_every_data_set_is(size: str) -> None:
    given = yamlio.loads(f"dataset: {{files: 1, size: {size}}}", "t.yaml")["dataset"]
    quick, whole = _one_file(given), dataset.load(given)
    assert quick is not None
    assert quick.name == whole.name
    for name in ("sizes_B", "counts"):
        mine, theirs = getattr(quick, name), getattr(whole, name)
        assert (mine.tolist(), mine.dtype, mine.flags.writeable) == (theirs.tolist(), theirs.dtype, False)
    assert (quick.directories, quick.source) == (whole.directories, whole.source)


@pytest.mark.parametrize(
    "text", ["files: 1, size: 10", "files: 1, size: 0 B", "files: 1, each: 1 GB", "files: 2, size: 1 GB"]
)
def test_what_is_not_just_one_file_is_left_to_who_says_where(text: str) -> None:
    assert _one_file(yamlio.loads(f"dataset: {{{text}}}", "t.yaml")["dataset"]) is None
