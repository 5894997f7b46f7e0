"""The purchases of docs/how-to/plan-purchases.md, planned again: .ci/purchases.py [--write].

Each is a path, a goal, whose hosts may change and what may. The page has what `plan` says of it today; the seventh is a
facility, which `dtnsim fleet` answers, and is left out. Says where the page has something else, with exit code 1;
``--write`` writes it there. A minute of CPU or more each.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import dtnsim
from dtnsim.ground import units

PAGE: Final = Path(__file__).parents[1] / "docs" / "how-to" / "plan-purchases.md"
_BLOCK: Final = re.compile(r"(?<=<!-- purchases:begin -->\n).*(?=<!-- purchases:end -->)", re.DOTALL)
_SMALL: Final = "transfer.dataset={files: 200000, each: 50 kB}"
_BIG: Final = "transfer.dataset={files: 100, each: 1 GB}"
#: number: (path, goal, hosts, what may change, overrides)
ASKED: Final = {
    1: ("lustre-cluster-globus", "60Gb/s", "b1 b2 b3 b4", "tuning tools", ()),
    2: ("campus-25g-firewall", "15Gb/s", "campus", "tuning tools network", ()),
    3: ("cloud-to-campus", "15Gb/s", "cloud", "tuning tools", ()),
    4: ("lab-nas-nconnect", "1Gb/s", "ws", "tuning tools", (_SMALL,)),
    5: ("small-files-40ms", "800Mb/s", "office", "tuning tools", (_BIG,)),
    6: ("tape-recall", "30Gb/s", "archive", "tuning tools parts", ()),
    8: ("smb-workstation", "15Gb/s", "ws", "tuning tools", ()),
    9: ("s3-upload-nas", "15Gb/s", "nas", "tuning tools", ()),
    10: ("xrootd-site", "60Gb/s", "site", "tuning tools", ()),
    11: ("one-large-file", "7Gb/s", "there", "tuning tools far", ()),
    12: ("nas-24-nightly", "60Gb/s", "nas", "tuning tools parts", ()),
}


def table() -> str:
    """What is planned of each, and what holds the path as it is."""
    lines = ["| | path | as it is | held by | plan |", "|---|---|---|---|---|"]
    for number, (path, goal, hosts, allow, changed) in ASKED.items():
        result = dtnsim.plan(
            f"examples/{path}", target=goal, mine=hosts.split(), allow=allow.split(), overrides=changed
        )
        rate, held = units.show(result.now.rate, "B/s"), result.now.prediction.bottleneck.station
        cells = (str(number), f"`examples/{path}`", rate, held, result.verdict.replace("|", "\\|"))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compares the page with what is planned, or writes it there."""
    text = PAGE.read_text(encoding="utf-8")
    block = table()
    planned = _BLOCK.sub(lambda _: block, text)
    if "--write" in sys.argv:
        PAGE.write_text(planned, encoding="utf-8")
    elif planned != text:
        sys.exit("docs/how-to/plan-purchases.md is stale: run python .ci/purchases.py --write")


if __name__ == "__main__":
    main()
