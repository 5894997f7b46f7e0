"""Draws half of the sources of a set by lot: their figures are predicted only once the mechanisms are done.

Sources whose misses were known when the mechanisms were listed are in no lot: they are seen.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Final

import yaml

#: seed of each set's lot, and its sources that are seen
LOTS: Final = {
    "waits": (20261122, {"long-cat", "nyman"}),
    "found": (20261123, set[str]()),
    "fresh": (20261126, set[str]()),
}


def main() -> None:
    """Prints the sources of both halves of every set."""
    for site, (seed, seen) in LOTS.items():
        cases = yaml.safe_load((Path(__file__).parents[1] / site / "cases.yaml").read_text())["cases"]
        free = sorted({case["study"] for case in cases} - seen)
        later = set(random.Random(seed).sample(free, len(free) // 2))  # noqa: S311 - a lot, no secret
        for name, studies in (("first", {*free, *seen} - later), ("later", later)):
            ids = [case["id"] for case in cases if case["study"] in studies]
            sys.stdout.write(f"{site}, {name}: {', '.join(sorted(studies))}\n  {' '.join(ids)}\n")


if __name__ == "__main__":
    main()
