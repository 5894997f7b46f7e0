"""Hosts that nobody can describe in full: drawn from machines of their years, narrower with each line that is added."""

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtnsim
from dtnsim.components.base import Component
from dtnsim.components.cores import Cpu
from dtnsim.description import drawn_hosts
from dtnsim.ground import library
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw, Mixture
from dtnsim.ground.yamlio import Mapping
from tests.each import rows, tables
from tests.strategies import written

MINIMAL = """
hosts: {a: unknown, b: unknown}
wan: {rtt: 20 ms, bandwidth: 100 Gb/s}
transfer: {from: "a:/data", to: "b:/data", tool: "rsync -a -e ssh", dataset: {files: 100, size: 1 TB}}
"""
READ = "{from: 'a:/data', to: 'a:/dev/null', tool: {name: dd, bs: 1 MiB}, dataset: {files: 1, size: 1 TB}}"

LINES = rows("description/tables", "drawn_hosts")["LINES"]


def minimal(folder: Path) -> Path:
    """A file with nothing but two names, a rate, a round trip and a tool."""
    return written(folder / "path.yaml", MINIMAL)


@pytest.mark.parametrize(
    ("ends", "tool", "rtt", "left"),
    [("data", "rsync -a -e ssh", "2 ms", 0.75), ("memory", "iperf3 -P 8 -t 60", "20 ms", 0.3)],
)
def test_each_line_that_is_added_narrows_the_answer(
    ends: str, tool: str, rtt: str, left: float, tmp_path: Path
) -> None:
    """From two names, a rate and an RTT to all of a machine, whose rate is inside throughout.

    ``left`` is the width, of its logarithm, that the tool's own error and chance leave of the first one.
    """
    file = tmp_path / "path.yaml"
    text = MINIMAL.replace("rsync -a -e ssh", tool).replace("20 ms", rtt)
    if ends == "memory":
        text = text.replace("/data", "memory").replace(", dataset: {files: 100, size: 1 TB}", "")
    file.write_text(text)
    known: dict[str, Any] = {}
    answers = []
    for line in ({}, *(line for line in LINES if ends == "data" or not any("volumes" in key for key in line))):
        known |= line
        answers.append(dtnsim.predict(file, overrides=known, samples=1600).throughput_Bps)
    truth = answers[-1].p50
    widths = [math.log(answer.p90 / answer.p10) for answer in answers]
    assert all(answer.p10 <= truth <= answer.p90 for answer in answers)
    assert widths[0] > math.log(5)  # nobody knows anything of the hosts
    # 1,600 scenarios tell a width to some percent; 400 do within a tenth
    assert all(after < 1.1 * before for before, after in itertools.pairwise(widths))
    assert widths[-1] < left * widths[0]


def test_nothing_but_two_names_a_rate_a_round_trip_and_a_tool(tmp_path: Path) -> None:
    """Volumes that only the transfer names are drives of an unknown kind."""
    file = minimal(tmp_path)
    path = dtnsim.load(file)
    assert {h: list(path.hosts[h].volumes) for h in "ab"} == {"a": ["/data"], "b": ["/data"]}
    answer = dtnsim.predict(file, samples=200).throughput_Bps
    assert answer.p90 > 2 * answer.p10


@pytest.mark.parametrize("family", ["cpu", "memory", "nic"])
@pytest.mark.parametrize("year", [None, 2012, 2016, 2022])
def test_draws_hold_the_parts_of_their_years(family: str, year: int | None) -> None:
    """About 80 in 100 of the parts lie between p10 and p90 of the draws, which have the mean logarithm of the parts."""
    parts = drawn_hosts._parts(family, year)
    name = {"cpu": "clock", "memory": "size", "nic": "rate"}[family]
    law = drawn_hosts._LAWS[family][1](parts, f"a.{family}", Mapping())[name]
    assert isinstance(law, Mixture)
    assert len(law.kinds) == len(parts[0])
    draws = np.asarray(Draw(2000)(law))
    low, high = np.quantile(draws, [0.1, 0.9])
    inside = np.mean([low <= getattr(p, name).value <= high for p in parts[0]])
    assert inside >= 0.7
    mean = np.mean([math.log(getattr(p, name).value) for p in parts[0]])
    assert np.mean(np.log(draws)) == pytest.approx(mean, abs=0.02)


def test_the_year_chooses_the_parts() -> None:
    """Two years to each side, more where the library has too few; each says from which it was drawn."""
    by_name = {n: Component.build(library.read("parts", n)) for n in library.names("parts") if n.startswith("cpu/")}
    near = {n for n, p in by_name.items() if p.facts is not None and 2014 <= p.facts.year.value <= 2018}  # type: ignore[union-attr]
    parts, words = drawn_hosts._parts("cpu", 2016)
    assert len(parts) == len(near)
    assert f"{len(near)} parts of 2014 to 2017" in words
    assert len(drawn_hosts._parts("memory", 2016)[0]) >= 5  # 2014 to 2018 has three


def test_what_is_stated_stays(tmp_path: Path) -> None:
    changes = {"hosts.a.cpu": "{cores: 6}", "hosts.a.nics": "{eth: {mtu: 9000}}", "hosts.b.nic": "unknown"}
    path = dtnsim.load(minimal(tmp_path), changes)
    a, b = path.hosts["a"], path.hosts["b"]
    assert (a.cpu.cores, a.cpu.uncounted.spread, a.nics["eth"].mtu.value) == (6, 0.0, 9000)
    assert b.cpu.uncounted.spread > 0.5
    assert isinstance(a.nics["eth"].rate, Mixture)
    assert isinstance(a.cpu.clock, Mixture)
    assert isinstance(b.cpu.clock, Mixture)
    assert (a.cpu.clock.key, a.cpu.clock.chooser) == ("a.cpu.clock", "a.cpu")
    assert (b.cpu.clock.key, b.cpu.clock.chooser) == ("b.cpu.clock", "b.cpu")  # two machines


def test_what_is_told_in_full_is_not_drawn(tmp_path: Path) -> None:
    """A processor whose cores and clock are given has the defaults of its kind for the rest."""
    path = dtnsim.load(minimal(tmp_path), {"hosts.a.cpu": "{cores: 6, clock: 3 GHz}", "hosts.a.nic": "{rate: 1 Gb/s}"})
    host = path.hosts["a"]
    assert host.cpu.per_cycle.source == Cpu.model_fields["per_cycle"].default.source
    assert not host.cpu.uncounted.spread
    assert not isinstance(host.nics["nic"].rate, Mixture)


@pytest.mark.parametrize(("changes", "says"), rows("description/tables", "what_is_wrong_is_refused"))
def test_what_is_wrong_is_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        dtnsim.load(minimal(tmp_path), changes)


#: volumes, and the kinds of file system and drives that they then have
VOLUMES: tuple[tuple[str, str, str, str | None], ...] = tables("description/tables")["drawn volumes"]


@pytest.mark.parametrize(("name", "given", "filesystem", "drives"), VOLUMES)
def test_volumes_of_which_a_part_is_named(
    name: str, given: str, filesystem: str, drives: str | None, tmp_path: Path
) -> None:
    """Drives that nobody names are drawn; at a computing centre an unknown volume is a parallel one."""
    file = written(
        tmp_path / "path.yaml",
        f"hosts: {{{name}: {{volumes: {{/d: {given}}}}}, b: unknown}}\nwan: {{rtt: 9 ms, bandwidth: 10 Gb/s}}\n"
        f"transfer: {{from: '{name}:/d', to: 'b:memory', tool: gridftp, dataset: {{files: 1, size: 1 TB}}}}\n",
    )
    made = dtnsim.load(file).hosts[name].volumes["/d"]
    assert (made.filesystem.kind, made.array and made.array.kind) == (filesystem, drives)


@pytest.mark.parametrize(("role", "low", "high"), [("untuned", 150e6, 2e9), ("cloud", 100e6, 1e9), ("dtn", 1e9, 16e9)])
def test_a_role_says_which_drives_are_usual(role: str, low: float, high: float, tmp_path: Path) -> None:
    """Four in five lie between what its source names as the smallest and the largest of such hosts."""
    given = {"hosts.a.role": role, "hosts.b.role": role}
    array: Any = dtnsim.load(minimal(tmp_path), given).hosts["a"].volumes["/data"].array
    p10, p90 = np.quantile(np.asarray(Draw(1000)(array.read)), [0.1, 0.9])
    assert low == pytest.approx(p10, rel=0.3)
    assert high == pytest.approx(p90, rel=0.3)


def test_the_streams_of_transfer_hosts_may_be_more(tmp_path: Path) -> None:
    """With one stream of GridFTP between hosts of role dtn, four are tried; not between others, nor if stated."""
    file = minimal(tmp_path)
    long = {"transfer.tool": "gridftp", "wan.rtt": "150 ms", "wan.loss": "1e-5", "hosts.a.nic": "{rate: 10 Gb/s}"}
    found = [
        {a.key: a for a in dtnsim.predict(file, overrides={**long, **more}, samples=16).assumed}
        for more in ({"hosts.a.role": "dtn"}, {}, {"hosts.a.role": "dtn", "transfer.tool.p": 2})
    ]
    assert ["transfer.tool.p" in keys for keys in found] == [True, False, False]
    assert found[0]["transfer.tool.p"].at_low == pytest.approx(4.0, rel=0.1)  # random loss holds each stream


def test_drives_that_nobody_names_are_no_endless_ones(tmp_path: Path) -> None:
    """A file system alone was as fast as memory; now it is as wide as a volume of which nothing is known."""
    file = minimal(tmp_path)
    alone, unknown = (
        dtnsim.predict(file, overrides={"hosts.a.volumes./data": text}, samples=300).throughput_Bps
        for text in ("{filesystem: ext4}", "{filesystem: ext4, array: unknown}")
    )
    assert alone == unknown


@pytest.mark.parametrize(("medium", "low", "high"), [("", 0.05e-3, 2e-3), ("internet", 5e-3, 200e-3)])
def test_a_round_trip_that_nobody_states_is_drawn(medium: str, low: float, high: float, tmp_path: Path) -> None:
    """That of a site, or of what the segment says it is; a stated one is what is stated."""
    path = dtnsim.load(minimal(tmp_path), {"wan": f"{{bandwidth: 10 Gb/s{medium and ', medium: ' + medium}}}"})
    draws = np.asarray(Draw(500)(path.wan[0].rtt))
    p10, p90 = np.quantile(draws, [0.1, 0.9])
    assert low < p10 < p90 / 2 < high / 2
    assert Draw(500)(dtnsim.load(minimal(tmp_path)).wan[0].rtt).std() < 1e-3  # type: ignore[union-attr]


def test_raw_devices_have_no_journal_and_no_inodes(tmp_path: Path) -> None:
    """A flushed write waits for one flush of the drive, which ext4 does for its log and again for the commit."""
    file = written(
        tmp_path / "path.yaml",
        "hosts: {a: {volumes: {/dev/nvme0n1: {array: samsung-980-pro-1tb}}}}\n"
        "transfer: {from: 'a:/dev/zero', to: 'a:/dev/nvme0n1', tool: {name: fio, rw: randwrite, fdatasync: true},"
        " dataset: {files: 1, size: 1 GB}}\n",
    )
    path = dtnsim.load(file)
    assert path.hosts["a"].volumes["/dev/nvme0n1"].filesystem.kind == "none"
    raw, journaled = (
        dtnsim.predict(file, overrides=given, samples=0).ceiling
        for given in ({}, {"hosts.a.volumes./dev/nvme0n1.filesystem": "ext4"})
    )
    assert raw / journaled == pytest.approx(2.0, rel=0.1)


def test_a_rate_alone_is_a_card_and_a_size_alone_is_memory(tmp_path: Path) -> None:
    """As people write them; the rest of the part is drawn."""
    given = {"hosts.a.nic": "25 Gb/s", "hosts.a.memory": "64 GiB", "hosts.b.nics": "{eth: 10 Gb/s}"}
    path = dtnsim.load(minimal(tmp_path), given)
    a, b = path.hosts["a"], path.hosts["b"]
    assert (a.nics["nic"].rate.value, a.memory.size.value, b.nics["eth"].rate.value) == (25e9 / 8, 64 * 2**30, 1.25e9)
    assert isinstance(a.memory.rate, Mixture)


def test_drives_of_a_known_kind_are_narrower_than_any(tmp_path: Path) -> None:
    """Eight NVMe drives of no known model, as an array and its kind say it."""
    array = "{kind: raid, level: 0, disks: 8, of: any-nvme}"
    widths = []
    for given in ("unknown", array):
        answer = dtnsim.predict(
            minimal(tmp_path), overrides={"hosts.a.volumes./data.array": given, "transfer": READ}, samples=300
        ).throughput_Bps
        widths.append(math.log(answer.p90 / answer.p10))
    assert widths[1] < 0.7 * widths[0]


@pytest.mark.parametrize(("changes", "says"), rows("description/refused", "if unknown"))
def test_a_refusal_says_what_to_write_where_nobody_knows(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=re.escape(says)):
        dtnsim.load(minimal(tmp_path), changes)
