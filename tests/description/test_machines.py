"""Machines by the names that people say: what their vendors state is known, the rest is drawn; likes are said once."""

import math
from pathlib import Path

import pytest

import dtnsim
from dtnsim import predict
from dtnsim.description.spoken import part
from dtnsim.description.spoken_paths import folded
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Mixture, Scalar
from tests.each import cases, rows
from tests.strategies import load, written

#: shipped hosts that are a model or a size, not a machine that somebody measured or an example
KNOWN = tuple(n for n in library.names("hosts") if library.read("hosts", n).get("year") is not None)


def path(folder: Path, machine: str, tool: str = "iperf3 -P 4 -t 30") -> Path:
    return written(
        folder / "path.yaml",
        f"hosts: {{a: {{machine: {machine!r}}}, b: unknown}}\nwan: {{rtt: 5 ms, bandwidth: 100 Gb/s}}\n"
        f"transfer: {{from: 'a:memory', to: 'b:memory', tool: {tool!r}}}\n",
    )


def test_there_are_many() -> None:
    assert len(KNOWN) >= 35


@pytest.mark.parametrize("name", KNOWN)
def test_each_answers_and_says_where_it_is_from(name: str, tmp_path: Path) -> None:
    """A year, a source of its own, a processor whose cores are counted or drawn, and an answer."""
    raw = library.read("hosts", name)
    assert len(str(raw["source"])) > 40
    assert 2005 <= int(raw["year"]) <= 2026
    host = dtnsim.load(path(tmp_path, name)).hosts["a"]
    assert isinstance(host.cpu.clock, Mixture) == ("clock" not in raw["cpu"]) or isinstance(raw["cpu"], str)
    answer = dtnsim.predict(path(tmp_path, name), samples=100).throughput_Bps
    assert 0 < answer.p10 < answer.p90


@pytest.mark.parametrize(("said", "meant"), rows("description/spoken", "machines"))
def test_a_machine_is_found_as_people_say_it(said: str, meant: str, tmp_path: Path) -> None:
    assert dtnsim.load(path(tmp_path, said)).host_files["a"] == meant


@pytest.mark.parametrize(("said", "says"), rows("description/tables", "one_that_is_not_known_has_its_nearest"))
def test_one_that_is_not_known_has_its_nearest(said: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=says):
        dtnsim.load(path(tmp_path, said))


def test_machine_and_like_are_one_key(tmp_path: Path) -> None:
    file = path(tmp_path, "dell-r740")
    both = file.read_text().replace("machine:", "like: dell-r640, machine:")
    file.write_text(both)
    with pytest.raises(SpecError, match="write either 'like' or 'machine'"):
        dtnsim.load(file)


def test_sockets_that_are_known_are_not_drawn_again(tmp_path: Path) -> None:
    """Of two sockets the cores of one are drawn: the median is twice that of the processors of those years."""
    one, two = (
        dtnsim.load(path(tmp_path, "dell-r740"), {"hosts.a.cpu.sockets": sockets}).hosts["a"].cpu for sockets in (1, 2)
    )
    assert two.total == 2 * one.total
    assert one.uncounted.spread == two.uncounted.spread > 0.3
    assert math.isclose(one.uncounted.value, two.uncounted.value)


def test_a_line_more_than_the_model_narrows_it(tmp_path: Path) -> None:
    """The model alone has any card of its years, with its card the answer is a third as wide."""
    file = path(tmp_path, "dell-r740")
    alone, card = (
        dtnsim.predict(file, overrides={"hosts.b": "esnet-dtn-2023", **more}, samples=300).throughput_Bps
        for more in ({}, {"hosts.a.nic": "connectx-5-en-100g"})
    )
    assert math.log(card.p90 / card.p10) < math.log(alone.p90 / alone.p10) / 1.5


@cases("machine, least, most", rows("description/tables", "a_box_that_the_library_does_not_have_is_no_server"))
def test_a_box_that_the_library_does_not_have_is_no_server(
    machine: str, least: float, most: float, tmp_path: Path
) -> None:
    """Clock times work of a cycle, a few cores, and some GB of memory; a server core of its time has 3 GHz."""
    host = dtnsim.load(path(tmp_path, machine)).hosts["a"]
    assert host.cpu.cores <= 4
    assert least <= host.cpu.clock.value / 1e9 * host.cpu.per_cycle.value <= most
    assert host.memory.size.value <= 4.1e9


@pytest.mark.parametrize(
    ("machine", "year"),
    [("HP ProLiant DL380 G5", 2007), ("Dell PowerEdge R710", 2009), ("HP DL160 Gen8", 2012), ("HPE ML350 Gen9", 2014)],
)
def test_a_generation_of_servers_tells_the_year(machine: str, year: int, tmp_path: Path) -> None:
    assert dtnsim.load(path(tmp_path, machine)).hosts["a"].year == year


TAKEN = "is not in the library: taken from its name: part"


def test_the_same_of_like_hosts_is_one_line() -> None:
    card = "{}.nic: 'Chelsio' is not in the library: drawn from those of its years"
    notes = [f"hosts.{card.format(name)}" for name in ("a", "b")]
    assert folded(notes) == (f"{notes[0]} (b alike)",)
    five = folded(f"hosts.{card.format(name)}" for name in "abcde")
    assert five == (f"{notes[0]} (b, c and 2 others alike)",)
    other = "wan.bandwidth: not said"
    assert folded([notes[0], other, other]) == (notes[0], other)


@cases("name, drives, noted", rows("description/tables", "a_drive_of_a_model_is_that_part_or_is_said_to_be_another"))
def test_a_drive_of_a_model_is_that_part_or_is_said_to_be_another(name: str, drives: object, noted: bool) -> None:
    notes: list[str] = []
    assert part("array", Scalar(name), "a.array", notes) == drives
    assert notes == ([f"a.array: {name!r} {TAKEN} any-nvme"] if noted else [])


def test_several_drives_are_one_line() -> None:
    one, two = (
        f"hosts.a.volumes./d.array: 'WD Red' {TAKEN} any-disk",
        f"hosts.b.volumes./e.array: 'OCZ' {TAKEN} any-ssd",
    )
    assert folded([one, "medium: lan is taken as campus"]) == (one, "medium: lan is taken as campus")
    line, last = folded([one, two, "medium: lan is taken as campus"])
    assert "hosts.a.volumes./d.array 'WD Red' as any-disk; hosts.b.volumes./e.array 'OCZ' as any-ssd" in line
    assert last == "medium: lan is taken as campus"


def test_copies_of_a_host_are_warned_of_once() -> None:
    """Each of them has a card without a slot; the line names the first and how many more."""
    far = {"year": 2015, "role": "dtn", "count": 4, "nic": "40GbE", "volumes": {"/d": {"filesystem": "lustre"}}}
    move = {"from": "a:/d", "to": "b:/d", "tool": "globus", "dataset": {"files": 100, "size": "1 TB"}}
    path = load({"hosts": {"a": far, "b": far}, "wan": {"bandwidth": "100 Gb/s", "rtt": "60 ms"}, "transfer": move})
    said = [w for w in predict(path, samples=0).warnings if "no slot is described" in w]
    assert len(said) == 1
    assert said[0].startswith("a and 7 others: no slot is described for nic")
