"""Transfers of a path file: ends that tools name themselves, words as other tools say them, data sets of one file."""

from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.description import dataset
from dtnsim.description.transfer import _one_file
from dtnsim.ground import yamlio
from dtnsim.ground.errors import SpecError
from tests.each import rows
from tests.strategies import load, written

HOST = "hosts: {a: {volumes: {/data: {filesystem: xfs, array: samsung-980-pro-1tb}}}}\n"


def path(folder: Path, transfer: str, hosts: str = HOST) -> Path:
    return written(folder / "path.yaml", f"{hosts}transfer: {transfer}\n")


@pytest.mark.parametrize(("short", "whole"), rows("description/tables", "transfers alike"))
def test_a_tool_names_its_files_itself(short: str, whole: tuple[str, str, str, str], tmp_path: Path) -> None:
    """The answer is that of the same transfer with its ends and its data set beside the tool."""
    written_out = "{{from: 'a:{}', to: 'a:{}', tool: {}, dataset: {}}}".format(*whole)
    one, other = (dtnsim.predict(path(tmp_path, text), samples=50) for text in (short, written_out))
    assert one.throughput_Bps == other.throughput_Bps
    assert one.duration_s == other.duration_s


def test_a_volume_that_only_the_tool_names_is_drawn(tmp_path: Path) -> None:
    made = dtnsim.load(path(tmp_path, "{fio: {rw: write, volume: /dev/md0}}", "hosts: {a: unknown}\n"))
    assert made.hosts["a"].volumes["/dev/md0"].filesystem.kind == "none"


@pytest.mark.parametrize(("transfer", "says"), rows("description/refused", "transfers"))
def test_what_is_said_twice_or_means_several_things_is_refused(transfer: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=says):
        dtnsim.load(path(tmp_path, transfer))


def test_of_several_hosts_one_is_named(tmp_path: Path) -> None:
    hosts = "hosts: {a: unknown, b: unknown}\n"
    with pytest.raises(SpecError, match=r"is on which host\?.*write HOST:/data, of a, b"):
        dtnsim.load(path(tmp_path, "{fio: {rw: write, volume: /data}}", hosts))
    made: Any = dtnsim.load(path(tmp_path, "{fio: {rw: write, volume: 'b:/data'}}", hosts))
    assert (made.transfers[0].source_end, made.transfers[0].to) == ("b:/data", "b:/data")


@pytest.mark.parametrize("size", ["10 GB", "74614 MiB", "1 B", "0.5 TB", "{value: 3 GB, source: a log}"])
def test_one_file_is_read_as_every_data_set_is(size: str) -> None:
    given = yamlio.loads(f"dataset: {{files: 1, size: {size}}}", "t.yaml")["dataset"]
    quick, whole = _one_file(given), dataset.load(given)
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


def test_one_name_needs_no_brackets() -> None:
    move = {"from": "a:memory", "to": "b:memory", "tool": "iperf3", "dataset": {"size": "1 GB"}}
    links = {"fibre": {"between": ["a", "b"], "bandwidth": "10 Gb/s"}}
    again = {"one": {**move, "via": "fibre"}, "two": {**move, "after": "one"}}
    one, two = load({"hosts": {"a": {}, "b": {}}, "links": links, "transfers": again}).transfers
    assert (one.via, two.after) == (["fibre"], ["one"])
