"""A path whose disks are slower than its network, written as data, and what makes paths of it."""

import copy
from typing import Any

import yaml

from dtnsim.description import spec
from dtnsim.ground import yamlio
from tests.each import rows

GIVEN = rows("simulation/tables", "slow")

HOST, DISKS, SLOW = (GIVEN[name] for name in ("HOST", "DISKS", "SLOW"))
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
