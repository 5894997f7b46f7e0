"""Parts of a kind side by side: order, conditions with units and currencies, what is missing."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.description import catalogue, listing
from dtnsim.ground import library
from dtnsim.planning.select_parts import select
from tests.conftest import Run
from tests.each import cases

DRIVE = "kind: ssd\nsource: my own test with fio\nread: {{value: {read}, spread: 5 %}}\nwrite: 1 GB/s\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a drive of one's own, and a library with another."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for folder, name, text in (
        (tmp_path, "bench", DRIVE.format(read="1.5 GB/s") + "price: 90 EUR\nfacts: {year: 2025, fits: M.2}\n"),
        (tmp_path / "config" / "dtnsim", "shelf", DRIVE.format(read="2 GB/s") + "price: 100 USD\n"),
    ):
        (folder / "parts" / "ssd").mkdir(parents=True)
        (folder / "parts" / "ssd" / f"{name}.yaml").write_text(text)
    return tmp_path


def test_sorted_both_ways_and_what_lacks_the_number_comes_last() -> None:
    years = [r["year"] for r in select("hdd", "year").rows]
    known = [y for y in years if y is not None]
    assert years[: len(known)] == sorted(known)
    back = [r["read"] for r in select("ssd", "-read").rows]
    assert back == sorted(back, reverse=True)


def test_conditions_read_units() -> None:
    fast = select("ssd", where=["read >= 52 Gb/s"]).rows
    assert fast
    assert fast == select("ssd", where=["read >= 6.5 GB/s"]).rows
    assert {r["part"] for r in fast} == {r["part"] for r in select("ssd").rows if r["read"] >= 6.5e9}
    both = select("ssd", where=["read >= 6.5 GB/s and capacity > 10 TB"]).rows
    assert {r["part"] for r in both} == {r["part"] for r in fast if (r["capacity"] or 0) > 10e12}


@settings(max_examples=12)
@given(st.floats(50, 3000))
def test_a_price_is_the_same_in_either_currency(limit: float) -> None:
    euros = select("nic", where=[f"price < {limit:.2f} EUR"], rates=["EUR/USD=2"]).rows
    dollars = select("nic", where=[f"price < {limit * 2:.2f} USD"]).rows
    near = {r["part"] for r in select("nic").rows if abs((r["price"] or 0) - 2 * limit) < 0.05}
    assert {r["part"] for r in euros} - near == {r["part"] for r in dollars} - near


def test_euros_need_no_rate_and_say_which_was_taken() -> None:
    made = select("cpu", where=["price < 2000 EUR"])
    assert all(r["price"] < 2160 for r in made.rows)
    assert "EUR/USD = 1.08 (ECB" in made.notes[-1]
    assert "ECB" not in " ".join(select("cpu", where=["price < 2000 EUR"], rates=["EUR/USD=1.1"]).notes)


def test_words_are_compared_with_patterns() -> None:
    infiniband = select("nic", where=["protocol = infini*"]).rows
    assert {r["protocol"] for r in infiniband} == {"infiniband"}
    rest = select("nic", where=["protocol != infiniband"]).rows
    assert len(infiniband) + len(rest) == len(select("nic").rows)


def test_parts_of_ones_own_are_found_by_name_in_every_command(here: Path, run: Run) -> None:
    mine = [r for r in select("ssd", "price", ["price < 150 USD"]).rows if r["part"] in ("bench", "shelf")]
    assert [(r["part"], r["price"], r["currency"]) for r in mine] == [("bench", 90, "EUR"), ("shelf", 100, "USD")]
    assert "ssd/bench" in run("list", "parts").out
    assert "my own test with fio (parts/ssd/bench.yaml:3)" in run("show", "bench").out
    assert json.loads(run("components", "shelf", "--json").out)["kind"] == "ssd"
    shown = json.loads(run("show", "parts/ssd/bench.yaml", "--json").out)
    assert {x["key"]: x["source"] for x in shown["lines"]}["price"] == "parts/ssd/bench.yaml:5"
    (here / "p.yaml").write_text(
        "hosts:\n  a:\n    cpu: intel-e5-2680-v4\n    memory: ddr4-2400-4ch-128g\n    nic: intel-x540-10g\n"
        "    volumes: {/d: {filesystem: {kind: ext4}, array: bench}, /e: {filesystem: {kind: ext4}, array: shelf}}\n"
        "wan: {rtt: 1 ms, bandwidth: 10 Gb/s}\n"
        "transfer: {from: 'a:/d', to: 'a:/e', tool: cp, dataset: {files: 1, size: 1 GB}}\n"
    )
    assert run("predict", "p.yaml", "--samples", "0").code == 0


def test_hosts_and_paths_of_ones_own_library_have_names_too(here: Path, run: Run) -> None:
    mine = here / "config" / "dtnsim"
    (mine / "hosts").mkdir()
    (mine / "paths").mkdir()
    (mine / "hosts" / "our-nas.yaml").write_text("like: example-nas-12\nprice: 9000 EUR\n")
    (mine / "paths" / "ours.yaml").write_text(
        "hosts: {a: our-nas, b: our-nas}\nwan: {rtt: 1 ms, bandwidth: 10 Gb/s}\n"
        "transfer: {from: 'a:/pool', to: 'b:/pool', tool: scp, dataset: {files: 1, size: 1 GB}}\n"
    )
    listed = {i["name"]: i for i in json.loads(run("list", "hosts", "--json").out)["items"]}
    assert (listed["our-nas"]["own"], listed["our-nas"]["year"]) == (True, 2023)
    assert run("predict", "ours", "--samples", "0").code == 0
    shown = {x["key"]: x for x in json.loads(run("show", "our-nas", "--json").out)["lines"]}
    assert shown["price"]["source"].endswith("our-nas.yaml:2"), "nothing but the amount is said of it"
    assert shown["volumes./pool.array.disks"]["value"] == "12", "what it is like is written out"
    assert "models/parts/board/asrock-romed8-2t.yaml" in shown["slots.s2.lanes"]["source"]
    assert shown["hbas.sas.uplink_lanes"]["value"] == "4", "that of the chassis' expander"


@cases("name", [n for n in library.names("parts") if n.split("/")[0] in ("ssd", "cpu", "nic", "board")])
def test_every_line_of_a_part_has_its_source(name: str) -> None:
    lines = {x["key"]: x for x in listing.describe_all(f"parts/{name}")[0]["lines"]}
    assert all(line["source"] for line in lines.values())
    if "price" in lines:
        own = lines["source"]["value"]
        assert not lines["price"]["source"].startswith(own), "a data sheet is no price list"


def test_a_broken_part_of_ones_own_is_named_and_the_rest_listed(here: Path, run: Run) -> None:
    (here / "parts" / "ssd" / "torn.yaml").write_text("kind: ssd\nread: fast\n")
    made = run("components", "ssd")
    assert made.code == 0
    assert "Left out: ssd/torn:" in made.out
    assert "samsung-pm9a3" in made.out
    assert run("list", "parts").code == 0


def test_tables_say_what_is_not_known_in_no_other_way(run: Run) -> None:
    for kind in ("ssd", "nic", "hba", "zfs", "segment"):
        assert not re.search(r"  None(  |$)", run("components", kind).out, re.MULTILINE)
    rows = run("components", "ssd", "--where", "capacity > 100 TB", "--format", "csv").out.splitlines()
    assert rows[0].startswith("part,year,capacity [B],")
    assert len(rows) == 1 + len(select("ssd", where=["capacity > 100 TB"]).rows)
    assert run("components", "ssd", "--where", "direct_write > 1 TB/s").out.startswith("No part meets that.")


def test_every_column_is_a_number_that_the_records_have() -> None:
    for kind in ("ssd", "hdd", "cpu", "nic", "hba", "memory", "slot", "dpu"):
        made = select(kind)
        assert set(made.columns) <= set(made.rows[0])
        assert set(catalogue.columns(kind)) <= set(made.columns)


def test_other_names_of_kinds_show_what_they_are_taken_as() -> None:
    assert [listing.describe_all(name)[0]["name"] for name in ("md", "luks", "ext3")] == ["raid", "dm-crypt", "ext4"]
