"""A path of one host: its WAN leads to the servers of what it mounts."""

from pathlib import Path
from typing import Any

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.errors import SpecError
from tests.each import cases, rows
from tests.lab import journey, machine, volume
from tests.strategies import load, written

FILER = rows("description/over_wan", "given")["FILER"]
TOOL = {"name": "dd", "bs": "1 MiB"}


def path(**mounts: Any) -> dict[str, Any]:
    host = machine(volumes={f"/{name}": volume(**given) for name, given in mounts.items()})
    made = journey(host, start="a:/nfs", to="a:/dev/null", tool=TOOL, dataset={"files": 1, "size": "1 GB"})
    return made | {"hosts": {"a": host}, "wan": {"bandwidth": "10 Gb/s", "rtt": "7 ms"}}


@cases("mounts, ways", rows("description/over_wan", "the_wan_leads_to_servers_where_no_other_host_is"))
def test_the_wan_leads_to_servers_where_no_other_host_is(mounts: dict[str, Any], ways: dict[str, list[str]]) -> None:
    spec = load(path(**mounts))
    assert {name: mount.over for name, mount in spec.hosts["a"].volumes.items()} == ways


def test_a_second_host_is_what_the_wan_leads_to() -> None:
    made = path(nfs={"filesystem": FILER})
    made["hosts"]["b"] = machine()
    assert load(made).hosts["a"].volumes["/nfs"].over == []


BUCKETS = """
hosts:
  pc: {year: 2022, nic: 1 Gb/s}
  s3: {volumes: {/bucket: %s}}
wan: {rtt: 20 ms, bandwidth: 1 Gb/s}
transfer%s
"""
MOVE = "{from: pc:/home, to: s3:/bucket/new, tool: rclone, dataset: {files: 2000, size: 200 GB}}"


@pytest.mark.parametrize(("volume", "moves"), rows("description/tables", "buckets_written_as_hosts"))
def test_a_bucket_written_as_a_host_is_a_volume_over_the_wan(volume: str, moves: str, tmp_path: Path) -> None:
    """It had a card of its own, drawn like a server's, and `plan` bought it another."""
    given = spec.load(written(tmp_path / "path.yaml", BUCKETS % (volume, moves.replace("MOVE", MOVE))))
    assert list(given.hosts) == ["pc"]
    assert given.hosts["pc"].volumes["/s3/bucket"].over == ["wan"]
    assert given.transfers[0].to == "pc:/s3/bucket/new"
    assert given.transfers[-1].source_end in ("pc:/home", "pc:/s3/bucket")
    assert any("hosts.s3: a bucket is no machine" in note and "volumes./s3/bucket" in note for note in given.notes)
    assert dtnsim.predict(given, samples=0).ceiling > 0


def test_what_is_said_to_be_a_machine_or_holds_files_is_a_host(tmp_path: Path) -> None:
    for host in ("{filesystem: s3}}, nic: {rate: 10 Gb/s}", "{filesystem: nfs}}", "{filesystem: zfs}}"):
        text = BUCKETS.replace("%s}}\nwan", f"{host}}}\nwan").replace("%s\n", f": {MOVE}\n")
        assert list(spec.load(written(tmp_path / "path.yaml", text)).hosts) == ["pc", "s3"]


def test_a_bucket_whose_name_another_begins_with_is_not_that_one(tmp_path: Path) -> None:
    """It was read as a volume of the other end, which that was then said to lack."""
    text = BUCKETS % ("s3", f": {MOVE.replace('/bucket/', '/buckets/')}")
    with pytest.raises(SpecError, match="host 's3' has no volume for /buckets/new"):
        spec.load(written(tmp_path / "path.yaml", text))
