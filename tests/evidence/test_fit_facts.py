"""Outputs of a host correct its file: arrays, pools, slots, ports; what matches nothing is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dtnsim.description import spec
from dtnsim.evidence import fit_facts, fit_logs, fit_report
from dtnsim.evidence.calibrate import calibrate
from dtnsim.evidence.fit_targets import Targets
from dtnsim.ground import yamlio
from dtnsim.logs import read_logs

#: a host, and what its tools say of it
DATA = Path(__file__).parent / "data" / "facts"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return {file.stem: file for file in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("mdstat", {"volumes./data.array.disks": "8", "volumes./data.array.lost": "1"}),
        ("zpool", {"volumes./tank.array.disks": "4", "volumes./tank.array.groups": "2"}),
        ("lspci", {"slots.eth.lanes": "4"}),
        ("ethtool", {"nics.eth.rate": "10 Gb/s"}),
    ],
)
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
    _, facts, notes = fit_facts.of_host(target, read_logs(logs)[0], logs)
    said = "\n".join(notes)
    assert "md3 is raid6 of 8: matched to no array of 'my'; --as /dev/md3=VOLUME says which it is" in said
    assert "enp59s0 runs at 10 Gb/s: matched to no card of 'my' (one, eth)" in said
    assert "MT27700 Family [ConnectX-4] runs at x4, 8 GT/s: less than it can" in said
    named = Targets([str(files["host"])], names={"/dev/md3": "/more"}).all[0]
    _, facts, _ = fit_facts.of_host(named, read_logs(logs)[0], logs)
    assert {f.key: f.value for f in facts if "array" in f.key} == {
        "volumes./more.array.disks": "8", "volumes./more.array.lost": "1"}  # fmt: skip


def test_the_fit_is_to_the_corrected_host_and_predictions_are_too(files: dict[str, Path], tmp_path: Path) -> None:
    notes: list[str] = []
    logs = [files["dd"], files["mdstat"], files["ethtool"]]
    found = calibrate(logs, [str(files["host"])], notes=notes)
    assert any("volumes./data.array.disks is 8, not 10 as the host file says" in n for n in notes)
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
    ping = tmp_path / "ping.txt"
    ping.write_text("64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.1 ms\n")
    _, notes, _ = fit_logs.read([files["dd"], ping], str(files["host"]))
    assert any("--wan FILE writes that as a network" in n for n in notes)
