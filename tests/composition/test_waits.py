"""What a medium does of a page cache's bytes while the worker is at another step."""

from __future__ import annotations

import pytest

from dtnsim.composition import waits
from dtnsim.ground.records import Demand, Phase, Station
from tests.lab import journey, machine, rate, volume

#: a wire of 100 B/s, and a drive of 50 that is written behind a cache with all the room there is
STATIONS = {
    "wire": Station("wire", "nic", "link", "network", 100.0, "B"),
    "drive": Station("drive", "disk", "array", "storage", 50.0, "B"),
}
Drive = dict[str, object]
WIRE, WRITTEN = Demand("wire", 1.0, "sent"), Demand("drive", 1.0, "written", below_cache=True)


@pytest.mark.parametrize("read", [0.25, 0.5, 1.0, 3.0])
def test_one_worker_who_reads_its_drive_again_leaves_it_no_pause(read: float) -> None:
    """The drive writes while the wire fills the cache, and goes on while it is read: each byte takes what it asks for.

    As long as more is left to write than the copy hides, and less than the verification takes, both follow each other
    without a pause; otherwise the worker waits for one of them. If all went on during verification, as it may where
    other workers fill the cache meanwhile, the drive would stand idle while this one copies.
    """
    copy = Phase("copy", (WIRE, WRITTEN), step="copy")
    again = Phase("verification", (Demand("drive", read, "read"),), step="verification")
    made = waits.hidden_by_medium([copy, again], copy, STATIONS, cache=(1.0, 0.0, 0.0), workers=1)
    lasts = sum(waits.time_alone(STATIONS, phase.demands, 1) for phase in made)
    assert lasts == pytest.approx((1.0 + read) / 50.0)


@pytest.mark.parametrize("drive", [{"kind": "hdd"}, {"kind": "ssd", "write": "1 GB/s"}])
@pytest.mark.parametrize("array", [{}, {"kind": "raid", "level": 6, "disks": 8}, {"kind": "raidz", "disks": 10}])
@pytest.mark.parametrize("tool", ["scp", "rsync", "curl"])
def test_faster_drives_never_lower_what_one_worker_brings(tool: str, array: Drive, drive: Drive) -> None:
    """What comes after a file's first bytes covers as much of them, or as little, whatever the drives take."""
    for size in (3e5, 2e6, 3e7):
        found, ways = [], {"tool": tool, "dataset": {"files": 1000, "size": f"{1000 * size} B"}}
        for speed in (100, 200, 800, 3200):
            one = {**drive, "rate" if drive["kind"] == "hdd" else "read": f"{speed} MB/s"}
            host = machine(volumes={"/d": volume({**array, "of": one} if array else one)})
            found.append(rate(journey(host, start="a:/d", wan={"bandwidth": "1 Gb/s", "rtt": "1 ms"}, **ways)))
        assert found == pytest.approx(sorted(found), rel=1e-4)
