"""Draws half of the sources by lot: their figures are predicted only once the mechanisms are done.

Two sources whose misses were known when the mechanisms were listed are in no lot: they are seen.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Final

import yaml

SEEN: Final = {"long-cat", "nyman"}
SEED: Final = 20261122


def main() -> None:
    """Prints the sources of both halves."""
    cases = yaml.safe_load((Path(__file__).parents[1] / "waits" / "cases.yaml").read_text())["cases"]
    free = sorted({case["study"] for case in cases} - SEEN)
    later = set(random.Random(SEED).sample(free, len(free) // 2))  # noqa: S311 - a lot, no secret
    for name, studies in (("first", {*free, *SEEN} - later), ("later", later)):
        ids = [case["id"] for case in cases if case["study"] in studies]
        sys.stdout.write(f"{name}: {', '.join(sorted(studies))}\n  {' '.join(ids)}\n")


if __name__ == "__main__":
    main()
