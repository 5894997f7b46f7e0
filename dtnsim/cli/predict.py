"""``dtnsim predict``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from dtnsim.cli import options
from dtnsim.ground.errors import InputError, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnsim.ground.records import Prediction
    from dtnsim.planning.plan import Plan
    from dtnsim.steady.goals import Goal
    from dtnsim.steady.why_wide import Share


def command(
    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH...", help="Path files, or names like venadi/gridftp-gpfs.", autocompletion=options.paths
        ),
    ],
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    samples: Annotated[int, Option(help="Scenarios drawn for the interval.", min=0, max=1_000_000)] = 256,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    mean: Annotated[bool, Option("--mean", help="The long-run mean instead of a single run on a random day.")] = False,
    target: Annotated[str | None, Option(metavar="RATE", help="Show how likely this rate is: 40Gb/s.")] = None,
    deadline: Annotated[str | None, Option(metavar="TIME", help="Show how likely it is done in time: 8h.")] = None,
    require: Annotated[
        list[str] | None,
        Option(metavar="GOAL", help="Exit with code 3 if not met: '>= 10Gb/s at 80 %' or '<= 8h at 90 %'."),
    ] = None,
    why_wide: Annotated[
        bool, Option("--why-wide", help="Show what makes the interval wide, and what to measure first.")
    ] = False,
    every: Annotated[
        bool, Option("--all", help="Show all transfers, however many; by default those that take longest.")
    ] = False,
    verbose: Annotated[
        bool, Option("-v", "--verbose", help="All stations, the whole ladder, what is assumed and why.")
    ] = False,
    against: Annotated[
        str | None, Option(metavar="FILE", help="Show what changed since an answer that --json wrote.")
    ] = None,
    stations: Annotated[int | None, Option(help="Number of busiest stations to show (12 with -v).", min=1)] = None,
    plot: options.Plot = False,
    picture: options.Picture = None,
    json: options.Json = False,
) -> None:
    """Predict the throughput of a path, what holds it back and what binds next.

    One screen: the answer, goals, what holds it back, what binds next, and which assumptions matter most; -v shows all.
    Exit code 3: a goal of --require is not met with the probability that it states; the answer then names what would
    meet it, and why other changes would not ('dtnsim plan' has the details).

    \b
    Examples:
      dtnsim predict venadi/gridftp-gpfs
      dtnsim predict my-path.yaml --set wan.rtt=50ms --set transfer.tool.p=16
      dtnsim predict my-path.yaml --set hosts.venadi.nic=connectx-5-100g --json
      dtnsim predict my-path.yaml --command 'rsync -aW -e ssh data/ host:/data'
      dtnsim predict my-path.yaml --dataset sizes.txt    # find DIR -type f -printf '%s\\n' > sizes.txt
      dtnsim predict my-path.yaml --target 40Gb/s --deadline 8h
      dtnsim predict my-path.yaml --require '>= 10Gb/s at 80 %'
      dtnsim predict my-path.yaml --why-wide
      dtnsim predict my-path.yaml --against last-month.json
    """
    from dtnsim.cli._watch import Watch
    from dtnsim.description import spec
    from dtnsim.steady.prediction import predict

    before = None
    if against is not None:
        from dtnsim.report.document import read_prediction

        before = read_prediction(against)
    wanted = _wanted(target, deadline, require or (), samples)
    loaded = [options.changed(spec.load(p, overrides or (), calibration), dataset, line) for p in paths]
    wide: list[tuple[Share, ...]] = [()] * len(loaded)
    with Watch("predicting"):
        answers = [predict(p, samples=samples, seed=seed, mean=mean) for p in loaded]
        if why_wide:
            from dtnsim.steady import why_wide as shares_of

            wide = [shares_of.of_path(p, seed, mean=mean) for p in loaded]
    plans = [_why_not(answer, wanted, samples, seed) for answer in answers]
    missed = not all(goal.met(answer) for goal in wanted for answer in answers)
    with options.leaves(3 if missed else 0):
        if json:
            _documents(answers, wanted, wide, before, plans)
        else:
            _show(answers, wanted, wide, stations, every=every, verbose=verbose)
            lines = [line for plan in plans if plan is not None for line in _plan_lines(plan)]
            sys.stdout.writelines(f"{visible(line)}\n" for line in (*lines, *_since(before, answers[0])))
        if plot or picture is not None:
            from dtnsim.report import plots

            plots.draw(answers, picture, plot=plot)


def _wanted(target: str | None, deadline: str | None, require: Sequence[str], samples: int) -> list[Goal]:
    """The goals that are asked about, and those that are required."""
    if target is None and deadline is None and not require:
        return []
    from dtnsim.steady import goals

    wanted = [goals.target(target)] if target is not None else []
    wanted += [goals.deadline(deadline)] if deadline is not None else []
    wanted += [goals.requirement(text) for text in require]
    if not samples:  # before anything is printed
        raise InputError(goals.NO_DRAWS)
    return wanted


def _why_not(answer: Prediction, wanted: Sequence[Goal], samples: int, seed: int) -> Plan | None:
    """What would meet the goal of which the answer is furthest; None where all that is required is met."""
    missed = [goal for goal in wanted if not goal.met(answer)]
    if not missed or answer.given.workload is not None or answer.given.programs:
        return None
    from dtnsim.cli._watch import Watch
    from dtnsim.planning.plan import towards

    furthest = max(missed, key=lambda goal: (goal.required or 0.0) - goal.probability(answer))
    with Watch("searching what would meet it"):
        return towards(answer, furthest, samples=samples, seed=seed)


def _plan_lines(plan: Plan) -> list[str]:
    """What would meet a goal that is missed, and why not others, in lines."""
    sets = [" ".join(f"--set '{o}'" for o in plan.best.overrides)] if plan.best.overrides else []
    why = plan.why_not.sentences(plan.confidence, plan.now.price.currency)
    return ["", f"what would meet it: {plan.verdict}", *(f"  {line}" for line in (*sets, *why))]


def _since(before: dict[str, Any] | None, answer: Prediction) -> list[str]:
    """What changed since, in lines."""
    if before is None:
        return []
    from dtnsim.report.document import changes, prediction_document

    first, *why = changes(before, prediction_document(answer))
    return ["", f"since then: {first}", *(f"  {line}" for line in why)]


def _documents(
    answers: list[Prediction],
    wanted: list[Goal],
    wide: list[tuple[Share, ...]],
    before: dict[str, Any] | None,
    plans: Sequence[Plan | None],
) -> None:
    from dtnsim.report.document import changes, goals_document, prediction_document, shares_document

    documents = []
    for answer, shares, plan in zip(answers, wide, plans, strict=True):
        document = prediction_document(answer)
        if wanted:
            document["goals"] = goals_document(answer, wanted)
        if plan is not None:
            document["why_not"] = {"verdict": plan.verdict, **plan.why_not.document()}
        if shares:
            document["why_wide"] = shares_document(shares)
        if before is not None:
            document["changes"] = changes(before, document)
        documents.append(document)
    options.emit(documents[0] if len(documents) == 1 else {"schema": "dtnsim.predictions/1", "predictions": documents})


def _show(
    answers: list[Prediction],
    wanted: list[Goal],
    wide: list[tuple[Share, ...]],
    stations: int | None,
    *,
    every: bool,
    verbose: bool,
) -> None:
    from dtnsim.report import text

    out = text.console()
    for number, (answer, shares) in enumerate(zip(answers, wide, strict=True)):
        if number:
            out.print()
        if verbose or every or stations is not None:
            text.goals(answer, wanted, out)
            text.prediction(answer, out, busiest=stations or 12, every=every)
        else:
            text.card(answer, out, wanted)
        text.shares(shares, out)
