"""Prints how tool runs of each round-trip time are predicted by the others: python .ci/tool_folds.py [TABLE ...].

Then which tool is chosen where several were measured. Tables have the columns of calibration/tools-truth/public.csv.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from dtnsim.evidence import tool_folds
from dtnsim.ground import library

#: times as long as the fastest that counts as good
_AS_GOOD = 1.1


def main(tables: list[str]) -> None:
    """Reads, predicts and prints."""
    public = library.root("calibration") / "tools-truth" / "public.csv"
    rows = [row for path in tables or [public] for row in csv.DictReader(Path(path).read_text().splitlines())]
    given = tool_folds.runs(rows)
    print("round trip [ms]    points  median  (in sample)  90th percentile  in the 80 % interval  (in sample)")
    found = tool_folds.folds(given)
    for fold in found:
        print(
            f"{1e3 * fold.low_s:6.3g} to {1e3 * fold.high_s:<6.3g} {fold.points:8d} {fold.error:8.1%}"
            f" {fold.error_in:10.1%} {fold.last:14.1%} {fold.held:19.0%} {fold.held_in:15.0%}"
        )
    if found:
        error, last, held = tool_folds.together(found)
        points = sum(fold.points for fold in found)
        print(f"{'all':17} {points:8d} {error:8.1%} {'':10} {last:14.1%} {held:19.0%}")
    choices = tool_folds.choices(given)
    right = sum(choice.behind <= _AS_GOOD for choice in choices)
    print(f"\nPredicted to be the fastest, and measured so or within 10 % of it: {right} of {len(choices)} conditions")
    for choice in choices:
        if choice.behind > _AS_GOOD:
            print(f"  not: {choice.chosen} takes {choice.behind:.2f} times as long ({', '.join(choice.around)})")


if __name__ == "__main__":
    main(sys.argv[1:])
