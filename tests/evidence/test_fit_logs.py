"""Raw logs to figures of a host, and what corrects its file: what belongs, what contradicts, what is of another."""

import importlib
import os
import shutil
import sys
from pathlib import Path

import pytest

import dtnsim.logs as package
from dtnsim.cli import man
from dtnsim.description import spec
from dtnsim.evidence import fit_facts, fit_logs, fit_report, fit_tests, transfer_cases
from dtnsim.evidence.calibrate import calibrate
from dtnsim.evidence.fit_targets import Targets
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import InputError
from dtnsim.logs import read_logs
from dtnsim.logs._catalogue import catalogue
from dtnsim.logs.base import Evidence
from tests.each import rows
from tests.lab import RECIPES
from tests.strategies import written

LOGS = library.root("calibration") / "venadi" / "logs"
DD = "$ dd if=/dev/zero of={path} bs=1M count=10240 {more}\n10737418240 bytes (11 GB) copied, {seconds} s, 1 GB/s\n"


def log(tmp_path: Path, name: str, *runs: tuple[str, str, float]) -> Path:
    return written(tmp_path / name, "".join(DD.format(path=p, more=m, seconds=s) for p, m, s in runs))


def test_dd_says_volume_and_flags() -> None:
    found, notes, _ = fit_logs.read([LOGS / "dd.txt"], "venadi")
    assert notes == []
    ends = [(f.spec.transfers[0].to, f.spec.transfers[0].tool.finish) for f in found]  # type: ignore[attr-defined]
    assert ends == [("venadi:/", "none"), ("venadi:/bigdata", "none"), ("venadi:/", "fdatasync"),
                    ("venadi:/bigdata", "fdatasync"), ("venadi:/", "dsync"), ("venadi:/bigdata", "dsync")]  # fmt: skip
    assert found[0].case.measured == pytest.approx(10737418240 / 3.46705)


def test_dd_past_the_page_cache_is_that(tmp_path: Path) -> None:
    direct = log(
        tmp_path, "direct.txt", ("/bigdata/x", "oflag=direct", 2.5), ("/bigdata/x", "conv=fsync oflag=direct", 2.6)
    )
    found, *_ = fit_logs.read([direct], "venadi")
    tools = [f.spec.transfers[0].tool for f in found]
    assert [(t.oflag, t.conv) for t in tools] == [("direct", ""), ("direct", "fsync")]  # type: ignore[attr-defined]


def test_bonnie_and_iozone_need_the_volume() -> None:
    with pytest.raises(InputError, match=r"--volume with one of /, /bigdata"):
        fit_logs.read([LOGS / "iozone-8g.txt"], "venadi")
    found, *_ = fit_logs.read([LOGS / "iozone-8g.txt", LOGS / "bonnie.html"], "venadi", "/bigdata")
    assert len(found) == 10 * 13 + 5
    with pytest.raises(InputError, match="no volume '/scratch'"):
        fit_logs.read([LOGS / "bonnie.html"], "nasa-c-system", "/scratch")


@pytest.mark.parametrize(("name", "host", "says"), rows("evidence/tables", "logs_of_other_hosts_and_other_things"))
def test_logs_of_other_hosts_and_other_things(name: str, host: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        fit_logs.read([LOGS / name], host, "/raid" if host.startswith("nasa") else None)


def test_contradiction_names_both_places(tmp_path: Path) -> None:
    one = log(tmp_path, "monday.txt", ("/bigdata/x", "conv=fdatasync", 2.5))
    two = log(tmp_path, "tuesday.txt", ("/bigdata/x", "conv=fdatasync", 5.0))
    with pytest.raises(InputError, match=r"monday\.txt:2 and .*tuesday\.txt:2 are the same test"):
        fit_logs.check_conflicts(fit_logs.read([one, two], "venadi")[0])
    close = log(tmp_path, "close.txt", ("/bigdata/x", "conv=fdatasync", 2.7))
    assert len(fit_logs.read([one, close], "venadi")[0]) == 2


def test_unusable_runs_are_left_out_with_the_reason(tmp_path: Path) -> None:
    good = log(tmp_path, "good.txt", ("/bigdata/x", "", 2.5))
    found, notes, _ = fit_logs.read([good, LOGS / "scp.txt", LOGS / "iperf3.txt"], "venadi")
    assert len(found) == 1
    assert any("end-to-end transfer fits where" in n for n in notes)


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"\xff\xfe\x00\x01" * 100, b"hello\n"])
def test_empty_zeros_and_no_log(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "log"
    file.write_bytes(content)
    with pytest.raises(InputError) as raised:
        fit_logs.read([file], "venadi")
    assert "log" in str(raised.value)
    assert raised.value.exit_code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path: Path) -> None:
    file = log(tmp_path, "secret.txt", ("/bigdata/x", "", 2.5))
    file.chmod(0)
    with pytest.raises(InputError, match=r"secret\.txt"):
        fit_logs.read([file], "venadi")


def test_a_path_with_quotes_stays_a_path(tmp_path: Path) -> None:
    odd = log(tmp_path, "odd.txt", ("/bigdata/it's',tool:x", "", 2.5))
    found, *_ = fit_logs.read([odd], "venadi")
    assert found[0].spec.transfers[0].to == "venadi:/bigdata"


def test_a_relative_file_name_is_on_the_volume_that_is_given(tmp_path: Path) -> None:
    file = log(tmp_path, "here.txt", ("testfile", "", 92.9))
    found, *_ = fit_logs.read([file], "venadi", volume="/bigdata")
    assert found[0].spec.transfers[0].to == "venadi:/bigdata"
    with pytest.raises(InputError, match="--volume"):  # this host has several
        fit_logs.read([file], "venadi")


def test_every_parser_says_what_its_figures_are_good_for():
    every = catalogue()
    said = {(parser.tool, parser.evidence) for parser in (*every.lines, *every.documents)}
    assert dict(said) == every.evidence
    assert len(said) == len(every.evidence), "parsers of one tool say the same"
    assert {tool for tool, use in said if use is Evidence.FITS} == set(fit_tests._BUILDERS)
    assert all(use.value for use in Evidence if use is not Evidence.FITS)


@pytest.mark.parametrize(("use", "page"), [("TRANSFER", "end-to-end transfer"), ("WAY", "Becomes a network"),
                                           ("BUSY", "how busy"), ("CORRECTS", "Corrects the host file")])  # fmt: skip
def test_a_parser_in_a_new_file_is_found_by_everything(tmp_path: Path, monkeypatch, use: str, page: str) -> None:
    """CONTRIBUTING's recipe, as printed and with other evidence."""
    (tmp_path / "smoke.py").write_text(RECIPES["parser"][1].replace("Evidence.TRANSFER", f"Evidence.{use}"))
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    catalogue.cache_clear()
    try:
        ((rate,), _) = package.read_text("12 MB smoked\n")
        assert (rate.tool, rate.value) == ("smoke", 12e6)
        assert any(", smoke, " in block for block in man.described("logs")["text"])
        assert fit_tests.why_not("smoke") == catalogue().evidence["smoke"].value
        assert transfer_cases._is_transfer(rate) is (use == "TRANSFER")
        monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs")
        sections = importlib.import_module("generated")._logs().split("\n## ")
        assert ["| `smoke` |" in section for section in sections if page in section] == [True]
        marked = [line for section in sections for line in section.splitlines() if "by its documentation" in line]
        assert {line.split("`")[1] for line in marked} >= {"smoke", "fts", "rucio"}
    finally:
        catalogue.cache_clear()
        sys.modules.pop("dtnsim.logs.smoke", None)


#: a host, and what its tools say of it
DATA = Path(__file__).parent / "data" / "facts"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return {file.stem: file for file in tmp_path.iterdir()}


@pytest.mark.parametrize(("name", "changed"), rows("evidence/tables", "an_output_corrects_the_file"))
def test_an_output_corrects_the_file(files: dict[str, Path], name: str, changed: dict[str, str]) -> None:
    target = Targets([str(files["host"])]).all[0]
    made, facts, _ = fit_facts.of_host(target, read_logs([files[name]])[0], [files[name]])
    assert {f.key: f.value for f in facts} == changed
    again, none, _ = fit_facts.of_host(made, read_logs([files[name]])[0], [files[name]])
    assert (none, again.host) == ([], made.host)


def test_what_matches_nothing_is_said(files: dict[str, Path]) -> None:
    more = "  /more:\n    filesystem: {kind: xfs}\n    array: {kind: raid, level: 6, disks: 4, of: wd-hc310}\n"
    one = "nics: {one: {kind: nic, rate: 1 Gb/s, slot: eth}, eth:"
    files["host"].write_text(
        files["host"].read_text().replace("  /tank:", f"{more}  /tank:").replace("nics: {eth:", one)
    )
    target = Targets([str(files["host"])]).all[0]
    logs = [files["mdstat"], files["ethtool"], files["lspci"]]
    said = "\n".join(fit_facts.of_host(target, read_logs(logs)[0], logs)[2])
    assert "md3 is raid6 of 8: matched to no array of 'my'; --as /dev/md3=VOLUME says which it is" in said
    assert "enp59s0 runs at 10 Gb/s: matched to no card of 'my' (one, eth)" in said
    assert "MT27700 Family [ConnectX-4] runs at x4, 8 GT/s: less than it can" in said
    named = Targets([str(files["host"])], names={"/dev/md3": "/more"}).all[0]
    _, facts, _ = fit_facts.of_host(named, read_logs(logs)[0], logs)
    assert {f.key: f.value for f in facts if "array" in f.key} == {
        "volumes./more.array.disks": "8", "volumes./more.array.lost": "1"}  # fmt: skip


def test_the_fit_is_to_the_corrected_host_and_predictions_are_too(files: dict[str, Path], tmp_path: Path) -> None:
    notes: list[str] = []
    logs = [files[name] for name in ("dd", "mdstat", "ethtool", "foreign")]  # the last is of another host
    found = calibrate(logs, [str(files["host"])], notes=notes)
    assert "volumes./data.array.disks is 8, not 10 as the host file says" in "".join(notes)
    assert sum(n.endswith(" is used") for n in notes) == 3, notes
    fit_report.write(found, tmp_path / "fitted.yaml")
    text = (
        f"name: x\nhosts: {{a: {files['host']}}}\ntransfer: {{from: 'a:/dev/zero', to: 'a:/data', "
        "tool: {name: dd, bs: 1 MiB}, dataset: {files: 1, size: 10 GB}}\n"
    )
    path = spec.resolve(yamlio.loads(text + f"calibration: {tmp_path / 'fitted.yaml'}\n", "x"))
    assert path.hosts["a"].volumes["/data"].array.disks == 8  # type: ignore[union-attr]
    assert path.hosts["a"].nics["eth"].rate.value == pytest.approx(1.25e9)
    assert path.notes == ()


def test_logs_without_a_rate_say_what_they_are_good_for(files: dict[str, Path], tmp_path: Path) -> None:
    ping = written(tmp_path / "ping.txt", "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.1 ms\n")
    _, notes, _ = fit_logs.read([files["dd"], ping], str(files["host"]))
    assert any("--wan FILE writes that as a network" in n for n in notes)
