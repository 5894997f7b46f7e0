"""Counts of what was tried, kept in counts.json beside this file, and the table that is made of them."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILE = Path(os.environ.get("TRUST_COUNTS", HERE / "counts.json"))
TABLE = HERE.parents[1] / "docs" / "trust.md"


def read() -> dict[str, Any]:
    """Of each family: how many were tried, how many were ever wrong, which still are, and where to go on."""
    return dict(json.loads(FILE.read_text())) if FILE.is_file() else {}


def add(name: str, number: int, problem: str | None) -> None:
    """Counts one; several processes may do so at once. What is tried again is wrong or mended, and no new one."""
    with FILE.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read()
        of = known.setdefault(name, {"tried": 0, "found": 0, "wrong": {}, "next": 0})
        again = of["wrong"].pop(str(number), None) is not None
        of["tried"] += not again
        of["found"] += problem is not None and not again
        of["next"] = max(of["next"], number + 1)
        if problem is not None:
            of["wrong"][str(number)] = problem.strip().splitlines()[-1][:120]
        new = FILE.with_suffix(".new")
        new.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        new.replace(FILE)
