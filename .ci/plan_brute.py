"""Plans beside brute force, small cases by number: python .ci/plan_brute.py [FIRST [COUNT]].

A case is a path of the library (either way round), one to three hosts, a goal (a rate, the path's data in a time, bytes
a night), a probability, a budget, and three to five places with two or three parts each. Every set that is allowed is
predicted by `predict`. The chosen set has to be the cheapest that meets the goal or within 1 % of its price; what the
front misses is at most 1 % of rate and 2 points of probability; `--set` gives the same figures. Exit code 1 where not.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Sequence
from decimal import Decimal

from dtnsim.description import spec
from dtnsim.description.transfer import split_end
from dtnsim.ground.errors import DtnsimError
from dtnsim.planning import catalog, explore, offers
from dtnsim.planning.explore import Request, SearchResult
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Offered, Option
from dtnsim.planning.plan import goal_of
from dtnsim.planning.proposal import Stage, named
from dtnsim.steady.prediction import predict

PATHS = (
    "examples/campus-25g-firewall", "examples/dtn-100g-to-buy", "examples/dtn-100g-xfs", "examples/dtn-100g-zfs",
    "examples/lab-nas-nconnect", "examples/nas-24-nightly", "examples/nightly-sync", "examples/nvme-of-100g",
    "examples/one-large-file", "examples/s3-upload-nas", "examples/small-files-40ms", "examples/smb-workstation",
    "examples/tape-recall", "nasa/nuttscp-3of7", "venadi/gridftp-gpfs", "examples/cloud-to-campus",
)  # fmt: skip
#: sets of a case at most, draws of each
SETS, SAMPLES = 120, 256


def described(rng: random.Random) -> tuple[str, list[str], spec.PathSpec, list[str]]:
    """(path, overrides, the path, hosts that may change)."""
    while True:
        name = rng.choice(PATHS)
        loaded = spec.load(name)
        overrides = []
        ends = [split_end(e)[0] for t in loaded.transfers for e in (t.source_end, t.to)]
        if rng.random() < 0.5 and len(loaded.transfers) == 1:
            one = loaded.transfers[0]
            overrides += [f"transfer.from={one.to}", f"transfer.to={one.source_end}"]
        if rng.random() < 0.6:
            own = [h for h in dict.fromkeys(ends) if h in loaded.hosts]
            overrides += [f"hosts.{h}.tcp.{k}mem_max=1GiB" for h in own for k in "rw"]
        try:
            path = spec.load(name, overrides)
            predict(path, samples=16)
        except DtnsimError:
            continue
        own = [h for h in dict.fromkeys(ends) if h in path.hosts]
        if own:
            return name, overrides, path, own[:3] if rng.random() < 0.6 else rng.sample(own, 1)


def rate(path: spec.PathSpec, options: Sequence[Option]) -> float:
    """Median of a path with some options [B/s]; 0 where they do not go together."""
    try:
        return predict(path.changed([x for o in options for x in o.overrides]), samples=64).throughput_Bps.p50
    except DtnsimError:
        return 0.0


def few(offered: Offered, rng: random.Random) -> Offered:
    """Three to five places with two or three options each, as many as make no more than `SETS` sets."""
    places = rng.sample(list(offered.choices), min(len(offered.choices), rng.randint(3, 5)))
    some = {p: tuple(rng.sample(offered.choices[p], min(len(offered.choices[p]), rng.randint(2, 3)))) for p in places}
    while math.prod(len(o) + 1 for o in some.values()) > SETS:
        some.popitem()
    return Offered(some, offered.stock)


def case(number: int) -> tuple[str, bool]:
    """(what came of a case, whether it is as it should be)."""
    rng = random.Random(number)
    while True:
        name, overrides, path, hosts = described(rng)
        # every second case also buys parts that only their own file has a price for
        listed = offers.world(catalog.read(), None, shipped=True) if number % 2 else catalog.read()
        market = listed, exchange([])
        goal = goal_of("1Gb/s", None, None)
        asked = Request(goal, 0.5, hosts, "USD", Decimal("Infinity"), math.inf, 6, SAMPLES, 1, *market)
        offered = few(asked.offered(path, "parts"), rng)
        now, dearest = rate(path, ()), rate(path, [max(v, key=lambda o: o.price) for v in offered.choices.values()])
        if len(offered.choices) >= 2 and dearest > 1.05 * now:
            break
    wanted = now + (dearest - now) * rng.uniform(0, 1.2)
    whole = sum(t.dataset.payload_B for t in path.transfers if t.dataset is not None) or 1e12
    goal = rng.choice((
        lambda: goal_of(f"{wanted * 8e-9:.4g}Gb/s", None, None),
        lambda: goal_of(None, f"{whole:.0f} B", f"{whole / wanted:.4g} s"),
        lambda: goal_of(None, f"{wanted * 28800:.4g} B", "8h"),
    ))()  # fmt: skip
    most = sum(max(o.price for o in v) for v in offered.choices.values())
    budget = rng.choice((Decimal("Infinity"), most * Decimal(str(rng.uniform(0.2, 0.9)))))
    sure, at_once = rng.uniform(0.5, 0.97), rng.randint(2, 6)
    asked = Request(goal, sure, hosts, "USD", budget, math.inf, at_once, SAMPLES, 1, *market)
    result = explore.purchases(path, asked, offered)
    sets = [tuple(o for o in s if o) for s in itertools.product(*((None, *v) for v in offered.choices.values()))]
    stages = []
    for chosen in sets:
        if result.search.allowed(chosen):
            try:
                stages.append(asked.stage("", path, chosen))
            except DtnsimError:
                continue
    faults = [*judged(result, stages, asked), *reproduced(name, overrides, result, asked)]
    asks = f"{goal.words} at {asked.confidence:.0%}, budget {budget:,.0f}, most {asked.most}"
    text = f"{number}: {name} {overrides[:2]} {hosts}: {asks}; {len(stages)} sets, {len(result.search.evaluated)} rated"
    return "\n  ".join([text, *faults]), not faults


def judged(result: SearchResult, stages: list[Stage], asked: Request) -> list[str]:
    """What is wrong with a search, by every set predicted."""
    faults = [f"{result.search.exceeded} sets exceeded their bound"] if result.search.exceeded else []
    faults += ["cut"] if result.search.cut else []
    by_options = {frozenset(s.options): s for s in stages}
    front = [by_options[frozenset(s)] for s, _ in result.frontier]
    for (chosen, (median, _, probability, _)), stage in zip(result.frontier, front, strict=True):
        if not (math.isclose(median, stage.rate, rel_tol=1e-9) and math.isclose(probability - 1, stage.probability)):
            faults.append(f"rated {median:.5g} {probability - 1:.3f}, predicted {stage!r} for {named(chosen)}")
    best = min((s.price.amount for s in stages if s.probability >= asked.confidence), default=None)
    mine = min((s.price.amount for s in front if s.probability >= asked.confidence), default=None)
    if best is not None and (mine is None or mine > best * Decimal("1.01")):
        faults.append(f"chose {mine}, where {best} would do")
    for stage in stages:
        cheaper = [s for s in front if s.price.amount <= stage.price.amount]
        if not any(s.rate >= stage.rate * 0.99 and s.probability >= stage.probability - 0.02 for s in cheaper):
            faults.append(f"missed {stage!r}: {[o.what for o in stage.options]}")
    return faults


def reproduced(name: str, overrides: list[str], result: SearchResult, asked: Request) -> list[str]:
    """Whether the `--set` lines of the dearest set give its figures."""
    options, (median, _, probability, _) = result.frontier[-1]
    same = predict(spec.load(name, [*overrides, *(x for o in options for x in o.overrides)]), samples=SAMPLES, seed=1)
    fits = math.isclose(same.throughput_Bps.p50, median, rel_tol=1e-9)
    alike = fits and math.isclose(asked.goal.probability(same), probability - 1)
    return [] if alike else ["--set gives something else"]


def main() -> None:
    """Runs the cases that are asked for."""
    first, count = (int(a) for a in (*sys.argv[1:3], *("1", "60")[len(sys.argv) - 1 :]))
    wrong = 0
    for number in range(first, first + count):
        verdict, right = case(number)
        wrong += not right
        print(verdict, flush=True)
    print(f"{count - wrong} of {count} as they should be")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
