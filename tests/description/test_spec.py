"""Path files: short forms, hosts like others, fitted parameters over hosts, names that lead nowhere."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from dtnsim.description import spec
from dtnsim.description.spec import PathSpec
from dtnsim.description.transfer import split_end
from dtnsim.ground.errors import SpecError
from tests.each import rows
from tests.lab import answer, machine, volume
from tests.strategies import load, written

DRIVE = {"kind": "ssd", "read": "500 MB/s", "write": "400 MB/s"}
BASE: dict[str, Any] = {
    "name": "t",
    "hosts": {"a": machine(volumes={"/d": volume(DRIVE)}), "b": machine(volumes={"/d": volume(DRIVE)})},
    "wan": {"rtt": "10 ms", "bandwidth": "10 Gb/s"},
    "transfer": {"from": "a:/d", "to": "b:/d", "tool": "gridftp"},
}


def path(**changes: Any) -> dict[str, Any]:
    made = {**copy.deepcopy(BASE), **changes}
    return {k: v for k, v in made.items() if v is not None}


# -- short forms ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("text", "end"), rows("description/spoken", "ends of a transfer"))
def test_ends(text: str, end: list[str]) -> None:
    assert list(split_end(text)) == end


def test_one_segment_or_several_by_name_or_written_out() -> None:
    one = load(path()).wan
    assert [s.bandwidth.value for s in one] == [1.25e9]
    several = load(path(wan=["ucinet", {"bandwidth": "1 Gb/s"}])).wan
    assert [s.part for s in several] == ["ucinet", None]


def test_transfers_as_one_a_list_or_a_mapping_with_names() -> None:
    transfer = BASE["transfer"]
    listed = load(path(transfer=None, transfers=[transfer, transfer])).transfers
    assert len({t.name for t in listed}) == 2  # stations carry the name: it must be one's own
    named = load(path(transfer=None, transfers={"x": transfer, "y": {**transfer, "name": "z"}})).transfers
    assert [t.name for t in named] == ["x", "z"]
    with pytest.raises(SpecError, match="either 'transfer' or 'transfers'"):
        load(path(transfers=[transfer]))


def test_a_tool_by_name_or_with_options() -> None:
    assert load(path()).transfers[0].tool.kind == "gridftp"
    tool = {"name": "gridftp", "p": 8}
    assert load(path(transfer={**BASE["transfer"], "tool": tool})).transfers[0].tool.p == 8  # type: ignore[attr-defined]


# -- hosts ------------------------------------------------------------------------------------------
def test_a_host_like_another_keeps_what_it_does_not_change() -> None:
    hosts = {
        "a": BASE["hosts"]["a"],
        "b": {"like": "venadi", "cpu": {"clock": "2 GHz"}, "volumes": {"/x": volume(DRIVE)}},
    }
    made = load(path(hosts=hosts, transfer={"from": "a:/d", "to": "b:/x", "tool": "gridftp"}, calibration="none"))
    venadi = spec.load("venadi/gridftp-gpfs", calibration="none").hosts["venadi"]
    assert made.hosts["b"].volumes.keys() == {*venadi.volumes, "/x"}
    assert made.hosts["b"].nics == venadi.nics
    assert made.hosts["b"].memory == venadi.memory


def test_hosts_like_each_other(tmp_path: Path) -> None:
    for one, other in (("x", "y"), ("y", "x")):
        (tmp_path / f"{one}.yaml").write_text(f"like: {other}\n")
    file = written(tmp_path / "path.yaml", "name: t\nhosts: {a: x}\ntransfer: {from: a, to: 'a:/d', tool: dd}\n")
    with pytest.raises(SpecError, match="in a loop"):
        spec.load(file)


def test_an_unknown_host_says_where_it_was_named(tmp_path: Path) -> None:
    file = written(tmp_path / "path.yaml", "name: t\nhosts:\n  a: venado\ntransfer: {from: a, to: 'a:/d', tool: dd}\n")
    with pytest.raises(SpecError, match=r"path.yaml:3: hosts.a: there is no host 'venado'; did you mean venadi"):
        spec.load(file)


# -- calibration ------------------------------------------------------------------------------------
def calibrated(tmp_path: Path, parameters: dict[str, Any], *overrides: str, **changes: Any) -> PathSpec:
    (tmp_path / "fitted.yaml").write_text(yaml.safe_dump({"parameters": parameters}))
    file = written(tmp_path / "path.yaml", yaml.safe_dump(path(calibration="fitted.yaml", **changes), sort_keys=False))
    return spec.load(file, overrides)


FITTED = {"value": "321 MB/s", "spread": "7 %", "source": "fitted from dd logs"}


def test_fitted_parameters_go_over_those_of_the_host_they_were_fitted_for(tmp_path: Path) -> None:
    made = calibrated(tmp_path, {"a": {"volumes./d.array.write": FITTED}})
    fitted, other = (made.hosts[h].volumes["/d"].array for h in "ab")
    assert fitted.write.value == 321e6  # type: ignore[union-attr]
    assert fitted.write.spread == pytest.approx(0.07)  # type: ignore[union-attr]
    assert "fitted from dd logs" in fitted.write.source  # type: ignore[union-attr]
    assert other.write.value == 400e6  # type: ignore[union-attr]


def test_hosts_are_known_by_the_name_of_their_file(tmp_path: Path) -> None:
    """Fitted for 'venadi', used wherever that host is, under whatever name."""
    transfer = {"from": "x:/bigdata", "to": "y:/bigdata", "tool": "gridftp"}
    hosts, fitted = {"x": "venadi", "y": {"like": "venadi"}}, {"venadi": {"stack.send_byte": "9 cycles/B"}}
    made = calibrated(tmp_path, fitted, hosts=hosts, transfer=transfer)
    assert made.host_files == {"x": "venadi", "y": "venadi"}
    assert [h.stack.send_byte.value for h in made.hosts.values()] == [9.0, 9.0]


def test_what_the_user_sets_goes_over_what_was_fitted(tmp_path: Path) -> None:
    key = "hosts.a.volumes./d.array.write"
    made = calibrated(tmp_path, {"a": {"volumes./d.array.write": FITTED}}, f"{key}=111 MB/s")
    assert made.hosts["a"].volumes["/d"].array.write.value == 111e6  # type: ignore[union-attr]


def test_a_file_that_is_no_calibration(tmp_path: Path) -> None:
    (tmp_path / "fitted.yaml").write_text("name: x\n")
    file = written(tmp_path / "path.yaml", yaml.safe_dump(path(calibration="fitted.yaml")))
    with pytest.raises(SpecError, match=r"holds no fitted parameters.*dtnsim calibrate"):
        spec.load(file)
    assert spec.load(file, calibration="none").hosts


# -- names that lead nowhere --------------------------------------------------------------------------
@pytest.mark.parametrize(("changes", "move", "says"), rows("description/refused", "parts of a path"))
def test_errors(changes: dict[str, Any], move: dict[str, Any], says: str) -> None:
    transfer = {key: value for key, value in {**BASE["transfer"], **move}.items() if value is not None}
    with pytest.raises(SpecError, match=says):
        load(path(**{"transfer": transfer, **changes}))


def test_a_path_keeps_its_file() -> None:
    assert spec.load("venadi/gridftp-gpfs").file == "models/paths/venadi/gridftp-gpfs.yaml"
    assert spec.load("venadi/gridftp-gpfs").folder.name == "venadi"


def test_an_error_in_a_hosts_wiring_names_file_and_line(tmp_path: Path) -> None:
    file = written(
        tmp_path / "wiring.yaml",
        "name: x\nhosts:\n  a:\n    cpu: {kind: cpu, cores: 8, clock: 3 GHz}\n"
        "    memory: {kind: memory, channels: 4, rate: 2400 MT/s, size: 64 GiB}\n"
        "    slots:\n      eth: {kind: slot, generation: 3, lanes: 4}\n"
        "    nics:\n      eth: {part: connectx-4-100g, slot: eth, mtu: 9000 B}\n  b: nersc-dtn\n"
        "wan: {rtt: 1 ms, bandwidth: 10 Gb/s}\n"
        'transfer: {from: "a:memory", to: "b:memory", tool: iperf3}\n',
    )
    with pytest.raises(SpecError, match=r"wiring\.yaml:9: hosts\.a\.nics\.eth: is an x16 card"):
        spec.load(file)


def test_a_host_is_like_another_of_the_same_file() -> None:
    hosts = {"a": machine(), "b": {"like": "a", "cpu": {**machine()["cpu"], "clock": "2 GHz"}}}
    path = {"name": "t", "hosts": hosts, "wan": {"rtt": "1 ms", "bandwidth": "10 Gb/s"},
            "transfer": {"from": "a:memory", "to": "b:memory", "tool": "iperf3"}}  # fmt: skip
    found = load(path)
    assert found.hosts["b"].cpu.clock.value == 2e9
    assert found.hosts["b"].memory == found.hosts["a"].memory


def test_hosts_of_a_file_that_are_like_each_other_in_a_loop() -> None:
    path = {"name": "t", "hosts": {"a": {"like": "b"}, "b": {"like": "a"}},
            "transfer": {"from": "a:memory", "to": "b:memory", "tool": "iperf3"}}  # fmt: skip
    with pytest.raises(SpecError, match="like each other in a loop"):
        load(path)


def test_a_host_may_have_the_name_of_the_shipped_one_that_it_is_like() -> None:
    path = {"name": "t", "hosts": {"venadi": {"like": "venadi", "cpu": {"clock": "2 GHz"}}, "b": {"like": "venadi"}},
            "wan": {"rtt": "1 ms", "bandwidth": "10 Gb/s"},
            "transfer": {"from": "venadi:memory", "to": "b:memory", "tool": "iperf3"}}  # fmt: skip
    assert [h.cpu.clock.value for h in load(path).hosts.values()] == [2e9, 2e9]


def test_a_pool_behind_the_only_card_needs_no_via() -> None:
    """It looked like an array of other drives, since one of its functions was called as their key is."""
    image = {"filesystem": "ext4", "array": {"kind": "rbd"}}
    hosts = {"a": {"nic": "connectx-5-100g", "volumes": {"/images": image, "/bak": "any-nvme"}}}
    move = {"from": "a:/images", "to": "a:/bak", "tool": "cp", "dataset": "6 TB in 60 files"}
    assert answer({"hosts": hosts, "transfer": move}).ceiling > 0
