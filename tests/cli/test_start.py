"""``dtnsim init``, ``list`` and ``show``: from nothing to a path of one's own."""

import json
from pathlib import Path

import pytest

import dtnsim
from dtnsim.description import listing
from tests.conftest import Refused, Run, Terminal
from tests.each import cases, rows, tables
from tests.strategies import written

STARTERS = ("cloud", "fleet", "lan", "memory-to-memory", "nas-to-hpc")


def test_every_starter_is_known() -> None:
    assert tuple(listing.names("starters")) == STARTERS


@pytest.mark.parametrize("kind", STARTERS)
def test_what_init_writes_predicts(run: Run, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    code, out, err = run("init", "--from", kind, str(file))
    assert (code, err) == (0, "")
    assert f"dtnsim {'fleet' if kind == 'fleet' else 'predict'} {file}" in out
    assert file.read_text().startswith("# yaml-language-server: $schema=http")
    code, out, err = run("predict", str(file), "--samples", "16", "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["name"] == "mine"  # where no name is written the file's counts
    low, high = (answer["throughput_Bps"][p] for p in ("p10", "p90"))
    assert 0 < low < high


def test_a_fleet_to_begin_with_is_a_fleet(run: Run, tmp_path: Path) -> None:
    assert run("init", "--from", "fleet", str(tmp_path / "mine.yaml")).code == 0
    code, out, err = run("fleet", str(tmp_path / "mine.yaml"), "--set", "workload.span=1 d", "--replicas", "1")
    assert (code, err) == (0, "")
    assert "first missed deadline 20" in out


def test_init_does_not_write_over_a_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init").code == 0
    Path("path.yaml").write_text("mine")
    code, _, err = run("init")
    assert (code, err) == (2, "dtnsim: init: path.yaml exists; write another name, or --force to write over it\n")
    assert Path("path.yaml").read_text() == "mine"
    assert run("init", "--force").code == 0
    assert Path("path.yaml").read_text() == listing.starter("nas-to-hpc")


def test_init_takes_its_file_as_an_option_too(run: Run, tmp_path: Path) -> None:
    ours = str(tmp_path / "ours.yaml")
    assert run("init", ours, "-o", ours)[0] == 0  # told twice it is one file
    assert dtnsim.load(tmp_path / "ours.yaml").transfers


def test_show_says_what_a_part_of_ones_own_lacks(
    run: Run, refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts" / "ssd").mkdir(parents=True)
    (tmp_path / "parts" / "ssd" / "mine.yaml").write_text("kind: ssd\nread: 500 MB/s\n")
    assert "mine.yaml:1: write: is missing" in refused("show", "mine")
    (tmp_path / "parts" / "ssd" / "mine.yaml").write_text("kind: ssd\nread: 500 MB/s\nwrite: 400 MB/s\n")
    assert run("show", "mine")[0] == 0


def test_init_writes_the_schema_beside_it_and_names_it(run: Run, tmp_path: Path) -> None:
    assert run("init", str(tmp_path / "a.yaml"), "--schema").code == 0
    assert (tmp_path / "a.yaml").read_text().startswith("# yaml-language-server: $schema=path.schema.json\n")
    assert json.loads((tmp_path / "path.schema.json").read_text())["type"] == "object"


def test_init_to_standard_output(run: Run) -> None:
    assert run("init", "--from", "lan", "-").out == listing.starter("lan")


def test_list_says_what_there_is(run: Run) -> None:
    rooms = {item["name"]: item["count"] for item in json.loads(run("list", "--json").out)["items"]}
    assert set(rooms) <= set(listing.ROOMS)
    for room, count in rooms.items():
        items = json.loads(run("list", room, "--json").out)["items"]
        assert len(items) == count
        assert all(item["what"] for item in items), room
    assert "venadi" in run("list", "hosts").out
    code, _, err = run("list", "host")
    assert (code, "did you mean 'hosts'?" in err) == (2, True)


@cases("name, room", rows("cli/tables", "show_gives_every_line_its_source"))
def test_show_gives_every_line_its_source(run: Run, name: str, room: str) -> None:
    document = json.loads(run("show", name, "--json").out)
    assert document["room"] == room
    assert document["lines"]
    if document["file"]:
        assert all(line["source"] for line in document["lines"])
    assert document["lines"][0]["key"] in run("show", name).out


def test_show_writes_parts_out_with_where_each_number_comes_from(run: Run, tmp_path: Path) -> None:
    spoken = written(tmp_path / "p.yaml", "hosts: {a: {nics: {e: {part: ConnectX-6 100G}}}}\n")
    assert "models/parts/nic/connectx-6-100g.yaml:" in run("show", str(spoken)).out
    lines = {line["key"]: line for line in json.loads(run("show", "venadi", "--json").out)["lines"]}
    assert lines["hbas.sas.lanes"]["value"] == "16"
    assert "models/parts/hba/lsi-9300-16i.yaml:" in lines["hbas.sas.lanes"]["source"]
    assert "models/hosts/venadi.yaml:" in lines["hbas.sas.slot"]["source"]


@pytest.mark.parametrize(("given", "said"), rows("cli/tables", "errors_name_the_nearest_of_the_right_kind"))
def test_errors_name_the_nearest_of_the_right_kind(refused: Refused, tmp_path: Path, given: str, said: str) -> None:
    file = written(tmp_path / "p.yaml", tables("cli/tables")["a path"])
    assert said in refused("predict", str(file), "--samples", "0", "--set", given)


def test_init_asks_ten_questions_and_writes_what_was_answered(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers alone have the unit of the question; Enter and 'do not know' leave a thing to be drawn."""
    answers = ["R740", "8 NVMe RAID0", "25", "", "do not know", "10G", "25", "10", "research", "globus 6 TB 2000 files"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(answers) + "\n"))
    file = tmp_path / "asked.yaml"
    code, _, err = run("init", "--ask", str(file))
    assert code == 0
    assert err.count("[do not know]") == len(answers) == 10
    kept = file.read_text()
    for line in (
        "machine: dell-r740",
        "nic: {rate: 25 Gb/s}",
        "bandwidth: 10 Gb/s\n",
        "rtt: 25 ms",
        "medium: research",
    ):
        assert line in kept
    assert run("predict", str(file), "--json").code == 0


def test_every_key_of_a_path_file_is_shown_with_what_it_means(run: Run) -> None:
    code, out, err = run("show", "keys", "--json")
    rows = {row["key"]: row for row in json.loads(out)["lines"]}
    assert (code, err) == (0, "")
    for key in ("wan.rtt", "hosts.NAME.role", "hosts.NAME.volumes.MOUNT.encryption", "transfer.dataset.files"):
        assert all(rows[key].values())
    shown = {row["key"]: row["value"] for row in json.loads(run("show", "segment", "--json").out)["lines"]}
    assert (shown["bandwidth"], shown["mtu"]) == ("required (B/s)", "optional (B)")
