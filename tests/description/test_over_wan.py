"""A path of one host: its WAN leads to the servers of what it mounts."""

from typing import Any

import pytest

from tests.lab import journey, machine, volume
from tests.strategies import load

FILER = {"kind": "nfs", "servers": {"count": 1, "port_rate": "10 Gb/s"}}
TOOL = {"name": "dd", "bs": "1 MiB"}


def path(**mounts: Any) -> dict[str, Any]:
    host = machine(volumes={f"/{name}": volume(**given) for name, given in mounts.items()})
    made = journey(host, start="a:/nfs", to="a:/dev/null", tool=TOOL, dataset={"files": 1, "size": "1 GB"})
    return made | {"hosts": {"a": host}, "wan": {"bandwidth": "10 Gb/s", "rtt": "7 ms"}}


@pytest.mark.parametrize(
    ("mounts", "ways"),
    [
        ({"nfs": {"filesystem": FILER}}, {"/nfs": ["wan"]}),
        ({"nfs": {"filesystem": FILER, "over": ["wan"]}}, {"/nfs": ["wan"]}),
        # who says it of one has said that the others are near
        (
            {"nfs": {"filesystem": FILER}, "s3": {"filesystem": {"kind": "s3"}, "over": ["wan"]}},
            {"/nfs": [], "/s3": ["wan"]},
        ),
        ({"nfs": {"filesystem": {"kind": "xfs"}}}, {"/nfs": []}),
        ({"nfs": {"filesystem": {"kind": "lustre"}}}, {"/nfs": []}),  # its network is its own
    ],
)
def test_the_wan_leads_to_servers_where_no_other_host_is(mounts: dict[str, Any], ways: dict[str, list[str]]) -> None:
    spec = load(path(**mounts))
    assert {name: mount.over for name, mount in spec.hosts["a"].volumes.items()} == ways


def test_a_second_host_is_what_the_wan_leads_to() -> None:
    made = path(nfs={"filesystem": FILER})
    made["hosts"]["b"] = machine()
    assert load(made).hosts["a"].volumes["/nfs"].over == []
