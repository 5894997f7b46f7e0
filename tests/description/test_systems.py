"""Operating systems by name and release, and hosts that are written once and counted."""

from typing import Any

import pytest

import dtnsim
from dtnsim.components.stack import BESIDE
from dtnsim.description import systems
from dtnsim.ground.errors import SpecError
from dtnsim.ground.yamlio import mapping
from tests.each import cases, rows
from tests.strategies import written


def path(tmp_path: Any, host: str, tool: str = "iperf3") -> Any:
    file = tmp_path / "p.yaml"
    data = "" if tool == "iperf3" else ", dataset: {files: 1, size: 1 GB}"
    ends = "from: 'a:memory', to: 'b:memory'" if tool == "iperf3" else "from: 'a:/d', to: 'b:/d'"
    file.write_text(
        f"hosts: {{a: {host}, b: unknown}}\nwan: {{rtt: 20 ms, bandwidth: 10 Gb/s}}\n"
        f"transfer: {{{ends}, tool: {tool}{data}}}\n"
    )
    return file


@pytest.mark.parametrize(("system", "cc", "receive_B"), rows("description/tables", "a_system_has_its_tcp"))
def test_a_system_has_its_tcp(system: str, cc: str, receive_B: float, tmp_path: Any) -> None:
    host = dtnsim.load(path(tmp_path, f"{{os: {system}}}")).hosts["a"]
    assert (host.tcp.cc, host.tcp.rmem_max.value) == (cc, receive_B)
    assert host.receive_share(1500.0) == 1.0  # what they announce is the buffer, not a part of it
    assert "autotuning" in host.tcp.rmem_max.source or "tcp" in host.tcp.rmem_max.source.lower()


@pytest.mark.parametrize(("system", "kernel"), rows("description/spoken", "distributions"))
def test_a_distribution_has_its_kernel(system: str, kernel: str, tmp_path: Any) -> None:
    host = dtnsim.load(path(tmp_path, f"{{os: {system}}}")).hosts["a"]
    assert host.stack.kernel == kernel
    plain = dtnsim.load(path(tmp_path, "unknown")).hosts["a"]
    assert host.tcp.rmem_max.source == plain.tcp.rmem_max.source  # Linux' buffers are those of its role


def test_what_a_host_says_itself_counts(tmp_path: Any) -> None:
    host = dtnsim.load(path(tmp_path, "{os: Windows 10, tcp: {rmem_max: 64 KiB}, stack: linux-modern}")).hosts["a"]
    assert host.tcp.rmem_max.value == 65536
    assert (host.tcp.cc, host.stack.part) == ("cubic", "linux-modern")


@pytest.mark.parametrize(("system", "kind"), [("Windows 10", "ntfs"), ("macOS 13", "apfs"), ("FreeBSD 13", "ufs")])
def test_drives_without_a_file_system_have_that_of_the_system(system: str, kind: str, tmp_path: Any) -> None:
    spec = dtnsim.load(path(tmp_path, f"{{os: {system}}}", "scp"))
    assert spec.hosts["a"].volumes["/d"].filesystem.part == kind


def test_a_mac_has_the_rsync_that_apple_ships(tmp_path: Any) -> None:
    assert dtnsim.load(path(tmp_path, "{os: macOS 13}", "rsync")).transfers[0].tool.version == "2.6.9"
    own = dtnsim.load(path(tmp_path, "{os: macOS 13}", "{name: rsync, version: 3.2.7}"))
    assert own.transfers[0].tool.version == "3.2.7"


def test_a_system_that_nobody_knows_is_refused(tmp_path: Any) -> None:
    with pytest.raises(
        SpecError, match=r"hosts\.a\.os: is no system known here .*write one of windows, macos, osx, .*pop os, "
    ):
        dtnsim.load(path(tmp_path, "{os: TempleOS 5}"))


SHARED = """
hosts:
  c: {cpu: {kind: cpu, cores: 16, clock: 3 GHz}, memory: {kind: memory, channels: 4, rate: 3200 MT/s, size: 64 GB},
      nic: 10 Gb/s, volumes: {/fs: {filesystem: {kind: beegfs, servers: {count: 100}, targets: 1000}}}, count: 8}
transfer: {from: 'c:/dev/zero', to: 'c:/fs', tool: {name: dd, bs: 1M, conv: fsync}, dataset: {files: 64, size: 6.4 TB}}
"""


def counted(tmp_path: Any, *overrides: str) -> Any:
    return dtnsim.predict(written(tmp_path / "counted.yaml", SHARED), overrides=overrides, samples=60)


def test_like_hosts_have_a_card_each(tmp_path: Any) -> None:
    """Behind servers that hold nobody, eight clients of one card each do eight times what one does."""
    one, eight = (counted(tmp_path, f"hosts.c.count={n}").ceiling for n in (1, 8))
    assert eight == pytest.approx(8 * one, rel=1e-6)


def test_hosts_written_once_are_as_hosts_written_out(tmp_path: Any) -> None:
    """The ceiling is that of a pool of hosts with numbers; overrides of the one reach all."""
    file = tmp_path / "out.yaml"
    text = SHARED.replace("  c:", "  c{1..8}:").replace(", count: 8}", "}")
    text = text.replace("'c:/dev/zero', to: 'c:/fs'", "'c1:/dev/zero', to: 'c1:/fs'")
    file.write_text(
        text.replace("transfer: {", f"transfer: {{pool: {{c1: [{', '.join(f'c{n}' for n in range(2, 9))}]}}, ")
    )
    assert counted(tmp_path).ceiling == pytest.approx(dtnsim.predict(file, samples=60).ceiling, rel=1e-9)
    slower = dtnsim.load(tmp_path / "counted.yaml", ["hosts.c.nic=1 Gb/s"])
    assert {host.nics["nic"].rate.value for host in slower.hosts.values()} == {1.25e8}
    assert set(slower.hosts) == {"c", *(f"c-{n}" for n in range(2, 9))}


def test_what_is_not_known_of_like_hosts_is_drawn_once(tmp_path: Any) -> None:
    text = SHARED.replace("cpu: {kind: cpu, cores: 16, clock: 3 GHz}, ", "")
    hosts = dtnsim.load(_written(tmp_path, text)).hosts
    assert {host.cpu.clock.key for host in hosts.values()} == {hosts["c"].cpu.clock.key}


def _written(tmp_path: Any, text: str) -> Any:
    return written(tmp_path / "drawn.yaml", text)


@pytest.mark.parametrize("count", ["0", "-3", "many", "1_0", "5000"])
def test_a_count_that_is_none_is_refused(count: str, tmp_path: Any) -> None:
    with pytest.raises(SpecError, match=r"hosts\.c\.count: is no number of hosts"):
        dtnsim.load(_written(tmp_path, SHARED.replace("count: 8", f"count: {count}")))


def test_a_sweep_goes_over_the_number_of_hosts(tmp_path: Any) -> None:
    swept = dtnsim.sweep(_written(tmp_path, SHARED), ["hosts.c.count=1,2,4"])
    ceilings = [row[swept.columns.index("ceiling_Bps")] for row in swept.rows]
    assert ceilings[2] == pytest.approx(2 * ceilings[1]) == pytest.approx(4 * ceilings[0])


@cases("host, kernel, zfs", rows("description/tables", "releases_that_nobody_states_are_those_of_the_year"))
def test_releases_that_nobody_states_are_those_of_the_year(tmp_path: Any, host: str, kernel: str, zfs: str) -> None:
    """RHEL 6 and Ubuntu 18.04 and their ZFS; what a part or a system says stays."""
    drives = "volumes: {/d: {filesystem: zfs, array: any-disk}}"
    made = dtnsim.load(path(tmp_path, f"{{{host}, {drives}}}", "rsync")).hosts["a"]
    assert (made.stack.kernel, made.volumes["/d"].filesystem.version) == (kernel, zfs)


@pytest.mark.parametrize(("kernel", "year"), [("3.10", 2015), ("4.4", 2017), ("4.15", 2020), ("5.4", 2021)])
def test_kernels_of_a_year_are_those_of_three_systems(kernel: str, year: int) -> None:
    """The last of each in that year, at every second place; behind it the one before, which no year here names."""
    usual = [systems.usual(mapping({"os": name, "year": str(year)}, "", 0)) for name in ("rhel", "ubuntu", "debian")]
    assert list(BESIDE[kernel][::2]) == [str(found["kernel"]) for found in usual]


@cases("host, aes, blocks", rows("description/tables", "processors_have_the_instructions_for_aes_of_their_year"))
def test_processors_have_the_instructions_for_aes_of_their_year(
    tmp_path: Any, host: str, aes: bool, blocks: int
) -> None:
    """AES-NI came with Westmere (2010) and Bulldozer (2011), VAES with Zen 3 (2020) and Ice Lake of servers (2021)."""
    made = dtnsim.load(path(tmp_path, f"{{{host}}}", "rsync")).hosts["a"]
    assert (made.cpu.aes, made.cpu.aes_blocks) == (aes, blocks)


@cases("system, array, software", rows("description/tables", "a_raid_is_md_where_there_is_md"))
def test_a_raid_is_md_where_there_is_md(tmp_path: Any, system: str, array: str, software: bool) -> None:
    made = dtnsim.load(path(tmp_path, f"{{os: {system}, volumes: {{/d: {{array: {array}}}}}}}", "rsync"))
    assert made.hosts["a"].volumes["/d"].array.software == software
    told = system.startswith("Windows Server")
    assert any("a controller's RAID, since md is Linux's" in note for note in made.notes) == told
