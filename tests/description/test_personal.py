"""Descriptions that say little: personal computers, machines of a stated year, thirty that were published."""

import re
from pathlib import Path
from typing import Final

import pytest

import dtnsim
from dtnsim.components.device import Device
from dtnsim.description import personal
from tests.description.test_spoken import path
from tests.strategies import written


@pytest.mark.parametrize(("year", "cores", "channels"), [(2003, 1, 2), (2010, 2, 2), (2018, 4, 2), (2025, 10, 2)])
def test_what_a_personal_computer_of_a_year_has(year: int, cores: int, channels: int) -> None:
    assert personal.usual("cpu", {"cores": 24}, year)["cores"] == cores
    assert personal.usual("memory", {"channels": 8, "uncounted": 1}, year)["channels"] == channels
    assert personal.usual("nic", {"rate": 1}, year) == {"rate": 1}


def test_a_machine_of_an_earlier_year_has_no_younger_parts() -> None:
    """A MacBook Pro of 2014 is no M1 Pro; what is drawn of it depends on the year, and is said."""
    now = path("macbook-pro").hosts["a"]
    for key in ("kind", "like"):
        then = path({key: "MacBook Pro", "year": 2014})
        host = then.hosts["a"]
        assert (host.cpu.cores, host.memory.channels, host.system) == (3, 2, "macos")
        assert host.memory.rate.value < 0.5 * now.memory.rate.value
        assert any("macbook-pro is of 2021; of 2014 its cpu and memory are drawn" in note for note in then.notes)
    assert path({"like": "MacBook Pro", "year": 2021}).hosts["a"].cpu == now.cpu
    assert path({"like": "MacBook Pro", "year": 2014, "cpu": {"cores": 4}}).hosts["a"].cpu.cores == 4


def test_a_mac_has_flash_of_its_own() -> None:
    """And an unknown machine of its year any of the drives that such machines were sold with."""
    drives = {
        like: path({"like": like}).hosts["a"].volumes["/data"].array for like in ("MacBook Pro M1", "ThinkPad T14")
    }
    nvme = Device.build("any-nvme")
    assert drives["MacBook Pro M1"] == nvme
    assert drives["ThinkPad T14"] != nvme


def test_a_laptop_has_the_cores_and_channels_of_one() -> None:
    laptop, server = (path({"kind": kind, "year": 2018}).hosts["a"] for kind in ("laptop", "server"))
    assert (laptop.cpu.cores, laptop.memory.channels) == (4, 2)
    assert server.cpu.cores > 4


def test_windows_and_macos_are_on_personal_computers_unless_they_are_servers() -> None:
    def memory(**host: object) -> float:
        return path({"year": 2021, **host}).hosts["a"].memory.size.value

    laptop = memory(kind="laptop")
    assert memory(os="Windows 10") == memory(os="macOS 12") == laptop
    for host in (
        {"os": "Windows Server 2019"},
        {"os": "Windows 2019"},
        {"os": "Debian 12"},
        {"os": "Windows 10", "role": "dtn"},
    ):
        assert memory(**host) > 3 * laptop


def test_a_size_of_a_cloud_that_is_not_shipped_names_the_nearest() -> None:
    for name, near in (("aws-c6a.8xlarge", "aws-m6i.8xlarge"), ("n1-standard-16", "gcp-n2-standard-32")):
        assert any("nothing is taken from the nearest" in n and near in n for n in path({"like": name}).notes)


def test_the_memory_of_a_laptop_is_that_of_its_year() -> None:
    """DRAMeXchange: 1,058 MB a notebook in 2007; PC Matic: just under 6 GB in 2016. Servers have more."""
    for like in ({"kind": "laptop"}, {"like": "ThinkPad T60"}):
        for year, GB in ((2007, 1.058), (2016, 6.0)):
            size = path({**like, "year": year}).hosts["a"].memory.size
            assert size.value == pytest.approx(GB * 1e9, rel=0.1)
            assert 0.5 < size.spread < 1.0
    assert path({"kind": "server", "year": 2016}).hosts["a"].memory.size.value > 30e9
    stated = path({"kind": "laptop", "year": 2016, "memory": {"size": "32 GB"}})
    assert stated.hosts["a"].memory.size.value == pytest.approx(32e9, rel=0.08)


def test_what_is_said_of_its_memory_makes_no_server_of_a_laptop() -> None:
    for host in ({"kind": "laptop", "year": 2018}, {"like": "ThinkPad X1", "year": 2018}):
        made = path({**host, "memory": "16 GB"}).hosts["a"]
        assert (made.memory.size.value, made.memory.channels, made.cpu.cores) == (16e9, 2, 4)


FILE: Final = Path(__file__).with_name("published.yaml")
#: name -> path file, its comments left out
PATHS: Final = {
    match[1]: "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()
    for text in FILE.read_text(encoding="utf-8").split("---\n")[1:]
    if (match := re.match(r"# name: (\S+)\n# source: \S+.*\n# stumbled: \S", text))
}


def test_there_are_thirty_of_as_many_places() -> None:
    sources = re.findall(r"^# source: (\S+)", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(PATHS) == len(set(PATHS)) == len(sources) == 30
    assert len({source.split("/")[0] for source in sources}) >= 20


@pytest.mark.parametrize("name", PATHS)
def test_a_published_description_is_answered(name: str, tmp_path: Path) -> None:
    """In at most fifteen lines, with an interval: nobody who writes so little is told one number."""
    assert len(PATHS[name].splitlines()) <= 15
    rate = dtnsim.predict(written(tmp_path / f"{name}.yaml", PATHS[name] + "\n"), samples=100).throughput_Bps
    assert 0 < rate.p10 < rate.p50 < rate.p90
    assert rate.p90 / rate.p10 > 1.05
