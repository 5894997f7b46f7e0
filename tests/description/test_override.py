"""``--set``: reaches any key, spells short forms out, and replaces parts whole."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import dtnsim
from dtnsim.components.device import Device
from dtnsim.description import spec
from dtnsim.description.override import split_key
from dtnsim.description.spec import PathSpec
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.planning import tool_choice
from tests.each import rows
from tests.strategies import load

GIVEN = rows("description/tables", "override")

HOST, SHORT = GIVEN["HOST"], GIVEN["SHORT"]


def path(**changes: Any) -> dict[str, Any]:
    made = {
        "name": "t",
        "hosts": {"a": copy.deepcopy(HOST), "b": copy.deepcopy(HOST)},
        "wan": {"rtt": "10 ms", "bandwidth": "10 Gb/s"},
        "transfer": {"from": "a:/data", "to": "b:/data", "tool": "gridftp", "dataset": {"files": 1, "size": "1 GB"}},
    }
    return {**made, **changes}


def changed(*overrides: str, **changes: Any) -> PathSpec:
    return load(path(**changes), *overrides)


def at(found: Any, steps: list[str]) -> Any:
    """What lies behind some steps: attributes, keys or numbers; of a quantity its value."""
    for step in steps:
        found = (
            found[int(step)]
            if isinstance(found, list)
            else found[step]
            if isinstance(found, dict)
            else getattr(found, step)
        )
    return getattr(found, "value", found)


@pytest.mark.parametrize(("overrides", "reached"), rows("description/overrides", "what they reach"))
def test_what_overrides_reach(overrides: list[str], reached: dict[str, Any]) -> None:
    found = changed(*overrides)
    for key, value in reached.items():
        assert at(found, key.split()) == (pytest.approx(value) if isinstance(value, float) else value), key


@pytest.mark.parametrize(("overrides", "reached"), rows("description/overrides", "below short forms"))
def test_a_short_form_is_written_out_before_a_key_below_it_is_set(
    overrides: list[str], reached: dict[str, Any]
) -> None:
    plain, found = load(SHORT), load(SHORT, *overrides)
    for key, value in reached.items():
        assert at(found, key.split()) == (pytest.approx(value) if isinstance(value, float) else value), key
    assert set(plain.notes) <= set(found.notes)  # what was read from names is said all the same


def test_short_forms_are_written_out_for_events_and_fits_too(tmp_path: Path) -> None:
    overrides = {"hosts.a.cpu.clock": "1 GHz", "hosts.a.volumes./data.filesystem.recordsize": "1 MiB"}
    fitted = tmp_path / "fitted.yaml"
    own = {key.removeprefix("hosts.a."): {"value": value} for key, value in overrides.items()}
    fitted.write_text(json.dumps({"parameters": {"a": own}}))
    for found in (load(SHORT | {"calibration": str(fitted)}), load(SHORT).changed(overrides)):
        assert at(found, ["hosts", "a", "cpu", "clock"]) == 1e9
        assert at(found, ["hosts", "a", "volumes", "/data", "filesystem", "recordsize"]) == 2**20
    slower = load(SHORT | {"events": [{"at": "0 s", "set": overrides | {"hosts.a.cpu.clock": "100 MHz"}}]})
    slow, usual = (dtnsim.simulate(each).runs[0].transfers[0].duration_s for each in (slower, load(SHORT)))
    assert slow > 1.5 * usual


def test_a_number_given_so_says_where_it_comes_from() -> None:
    assert "command line" in (s := changed("wan.rtt=25ms").wan[0].rtt.source) or "--set" in s


def test_a_card_that_was_a_part_gives_its_changes_up() -> None:
    given = path()
    given["hosts"]["a"]["nics"]["eth"] = {"part": "intel-x520-10g", "slot": "two", "rate": "8 Gb/s"}
    nic = load(given, "hosts.a.nics.eth=connectx-5-100g").hosts["a"].nics["eth"]
    assert (nic.rate.value, nic.slot) == (pytest.approx(12.5e9), "two")


def test_fitted_numbers_of_the_old_part_do_not_stick_to_the_new_one() -> None:
    """The shipped path is calibrated; a drive put in place of a fitted one has its own datasheet."""
    key = "hosts.venadi.volumes./bigdata.array.of"
    array = spec.load("venadi/gridftp-gpfs", [f"{key}=intel-s4500"]).hosts["venadi"].volumes["/bigdata"].array
    assert array.of == Device.build("intel-s4500")  # type: ignore[attr-defined]


def test_one_transfer_may_be_called_either_way() -> None:
    assert changed("transfers.0.tool=scp").transfers[0].tool.kind == "scp"
    many = path(transfers=[{**path()["transfer"], "name": n} for n in ("x", "y")])
    del many["transfer"]
    for key in ("transfer", "transfers.0", "transfers.x"):
        found = load(many, f"{key}.tool=scp").transfers
        assert [t.tool.kind for t in found] == ["scp", "gridftp"], key
    assert load(many, "transfers.y.tool=scp").transfers[1].tool.kind == "scp"


def test_items_of_lists() -> None:
    segments = [{"bandwidth": "10 Gb/s"}, {"bandwidth": "40 Gb/s"}]
    assert [s.rtt.value for s in changed("wan.1.rtt=5ms", wan=segments).wan] == [0.0, pytest.approx(5e-3)]
    with pytest.raises(SpecError, match="write 0 to 1"):
        changed("wan.2.rtt=5ms", wan=segments)


def test_a_host_is_replaced_by_name_before_anything_in_it_is_changed() -> None:
    given = path(transfer={"from": "a:memory", "to": "b:memory", "tool": "iperf3"})
    found = load(given, "hosts.b.cpu.clock=2 GHz", "hosts.b=venadi").hosts["b"]
    assert "/bigdata" in found.volumes
    assert found.cpu.clock.value == 2e9
    assert load(given, "hosts.c=venadi").hosts["c"].name == "c"


def test_calibration_can_be_left_out() -> None:
    fitted, plain = (spec.load("venadi/gridftp-gpfs", o).hosts["venadi"] for o in ([], ["calibration=none"]))
    assert fitted != plain
    assert plain == spec.load("venadi/gridftp-gpfs", calibration="none").hosts["venadi"]


def test_the_mapping_that_is_changed_stays_as_it_was() -> None:
    """A sweep resolves one file many times."""
    given = path(transfers=[{**path()["transfer"], "name": "x"}], wan=[{"bandwidth": "10 Gb/s"}])
    del given["transfer"]
    raw = yamlio.loads(yaml.safe_dump(given), "t.yaml")
    overrides = ["transfers.x.tool=scp", "wan.0.rtt=9ms", "hosts.a.cpu.cores=2", "hosts.a.nic.rate=1 Gb/s",
                 "hosts.a.volumes.data.array.of.read=1 MB/s"]  # fmt: skip
    before = spec.resolve(raw)
    assert spec.resolve(raw, overrides).transfers[0].tool.kind == "scp"
    after = spec.resolve(raw)
    assert (after.hosts, after.wan) == (before.hosts, before.wan)
    assert after.transfers[0].tool == before.transfers[0].tool


def test_more_overrides_on_a_loaded_path() -> None:
    once = changed("wan.rtt=20ms")
    assert once.changed(["wan.bandwidth=1 Gb/s"]).wan == changed("wan.rtt=20ms", "wan.bandwidth=1 Gb/s").wan


@pytest.mark.parametrize(("text", "says"), rows("description/refused", "overrides that lead nowhere"))
def test_what_leads_nowhere(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        changed(text)


def test_a_dataset_that_is_named_is_replaced_whole() -> None:
    named = path()
    named["transfer"]["dataset"] = "esnet/10G"
    with pytest.raises(SpecError, match="replace it whole"):
        load(named, "transfer.dataset.files=3")
    assert load(named, "transfer.dataset={files: 3, size: 1 GB}").transfers[0].dataset.files == 3


def test_keys_are_split_at_dots() -> None:
    assert split_key(" hosts.a..cpu ") == ["hosts", "a", "cpu"]


def test_overrides_may_be_a_mapping() -> None:
    given = {
        "wan.rtt": "50 ms",
        "transfer.tool.p": 4,
        "transfer.tool.fast": False,
        "transfer.dataset": {"size": "5 GB"},
    }
    typed = ["wan.rtt=50 ms", "transfer.tool.p=4", "transfer.tool.fast=false", "transfer.dataset={size: 5 GB}"]
    path = "venadi/gridftp-gpfs"
    answers = [dtnsim.predict(path, overrides=o, samples=8) for o in (given, typed)]
    answers.append(dtnsim.predict(dtnsim.load(path), overrides=given, samples=8))
    assert len({a.throughput_Bps for a in answers}) == 1
    first, then = (dtnsim.load(p, typed, calibration="none") for p in (path, dtnsim.load(path)))
    assert first.hosts == then.hosts != dtnsim.load(path, typed).hosts
    assert answers[0].throughput_Bps != dtnsim.predict(path, samples=8).throughput_Bps
    swept = dtnsim.sweep(path, ["wan.rtt=1ms,2ms"], overrides={"transfer.tool.p": 4})
    assert swept.rows == dtnsim.sweep(path, ["wan.rtt=1ms,2ms"], overrides=["transfer.tool.p=4"]).rows


def test_a_host_that_is_written_with_one_nic_is_reached_by_its_long_name() -> None:
    """What answers and plans name is ``hosts.a.nics.nic``."""
    made = path()
    made["hosts"]["a"]["nic"] = made["hosts"]["a"].pop("nics")["eth"]
    changed = load(made, "hosts.a.nics.nic.rate=25 Gb/s", "hosts.a.nics.second={kind: nic, rate: 1 Gb/s}")
    assert changed.hosts["a"].nics["nic"].rate.value == 25e9 / 8
    assert list(changed.hosts["a"].nics) == ["nic", "second"]


#: a NAS and a personal computer, which a tool of the one kind mounts and one of the other reaches over its network
NAS = """
hosts:
  pc: {os: Windows 11, cpu: Core i7-8700, memory: 16 GB, nic: {part: gigabit, mtu: 9000}, volumes: {/d: any-nvme}}
  nas: {year: 2020, nic: 10GbE, volumes: {/pool: {filesystem: zfs, array: raidz2 of 8 Seagate Exos X16}}}
  s3: {volumes: {/bucket: {filesystem: aws-s3}}}
wan: 10GbE
transfer: {from: nas:/pool, to: pc:/d, tool: smb, dataset: {files: 20000, size: 100 GB}}
"""
OTHER_TOOLS = ("rsync", "smb", "robocopy", "nfs", "{name: smb, client: source}", "rclone", "cp", "iperf3")
SAMPLE = ("NAS", "examples/smb-workstation", "examples/small-files-40ms", "venadi/gridftp-gpfs", "nasa/nuttcp-tx")


def _predicted(text: str, overrides: list[str], beside: Path) -> str:
    """What comes of a description, or that it is refused."""
    try:
        found = spec.resolve(yamlio.loads(text, "t.yaml"), overrides, beside=beside)
        return repr(dtnsim.predict(found, samples=0).throughput_Bps)
    except dtnsim.DtnsimError:
        return "refused"


@pytest.mark.parametrize("name", SAMPLE)
def test_what_is_set_answers_as_if_it_stood_in_the_file(name: str) -> None:
    """Also where the file's own tool mounts a share, and where the segment has one word."""
    file = None if name == "NAS" else library.find("paths", name)
    text = NAS if file is None else file.read_text(encoding="utf-8")
    beside = Path() if file is None else file.parent
    values: list[tuple[tuple[str, ...], str]] = [(("transfer", "tool"), tool) for tool in OTHER_TOOLS]
    values += [(("wan",), wan) for wan in ("LAN", "{bandwidth: 1 Gb/s, rtt: 50 ms}")]
    values += [(("wan", "rtt"), "30 ms"), (("wan", "medium"), "vsat")] if name != "NAS" else []
    if name == "NAS":
        values += [
            (("hosts", "pc", "like"), "laptop"),
            (("hosts", "pc", "os"), "Debian 12"),
            (("hosts", "pc", "volumes"), "{/d: any-hdd}"),
            (("hosts", "nas", "nic"), "40GbE"),
            (("hosts", "s3"), "laptop"),
            (("transfer", "from"), "pc:/d"),
            (("transfer", "to"), "s3:/bucket"),
        ]
    answers = []
    for steps, value in values:
        given = yaml.load(text, yaml.BaseLoader)
        inner = given
        for step in steps[:-1]:
            inner = inner[step]
        inner[steps[-1]] = yaml.load(value, yaml.BaseLoader)
        set_so = _predicted(text, [f"{'.'.join(steps)}={value}"], beside)
        assert set_so == _predicted(yaml.safe_dump(given), [], beside), (steps, value)
        answers.append(set_so)
    assert len(set(answers)) > 4


def test_a_card_told_in_a_line_takes_the_place_of_one_that_is_written_out() -> None:
    raw = yamlio.loads(NAS, "t.yaml")
    nic = spec.resolve(raw, ["hosts.pc.nic=10GbE"]).hosts["pc"].nics["nic"]
    assert (nic.rate.value, nic.mtu.value) == (1.25e9, 9000.0)  # packets stay, as with a part of the library
    assert spec.resolve(raw, ["wan.rtt=3 ms"]).wan[0].rtt.value == pytest.approx(3e-3)


def test_who_does_not_say_which_end_mounts_is_told_how_and_keeps_the_tool() -> None:
    """Robocopy with its threads stays robocopy with its threads: a copy by one thread takes 17 times as long."""
    tools = ("smb", "nfs", "robocopy /MIR /MT:32", "{name: robocopy, J: true}", "{name: smb, channels: 4}")
    for tool in tools:
        first = spec.resolve(yamlio.loads(NAS, "t.yaml"), [f"transfer.tool={tool}"])
        (hint,) = (note.split("'")[1].removeprefix("--set ") for note in first.notes if "at the other end" in note)
        second = spec.resolve(yamlio.loads(NAS, "t.yaml"), [f"transfer.tool={tool}", hint])
        assert not any("at the other end" in note for note in second.notes)
        kept = [
            each.transfers[0].tool.model_dump(exclude={"version"}) for each in (first, second)
        ]  # cp is each one's own
        assert kept[0] == kept[1]
        assert ("/nas" in first.hosts["pc"].volumes, "/pc" in second.hosts["nas"].volumes) == (True, True)


def test_tools_beside_a_mounting_one_are_those_between_mounts() -> None:
    found, _ = tool_choice.choose(spec.resolve(yamlio.loads(NAS, "t.yaml")), 0)
    assert {"yours: cp", "robocopy", "rclone between mounts"} <= {choice.name for choice in found}
    robocopy = next(choice for choice in found if choice.name == "robocopy")
    alone = dtnsim.predict(spec.resolve(yamlio.loads(NAS, "t.yaml"), robocopy.overrides), samples=0)
    assert alone.throughput_Bps == robocopy.prediction.throughput_Bps
