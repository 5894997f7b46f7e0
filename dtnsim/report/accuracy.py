"""The accuracy table of the README: ``python -m dtnsim.report.accuracy``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dtnsim.report.validation import percent

if TYPE_CHECKING:
    from dtnsim.evidence.validate import Validation

_HEAD = ("system", "role", "cases", "median error", "worst error", "inside the 80 % interval",
         "bottleneck as stated", "median error of min(disk, network, disk)")  # fmt: skip


def markdown(found: Validation | None = None) -> str:
    """The table: per system and for all, fit and blind cases apart."""
    if found is None:
        from dtnsim.evidence.cases import load_all
        from dtnsim.evidence.validate import validate

        found = validate(load_all())
    lines = ["| " + " | ".join(_HEAD) + " |", "|---|---|" + "---:|" * (len(_HEAD) - 2)]
    for site in [*found.sites, None]:
        for role in ("fit", "blind"):
            s = found.summary(role, site)
            if s.n:
                right, stated = found.bottlenecks(role, site)
                rule = found.baseline_summary(role, site)
                cells = (site or "**all**", role, str(s.n), percent(s.mdape), percent(s.max_ape), percent(s.coverage80),
                         f"{right} of {stated}" if stated else "", percent(rule.mdape))  # fmt: skip
                lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(markdown() + "\n")
