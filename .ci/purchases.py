"""The purchases of docs/how-to/plan-purchases.md, planned again by their number there: .ci/purchases.py [NUMBER ...].

Each is a path, a goal, whose hosts may change and what may, with what the page says came of it: words of the verdict
and the probability of the best. The seventh is a facility, which `dtnsim fleet` answers, and is left out. Prints all,
and what differs; exit code 1 where something does. A minute of CPU or more each.
"""

from __future__ import annotations

import sys
from typing import Final

import dtnsim

#: number: (path, goal, hosts, what may change, overrides, words of the verdict, probability that the page has [%])
ASKED: Final = {
    1: ("lustre-cluster-globus", "60Gb/s", "b1 b2 b3 b4", "tuning tools", "", "network use", 47),
    2: ("campus-25g-firewall", "15Gb/s", "campus", "tuning tools network", "", "firewall", 89),
    3: ("cloud-to-campus", "15Gb/s", "cloud", "tuning tools", "", "change nothing", 0),
    4: (
        "lab-nas-nconnect",
        "1Gb/s",
        "ws",
        "tuning tools",
        "transfer.dataset={files: 200000, each: 50 kB}",
        "rclone",
        96,
    ),
    5: (
        "small-files-40ms",
        "800Mb/s",
        "office",
        "tuning tools",
        "transfer.dataset={files: 100, each: 1 GB}",
        "runs",
        42,
    ),
    6: ("tape-recall", "30Gb/s", "archive", "tuning tools parts", "", "8 x", 52),
    8: ("smb-workstation", "15Gb/s", "ws", "tuning tools", "", "msrsync", 72),
    9: ("s3-upload-nas", "15Gb/s", "nas", "tuning tools", "", "s5cmd", 92),
    10: ("xrootd-site", "60Gb/s", "site", "tuning tools", "", "buy nothing", 79),
    11: ("one-large-file", "7Gb/s", "there", "tuning tools far", "", "globus", 65),
    12: ("nas-24-nightly", "60Gb/s", "nas", "tuning tools parts", "", "second adapter", 54),
}
#: points of probability by which a figure may differ
_NEAR: Final = 3


def main() -> None:
    """Plans those that are asked for, or all."""
    wrong = 0
    numbers = [int(a) for a in sys.argv[1:]] or list(ASKED)
    for number in numbers:
        path, goal, hosts, allow, changed, word, probability = ASKED[number]
        result = dtnsim.plan(
            f"examples/{path}",
            target=goal,
            mine=hosts.split(),
            allow=allow.split(),
            overrides=[changed] if changed else (),
        )
        best = result.best.probability * 100 if result.best is not None else 0.0
        same = word in result.verdict.lower() and abs(best - probability) <= _NEAR
        wrong += not same
        how = "as the page has it" if same else f"differs: {word}, {probability} %"
        print(f"{number}: {path}: {how}: {best:.0f} %: {result.verdict}", flush=True)
    print(f"{len(numbers) - wrong} of {len(numbers)} are as the page has them")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
