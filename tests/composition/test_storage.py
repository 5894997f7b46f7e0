"""What an access to a volume charges on its way: adapters side by side, one volume read and written at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab import journey, machine, problem, rate, sheet, volume

DISKS = {"kind": "ssd", "read": "1 GB/s", "write": "1 GB/s", "link": "10 GB/s", "interference": "0"}
HUGE = {"files": 1, "size": "100 TB"}
PORT = {"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B"}


@pytest.mark.parametrize("ports", [1, 2, 4])
@pytest.mark.parametrize("kind", ["lustre", "gpfs", "nfs", "xfs"])
def test_storage_nics_carry_equal_parts(kind: str, ports: int) -> None:
    """A volume behind two NICs: half of the bytes each, so twice the rate."""
    names = [f"data{n}" for n in range(ports)]
    disks = {"array": {**DISKS, "read": "1 TB/s", "link": "1 TB/s"}} if kind == "xfs" else {}
    held = volume(filesystem={"kind": kind}, via=names, **disks)
    host = machine(nics={"eth": machine()["nic"], **dict.fromkeys(names, PORT)}, volumes={"/v": held})
    del host["nic"]
    found = sheet(problem(journey(host, start="a:/v", tool="gridftp", dataset=HUGE)))
    wires = [found.rate(f"{name}.port0.rx") for name in names]
    assert len(set(wires)) == 1
    assert wires[0] == pytest.approx(ports * 1.25e9, rel=0.03)


def copy(start: str, to: str) -> dict[str, Any]:
    """``dd if=file of=file`` on a host with two volumes."""
    host = machine(volumes={"/d": volume(DISKS), "/e": volume(DISKS)})
    return journey(host, start=start, to=to, tool={"name": "dd", "bs": "1 MiB"}, dataset=HUGE)


def test_dd_from_a_file_to_a_file_reads_and_writes() -> None:
    """One drive does both: half of its rate; two drives each do one."""
    same, apart = sheet(problem(copy("a:/d/x", "a:/d/y"))), sheet(problem(copy("a:/d/x", "a:/e/y")))
    assert same.demand("d.ssds") == pytest.approx(2.0, rel=1e-2)  # less what the cache keeps
    assert apart.demand("d.ssds") == pytest.approx(1.0)
    assert apart.demand("e.ssds") == pytest.approx(1.0, rel=1e-2)
    assert rate(copy("a:/d/x", "a:/e/y")) == pytest.approx(1e9, rel=1e-2)
    assert rate(copy("a:/d/x", "a:/d/y")) == pytest.approx(0.5e9, rel=1e-2)
    # the program's thread reads and writes
    assert not same.has("network.wan")
