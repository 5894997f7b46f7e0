"""Finding files: beside the user's own first, then those shipped; names that are none are told apart from files."""

import os
from pathlib import Path

import pytest

from dtnsim.description import catalogue
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.steady.prediction import predict
from tests.each import rows, tables

NIC, HOST, PATH = (tables("ground/tables")["library"][name] for name in ("nic", "host", "path"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a path, the host it names and the part that the host names."""
    (tmp_path / "my-nic.yaml").write_text(NIC.format(rate="1 Gb/s"))
    (tmp_path / "my-host.yaml").write_text(HOST)
    (tmp_path / "my-path.yaml").write_text(PATH)
    return tmp_path


def test_hosts_and_parts_lie_beside_the_path(folder: Path) -> None:
    """From whatever folder it is started."""
    found = predict(folder / "my-path.yaml", samples=0)
    assert found.throughput_Bps.p50 == pytest.approx(1.25e8 * 8948 / 9038)


def test_a_file_that_is_written_anew_is_read_anew(folder: Path) -> None:
    """In a notebook one process lives through many edits."""
    before = predict(folder / "my-path.yaml", samples=0).throughput_Bps.p50
    (folder / "my-nic.yaml").write_text(NIC.format(rate="10 Gb/s"))
    assert predict(folder / "my-path.yaml", samples=0).throughput_Bps.p50 == pytest.approx(10 * before)


def test_a_reader_may_change_what_it_got() -> None:
    first = library.read("parts", "intel-s4500")
    first.put("read", "1 MB/s", "", 0)
    assert library.read("parts", "intel-s4500")["read"] != "1 MB/s"


def test_numbers_inherit_the_source_of_their_file(folder: Path) -> None:
    rate = library.read("parts", "my-nic", beside=folder)["rate"]
    assert rate.origin.startswith("a datasheet (")
    assert rate.origin.endswith("my-nic.yaml:2)")


def test_names_with_and_without_kind() -> None:
    assert library.find("parts", "ssd/intel-s4500") == library.find("parts", "intel-s4500")
    assert library.find("paths", "venadi/gridftp-gpfs").name == "gridftp-gpfs.yaml"
    assert library.find("paths", str(library.find("paths", "venadi/gridftp-gpfs"))).is_file()


def test_what_is_shipped() -> None:
    for folder, name in (("paths", "venadi/gridftp-gpfs"), ("hosts", "venadi"), ("parts", "ssd/intel-s4500"),
                         ("datasets", "esnet/10G")):  # fmt: skip
        assert name in library.names(folder)


@pytest.mark.parametrize(("folder", "name", "says"), rows("ground/tables", "what_is_not_there"))
def test_what_is_not_there(folder: str, name: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        library.find(folder, name)


def test_what_is_nearest_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What people call a part is no name of one: each change of a path sought its neighbours again."""
    sought = list[object]()
    monkeypatch.setattr(library.difflib, "get_close_matches", lambda *of, **_: sought.append(of) or [])
    for _ in range(2):
        with pytest.raises(SpecError):
            library.find("parts", "no part of this name")
    assert len(sought) == 1


def test_calibrations() -> None:
    assert library.calibration("venadi").name == "fitted.yaml"
    with pytest.raises(SpecError, match=r"there is no calibration 'nowhere'.*venadi"):
        library.calibration("nowhere")
    with pytest.raises(SpecError, match="there is no calibration"):
        library.calibration("../models")


def test_a_calibration_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("parameters: {}\n")
    assert library.calibration("mine.yaml", beside=tmp_path) == file
    assert library.calibration(str(file)) == file


def test_messages_name_shipped_files_without_where_they_are_installed(tmp_path: Path) -> None:
    assert library.shown(library.find("hosts", "venadi")) == os.path.join("models", "hosts", "venadi.yaml")
    assert library.shown(tmp_path / "x.yaml") == str(tmp_path / "x.yaml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "dir.yaml").mkdir()
    with pytest.raises(SpecError):
        library.read("hosts", "dir", beside=tmp_path)


def test_the_users_own_library_is_found_by_the_same_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder parts/ beside the file comes first, then ~/.config/dtnsim/parts/<kind>/, then what is shipped."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    mine = tmp_path / "config" / "dtnsim" / "parts" / "nic"
    mine.mkdir(parents=True)
    (mine / "my-card.yaml").write_text(NIC.format(rate="1 Gb/s"))
    (mine / "connectx-6-200g.yaml").write_text(NIC.format(rate="2 Gb/s"))
    assert library.own_names("parts") == ["nic/connectx-6-200g", "nic/my-card"]
    for name in ("my-card", "nic/my-card"):
        assert library.find("parts", name) == mine / "my-card.yaml"
    assert library.find("parts", "connectx-6-200g") == mine / "connectx-6-200g.yaml"
    beside = tmp_path / "work" / "parts" / "nic"
    beside.mkdir(parents=True)
    (beside / "my-card.yaml").write_text(NIC.format(rate="3 Gb/s"))
    assert library.find("parts", "my-card", beside=tmp_path / "work") == beside / "my-card.yaml"
    with pytest.raises(SpecError, match=r"my-cart.*\n?.*my-card|my-card"):
        library.find("parts", "my-cart")
    shown = catalogue.overview()
    assert "my-card" in next(k["parts"] for k in shown["kinds"] if k["kind"] == "nic")
