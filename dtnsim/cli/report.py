"""``dtnsim report``."""

from __future__ import annotations

import math
import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from dtnsim.cli import options, refusing
from dtnsim.cli._watch import Watch
from dtnsim.ground import units

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.planning.plan import Plan
    from dtnsim.steady.goals import Goal


def command(
    path: options.Path,
    out: Annotated[str, options.Written("-o", "--out", help="The HTML file.")] = "report.html",
    simulate: Annotated[
        bool, Option("--simulate", help="Also simulate it in time (a workload over months always is).")
    ] = False,
    plan: Annotated[
        str | None, Option(metavar="'--target 40Gb/s ...'", help="Options for the plan, as 'dtnsim plan' takes them.")
    ] = None,
    no_plan: Annotated[bool, Option("--no-plan", help="Leave the plan out.")] = False,
    target: Annotated[str | None, Option(metavar="RATE", help="The goal, for headline and plan: 40Gb/s.")] = None,
    deadline: Annotated[str | None, Option(metavar="TIME", help="The goal as a deadline: 8h.")] = None,
    start: Annotated[
        str | None, Option(metavar="HH:MM", help="When it begins: the headline then says when it ends.")
    ] = None,
    events: Annotated[str | None, Option(metavar="FILE", help="Events for --simulate, as there.")] = None,
    until: Annotated[str | None, Option(metavar="TIME", help="Simulated time at which to stop.")] = None,
    scenarios: Annotated[
        int,
        Option(
            help="Most scenarios behind sliders and heat maps; 0 leaves them out, and a workload's report has none.",
            min=0,
            max=20_000,
        ),
    ] = 48,
    tools: Annotated[
        bool, Option("--tools/--no-tools", help="Say which tool moves the files in the least time.")
    ] = True,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    samples: Annotated[int, Option(help="Draws behind the interval.", min=1, max=1_000_000)] = 256,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    json: options.Json = False,
) -> None:
    """Write one HTML file to attach to a proposal: answer, path, ladder, evidence, tools, plan, what-if.

    It says what is free and what to buy for the goal (--target, --deadline; twice today's rate where none is stated);
    --no-plan leaves that out, for it takes as long as the rest. The file says how to make it again, needs nothing from
    the network, and prints on A4 and letter.

    \b
    Examples:
      dtnsim report venadi/gridftp-gpfs -o venadi.html
      dtnsim report my-path.yaml --simulate --start 22:00 --deadline 8h
      dtnsim report my-path.yaml --plan '--target 40Gb/s --mine here'
    """
    from dtnsim.description import spec
    from dtnsim.ground import output
    from dtnsim.report import whole
    from dtnsim.report.how_long import clock
    from dtnsim.simulation import simulate as simulated
    from dtnsim.simulation.fleet.run import fleet

    end = math.inf if until is None else units.of_option("--until", until, "s")
    path_spec = options.changed(spec.load(path, overrides or (), calibration, events=events), dataset, line)
    with Watch("writing the report") as watch:
        request = whole.Sections(
            simulation=simulated(path_spec, seed=seed, until=end) if simulate and path_spec.workload is None else None,
            fleet=fleet(path_spec, seed=seed) if path_spec.workload is not None else None,
            plan=_planned(path_spec, plan, seed, samples) if plan is not None else None,
            planned=not no_plan,
            goal=_goal(target, deadline),
            start=clock(start) if start is not None else None,
            scenarios=scenarios,
            tools=tools,
            samples=samples,
            seed=seed,
            command=("dtnsim", *sys.argv[1:]),
        )
        page = whole.report(path_spec, request, watch.count)
    output.write(out, page, "--out")
    if json:
        options.emit({"schema": "dtnsim.report/1", "file": out, "size_B": len(page.encode())})
    else:
        sys.stdout.write(f"{out}: {len(page.encode()) / 1e6:.1f} MB\n")


def _goal(target: str | None, deadline: str | None) -> Goal | None:
    from dtnsim.ground.errors import InputError
    from dtnsim.steady import goals

    if target is not None and deadline is not None:
        raise InputError("--target, --deadline: write one of them, the headline has room for one")
    if deadline is not None:
        return goals.deadline(deadline)
    return goals.target(target) if target is not None else None


def _planned(path: PathSpec, line: str, seed: int, samples: int) -> Plan:
    """The plan that ``dtnsim plan PATH LINE`` makes."""
    import inspect

    from typer.main import get_command

    from dtnsim.cli.plan import command as planning
    from dtnsim.ground.errors import InputError
    from dtnsim.planning.plan import plan

    alone = typer.Typer(add_completion=False)
    alone.command()(planning)
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise InputError(f"--plan: {line!r} cannot be read: {error}") from None
    options.check_numbers(planning, words)
    wrong, like = f"--plan: {line!r} are no options of 'dtnsim plan'", "write it like --plan '--target 40Gb/s'"
    with refusing(lambda why: f"{wrong} ({why.rstrip('.')}); {like}"):
        parameters = get_command(alone).make_context("--plan", [path.name, *words]).params
    arguments = {k: v for k, v in parameters.items() if k in inspect.signature(plan).parameters and v is not None}
    for name, dimension in (("confidence", "1"), ("max_watts", "W")):
        if name in arguments:
            arguments[name] = units.of_option("--plan", str(arguments[name]), dimension)
    arguments["allow"] = options.listed(arguments.get("allow", "tuning,parts"))
    return plan(**{**arguments, "path": path, "seed": seed, "samples": max(samples, 16)})
