"""What people write where a file wants keys: names that tell a rate, measured drives, shares, kinds of hosts."""

from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.components.base import find_kind
from dtnsim.components.device_mapper import DmCrypt
from dtnsim.components.local import Unknown
from dtnsim.description.spec import PathSpec
from dtnsim.description.spoken import array_in_a_line
from dtnsim.ground.errors import SpecError
from dtnsim.tools._command import parse
from tests.each import cases, rows
from tests.strategies import load

WAN = {"bandwidth": "10 Gb/s", "rtt": "1 ms"}
MOVE = {"from": "a:/data", "to": "b:/data", "tool": "rsync", "dataset": {"files": 10, "size": "1 GB"}}


def path(a: object, b: object = "unknown", **more: Any) -> PathSpec:
    return load({"hosts": {"a": a, "b": b}, "wan": WAN, "transfer": MOVE} | more)


@pytest.mark.parametrize(("name", "Gbps"), rows("description/spoken", "cards"))
def test_a_card_by_its_rate(name: str, Gbps: float) -> None:
    """The rate counts, and all else of the card is that of one of which nothing is known."""
    spoken, plain = path({"nic": name}), path({"nic": {"rate": f"{Gbps} Gb/s"}})
    card = spoken.hosts["a"].nics["nic"]
    assert card.rate.value == pytest.approx(Gbps * 1.25e8)
    assert card.model_copy(update={"rate": plain.hosts["a"].nics["nic"].rate}) == plain.hosts["a"].nics["nic"]


@pytest.mark.parametrize(("key", "name", "said"), rows("description/spoken", "parts"))
def test_a_part_by_what_its_name_tells(key: str, name: str, said: dict[str, float]) -> None:
    found = getattr(path({key: name}).hosts["a"], key)
    for field, value in said.items():
        assert getattr(getattr(found, field), "value", getattr(found, field)) == pytest.approx(value, rel=0.08), field


def test_what_was_read_from_a_name_is_noted_once() -> None:
    hosts, move = {"pc{1..2}": {"nic": "Intel PRO/1000"}}, {**MOVE, "from": "pc1:/d", "to": "pc2:/d"}
    told = "hosts.pc1.nic: 'Intel PRO/1000' is not in the library: taken from its name: rate 1000 Mb/s"
    assert load({"hosts": hosts, "wan": WAN, "transfer": move}).notes == (told,)
    drives = {"/data": {"array": "4 TB HDD"}}
    assert path({"nic": "gigabit", "cpu": "unknown", "volumes": drives}, {"nic": "10GbE"}).notes == ()


@pytest.mark.parametrize(("host", "told"), rows("description/refused", "what tells nothing"))
def test_what_tells_nothing_is_refused_with_what_to_write(host: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError) as refusal:
        path(host)
    assert told in str(refusal.value)


def test_places_are_refused_with_the_rule_of_thumb() -> None:
    """Light goes 200,000 km/s in fibre: there and back over 1,000 km is 10 ms, before detours."""
    with pytest.raises(SpecError, match="leave it out: a segment of 'wan' has none"):
        path({}, wan={**WAN, "name": "REUNA"})
    with pytest.raises(SpecError, match=r"great circle in km / 100 times 1\.5 to 2, in ms"):
        path({}, wan={**WAN, "from": "Austin"})


def test_a_board_that_is_not_in_the_library_is_as_none() -> None:
    known, none = path({"board": "SuperMicro X9DRi-F"}), path({})
    assert known.hosts["a"] == none.hosts["a"]
    assert known.notes == (
        "hosts.a.board: 'SuperMicro X9DRi-F' is not in the library: its slots and sockets are not checked",
    )
    with pytest.raises(SpecError, match="is not a slot of this host"):
        path({"board": "SuperMicro X9DRi-F", "nic": {"rate": "10 Gb/s", "slot": "PCIE1"}})


def _array(volume: dict[str, Any]) -> Any:
    return path({"volumes": {"/data": volume}}).hosts["a"].volumes["/data"].array


def _shape(array: Any) -> tuple[Any, ...]:
    return array.kind, array.level, array.disks, array.of.part, array.groups


@pytest.mark.parametrize(("array", "read", "write"), rows("description/tables", "a_measured_rate_of_an_array"))
def test_a_measured_rate_of_an_array(array: dict[str, Any], read: float, write: float) -> None:
    """What was not measured is as the other direction, and wide."""
    found = _array({"array": array})
    assert isinstance(found, Unknown)
    assert (found.read.value, found.write.value) == (read, write)
    for key in {"read", "write"} - set(array) if "rate" not in array else ():
        assert getattr(found, key).spread == 1.0


def test_a_wide_group_is_said_to_be_one_of_several() -> None:
    array = {"kind": "raidz2", "disks": 44, "groups": 4, "of": "any-disk"}
    said = path({"volumes": {"/data": {"array": array}}}).notes
    assert any("each of 4 groups has 44 disks, 176 in all; write 'disks: 11' if 44 are all" in note for note in said)


def test_a_key_that_is_written_wrongly_beside_a_measured_rate_is_refused() -> None:
    with pytest.raises(SpecError, match=r"array\.wirte: is not a key here .*did you mean 'write'"):
        _array({"array": {"kind": "measured", "read": "150 MB/s", "wirte": "120 MB/s"}})


@pytest.mark.parametrize("word", ["read", "write", "rate"])
def test_a_disk_of_which_one_rate_was_measured_is_a_disk(word: str) -> None:
    found = _array({"array": {"kind": "hdd", word: "50 MB/s"}})
    assert (found.kind, found.rate.value) == ("hdd", 50e6)


def test_what_is_described_in_full_is_no_measured_rate() -> None:
    with pytest.raises(SpecError, match=r"array\.read: is not a key here .*stands alone"):
        _array({"array": {"kind": "raid", "level": 5, "disks": 4, "of": "any-disk", "read": "1 GB/s"}})


@pytest.mark.parametrize(("word", "ciphered"), [("luks", True), ("aes-xts", True), ("none", False)])
def test_encryption_of_a_volume(word: str, ciphered: bool) -> None:
    found = _array({"encryption": word, "array": "any-disk"})
    assert isinstance(found, DmCrypt) == ciphered
    if ciphered:
        assert found == _array({"array": {"kind": "luks", "of": "any-disk"}})


@pytest.mark.parametrize(("word", "part"), rows("description/spoken", "drives"))
def test_drives_by_what_they_are(word: str, part: str) -> None:
    assert _array({"array": word}).part == part


@pytest.mark.parametrize(("word", "role"), [("laptop", "untuned"), ("vm", "cloud"), ("nas", None)])
def test_a_kind_of_host_is_its_role(word: str, role: str | None) -> None:
    made, usual = path({"kind": word}).hosts["a"], path({"role": role} if role else {}).hosts["a"]
    assert made.portable is (word == "laptop")
    assert made.model_copy(update={"memory": usual.memory, "cpu": usual.cpu, "portable": False}) == usual
    assert (made.memory == usual.memory) is (word != "laptop")  # which has that of personal computers
    assert path({"kind": word, "role": "dtn"}).hosts["a"].role == "dtn"


def _copy(tool: object, pc: dict[str, Any]) -> PathSpec:
    return path({"volumes": {"/pool": {"filesystem": "zfs"}}}, pc, transfer={**MOVE, "from": "a:/pool", "tool": tool})


@pytest.mark.parametrize("tool", ["smb", "smb copy", "Explorer", "robocopy", {"name": "smb"}, "nfs"])
def test_a_copy_over_a_share_mounts_it(tool: object) -> None:
    """The same as the share written out, on the end that reads."""
    name, kind = ("nfs", "cp") if tool == "nfs" else ("smb", "robocopy" if tool == "robocopy" else "cp")
    pc = {"volumes": {"/data": "unknown", "/a": {"filesystem": name, "server": "a:/pool"}}}
    move = {**MOVE, "from": "b:/a", "to": "b:/data", "tool": kind}
    plain = path({"volumes": {"/pool": {"filesystem": "zfs"}}}, pc, transfer=move)
    assert _copy(tool, {}).hosts == plain.hosts
    ends = [(t.source_end, t.to, t.tool) for given in (_copy(tool, {}), plain) for t in given.transfers]
    assert ends[0] == ends[1]
    assert "mounted on b" in _copy(tool, {}).notes[0]


def test_memory_is_no_share() -> None:
    with pytest.raises(SpecError, match="robocopy copies within one host"):
        dtnsim.predict(path({}, transfer={**MOVE, "from": "a:memory", "tool": "robocopy"}), samples=0)


def test_who_mounts_a_share() -> None:
    for tool in ("smb", {"name": "smb"}, {"name": "robocopy", "J": "true"}):
        assert "/b" in path({"os": "Windows 10"}, transfer={**MOVE, "tool": tool}).hosts["a"].volumes
    assert "/b" in path({}, transfer={**MOVE, "tool": {"name": "smb", "client": "source"}}).hosts["a"].volumes
    assert "/a" in path({}, transfer={**MOVE, "tool": "smb"}).hosts["b"].volumes
    for server in ({"like": "Synology DS920+"}, {"kind": "nas"}, {"os": "TrueNAS CORE 13"}):
        assert "/b" in path({}, server, transfer={**MOVE, "tool": "smb"}).hosts["a"].volumes
    assert "/a" in path({"kind": "nas"}, {"kind": "nas"}, transfer={**MOVE, "tool": "smb"}).hosts["b"].volumes


@pytest.mark.parametrize(("desk", "tool", "mounts"), rows("description/tables", "who_sits_at_a_desk_mounts_the_server"))
def test_who_sits_at_a_desk_mounts_the_server(desk: object, tool: str, mounts: bool) -> None:
    """Else the destination mounts the source."""
    found = path(desk, {"volumes": {"/data": "any-disk"}}, transfer={**MOVE, "tool": tool, "from": "a:/data"})
    assert ("/b" in found.hosts["a"].volumes, "/a" in found.hosts["b"].volumes) == (mounts, not mounts)


def test_options_of_a_share_are_those_of_its_mount() -> None:
    """Those of NFS belong to what the client mounts, robocopy's to the program; others are refused."""
    made = path({}, transfer={**MOVE, "tool": {"name": "nfs", "nconnect": "4"}})
    assert made.hosts["b"].volumes["/a"].filesystem.nconnect == 4
    copied = path({}, transfer={**MOVE, "tool": {"name": "robocopy", "J": "true"}})
    assert copied.transfers[0].tool.J
    with pytest.raises(SpecError, match=r"cipher: is not a key here .*leave it out: NFS by Kerberos or TLS"):
        path({}, transfer={**MOVE, "tool": {"name": "nfs", "cipher": "aes256-ctr"}})


def test_words_for_networks_are_taken_or_refused_aloud() -> None:
    def notes(medium: str) -> list[str]:
        return path({}, wan={**WAN, "medium": medium}).notes

    assert "medium: lan is taken as campus" in notes("lan")
    assert any(n.startswith("medium: wifi tells no loss; instead: leave 'medium' out") for n in notes("wifi"))
    assert notes("campus") == notes("lab")
    assert "medium: hospital LAN is taken as campus" in notes("hospital LAN")
    assert "medium: geostationary satellite is taken as satellite" in notes("geostationary satellite")
    with pytest.raises(SpecError, match=r"wan\.0\.medium: is no kind of network here; instead: the medium of the line"):
        notes("wireguard")


@pytest.mark.parametrize(("medium", "ms"), [("VSAT", 620), ("geostationary satellite", 620), ("Starlink", 45)])
def test_a_satellite_that_stands_still_is_far_away(medium: str, ms: float) -> None:
    """Where nobody states the round trip: 35,786 km up and down, there and back, are 477 ms at least."""
    told = {"bandwidth": "1 Mb/s", "medium": medium}
    for more in ({"wan": told}, {"wan": None, "links": {"l": {**told, "between": ["a", "b"]}}}):
        made = load({"hosts": {"a": {}, "b": {}}, "transfer": MOVE} | {k: v for k, v in more.items() if v})
        (segment,) = [*made.wan, *made.links.values()]
        assert segment.rtt.value == pytest.approx(ms / 1e3)


def test_options_of_rclone_that_people_type() -> None:
    """Those that change no time are taken; those that do and are not modelled are said in the answer."""
    line = "rclone copy --transfers 8 --use-cookies"
    line += " --no-check-dest --buffer-size 64M --order-by=size"
    assert parse(line) == {
        "name": "rclone",
        "transfers": "8",
        "unmodelled": ["--no-check-dest", "--buffer-size", "--order-by=size"],
    }
    answer = dtnsim.predict(path({}, transfer={**MOVE, "tool": line}), samples=0)
    assert any("rclone has --no-check-dest, --buffer-size" in warning for warning in answer.warnings)
    quiet = dtnsim.predict(path({}, transfer={**MOVE, "tool": "rclone copy --transfers 8 --use-cookies"}), samples=0)
    assert not any("not modelled" in warning for warning in quiet.warnings)


def test_a_bond_by_the_number_before_it() -> None:
    card = path({"nic": "bonded 4x 10G"}).hosts["a"].nics["nic"]
    assert (card.ports, card.bonding, card.rate.value) == (4, "hash", pytest.approx(1.25e9))
    for word in ("lacp", "802.3ad", "LACP"):
        card = path({"nics": {"bond": {"rate": "1 Gb/s", "ports": 4, "bonding": word}}}).hosts["a"].nics["bond"]
        assert card.bonding == "hash"


def test_a_card_of_which_the_maker_alone_is_known_is_one_of_its_years() -> None:
    named, drawn = path({"year": 2012, "nic": "Chelsio adapter"}), path({"year": 2012, "nic": "unknown"})
    assert named.hosts["a"].nics == drawn.hosts["a"].nics
    assert any("drawn from those of its years" in note for note in named.notes)


@pytest.mark.parametrize(("spoken", "plain"), rows("description/tables", "levels_and_members_in_words"))
def test_levels_and_members_in_words(spoken: dict[str, Any], plain: dict[str, Any]) -> None:
    found, meant = _array({"array": spoken}), _array({"array": plain})
    assert _shape(found) == _shape(meant)


def test_a_volume_that_is_its_drives() -> None:
    assert path({"volumes": {"/data": "any-nvme"}}).hosts["a"].volumes["/data"].array.part == "any-nvme"


def test_lines_of_tools_that_have_no_manner_of_their_own() -> None:
    """Options under the names of the kind; a test of a volume has that volume for both ends."""
    assert parse("globus --concurrency 4 --parallelism 8") == {"name": "globus", "concurrency": "4", "parallelism": "8"}
    line = "fio --rw=write --bs=1M --iodepth=16 --direct=1 --size=10G"
    assert path({}, transfer={"to": "a:/data", "tool": line}).transfers[0].source_end == "a:/data"
    with pytest.raises(SpecError, match=r"transfers\.0\.from: is missing"):
        path({}, transfer={"to": "a:/data", "tool": "rsync"})


@pytest.mark.parametrize(("name", "kernel"), [("Debian Wheezy", "debian"), ("Proxmox VE 8", "proxmox 8")])
def test_a_system_with_more_words(name: str, kernel: str) -> None:
    assert path({"os": name, "year": 2020}).hosts["a"].stack == path({"os": kernel, "year": 2020}).hosts["a"].stack


def test_names_in_braces_and_what_yaml_cannot_read(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    text = "hosts: {dtn{1..2}: {nic: 10G}}\nwan: {bandwidth: 10 Gb/s}\n"
    text += "transfer: {from: dtn1:/d, to: dtn2:/d, tool: globus}\n"
    file.write_text(text)
    assert list(dtnsim.load(file).hosts) == ["dtn1", "dtn2"]
    file.write_text(text.replace("tool: globus", "tool: rsync -a x:, y"))
    with pytest.raises(SpecError, match=r"p\.yaml:3: is not YAML: .*; put a value that holds : , # or brackets"):
        dtnsim.load(file)


def test_a_model_by_the_letter_behind_it() -> None:
    given = load({"hosts": {"a": "Raspberry Pi 4B", "b": "TerraMaster F4 SSD"}, "wan": WAN, "transfer": MOVE})
    assert given.host_files == {"a": "raspberry-pi-4", "b": "terramaster-f4-ssd"}


@pytest.mark.parametrize(("host", "tool", "said"), rows("description/refused", "what has no model"))
def test_what_has_no_model_is_refused_with_what_to_write(host: dict[str, Any], tool: str, said: str) -> None:
    with pytest.raises(SpecError) as refused:
        path(host, transfer={**MOVE, "tool": tool})
    assert said in str(refused.value)


def test_a_rate_with_a_letter_is_that_of_the_program() -> None:
    """ascp -l 10G is 10 Gb/s, and no size of 10 GiB; rsync's and rclone's are in bytes."""
    for tool, option, Bps in (({"l": "10G"}, "target", 1.25e9), ({"bwlimit": "10G"}, "bwlimit", 10 * 2.0**30)):
        made = path({}, transfer={**MOVE, "tool": {"name": "ascp" if "l" in tool else "rclone", **tool}})
        assert getattr(made.transfers[0].tool, option).value == pytest.approx(Bps)


def test_a_card_between_host_and_drives_by_its_name_alone_is_no_limit() -> None:
    drives = {"filesystem": "xfs", "array": "any-disk"}
    named, plain = ({"volumes": {"/data": {**drives, **via}}} for via in ({"via": "3ware 9650"}, {}))
    assert path(named).hosts["a"] == path(plain).hosts["a"]
    assert any("/data.via: '3ware 9650' tells no limit" in note for note in path(named).notes)


def test_kinds_are_known_in_any_case_of_letters() -> None:
    assert find_kind("EXT4") is find_kind("ext4")
    assert find_kind("Rsync") is find_kind("rsync")


@pytest.mark.parametrize(
    ("wan", "rate", "medium"),
    [("10GbE", 1.25e9, None), ("LAN", 1.25e11, "campus"), ({"medium": "isolated"}, 1.25e11, "lab")],
)
def test_a_segment_by_its_rate_or_its_kind_alone(wan: Any, rate: float, medium: str | None) -> None:
    """`spoken_paths`: one of unknown rate is no limit beside the cards where both ends are near."""
    made = load({"hosts": {"a": {}, "b": {}}, "wan": wan, "transfer": MOVE}).wan[0]
    assert (made.bandwidth.value, made.medium) == (rate, medium)


def test_a_segment_of_unknown_rate_between_distant_hosts_is_refused() -> None:
    with pytest.raises(SpecError, match=r"wan\.0\.bandwidth: is missing"):
        load({"hosts": {"a": {}, "b": {}}, "wan": {"rtt": "5 ms"}, "transfer": MOVE})


@pytest.mark.parametrize("disks", ["any-disk", {"kind": "raid", "level": 6, "disks": 8, "of": "any-disk"}])
def test_a_disk_of_an_unknown_model_is_as_fast_as_those_of_its_year(disks: Any) -> None:
    """Tom's Hardware, 15 years of hard drive history: 64 MB/s in 2006."""

    def rate(**year: int) -> float:
        array = path({"volumes": {"/data": {"array": disks}}, **year}).hosts["a"].volumes["/data"].array
        return getattr(array, "of", array).rate.value

    assert rate(year=2006) == pytest.approx(64e6, rel=0.35)
    assert rate(year=2006) < rate(year=2010) < rate(year=2015) < rate(year=2020) == rate() == pytest.approx(190e6)


def test_like_hosts_written_once_mount_one_file_system() -> None:
    """``count``: eight clients of four targets get what the targets have, and not eight times that."""
    lustre = {"volumes": {"/l": {"filesystem": {"kind": "lustre", "targets": "4"}}}}
    fio = {"tool": {"name": "fio", "rw": "read"}, "dataset": {"files": 80, "size": "1 TB"}}

    def read(name: str, first: str = "a", **more: str) -> PathSpec:
        move = {"from": f"{first}:/l", "to": f"{first}:memory", **fio}
        return load({"hosts": {name: {**lustre, **more}}, "transfer": move})

    one, eight, apart = read("a"), read("a", count="8"), read("a{1..8}", "a1")
    assert {h.volumes["/l"].filesystem.system for h in eight.hosts.values()} == {"a/l"}
    assert {h.volumes["/l"].filesystem.system for h in (*apart.hosts.values(), *one.hosts.values())} == {None}
    assert any("the 8 hosts mount one lustre" in note for note in eight.notes)
    all_of_it = dtnsim.predict(eight, samples=0)
    assert "a/l.targets" in str(all_of_it.bottleneck)


@cases("name, cores, clock_GHz, work", rows("description/tables", "small_processors_do_not_work_as_server_cores"))
def test_small_processors_do_not_work_as_server_cores(name: str, cores: int, clock_GHz: float, work: float) -> None:
    """What a name tells of cores, clock and work of a cycle (Wikipedia, Instructions per second; Arm's DMIPS/MHz)."""
    cpu = path({"cpu": name}).hosts["a"].cpu
    assert (cpu.cores, cpu.clock.value / 1e9, cpu.per_cycle.value) == (cores, pytest.approx(clock_GHz), work)


@pytest.mark.parametrize(("line", "said"), rows("description/spoken", "arrays in a line"))
def test_what_a_line_tells(line: str, said: list[str | None] | None) -> None:
    found = array_in_a_line(line)
    assert (None if found is None else list(found)) == said


@pytest.mark.parametrize(("words", "plain"), rows("description/spoken", "arrays of a volume"))
def test_arrays_in_a_line(words: str, plain: dict[str, Any]) -> None:
    """How many drives were read is said; none is one drive alone."""
    made = path({"volumes": {"/data": {"array": words}}})
    found, meant = made.hosts["a"].volumes["/data"].array, _array({"array": plain})
    assert _shape(found) == _shape(meant)
    assert any(
        f"{words!r} is taken as " in n and f" {plain['disks']!s} drives" in n.replace("8+2", "10") for n in made.notes
    )


def test_a_raid_of_which_the_number_is_not_said_is_no_single_drive() -> None:
    """Its number is drawn, and said to be; where the level is not said either, it is a RAID of such drives."""
    for words, part in (("RAID 6 SATA", "disk-raid"), ("SSD RAID", "ssd-raid"), ("RAID 5", "unknown")):
        made = path({"volumes": {"/data": {"array": words}}})
        assert made.hosts["a"].volumes["/data"].array.part == part
        assert any("/data.array" in note for note in made.notes)
