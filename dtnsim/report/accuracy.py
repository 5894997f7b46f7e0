"""The accuracy table of the README: ``python -m dtnsim.report.accuracy``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dtnsim.evidence.trust import trust
from dtnsim.ground import library, yamlio
from dtnsim.report.validation import percent

if TYPE_CHECKING:
    from dtnsim.evidence.validate import Validation


def markdown(found: Validation | None = None) -> str:
    """The table of figures that fitted nothing: errors, intervals, bottlenecks, and errors of earlier versions."""
    if found is None:
        from dtnsim.evidence.cases import load_all
        from dtnsim.evidence.validate import validate

        found = validate(load_all())
    earlier = yamlio.load(library.root("calibration") / "history.yaml")["versions"]
    head = [
        "system",
        "figures",
        "median error",
        "worst error",
        "in the 50 % interval",
        "in the 80 %",
        "in the 95 %",
        "bottleneck as stated",
        "median error of min(disk, network, disk)",
        *(f"median error in {version}" for version in earlier),
    ]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for site in [*found.sites, None]:
        s, rule = found.summary("blind", site), found.baseline_summary("blind", site)
        inside = trust(found.of("blind", site))
        if not s.n or inside is None:
            continue
        right, stated = found.bottlenecks("blind", site)
        was = [(v["median"].get(site or "all") or {}) for v in earlier.values()]
        cells = (
            site or "**all**",
            str(s.n),
            percent(s.mdape),
            percent(s.max_ape),
            *(percent(share) for share in inside.coverage.values()),
            f"{right} of {stated}" if stated else "",
            percent(rule.mdape),
            *(f"{w['error']} ({w['n']})" if w else "" for w in was),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(markdown() + "\n")
