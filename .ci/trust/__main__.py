"""What dtnsim is tried with, from outside: mutants, random paths, faults, growth; and the table of what was counted.

python .ci/trust FAMILY [COUNT [FIRST]]   tries so many of a family (numbers from FIRST; an hour of them at most)
python .ci/trust FAMILY --again           tries those again that were wrong
python .ci/trust table                    writes docs/trust.md of all that was counted
python .ci/trust                          lists the families
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT)]

import counts  # noqa: E402 - these lie beside this file

#: family -> module of this folder; a family's function takes a number and says what is wrong, or None
FAMILIES = {
    "paths": "mutants",
    "files": "mutants",
    "logs": "mutants",
    "missing": "missing",
    "valid": "valid",
    "stops": "stops",
    "faults": "faults",
    "growth": "growth",
    "code": "code",
}


def main() -> int:
    """Tries what is asked for; 1 where anything was wrong."""
    if len(sys.argv) < 2 or sys.argv[1] not in (*FAMILIES, "table"):
        print(__doc__, *FAMILIES, sep="\n")
        return 2
    name = sys.argv[1]
    if name == "table":
        counts.write_table()
        return 0
    family = importlib.import_module(FAMILIES[name])
    known = counts.read().get(name, {"tried": 0, "wrong": {}})
    if "--again" in sys.argv:
        numbers = [int(n) for n in known["wrong"]]
    else:
        count = int(sys.argv[2]) if len(sys.argv) > 2 else family.USUAL[name]
        first = int(sys.argv[3]) if len(sys.argv) > 3 else known.get("next", 0)
        numbers = list(range(first, first + count))
    limit = time.monotonic() + float(os.environ.get("TRUST_SECONDS", "3600"))
    bad = tried = 0
    for number in numbers:
        try:
            problem = getattr(family, name)(number)
        except counts.SkippedError as skipped:
            print(f"{name} {number} is skipped: {skipped}", flush=True)
            continue
        tried += 1
        if problem is not None:
            bad += 1
            print(f"{name} {number}: {problem}", flush=True)
        counts.add(name, number, problem)
        if time.monotonic() > limit:
            break
    print(f"{name}: {tried} tried, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
