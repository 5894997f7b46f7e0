"""Lists of files as find, du, ls, aws s3 and rclone print them; sizes, sums and folders by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dtnsim.description.dataset import load
from dtnsim.ground.errors import SpecError

LS = """.:
total 12
drwxr-xr-x 2 ann users 4096 Jan  1  2020 sub
-rw-r--r-- 1 ann users  123 Jan  1 10:20 two words.txt

./sub:
total 4
-rw-r--r--. 1 ann users 456 Jan  1 10:20 c
lrwxrwxrwx 1 ann users 4 Jan  1 10:20 l -> c
"""
FIND_LS = """ 20474417 -rw-r--r--   1 ann staff 17337 Nov  2  1992 ./x/quotes
  2 4 drwxr-xr-x 2 ann staff 4096 Nov  2 1992 ./x
""".replace("20474417", "204744   17")
AWS = """2013-09-02 21:37:53         10 a.txt
2013-09-02 21:37:53         30 p/two words.txt
                           PRE q/

Total Objects: 2
   Total Size: 40
"""
LISTS = {
    "find -printf %s": ("1\n2\n30\n", [1, 2, 30], 0),
    "find -printf '%s %p'": ("10 ./a/b\n20 ./a/c\n5 ./d\n", [5, 10, 20], 2),
    "rclone ls": ("       10 a/b\n      2 c\n", [2, 10], 2),
    "du -ab": ("4096\t./a/b\n4097\t./a/c\n12289\t./a\n7\t./e\n16392\t.\n", [7, 4096, 4097], 2),
    "ls -lR": (LS, [123, 456], 2),
    "ls -lR by a browser": (LS.replace("\n", "\r\n"), [123, 456], 2),
    "find -ls": (FIND_LS, [17337], 1),
    "aws s3 ls": (AWS, [10, 30], 2),
    "rclone lsjson": ('[{"Path":"a/b","Size":6,"IsDir":false},{"Path":"a","Size":-1,"IsDir":true}]', [6], 1),
}
SUMS = {
    "aws s3 ls --summarize": ("\nTotal Objects: 10\n   Total Size: 1234\n", 10, 1234),
    "aws s3 ls --human-readable": ("\nTotal Objects: 10\n   Total Size: 2.5 MiB\n", 10, 2.5 * 2**20),
    "rclone size": ("Total objects: 1.234k (1234)\nTotal size: 1.200 GiB (1288490188 Byte)\n", 1234, 1288490188),
    "rclone size, old": ("Total objects: 6\nTotal size: 240 Bytes (240 Bytes)\n", 6, 240),
    "rclone size --json": ('{"count":6,"bytes":240,"sizeless":0}\n', 6, 240),
}


def _file(folder: Path, text: str) -> str:
    file = folder / "list"
    file.write_bytes(text.encode())
    return str(file)


@pytest.mark.parametrize(("text", "sizes", "folders"), LISTS.values(), ids=LISTS)
def test_every_file_of_a_list(tmp_path: Path, text: str, sizes: list[int], folders: int) -> None:
    data = load({"sizes_file": _file(tmp_path, text)})
    assert np.repeat(data.sizes_B, data.counts).tolist() == sizes
    assert data.directories == folders


@pytest.mark.parametrize(("text", "files", "total"), SUMS.values(), ids=SUMS)
def test_sums_alone_are_files_of_one_size(tmp_path: Path, text: str, files: int, total: float) -> None:
    data = load({"sizes_file": _file(tmp_path, text)})
    assert (data.files, data.payload_B, data.sizes_B.size) == (files, pytest.approx(total), 1)


def test_du_of_folders_needs_the_number_of_files(tmp_path: Path) -> None:
    list_ = _file(tmp_path, "1.5T\tone\n512G\ttwo\n")
    data = load({"sizes_file": list_, "files": 1000})
    assert (data.files, data.payload_B) == (1000, 2 * 2**40)
    with pytest.raises(SpecError, match=r"does not say how many files.*add 'files'"):
        load({"sizes_file": list_})


def test_a_sample_scales_to_so_many_files(tmp_path: Path) -> None:
    """Mean, quantiles and files per folder stay."""
    lines = "".join(f"{100 + n} ./{n % 10}/{n}\n" for n in range(1000))
    data = load({"sizes_file": _file(tmp_path, lines), "files": "3_000_000"})
    assert (data.files, data.directories) == (3_000_000, 30_000)
    assert data.mean_B == pytest.approx(599.5)
    few = load({"sizes_file": _file(tmp_path, lines), "files": 10})
    assert few.files == 10
    assert few.mean_B == pytest.approx(599.5, rel=0.1)


SECRET = [
    ("10 ./a\nsecret plan\n", ":2: is no file with its size in bytes"),
    ("/lustre/secret\n", ":1: is not a number of bytes"),  # lfs find without -printf
    (LS + "secret\n", ":10: is no file.*without -h"),
    ("-rw-r--r-- 1 ann users 1.2K Jan  1 10:20 secret\n", ":1: is"),
    ("2013-09-02 21:37:53   1.2 KiB secret\n", ":1: is"),
    (AWS + "secret\n", ":7: is no file.*without --human-readable"),
    ('{"secret": 1}', "is no list of files; give what rclone size --json"),
    ("[1, secret", "is no list of files"),
    ("4096\t./secret\n8192\t.\n", "has sizes in blocks or rounded, not in bytes; write it with: du -ab DIR"),
    ("4.0K\t./secret\n8.0K\t.\n", "has sizes in blocks or rounded"),
    ("Total size: 40\nsecret\n", "has no sums of files and bytes"),
]


@pytest.mark.parametrize(("text", "says"), SECRET)
def test_errors_name_the_line_and_never_what_stands_there(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says) as error:
        load({"sizes_file": _file(tmp_path, text)})
    assert "secret" not in str(error.value)


def test_a_histogram_and_its_sum() -> None:
    """Half-way on a scale of logarithms: 64 B of 1 B to 4 KiB, 64 KiB of 4 KiB to 1 MiB."""
    bins = {"4 KiB": 200, "1 MiB": 40}
    data = load({"histogram": bins})
    assert (data.sizes_B.tolist(), data.counts.tolist()) == ([64.0, 65536.0], [200, 40])
    assert load({"histogram": bins, "size": "20 MB"}).payload_B == pytest.approx(20e6)
    assert load({"histogram": bins, "files": 2400}).counts.tolist() == [2000, 400]
    with pytest.raises(SpecError, match=r"dataset\.size: is not what these files can add up to .*between .* 42\.7"):
        load({"histogram": bins, "size": "20 GB"})
    with pytest.raises(SpecError, match=r"dataset\.histogram: needs sizes that rise"):
        load({"histogram": {"1 MiB": 40, "4 KiB": 200}})
    with pytest.raises(SpecError, match=r"dataset\.histogram: '4' has no unit"):
        load({"histogram": {"4": 40}})


def test_folders_by_files_in_each_and_depth() -> None:
    """1000 files, 10 in a folder: 100 folders, in 10 others where there are two levels."""
    each = {"files": 1000, "each": "1 MB", "files_per_folder": 10}
    assert load(each).directories == 100
    assert load({**each, "depth": 2}).directories == 110
    with pytest.raises(SpecError, match="'depth' needs 'files_per_folder'"):
        load({"files": 1000, "each": "1 MB", "depth": 2})
    with pytest.raises(SpecError, match="both 'directories' and 'files_per_folder'"):
        load({**each, "directories": 3})
