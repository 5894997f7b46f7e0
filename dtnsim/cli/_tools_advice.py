"""Tools compared on one path (``dtnsim tools PATH``)."""

from __future__ import annotations

from dtnsim.cli import options
from dtnsim.cli._watch import Watch
from dtnsim.description import spec
from dtnsim.ground import units
from dtnsim.steady import choose


def command(path: str, overrides: list[str], samples: int, seed: int, *, json: bool) -> None:
    """Prints the tools by what they would take, and the advice."""
    given = spec.load(path, overrides)
    with Watch("predicting tools"):
        found, refused = choose.choose(given, samples, seed)
    said = choose.advice(found, given.transfers[0].tool.kind)
    if json:
        options.emit(_document(given, found, refused, said))
        return
    from dtnsim.report import text

    out = text.console()
    transfer = given.transfers[0]
    out.print(text.plain(f"{given.name}: {transfer.source_end} to {transfer.to}"))
    if transfer.dataset is not None:
        files, size = transfer.dataset.files, units.show(transfer.dataset.payload_B, "B")
        out.print(f"{files} file{'s' if files > 1 else ''}, {size}")
    out.print()
    shown = text.table(
        ("duration", "right"),
        ("p10", "right"),
        ("p90", "right"),
        ("throughput", "right"),
        ("ceiling", "right"),
        ("tool", "left"),
        ("needs", "left"),
        ("held by", "left"),
    )
    for c in found:
        seconds = (units.show(v, "s", digits=3) for v in (c.duration_s.p50, c.duration_s.p10, c.duration_s.p90))
        shown.add_row(
            *seconds,
            text.rate(c.throughput_Bps.p50),
            units.show(c.ceiling, "B/s"),
            *map(text.plain, (c.candidate.name, c.candidate.needs, c.held_by)),
        )
    out.print(shown)
    out.print()
    for c in found:
        out.print(text.plain(f"{c.candidate.name}: {c.candidate.line}"))
    out.print()
    for candidate, why in refused:
        out.print(text.plain(f"not possible here: {candidate.name} ({why})"))
    out.print(said)


def _document(
    given: spec.PathSpec, found: list[choose.Choice], refused: list[tuple[choose.Candidate, str]], said: str
) -> dict[str, object]:
    return {
        "schema": "dtnsim.tools/1",
        "name": given.name,
        "advice": said,
        "tools": [
            {
                "tool": c.candidate.name,
                "command": c.candidate.line,
                "needs": c.candidate.needs,
                "duration_s": c.duration_s.as_dict(),
                "throughput_Bps": c.throughput_Bps.as_dict(),
                "ceiling_Bps": c.ceiling,
                "held_by": c.held_by,
            }
            for c in found
        ],
        "refused": [{"tool": c.name, "why": why} for c, why in refused],
    }
