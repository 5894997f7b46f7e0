"""Text for people: whole plain lines in a pipe, the answer first, nothing that reads as markup."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.ground import units
from dtnsim.ground.records import Prediction, Station
from dtnsim.ground.uncertainty import NAMES
from dtnsim.report import text
from dtnsim.report.table import Out
from tests.each import cases, rows, tables
from tests.lab import answer, journey, machine, volume

DRIVE = {"kind": "ssd", "read": "600 MB/s", "write": "500 MB/s", "link": "1 GB/s"}


def shown(p: Prediction, say: Callable[..., None] = text.prediction, **options: Any) -> str:
    stream = io.StringIO()
    say(p, Out(stream), **options)
    return stream.getvalue()


@pytest.mark.parametrize(("share", "full"), [(0.0, 0), (0.5, 12), (1.0, 24), (1.7, 24), (-1.0, 0), (0.999, 24)])
def test_bars(share: float, full: int) -> None:
    assert text.bar(share) == "█" * full + "·" * (24 - full)


@pytest.mark.parametrize(
    ("value", "words"),
    [(1.25e9, "10 Gb/s (1.25 GB/s)"), (5e6, "40 Mb/s (5 MB/s)"), (2000, "16 kb/s (2 kB/s)"), (10, "80 b/s (10 B/s)"),
     (float("inf"), "unlimited")],
)  # fmt: skip
def test_rates_for_network_and_for_storage_people(value: float, words: str) -> None:
    assert text.rate(value) == words


def test_the_answer_comes_first() -> None:
    found = answer(journey(wan={"bandwidth": "10 Gb/s"}), samples=64)
    lines = shown(found).splitlines()
    assert lines[0] == "t"
    assert lines[1].startswith(f"throughput    {text.rate(found.throughput_Bps.p50)}")
    assert all(f"{name} " in lines[1] for name in (NAMES[0], NAMES[2]))
    assert lines[2].startswith(
        "ceiling       9.9 Gb/s if everything unstated is perfect and numbers are at their medians: "
    )
    assert "other traffic" in lines[2]
    assert " ".join(lines[3].split()).startswith("duration 10 s (as given) for 1 file, ")
    assert lines[4].startswith("sender  ")


def test_a_ceiling_below_the_median_is_not_called_perfect() -> None:
    """Hosts whose role is not stated come untuned; of those that are drawn many are tuned."""
    hosts = {name: {"year": "2015", "nic": "gigabit"} for name in "ab"}
    wan = {"rtt": "95 ms", "bandwidth": "1 Gb/s", "medium": "research"}
    test = {"from": "a:memory", "to": "b:memory", "tool": "iperf3"}
    made = answer({"hosts": hosts, "wan": wan, "transfer": test}, samples=256)
    assert made.ceiling < made.throughput_Bps.p50
    line = next(row for row in shown(made).splitlines() if row.startswith("ceiling"))
    assert "perfect" not in line
    assert "may be better by chance, by what is not stated" in line


def test_a_median_above_the_ceiling_of_a_stated_path_is_chance_or_what_the_model_misses() -> None:
    """Every number of the connection is stated, so nothing that is left out can be what makes a run better."""
    wan = {"bandwidth": "10 Gb/s", "rtt": "100 ms", "buffer": "12 MB", "mtu": "1500 B", "background": {"share": 0}}
    host = machine(tcp={"rmem_max": "256 MiB", "wmem_max": "256 MiB"})
    path = journey(host, host, wan={**wan, "loss": {"value": 1e-4, "spread": "1 %"}}, tool={"name": "iperf3"})
    made = answer({**path, "setting": "isolated"}, samples=256)
    least = 0.99 * made.throughput_Bps.p50
    made = replace(made, ceiling=least, transfers=(replace(made.transfers[0], ceiling=least),))
    assert "by chance" in next(row for row in shown(made).splitlines() if row.startswith("ceiling"))


def test_without_scenarios_there_is_a_ceiling_alone() -> None:
    lines = shown(answer(journey(wan={"bandwidth": "10 Gb/s"}))).splitlines()
    assert lines[1].startswith("ceiling       9.9")
    assert lines[1].endswith("no interval without --samples")
    assert not any("p10" in line or line.startswith("throughput") for line in lines)
    assert lines[4].startswith("bottleneck    network.wan is full: ")


def test_a_time_is_as_given_only_where_a_time_was() -> None:
    moved = shown(answer(journey(wan={"bandwidth": "10 Gb/s"}, dataset={"size": "9 GB"}, tool="gridftp")))
    assert "as given" not in moved


def test_a_pipe_gets_plain_whole_lines() -> None:
    out = shown(answer(journey(wan={"bandwidth": "10 Gb/s", "rtt": "10 ms"})))
    assert "\x1b" not in out
    assert "[bold]" not in out
    assert not any(line != line.rstrip() for line in out.splitlines())
    # the names of private stations carry the transfer in brackets
    assert re.search(r"^a\.cpu\.iperf3 sender\[transfer\] |^network\.tcp\.a-b\[transfer\] ", out, re.MULTILINE)


def test_names_are_no_markup() -> None:
    path = journey(wan={"bandwidth": "10 Gb/s"})
    path["name"] = "[red]all [/bold] of it"
    assert shown(answer(path)).splitlines()[0].startswith("[red]all ")


def test_as_many_stations_as_are_asked_for() -> None:
    host = machine(volumes={"/d": volume(DRIVE)})
    found = answer(journey(host, host, start="a:/d", to="b:/d", tool="gridftp"))
    for busiest in (1, 3):
        table = shown(found, busiest=busiest).split("\n\n")[1].splitlines()
        assert len(table) == 1 + busiest
        assert table[0].startswith("station")
        assert "100.0%" in table[1]


def test_the_ladder_is_numbered() -> None:
    found = answer(journey(wan=[{"bandwidth": f"{g} Gb/s"} for g in (2, 1)]))
    ladder = shown(found).split("ladder of transfer")[1].splitlines()[2:]
    assert ladder[0].split()[0] == "1"
    assert "network.wan.1" in ladder[0]
    assert ladder[1].split()[0] == "2"


def test_several_transfers_are_named_and_added() -> None:
    transfers = [{"name": n, "from": "a:memory", "to": "b:memory", "tool": "iperf3"} for n in ("one", "two")]
    out = shown(answer(journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers), samples=64))
    assert "one: throughput" in out
    assert "two: throughput" in out
    assert "\nall together  " in out
    assert re.search(r"^ceiling       9\.9", out, re.MULTILINE)


def test_of_very_many_transfers_those_that_take_longest_are_shown() -> None:
    sizes = [1 + 7 * n % 20 for n in range(20)]
    transfers = [
        {"name": f"t{n}", "from": "a:memory", "to": "b:memory", "tool": "gridftp", "dataset": {"size": f"{size} GB"}}
        for n, size in enumerate(sizes)
    ]
    found = answer(journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers))
    some, every = shown(found), shown(found, every=True)
    names = re.findall(r"^(t\d+): duration", some, re.MULTILINE)
    largest = sorted(range(20), key=lambda n: -sizes[n])[:12]
    assert names == [f"t{n}" for n in sorted(largest)]
    assert "\nand 8 more, which take less time; --all shows them" in some
    assert re.findall(r"^(t\d+): duration", every, re.MULTILINE) == [f"t{n}" for n in range(20)]
    assert "more, which" not in every


def test_warnings_are_shown() -> None:
    out = shown(answer(journey(tool={"name": "iperf3", "R": True})))
    assert "\nwarning: transfer: iperf3 -R" in out


def test_an_explanation_shows_every_term_and_the_answer_in_full() -> None:
    host = machine(volumes={"/d": volume(DRIVE)})
    found = answer(journey(host, start="a:/d", tool="gridftp"))
    out = shown(found, text.explanation, ways=(), steps=())
    for transfer in found.problem.transfers:
        for phase in transfer.phases:
            for demand in phase.demands:
                assert demand.station in out
    assert f"ceiling = {found.ceiling!r} B/s" in out
    # the stations that bind first do so at the answer
    first = out.split("the rate at which each would bind")[1].splitlines()[2:4]
    assert any(line.startswith(("a.d.ssds ", "transfer.workers ")) for line in first)
    assert any(text.rate(found.ceiling) in line for line in first)


@pytest.mark.parametrize(("unit", "value", "words"), rows("report/tables", "capacities_in_their_own_units"))
def test_capacities_in_their_own_units(unit: str, value: float, words: str) -> None:
    assert text.capacity(Station("h.x", "h", "x", "k", value, unit)) == words


@cases("place, overrides, remedied", rows("report/tables", "what_the_remedy_of_the_narrowest_place_gives"))
def test_what_the_remedy_of_the_narrowest_place_gives(place: str, overrides: list[str], remedied: list[str]) -> None:
    """TCP and the place that holds it are two stations and one bottleneck: what more bandwidth gives is true."""
    path = "examples/dtn-100g-xfs"
    found = dtnsim.predict(path, overrides=overrides, samples=0)
    assert f"narrowest place is {place}" in found.bottleneck.reason
    (said,) = re.findall(r"without this limit: ([0-9.]+ Gb/s)", shown(found))
    then = dtnsim.predict(path, overrides=[*overrides, *remedied], samples=0).throughput_Bps.p50
    assert units.parse(said, "B/s") == pytest.approx(then, rel=0.05)


@pytest.mark.parametrize(("every", "ladders"), [(False, 1), (True, 3)])
def test_transfers_that_differ_by_a_number_are_told_once(tmp_path: Path, every: bool, ladders: int) -> None:
    (tmp_path / "path.yaml").write_text(tables("report/tables")["twins"])
    said = shown(dtnsim.predict(tmp_path / "path.yaml", samples=0), every=every)
    assert said.count("\nladder of ") == said.count("bottleneck  ") == ladders
    assert ("and 2 like it: transfer-2, transfer-3; --all shows them" in said) != every
    assert ("\na-2." in said) == every


def test_formulas_and_sources_in_a_pipe_are_folded() -> None:
    said = shown(dtnsim.predict("venadi/gridftp-gpfs", samples=0), text.explanation, ways=(), steps=())
    tables, _, _ = said.partition("\nceiling = ")
    assert max(map(len, tables.splitlines())) <= 160
    assert re.search(r"^venadi\.bigdata\.ssds +flash write +1\.14\d+ B/B$", tables, re.MULTILINE)  # what grep finds
