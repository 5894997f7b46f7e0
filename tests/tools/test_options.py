"""Every option of the tools that were measured moves an answer somewhere, or is documentation and marked here."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from dtnsim.components.base import find_kind
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Quantity, Unit
from tests.lab import answer, journey, machine

TOOLS = (
    "scp", "sftp", "rsync", "tar-ssh", "tar-nc", "rclone", "lftp", "curl", "aria2", "xrdcp", "gridftp", "nfs-cp",
)  # fmt: skip
#: what a path file may say for the reader; the data set has it already
DOCUMENTATION = {"part", "source", "price", "r"}
#: options that matter only beside others
BESIDE: dict[str, dict[str, Any]] = {
    "ratio": {"compress": True}, "parallel_max": {"parallel": True}, "literal": {"whole_file": False},
    "sftp_disable_hashcheck": {"backend": "sftp"}, "sftp_concurrency": {"backend": "sftp"},
    "sftp_chunk_size": {"backend": "sftp"}, "ignore_checksum": {"backend": "sftp"}, "tls": {}, "k": {"x": 8},
    "s": {"x": 8, "k": "1 MB"}, "x": {"k": "1 MB"}, "whole_file": {"literal": "0.1"}, "checkers": {"backend": "http"},
    "client": {"third_party": False, "backend": "sftp", "version": "9.2"}, "compress": {"ratio": "3"},
    "parallel_chunks": {"chunk_size": "1 MB"}, "old_protocol": {"version": "9.2"},
}  # fmt: skip
#: what only processors, disks or another room feel; tested with them
CPU_OR_DISK = {
    "ssh",
    "channel",
    "hpn",
    "block",
    "record",
    "bs",
    "buffer",
    "cksum",
    "udt",
    "overhead",
    "archive",
    "cipher",
}
CPU_OR_DISK |= {"version"}
TRIED: dict[str, list[Any]] = {
    "B": ["2 KiB", "64 MiB"], "B/s": ["1 kB/s", "200 kB/s"], "cycles/B": ["9000 cycles/B"], "1": ["0.3", "3"],
}  # fmt: skip
DATA = [{"files": 64, "each": "40 MB"}, {"files": 300, "each": "20 kB"}, {"files": 1, "size": "3 GB"}]


def values(annotation: Any, metadata: tuple[Any, ...], now: Any) -> list[Any]:
    """Values of an option other than the one it has."""
    parts = [annotation, *get_args(annotation)]
    units = [u for m in (metadata, *(getattr(p, "__metadata__", ()) for p in parts)) for u in m if isinstance(u, Unit)]
    if isinstance(now, Quantity) or units:
        return TRIED[now.dim if isinstance(now, Quantity) else units[0].dim]
    if bool in parts:
        return [not now, True, False]
    if int in parts or isinstance(now, int):
        return [1, 2, 9, 300]
    words = [w for p in parts for w in (*get_args(p), *(v for q in get_args(p) for v in get_args(q)))]
    return [*(w for w in (*words, *get_args(annotation)) if isinstance(w, str)), "4.0", "8.9"]


def duration(kind: str, options: dict[str, Any], data: dict[str, Any]) -> float | None:
    host = machine(cpu={"kind": "cpu", "cores": 4, "clock": "3 GHz"})
    path = journey(
        host, host, tool={"name": kind, **options}, dataset=data, start="a:memory", to="b:memory",
        wan={"bandwidth": "1 Gb/s", "rtt": "30 ms"},
    )  # fmt: skip
    try:
        return answer(path).transfers[0].duration_s.p50
    except DtnsimError:
        return None


@pytest.mark.parametrize("kind", TOOLS)
def test_every_option_moves_an_answer(kind):
    model = find_kind(kind)
    given = {n: i for n, i in model.model_fields.items() if n not in DOCUMENTATION}
    default = model.build({"kind": kind})
    idle = []
    for name, info in given.items():
        around = {k: v for k, v in BESIDE.get(name, {}).items() if k in model.model_fields}
        if name in CPU_OR_DISK:
            continue
        tried = [v for v in values(info.annotation, tuple(info.metadata), getattr(default, name)) if v is not None]
        if not any(_moves(kind, name, v, around) for v in tried):
            idle.append(name)
    assert not idle


def _moves(kind: str, name: str, value: Any, around: dict[str, Any]) -> bool:
    for data in DATA:
        before, after = duration(kind, around, data), duration(kind, {**around, name: value}, data)
        if before is not None and after is not None and abs(after - before) > 1e-9 * before:
            return True
    return False
