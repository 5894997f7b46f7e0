"""What an answer rests on that the path file does not say: defaults, parts, fitted figures, each with its source."""

from collections.abc import Sequence
from typing import Final

from dtnsim.description.spec import PathSpec
from dtnsim.ground import units
from dtnsim.ground.quantity import Quantity
from dtnsim.planning.swept import places
from dtnsim.report.table import Table
from dtnsim.steady.assumed import written_in
from dtnsim.steady.why_wide import Share

HEAD: Final = ("what", ">value", ">spread", ">share of the variance", "source")
_NAMED: Final = 3  #: hosts that a line names one by one


def table(path: PathSpec, shares: Sequence[Share]) -> Table:
    """Every uncertain number that the path file does not write, those that matter most (``shares``) first."""
    by_key = {s.name: s.share for s in shares}
    together = {key: f"fitted parameters of {key.partition(': ')[0]}" for key in path.correlation.keys}
    merged: dict[tuple[str, ...], list[str]] = {}
    weight: dict[tuple[str, ...], float] = {}
    for place, leaf in places(path).items():
        if not isinstance(leaf, Quantity) or written_in(leaf, path.file) or "facts" in place:
            continue  # facts move no answer
        drawn = leaf.typical if leaf.typical is not None else leaf
        if drawn is leaf and not leaf.spread > 0:
            continue
        host = place[1] if place[0] == "hosts" else ""
        name = ".".join(map(str, place[2:] if host else place))
        group = together.get(leaf.key, "") if leaf.key not in by_key else ""
        share = by_key.get(group or leaf.key, 0.0)
        shown = (f"{share:.1%}" + (" together" if group else "")) if share else ""
        value = drawn.text or units.show(drawn.value, drawn.dim)
        line = (name, value, f"{drawn.spread:.0%}", shown, drawn.source or leaf.source)
        merged.setdefault(line, []).append(str(host))
        members = sum(g == group for g in together.values()) if group else 1
        weight[line] = max(weight.get(line, 0.0), share / members)
    lines = sorted(merged, key=lambda n: (-weight[n], "assumed" not in n[4], n))
    return Table(*HEAD, rows=[(_where(merged[n], n[0]), *n[1:]) for n in lines])


def _where(hosts: Sequence[str], name: str) -> str:
    named = [h for h in dict.fromkeys(hosts) if h]
    if not named:
        return name
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"{', '.join(named[:_NAMED])}{more}: {name}"
