"""``dtnsim compare``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

from typer import Argument, Option

from dtnsim.cli import options

if TYPE_CHECKING:
    from dtnsim.planning.compare import Comparison

_SHOWN: Final = 8  #: stations of a variant that are shown


def command(
    paths: Annotated[list[str], Argument(metavar="PATH...", help="Path files, or names of shipped ones.")],
    variants: Annotated[
        list[str] | None,
        Option(
            "--with", metavar="KEY=VALUE", help="A variant of the one path; several keys with ';' between; or 'tools'."
        ),
    ] = None,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    rates: Annotated[
        list[str] | None, Option("--rate", metavar="EUR/USD=1.08", help="Where prices are in several currencies.")
    ] = None,
    samples: Annotated[int, Option(help="Draws behind the interval.", min=0, max=100_000)] = 256,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    json: options.Json = False,
) -> None:
    """Compare variants: throughput, duration, bottleneck, price, and why, station by station.

    \b
    Examples:
      dtnsim compare examples/dtn-100g-xfs examples/dtn-100g-zfs
      dtnsim compare venadi/gridftp-gpfs --with wan.rtt=50ms --with transfer.tool.p=1
      dtnsim compare examples/one-large-file --with tools
      dtnsim compare my-path.yaml --with 'hosts.here.nic=connectx-5-100g; hosts.here.slots.eth=pcie-gen4-x16'
    """
    from dtnsim.cli._watch import Watch
    from dtnsim.planning.compare import compare

    with Watch("predicting variants"):
        result = compare(
            *(options.path_with_options(path, calibration, dataset, line) for path in paths),
            variants=[[k.strip() for k in v.split(";") if k.strip()] for v in variants or ()],
            overrides=overrides or (),
            calibration=calibration,
            rates=rates or (),
            samples=samples,
            seed=seed,
        )
    if json:
        differences = [
            {
                "variant": v.name,
                "why": result.sentence(n),
                "stations": [asdict(c) for c in result.changes(n)],
                "warnings": list(v.prediction.warnings),
            }
            for n, v in enumerate(result.variants)
            if n
        ]
        options.emit({"schema": "dtnsim.compare/1", "variants": result.to_dicts(), "differences": differences})
        return
    _show(result)


def _show(result: Comparison) -> None:
    from dtnsim.ground import units
    from dtnsim.ground.uncertainty import NAMES
    from dtnsim.report.table import Table, console

    out = console()
    ends = f">{NAMES[0]} to {NAMES[2]}"
    shown = Table("variant", ">throughput", ends, ">ceiling", ">duration", ">price", "bottleneck")
    for v in result.variants:
        rate = v.prediction.throughput_Bps
        price = "unknown" if v.price is None else f"{v.price}" + (" and more" if v.unpriced else "")
        drawn = v.prediction.drawn is not None
        rates = [units.show(r, "B/s") for r in (rate.p50, rate.p10, rate.p90, v.prediction.ceiling)]
        shown.add_row(
            v.name, rates[0] if drawn else "", f"{rates[1]} to {rates[2]}" if drawn else "", rates[3],
            units.show(v.prediction.duration_s.p50, "s"), price, v.prediction.bottleneck.station,
        )  # fmt: skip
    out.print(shown)
    unpriced = sorted({p for v in result.variants for p in v.unpriced})
    if unpriced:
        out.print(f"no price is known of: {', '.join(unpriced)}")
    for note in result.notes:
        out.print(note)
    first = result.variants[0].prediction.warnings
    out.warn(f"{v.name}: {w}" for v in result.variants[1:] for w in v.prediction.warnings if w not in first)
    out.warn(first)
    for number in range(1, len(result.variants)):
        out.print()
        out.print(result.sentence(number))
        changes = result.changes(number)
        if changes:
            names = (f">{result.variants[n].name}" for n in (0, number))
            rows = [
                (c.station, *("-" if v is None else units.show(v, "B/s") for v in (c.before_Bps, c.after_Bps)))
                for c in changes[:_SHOWN]
            ]
            out.print("what each station would allow if nothing else took time, where that differs:")
            out.print(Table("station", *names, rows=rows))
        if len(changes) > _SHOWN:
            out.print(f"and {len(changes) - _SHOWN} more that allow more; --json has all")
