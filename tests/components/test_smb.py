"""SMB 3: credits in flight, channels, work at both ends."""

from typing import Any

import pytest

from dtnsim.physics.core_rates import CORE_RATES
from tests.lab import FREE, Sheet, journey, machine, problem, sheet, volume

FAST = {"kind": "ssd", "read": "1 TB/s", "write": "1 TB/s", "link": "1 TB/s"}


def path(**given: Any) -> dict[str, Any]:
    """A client ``a`` that writes to a share of ``b``."""
    mount = volume(filesystem={"kind": "smb", "service": "0 s", **given}, server="b:/share")
    client = machine(stack={**FREE, "kernel": "5.15"}, volumes={"/s": mount})
    tool, wan = {"name": "dd", "bs": "1 MiB", "conv": "fdatasync"}, {"bandwidth": "100 Tb/s", "rtt": "10 ms"}
    server, data = machine(volumes={"/share": volume(FAST)}), {"files": 1, "size": "100 TB"}
    return journey(client, server, wan=wan, start="a:memory", to="a:/s", tool=tool, dataset=data)


def charges(**given: Any) -> Sheet:
    return sheet(problem(path(**given)))


def test_encryption_costs_both_ends() -> None:
    """AES-128-GCM on the core of the connection at the client and at the server; signing half of it."""
    cost = CORE_RATES["aes128_gcm"].cycles_per_byte
    plain, safe, signed = charges(), charges(encrypt=True), charges(sign=True)
    for core in ("a.cpu.kernel SMB[a-b smb]", "b.cpu.kernel SMB[a-b smb]"):
        assert safe.demand(core) - plain.demand(core) == pytest.approx(cost, rel=1e-3)
        assert signed.demand(core) - plain.demand(core) == pytest.approx(0.4, rel=1e-3)


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
