"""Prints how tool runs of each round-trip time are predicted by the others: python .ci/tool_folds.py [TABLE].

A table has the columns of calibration/tools-truth/public.csv.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from dtnsim.evidence import tool_folds
from dtnsim.ground import library


def main(table: str | None) -> None:
    """Reads, predicts and prints."""
    path = Path(table) if table else library.root("calibration") / "tools-truth" / "public.csv"
    with path.open() as file:
        given = tool_folds.runs(list(csv.DictReader(file)))
    print("round trip [ms]    points  median  (in sample)  90th percentile  in the 80 % interval  (in sample)")
    for fold in tool_folds.folds(given):
        print(
            f"{1e3 * fold.low_s:6.3g} to {1e3 * fold.high_s:<6.3g} {fold.points:8d} {fold.error:8.1%}"
            f" {fold.error_in:10.1%} {fold.last:14.1%} {fold.held:19.0%} {fold.held_in:15.0%}"
        )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
