"""Tools compared on one path (``dtnsim tools PATH``)."""

from __future__ import annotations

from dtnsim.cli import options
from dtnsim.cli._watch import Watch
from dtnsim.description import spec
from dtnsim.ground import units
from dtnsim.ground.errors import InputError
from dtnsim.ground.records import Interval
from dtnsim.planning import tool_choice
from dtnsim.planning.tool_choice import Choice


def command(
    path: str,
    overrides: list[str],
    dataset: str | None,
    samples: int,
    seed: int,
    have: str | None,
    explain: str | None,
    *,
    json: bool,
) -> None:
    """Prints the finding, then the tools by what they would take, and how each is typed."""
    given = options.with_dataset(spec.load(path, overrides), dataset)
    with Watch("predicting tools"):
        kinds = options.listed(have)
        found, refused = tool_choice.choose(given, samples, seed, kinds)
    said, key = tool_choice.advice(found), given.transfer_key(0)
    if json:
        options.emit(
            {
                "schema": "dtnsim.tools/1",
                "name": given.name,
                "advice": said,
                "tools": [_row(c, key) for c in found],
                "refused": [{"tool": r.name, "why": r.why} for r in refused],
            }
        )
        return
    from dtnsim.report import text

    out = text.console()
    if explain is not None:
        text.prediction(_named(found, explain).prediction, out)
        return
    out.print(text.plain(said[0].upper() + said[1:] + "."))
    out.print()
    transfer = given.transfers[0]
    out.print(text.plain(f"{given.name}: {transfer.source_end} to {transfer.to}"))
    if transfer.dataset is not None:
        files, size = transfer.dataset.files, units.show(transfer.dataset.payload_B, "B")
        out.print(f"{files} file{'s' if files > 1 else ''}, {size}")
    out.print()
    right, left = ("duration", "p10", "p90", "throughput", "best"), ("tool", "needs", "held by")
    shown = text.table(*(f">{name}" for name in right), *(name for name in left))
    for c in found:
        seconds = (units.show(v, "s", digits=3) for v in (c.duration_s.p50, c.duration_s.p10, c.duration_s.p90))
        rate = text.rate(_rate(c).p50)
        held = c.prediction.bottleneck.station
        shown.add_row(*seconds, rate, f"{c.best:.0%}", *map(text.plain, (c.name, c.needs, held)))
    out.print(shown)
    out.print("best: share of the draws in which no other is more than 5 % faster; --explain TOOL says what holds one")
    out.print()
    for c in found:
        if c.line:
            out.print(text.plain(f"{c.name}: {c.line}" + (f"  [{c.lacks}]" if c.lacks else "")))
    out.print()
    for each in refused:
        out.print(text.plain(f"not possible here: {each.name} ({each.why})"))


def _rate(choice: Choice) -> Interval:
    """Bytes of the data set over the time of all steps [B/s]."""
    payload, took = choice.prediction.transfers[0].payload_B, choice.duration_s
    return Interval(*(payload / seconds for seconds in (took.p90, took.p50, took.p10)))


def _named(found: list[Choice], name: str) -> Choice:
    """The row of a name, or of a kind."""
    for c in found:
        if name in (c.name, c.options.get("name"), "yours" if c.own else None):
            return c
    raise InputError(f"--explain: {name!r} is none of the rows; write one of {', '.join(c.name for c in found)}")


def _row(c: Choice, key: str) -> dict[str, object]:
    return {
        "tool": c.name,
        "yours": c.own,
        "command": c.line,
        "set": tool_choice.setting(c.options, key),
        "needs": c.needs,
        "lacks": c.lacks,
        "duration_s": c.duration_s.as_dict(),
        "throughput_Bps": _rate(c).as_dict(),
        "ceiling_Bps": c.prediction.ceiling,
        "best": c.best,
        "held_by": c.held_by,
    }
