"""The search for sets of purchases against brute force: on made-up parts, and on paths of the library."""

import datetime as dt
import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from dtnsim.description import spec
from dtnsim.ground.quantity import Draw
from dtnsim.ground.units import Money
from dtnsim.planning import catalog, dominance, fitting
from dtnsim.planning.bounds import Bound, _Reference
from dtnsim.planning.catalog import Offer
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Option
from dtnsim.planning.rating import SAME, Rater
from dtnsim.planning.search import Open, Rates, Search, price
from dtnsim.steady import solve
from dtnsim.steady.timed import composer
from tests.each import tables

Speeds = tuple[int, int]
NOTHING: Open = {}

PARTS = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.tuples(st.integers(1, 9), st.integers(1, 9))), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def _options(sizes: Sequence[Sequence[tuple[int, Speeds]]]) -> dict[str, tuple[Option, ...]]:
    day = dt.date(2026, 1, 1)

    def option(n: int, k: int, cost: int) -> Option:
        offer = Offer(f"part{n}-{k}", "nic", Money(cost, "USD"), 0, day, "", None, "")
        return Option(f"place{n}", offer.part, (f"place{n}={k}",), ((offer, 1),), cost, 1.0, (("slots", 1),))

    return {f"place{n}": tuple(option(n, k, c) for k, (c, _) in enumerate(p)) for n, p in enumerate(sizes)}


# three parts of which a sum of times binds, and only one can be paid
@example([[(1, (1, 1))], [(1, (3, 1))], [(1, (3, 1))]], 1, [1] * 8, True, 4, 6)
@settings(max_examples=150)
@given(PARTS, st.integers(0, 20), st.lists(st.integers(1, 9), min_size=8, max_size=8), st.booleans(),
       st.integers(0, 4), st.integers(1, 6))  # fmt: skip
def test_it_finds_what_brute_force_finds(
    sizes: list[list[tuple[int, Speeds]]], budget: int, base: list[int], shared: bool, slots: int, most: int
) -> None:
    """Each part has two stations; the second rate is that of the second stations; each part takes one slot."""
    choices = _options(sizes)
    speed = {o.overrides: sizes[n][k][1] for n, p in enumerate(choices) for k, o in enumerate(choices[p])}

    def value(pairs: Sequence[Speeds]) -> Rates:
        least = min(a for a, _ in pairs)
        middle, sure = min(least, 2 / sum(1 / a for a, _ in pairs)) if shared else least, min(b for _, b in pairs)
        return middle, sure, 1 + sure / 10, 1.0 + (sure > 5)

    def rate(chosen: Sequence[Option], still: Open = NOTHING) -> Rates:
        now = {o.place: speed[o.overrides] for o in chosen}
        pairs = []
        for n, p in enumerate(choices):
            own = now.get(p, (base[2 * n], base[2 * n + 1]))
            every = [own, *(speed[o.overrides] for o in still.get(p, ()))]
            pairs.append((max(a for a, _ in every), max(b for _, b in every)))
        return value(pairs)

    search = Search(
        choices, rate, lambda cases: [rate(*case) for case in cases], budget, stock={"slots": slots}, most=most
    )
    found = search.frontier()
    sets = itertools.product(*((None, *parts) for parts in choices.values()))
    every = [tuple(o for o in s if o is not None) for s in sets]
    allowed = [s for s in every if not s or (price(s) <= budget and len(s) <= min(most, slots))]
    _covers(found, [(price(s), rate(s)) for s in allowed])
    assert all(s in allowed or tuple(sorted(s, key=lambda o: o.place)) in allowed for s, _ in found)
    assert search.exceeded == 0
    assert not search.cut
    rated = search.evaluated.items()  # bounds are exact here: what something cheaper beats is not worked out
    assert not any(price(s) < price(t) and np.all(np.greater_equal(x, y)) for s, x in rated for t, y in rated)


def _covers(found, points) -> None:
    """Every set has one on the frontier that costs no more and gives as much; none of the frontier beats another."""
    for cost, rates in points:
        assert any(
            price(s) <= cost and all(a >= b * (1 - 2 * t) for a, b, t in zip(r, rates, SAME, strict=True))
            for s, r in found
        ), (cost, rates)
    for (s, a), (t, b) in itertools.permutations(found[1:], 2):  # the first buys nothing
        assert not (price(s) <= price(t) and all(x > y for x, y in zip(a, b, strict=True)))


CASES = tables("planning/tables")["searches"]


@pytest.mark.long
@pytest.mark.parametrize(("path", "hosts", "parts", "overrides"), CASES, ids=[c[0] for c in CASES])
def test_it_is_brute_force_on_paths_of_the_library(path, hosts, parts, overrides) -> None:
    given = spec.load(path, overrides)
    offered = fitting.options(fitting.Shop(given, catalog.read(), exchange([]), "USD"), hosts)
    few = {p: tuple(o for o in v if o.part in parts or not o.buys)[:3] for p, v in offered.choices.items()}
    few = {p: v for p, v in few.items() if v}
    rate = Rater(given, 5e9, 0.8, 256, 1)
    bound = Bound(rate, few)
    search = Search(
        few, rate, bound, 12_000, bound.matters, offered.stock, worth=dominance.worth(bound, few, SAME[0] / 12)
    )
    found = search.frontier()
    sets = (tuple(o for o in s if o) for s in itertools.product(*((None, *v) for v in few.values())))
    allowed = [s for s in sets if not s or search.allowed(s)]
    assert len(allowed) >= 9
    assert len(found) > 1
    _covers(found, [(price(s), search._rates_of(s)) for s in allowed])
    assert search.exceeded == 0
    assert not search.cut
    short = Search(few, rate, bound, 12_000, bound.matters, offered.stock, patience=1)
    assert short.frontier()
    assert short.cut  # and says so


def test_bounds_have_what_limits_a_connection_beside_its_link() -> None:
    path = spec.load("examples/dtn-100g-to-buy", ["hosts.ours.tcp.rmem_max=14MiB"])
    offered = fitting.options(fitting.Shop(path, catalog.read(), exchange([]), "USD"), ["ours"]).choices
    parts = {"hosts.ours.nics.eth": {"connectx-5-100g": 1, "mellanox-cx3-pro-40g": 2},
             "hosts.ours.volumes./data.array": {"samsung-pm9a3": 8}}  # fmt: skip
    few = {p: [o for o in offered[p] if of.get(o.part) == o.buys[0][1]] for p, of in parts.items()}
    rate, sets = Rater(path, 9e9, 0.8, 256, 1), list(itertools.product(*few.values()))
    assert np.divide([rate(s) for s in sets], Bound(rate, few)([(s, {}) for s in sets])) == pytest.approx(1.0, abs=0.01)


def test_a_phase_that_only_waits_has_its_place_in_the_bounds() -> None:
    """rsync's list of files visits no station: scaled by nothing, the reference is what it was."""
    path = spec.load("examples/nightly-sync")
    problem = composer(path, Draw()).problem()
    m = solve.matrices(problem)
    assert (m.phases.station == m.capacity.shape[1]).any()
    reference = _Reference(Rater(path, 1e9, 0.8, 48, 1), problem, [])
    assert reference.scaled(np.ones((len(reference.keys), 1))).total.demand == pytest.approx(m.total.demand)
