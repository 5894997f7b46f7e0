"""``dtnsim plan``."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from typer import Option

from dtnsim.cli import options
from dtnsim.cli._watch import Watch
from dtnsim.ground import units
from dtnsim.ground.units import Money

if TYPE_CHECKING:
    from dtnsim.planning.plan import Plan, Stage
    from dtnsim.report.table import Out


_WORTH: Final = 0.002  #: gain below which a setting does not help by itself


def command(
    path: options.Path,
    target: Annotated[str | None, Option(metavar="RATE", help="Rate to reach: 40Gb/s.")] = None,
    move: Annotated[str | None, Option(metavar="SIZE", help="What is to be moved: 10TB.")] = None,
    within: Annotated[
        str | None,
        Option(
            "--within", "--deadline", metavar="TIME", help="Time allowed for --move, or for what the path moves: 8h."
        ),
    ] = None,
    budget: Annotated[str | None, Option(metavar="PRICE", help="The most to spend: 15kEUR.")] = None,
    confidence: Annotated[str, Option(metavar="SHARE", help="Probability with which the goal has to be met.")] = "80%",
    allow: Annotated[
        str, Option(metavar="WHAT", help="What may change: tuning, tools, parts, layout, hosts, network, far.")
    ] = "tuning,tools,parts",
    keep: Annotated[list[str] | None, Option(metavar="HOST", help="A host that is not yours: hosts.there.")] = None,
    mine: Annotated[
        list[str] | None,
        Option(metavar="HOST", help="A host that is yours; by default all not named after a computing centre."),
    ] = None,
    catalog: Annotated[str | None, Option(metavar="FILE", help="Your prices, .yaml or .csv.")] = None,
    max_watts: Annotated[str | None, Option(metavar="POWER", help="Power limit for everything bought: 300W.")] = None,
    most: Annotated[int, Option(metavar="N", help="Maximum number of changes at once.", min=1, max=20)] = 6,
    grows: Annotated[
        str | None, Option("--growth", metavar="SHARE", help="How the target grows: 40%/year, 40+-10%/year.")
    ] = None,
    years: Annotated[int, Option(metavar="N", help="Years of growth, and of cost of ownership.", min=0, max=50)] = 0,
    kwh: Annotated[
        str | None, Option(metavar="PRICE", help="Price of a kilowatt-hour (with --years): 0.30EUR.")
    ] = None,
    rates: Annotated[
        list[str] | None, Option("--rate", metavar="EUR/USD=1.08", help="Exchange rate, where prices mix currencies.")
    ] = None,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    samples: Annotated[int, Option(help="Scenarios drawn for the probabilities.", min=16, max=100_000)] = 256,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    json: options.Json = False,
) -> None:
    """Plan what to tune at no cost and what to buy: the rate that each step reaches, its probability, what binds then.

    Parts go in the place of others, or into free slots, bays and memory channels as the host's 'slots' and 'chassis'
    state them. A catalogue is YAML, 'items: {connectx-5-100g: {price: 700 EUR, date: 2026-05-01, source: shop, spread:
    10 %}}', or a dealer's spreadsheet as text with columns for part, price and date. --allow: tuning (settings), tools
    (other ones), parts, layout (how data lie on their drives), hosts (whole machines), network (firewalls, losses,
    frames, link rates), far (what the far side would have to set or run). What it finds is the best to within half a
    percent of rate and one percent of probability for its price. 'meets it' is the probability that the target is met;
    'more per 1,000' is the rate gained for the money beyond the row above. Exit code 3: the target is not reached.

    \b
    Examples:
      dtnsim plan examples/dtn-100g-zfs --target 90Gb/s --mine east --mine west
      dtnsim plan my-path.yaml --move 10TB --within 8h --budget 15kEUR --catalog shop.csv
      dtnsim plan venadi/gridftp-gpfs --target 20Gb/s --keep hosts.nersc --confidence 90%
      dtnsim plan my-path.yaml --target 10Gb/s --growth 40%/year --years 3 --allow tuning,parts,hosts
    """
    from dtnsim.planning.plan import plan

    with Watch("planning") as watch:
        proposal = plan(
            options.path_with_options(path, calibration, dataset, line),
            target=target,
            move=move,
            within=within,
            budget=budget,
            confidence=units.of_option("--confidence", confidence, "1"),
            allow=options.listed(allow),
            keep=keep or (),
            mine=mine or (),
            catalog=catalog,
            max_watts=units.of_option("--max-watts", max_watts, "W") if max_watts is not None else float("inf"),
            most=most,
            grows=grows,
            years=years,
            kwh=kwh,
            rates=rates or (),
            overrides=overrides or (),
            calibration=calibration,
            samples=samples,
            seed=seed,
            progress=partial(watch.tell, math.nan),
        )
    with options.leaves(3 if proposal.chosen is None else 0):
        if json:
            options.emit(_document(proposal))
        else:
            _show(proposal)


def _document(plan: Plan) -> dict[str, object]:
    from dtnsim.ground.output import fields, number

    wins = [
        {"what": w.setting.what, "set": list(w.setting.overrides), "commands": list(w.setting.commands)}
        | fields(w, "alone_Bps", "together")
        for w in plan.wins
    ]
    return {
        "schema": "dtnsim.plan/1",
        **fields(plan, "path", "target_Bps", "confidence", "verdict"),
        "hosts": list(plan.hosts),
        "would": [asdict(w) for w in plan.would],
        "why_not": plan.why_not.document(),
        "free": wins,
        "stages": plan.to_dicts(),
        "chosen": plan.chosen.name if plan.chosen is not None else None,
        "due": [
            {
                **fields(d, "year", "target_Bps"),
                "stage": d.stage.name if d.stage is not None else None,
                "cost": float(d.cost),
                "probability": d.probability,
                "lasts_years": number(d.lasts_years),
                "outgrown_years": [number(years) for years in d.outgrown_years],
            }
            for d in plan.due
        ],
        "measure_first": [asdict(s) for s in plan.measure_first],
        "sentences": list(plan.sentences),
    }


def _show(plan: Plan) -> None:
    from dtnsim.ground.uncertainty import HEADS
    from dtnsim.report.table import Table, console

    out = console()
    goal = units.show(plan.target_Bps, "B/s")
    rented = {n for n, host in plan.given.hosts.items() if host.rented}
    yours = ", ".join(f"{n} (rented: settings alone)" if n in rented else n for n in plan.hosts)
    yours += "" if plan.stated else " (assumed; --mine and --keep state it)"
    out.print(f"{plan.path}: {goal} with a probability of {plan.confidence:.0%}; your hosts: {yours}")
    out.print(plan.verdict)
    bought = [s for s in plan.purchases if s.options]
    stages = plan.now, *([plan.tuned] if plan.tuned is not plan.now else []), *bought
    heads = "", ">price", *HEADS, ">meets it", f">more per 1,000 {plan.now.price.currency}", "then binds"
    out.print(Table(*heads, rows=(_cells(stage, plan.confidence) for stage in stages)))
    _free(plan, out)
    # the same part in two hosts, as busy in both, is one line
    idle = (f"{s.name}: {part} would be busy {use:.0%} of the time" for s in bought for part, use in s.idle)
    for line in dict.fromkeys(idle):
        out.print(line)
    if plan.best.overrides:
        _list(plan.best, plan, out)
    for sentence in plan.sentences:
        out.print(sentence)
    for share in plan.measure_first:
        out.print(f"measure first: {share.cause} ({share.share:.0%} of the variance): {share.measure}")


def _list(chosen: Stage, plan: Plan, out: Out) -> None:
    """What to order, and how to say it in a path file."""
    spread = f" (+-{chosen.price_spread:.0%})" if chosen.price_spread else ""
    lacks = plan.confidence - chosen.probability
    points = f"{100 * lacks:.0f} percentage points short of the {plan.confidence:.0%}"
    short = f", {points}" if plan.chosen is None else ""
    out.print(f"buy, for {chosen.price.to_the_cent}{spread}{short}:" if chosen.options else f"buy nothing{short}; set:")
    for option in chosen.options:
        for (offer, count), each in zip(option.buys, option.each, strict=True):
            details = "; ".join(filter(None, (str(offer.date), offer.source or "no source", offer.stock, offer.lead)))
            line = Money(each * count, chosen.price.currency).to_the_cent
            out.print(f"  {count} x {offer.part}, {offer.unit_price(count).to_the_cent} each: {line} ({details})")
        out.print(f"    {option.place.split('.')[1]}: {option.what}")
    taken = {w.setting for w in plan.wins if w.together}
    for setting in chosen.settings:
        if setting not in taken:
            out.print(f"    {setting.what}, free: {'; '.join(setting.commands)}")
    out.print("  " + " ".join(f"--set '{o}'" for o in chosen.overrides))


def _cells(stage: Stage, required: float) -> tuple[str, ...]:
    from dtnsim.planning.whynot import percent

    prediction = stage.prediction
    rates = [units.show(rate, "B/s") for rate in prediction.throughput_Bps.as_dict().values()]
    gain = units.show(stage.marginal_Bps, "B/s") if stage.marginal_Bps is not None else ""
    bought = f"{stage.price}" if stage.options else "nothing"
    return stage.name, bought, *rates, percent(stage.probability, required), gain, prediction.bottleneck.station


def _free(plan: Plan, out: Out) -> None:
    from dtnsim.planning.messages import gained

    if not plan.wins:
        if plan.tried:
            tried = dict.fromkeys(t.partition(": ")[2] or t for t in plan.tried)
            out.print(f"No setting that was tried helps: {', '.join(tried)}.")
        return
    base = plan.now.rate
    sums = sum(max(w.alone_Bps / base - 1, 0.0) for w in plan.wins if w.together)
    together = plan.tuned.rate / base - 1
    several = sum(w.together for w in plan.wins) > 1 and abs(together - sums) > 0.1 * max(together, sums)
    out.print(f"free, together {gained(together)}, not the sum of each alone:" if several else "free:")
    tool = any(w.together and w.setting.another_tool for w in plan.wins)
    for win in plan.wins:
        helps = win.alone_Bps > base * (1 + _WORTH)
        buys = " for what is bought" if not helps and plan.best.options else ""
        taken = f", taken{buys}" if win.together else ", not with the others"
        alone = round(win.alone_Bps / base - 1, 3) + 0.0  # no negative zero
        gain = f"{gained(alone)} {'beside it' if tool and not win.setting.another_tool else 'alone'}{taken}"
        out.print(f"  {win.setting.what} ({gain}):")
        for line in win.setting.commands:
            out.print(f"    {line}")
