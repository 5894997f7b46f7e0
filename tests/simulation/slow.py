"""A path whose disks are slower than its network, written as data, and what makes paths of it."""

import copy
from typing import Any

import yaml

from dtnsim.description import spec
from dtnsim.ground import yamlio

HOST: dict[str, Any] = {
    "cpu": {"kind": "cpu", "cores": 8, "clock": "3 GHz"},
    "memory": {"kind": "memory", "channels": 4, "rate": "2400 MT/s", "size": "64 GiB"},
    "nic": {"kind": "nic", "rate": "10 Gb/s", "mtu": "9000 B"},
    "tcp": {"rmem_max": "2 GiB", "wmem_max": "2 GiB"},
}
DISKS: dict[str, Any] = {"kind": "raid", "level": 5, "disks": 5, "software": False,
                         "of": {"kind": "hdd", "rate": "100 MB/s"}}  # fmt: skip
SLOW: dict[str, Any] = {
    "name": "slow disks",
    "hosts": {
        "a": HOST,
        "b": {**HOST, "volumes": {"/data": {"filesystem": {"kind": "xfs"}, "array": DISKS}}},
    },
    "wan": {"rtt": "1 ms", "bandwidth": "10 Gb/s"},
    "transfer": {
        "from": "a:memory", "to": "b:/data", "tool": {"name": "gridftp", "p": 1, "vb": True},
        "dataset": {"files": 1, "size": "100 GB"},
    },
}  # fmt: skip
#: the same between memories
FAST: dict[str, Any] = {**SLOW, "transfer": {**SLOW["transfer"], "to": "b:memory"}}


def make(path: dict[str, Any], **changes: Any) -> spec.PathSpec:
    """A path with keys changed: ``transfer__to="b:memory"``."""
    data = copy.deepcopy(path)
    for key, value in changes.items():
        where = data
        *steps, last = key.split("__")
        for step in steps:
            where = where.setdefault(step, {})
        where[last] = value
    return spec.resolve(yamlio.loads(yaml.safe_dump(data), "t.yaml"))
