"""What is out, by which test and by how much, and the fewest limits that stand in the way."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

import dtnsim
from dtnsim.description import spec
from dtnsim.ground.units import Money
from dtnsim.planning import tool_choice, whynot
from dtnsim.planning.catalog import Offer
from dtnsim.planning.option import Option, Refused
from dtnsim.planning.proposal import named
from dtnsim.planning.search import Search


def _why_not(budget: float, watts: float, chosen: float | None = None, **limits: Any) -> whynot.WhyNot:
    """A slow part for 100, a fast one for 900 that takes 50 W, in two places; both are needed for the goal."""

    def option(place: int, part: str, cost: float, power: float) -> Option:
        offer = Offer(f"{part}{place}", "nic", Money(Decimal(cost), "EUR"), 0, dt.date(2026, 1, 1), "", power, "")
        return Option(f"hosts.a.{place}", offer.part, (f"{place}={part}",), ((offer, 1),), Decimal(cost), float(power))

    choices = {f"hosts.a.{n}": (option(n, "slow", 100, 5), option(n, "fast", 900, 50)) for n in (1, 2)}

    def rate(chosen: Any) -> tuple[float, float, float, float]:
        fast, slow = (sum(o.part.startswith(part) for o in chosen) for part in ("fast", "slow"))
        likely = 0.4 * fast + 0.2 * slow
        return 1 + likely, 1 + likely, 1 + likely, 1.0 + (likely >= 0.6)

    def bound(chosen: Any, still: Any) -> tuple[float, float, float, float]:
        rates = rate(chosen)
        more = 0.4 * len(still)
        return rates[0] + more, rates[1] + more, rates[2] + more, 2.0

    limits |= {"max_watts": watts}
    search = Search(choices, rate, lambda cases: [bound(*case) for case in cases], Decimal(budget), **limits)
    search.frontier()
    return whynot.why_not(search, (Refused("huge", "hosts.a.1", "no slot"),), named, 0.6, chosen)


def test_the_limit_that_stands_in_the_way_is_named_with_what_it_would_have_to_be() -> None:
    made = _why_not(950, 1000)
    assert made.relaxed == (("budget", 1000.0),)
    assert made.by_relaxing[1] == 1000.0
    several = [o.what for o in made.out if ";" in o.what]
    assert several
    assert all(what.partition(";")[0].endswith("1") for what in several)  # parts by place, whatever a set's order is
    assert made.counts["fit"] == 1
    assert made.counts["budget"] >= 2
    assert (made.nearest.what, made.nearest.by) == ("slow1; slow2", pytest.approx(0.2))
    words = " ".join(made.sentences(0.6, "EUR"))
    assert "1 fit nowhere" in words
    assert "With 1,000 EUR it would be met" in words
    assert made.document()["counts"] == made.counts


def test_two_limits_that_only_help_together_are_named_together() -> None:
    made = _why_not(950, 40)
    assert dict(made.relaxed) == {"budget": 1000.0, "max_watts": 55.0}
    assert dict(_why_not(5000, 1000, most=1, patience=1).relaxed) == {"most": 2.0}


def test_where_it_is_met_the_surest_that_costs_less_is_nearest() -> None:
    made = _why_not(5000, 1000, 1000.0)
    assert made.nearest.what == "slow1; slow2"
    assert made.relaxed == ()


def test_what_could_be_asked_instead_is_met_when_it_is_asked(shop: str) -> None:
    asked: dict[str, Any] = {"mine": ["venadi"], "allow": ["parts"], "samples": 32, "hints": False, "catalog": shop}
    path = spec.load("venadi/gridftp-gpfs")
    made = dtnsim.plan(path, target="13Gb/s", **asked)
    assert made.chosen is None
    target, confidence = made.why_not.instead
    assert (target.limit, confidence.limit) == ("target", "confidence")
    less = dtnsim.plan(path, target=f"{target.value} B/s", **asked)
    assert less.chosen is not None
    assert {i.what for i in (target, confidence)} == {made.best.name}
    likely = dtnsim.plan(path, target="13Gb/s", confidence=confidence.value, **asked)
    assert likely.chosen is not None
    document = made.why_not.document()
    assert [i["limit"] for i in document["instead"]] == ["target", "confidence"]
    assert made.why_not.rows()[0][1] == str(next(iter(made.why_not.counts.values())))


def test_a_relaxed_limit_is_in_the_record_with_what_it_buys() -> None:
    document = _why_not(950, 1000).document()
    assert document["relaxed"] == {"budget": 1000.0}
    assert document["by_relaxing"]["price"] == 1000.0


def test_tools_say_why_each_way_but_the_fastest_is_out() -> None:
    found, refused = tool_choice.choose(spec.load("examples/small-files-40ms"), 16, have=("rsync", "cp", "scp"))
    made = whynot.of_tools(found, refused)
    assert set(made.counts) <= {"cannot", "absent", "slow"}
    assert made.counts["slow"] == len(found) - 1
    first, second = sorted(c.duration_s.p50 for c in found)[:2]
    assert made.nearest.by == pytest.approx(second - first)
    assert f"Predicted {len(found)} tools" in made.sentences()[0]
    assert "slower" not in made.sentences()[0]  # those are the rows of the table
    assert made.sentences()[1].startswith("Next fastest: ")
    assert made.sentences()[1].endswith(f" behind {min(found, key=lambda c: c.duration_s.p50).name}.")


@pytest.mark.parametrize(
    ("share", "asked", "said"), [(0.797, 0.8, "79.7%"), (0.803, 0.8, "80%"), (0.78, 0.8, "78%"), (0.8, 0.8, "80%")]
)
def test_what_is_short_of_what_is_asked_does_not_read_as_if_it_were_met(share: float, asked: float, said: str) -> None:
    assert whynot.percent(share, asked) == said
