"""Every parameter of the file systems moves an answer on a path where it should matter, or is refused."""

from collections.abc import Sequence
from typing import Any

import pytest

from dtnsim.components.base import find_kind
from dtnsim.components.servers import MetadataServers, Servers
from dtnsim.ground.errors import SpecError
from tests.each import tables
from tests.lab import FREE, all_tried, journey, machine, moves, rate, volume

SSD = {"kind": "ssd", "read": "1 GB/s", "write": "1 GB/s", "link": "2 GB/s"}
HDD = {"kind": "raid", "level": 0, "disks": 4, "of": {"kind": "hdd", "rate": "200 MB/s"}}
TABLES = tables("components/keys_filesystems")
CASES = TABLES["cases"]


def built(kind: str, case: Sequence[Any], given: dict[str, Any]) -> dict[str, Any]:
    reads, tool, data = case[0]
    more = {**case[1], **given}
    server = more.pop("server", False)
    # a writer of 2 GB/s with room in the page cache
    host = {"vm": {}, "stack": {**FREE, "file_write_byte": "5 cycles/B"}} if more.pop("paced", False) else {}
    array = HDD if kind in ("xfs", "ext4") else None
    filesystem = {"kind": kind, **more}
    if "system" not in filesystem and kind not in ("xfs", "ext4"):
        filesystem["system"] = "s"
    mine = volume(array, filesystem, **({"server": "b:/export"} if server else {}))
    other = {**mine, "filesystem": {**filesystem, "system": "s"}} if "system" in filesystem else mine
    hosts = machine(volumes={"/v": mine}, **host), machine(volumes={"/export": volume(SSD), "/v": other})
    ends = ("a:/v", "a:/dev/null") if reads else ("a:memory", "a:/v")
    if tool["name"] == "gridftp":
        ends = ("a:/v", "b:memory") if reads else ("b:memory", "a:/v")
    made = journey(*hosts, start=ends[0], to=ends[1], tool=tool, dataset=data,
                   wan={"bandwidth": "100 Tb/s", "rtt": "1 ms"})  # fmt: skip
    if "system" in given:  # who shares the servers is seen by two
        both = [{"name": h, "from": f"{h}:/v", "to": f"{h}:/dev/null", "tool": tool, "dataset": data} for h in "ab"]
        made["transfers"] = both
        del made["transfer"]
    return made


@pytest.mark.parametrize(("kind", "field"), [(k, f) for k in CASES for f in CASES[k]])
def test_a_parameter_moves_the_answer(kind: str, field: str) -> None:
    case = CASES[kind][field]
    before = built(kind, case, {"system": "s"} if field == "system" else {})
    after = built(kind, case, {field: case[2]})
    assert moves(before, after)


@pytest.mark.parametrize("kind", list(CASES))
def test_every_parameter_is_tried_or_refused(kind: str) -> None:
    refused = set(getattr(find_kind(kind), "refused", {}))
    all_tried(kind, {*CASES[kind], *refused}, "keys_filesystems")
    for field in refused:
        with pytest.raises(SpecError, match="has no meaning"):
            rate(built(kind, CASES[kind]["share"], {field: "1 ms"}))


@pytest.mark.parametrize(("of", "field"), [(of, f) for of in ("servers", "metadata") for f in TABLES[of]])
def test_a_parameter_of_the_servers_moves_the_answer(of: str, field: str) -> None:
    kind, transfer, base, other = TABLES[of][field]
    servers = [base, {**base, field: other}]
    if of == "metadata":
        servers = [{"metadata": given} for given in servers]
    before, after = (built(kind, (transfer, {"servers": given}), {}) for given in servers)
    assert moves(before, after)


def test_every_parameter_of_the_servers_is_tried() -> None:
    all_tried(Servers, TABLES["servers"], "keys_filesystems")
    all_tried(MetadataServers, TABLES["metadata"], "keys_filesystems")
