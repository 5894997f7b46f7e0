"""SMB 3: credits in flight, channels, work at both ends."""

from typing import Any

import pytest

from dtnsim.ground.errors import SpecError
from dtnsim.physics.core_rates import CORE_RATES
from tests.lab import FREE, KiB, MiB, Sheet, journey, machine, problem, sheet, volume

FAST = {"kind": "ssd", "read": "1 TB/s", "write": "1 TB/s", "link": "1 TB/s"}


def path(*, reading: bool = False, kernel: str = "5.15", **given: Any) -> dict[str, Any]:
    """A client ``a`` that reads from, or writes to, a share of ``b``."""
    client = machine(
        stack={**FREE, "kernel": kernel},
        volumes={"/s": volume(filesystem={"kind": "smb", "service": "0 s", **given}, server="b:/share")},
    )
    start, to = ("a:/s", "a:/dev/null") if reading else ("a:memory", "a:/s")
    tool = {"name": "dd", "bs": "1 MiB", **({} if reading else {"conv": "fdatasync"})}
    wan = {"bandwidth": "100 Tb/s", "rtt": "10 ms"}
    return journey(client, machine(volumes={"/share": volume(FAST)}), wan=wan, start=start, to=to, tool=tool,
                   dataset={"files": 1, "size": "100 TB"})  # fmt: skip


def charges(**given: Any) -> Sheet:
    return sheet(problem(path(**given)))


@pytest.mark.parametrize("channels", [1, 4])
def test_credits_over_the_round_trip(channels: int) -> None:
    """A credit is 64 KiB (MS-SMB2, 3.1.5.2): c x 64 KiB / T a channel."""
    found = charges(credits=512, channels=channels)
    assert found.rate("s.smb-slots") == pytest.approx(channels * 512 * 64 * KiB / 10e-3, rel=1e-3)


@pytest.mark.parametrize(("kernel", "ahead"), [("4.19", 1), ("5.4", 4), ("5.15", 8)])
def test_older_clients_ask_for_less(kernel: str, ahead: int) -> None:
    """Requests of 1 MiB before Linux 4.20 (commit 3d621230b867), one of them ahead before 5.13 (cifs_read_super)."""
    found = charges(reading=True, kernel=kernel)
    assert found.rate("s.read-ahead") == pytest.approx(2 * ahead * MiB / 10e-3, rel=2e-3)


def test_encryption_costs_both_ends() -> None:
    """AES-128-GCM on the core of the connection at the client and at the server; signing half of it."""
    cost = CORE_RATES["aes128_gcm"].cycles_per_byte
    plain, safe, signed = charges(), charges(encrypt=True), charges(sign=True)
    for core in ("a.cpu.kernel SMB[a-b smb]", "b.cpu.kernel SMB[a-b smb]"):
        assert safe.demand(core) - plain.demand(core) == pytest.approx(cost, rel=1e-3)
        assert signed.demand(core) - plain.demand(core) == pytest.approx(0.4, rel=1e-3)


def test_channels_are_connections_of_their_own_to_one_thread_of_the_server() -> None:
    """fs2, September 2026: 'one thread handles all channels of one session'; some 2 GB/s at most of a core."""
    one, four = (charges(channels=n) for n in (1, 4))
    assert four.rate("a.cpu.kernel SMB[a-b smb]") == pytest.approx(4 * one.rate("a.cpu.kernel SMB[a-b smb]"))
    one, four = (charges(channels=n, reading=True) for n in (1, 4))
    name = "b.cpu.kernel SMB[a-b smb]"
    assert four.rate(name) == pytest.approx(one.rate(name))
    assert one.demand(name) >= 0.7


def test_a_file_system_without_servers_has_no_server() -> None:
    host = machine(volumes={"/s": volume(filesystem="xfs", server="b:/share")})
    with pytest.raises(SpecError, match="has no server"):
        problem(journey(host, machine(volumes={"/share": volume(FAST)}), start="a:/s", tool="gridftp"))


@pytest.mark.parametrize(
    ("stack", "made", "read"),
    [({"kernel": "5.15"}, 3, 2), ({"kernel": "5.4"}, 4, 3), ({"part": "windows"}, 4, 3), ({"part": "macos"}, 8, 5)],
)
def test_a_file_takes_the_round_trips_of_its_client(stack: dict[str, Any], made: int, read: int) -> None:
    """cp: a look-up, a CREATE, a WRITE and a CLOSE, of which Linux keeps back the last (cifs_close, from 5.13 on).

    Read, a look-up, an open and a close. Apple's asks once more around each and sets the size (smbfs_vnops.c).
    """
    for trips, (start, to) in {made: ("a:/local", "a:/s"), read: ("a:/s", "a:/local")}.items():
        given = path(op_time="0 s")
        host = given["hosts"]["a"]
        host["stack"] = {**FREE, **stack}
        host["volumes"]["/local"] = volume(FAST, filesystem={"kind": "xfs", "op_time": "0 s", "change_time": "0 s"})
        files = {"files": 1000, "each": "1 kB"}
        found = problem({**given, "transfer": {"from": start, "to": to, "tool": "cp", "dataset": files}})
        waits = [d for p in found.transfers[0].phases for d in p.delays if d.what.startswith("file operations x")]
        assert sum(float(d.per_byte) for d in waits) * 1000 == pytest.approx(trips * 10e-3, rel=1e-3)


@pytest.mark.parametrize(("stack", "held"), [("linux-modern", True), ("macos", True), ("windows", False)])
def test_a_client_holds_a_folder_where_its_system_locks_it(stack: str, held: bool) -> None:
    """Linux: i_rwsem over a CREATE; macOS: smbfs_vnop_create; robocopy's threads make names side by side."""
    given = path()
    given["hosts"]["a"]["stack"] = {**FREE, "part": stack}
    given["hosts"]["a"]["volumes"]["/local"] = volume(FAST)
    data, tool = {"files": 64000, "each": "1 kB", "directories": 1}, {"name": "robocopy", "MT": 32}
    made = problem({**given, "transfer": {"from": "a:/local", "to": "a:/s", "tool": tool, "dataset": data}})
    assert any(s.name == "a.s.folder" for s in made.stations) is held


def test_what_disks_of_a_server_acknowledge_is_nothing_to_who_reads() -> None:
    """Where ZFS reads nothing ahead (2.0, several threads), a block has just passed the heads: one turn."""
    found = set()
    for cache in ("volatile", "none", "protected"):
        made = path(reading=True)
        disks = {"kind": "raidz2", "disks": 8, "of": {"kind": "hdd", "rate": "250 MB/s", "write_cache": cache}}
        made["hosts"]["b"]["volumes"]["/share"] = volume(disks, {"kind": "zfs", "version": "2.0"})
        found.add(sheet(problem(made)).rate("s.read-ahead"))
    assert len(found) == 1
    assert found.pop() < 16 * MiB / (10e-3 + 1 / 120)
