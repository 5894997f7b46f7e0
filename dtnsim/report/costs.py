"""What relieves each rung of a ladder: the command that sets it, and the cheapest part on the price list that helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dtnsim.ground.errors import DtnsimError
from dtnsim.planning import catalog, purchases, swept, tuning
from dtnsim.planning.money import exchange
from dtnsim.steady.remedies import key_of

if TYPE_CHECKING:
    from dtnsim.description.spec import PathSpec
    from dtnsim.ground.records import Prediction, Rung
    from dtnsim.planning.purchases import Option
    from dtnsim.planning.tuning import Setting

#: time at a station that a part must save to help
_SAVED: Final = 0.01
#: parts of one place that are tried, the cheapest first
_TRIED: Final = 8


@dataclass(frozen=True, slots=True)
class Relief:
    """What relieves a rung; empty texts where nothing is known.

    Attributes:
        command: What to type, at no cost.
        price: The cheapest part that makes the station quicker.
    """

    command: str = ""
    price: str = ""


def reliefs(given: PathSpec, p: Prediction, rungs: Sequence[Rung]) -> list[Relief]:
    """For each rung what relieves it.

    Args:
        given: The path.
        p: Its answer.
        rungs: The ladder.
    """
    stations = {s.name: s for s in p.problem.stations}
    listed = catalog.read()
    currency = listed.offers[0].price.currency
    try:
        choices, _ = purchases.options(given, list(given.hosts), listed, exchange(()), currency)
        before = _load(given)
    except DtnsimError:
        choices, before = {}, {}
    settings = _tried(given, max(r.throughput_Bps for r in rungs))
    found = []
    for rung in rungs:
        station, least = stations.get(rung.station), before.get(rung.station, 0.0) * (1 - _SAVED)
        command = next(("; ".join(s.commands) for s, load in settings if load.get(rung.station, least) < least), "")
        key = key_of(p.problem, station) if station is not None else ""
        part = _cheapest(given, key, rung.station, least, choices) if key else None
        price = f"{part.count} x {part.part}, {part.price:,.0f} {currency} ({part.offer.date})" if part else ""
        found.append(Relief(command, price))
    return found


def _load(given: PathSpec) -> dict[str, float]:
    """Seconds a byte at each station, waiting by the transfer it belongs to."""
    found: dict[str, float] = {}
    for (transfer, _, kind, station), seconds in swept.times(given).items():
        name = station if kind == "at" else f"{transfer}.workers"
        found[name] = found.get(name, 0.0) + seconds
    return found


def _tried(given: PathSpec, target_Bps: float) -> list[tuple[Setting, dict[str, float]]]:
    """Settings of all hosts and tools, each with the load of the stations that it leaves."""
    found = []
    for setting in tuning.settings(given, list(given.hosts), target_Bps):
        try:
            found.append((setting, _load(given.changed(setting.overrides))))
        except DtnsimError:
            continue
    return found


def _cheapest(
    given: PathSpec, key: str, station: str, least: float, choices: Mapping[str, Sequence[Option]]
) -> Option | None:
    """The cheapest part in the place of a station that leaves less load on it."""
    fitting = [o for place, parts in choices.items() if place.startswith(key) or key.startswith(place) for o in parts]
    for option in sorted(fitting, key=lambda o: o.price)[:_TRIED]:
        try:
            after = _load(given.changed([option.override]))
        except DtnsimError:
            continue
        if after.get(station, least) < least:
            return option
    return None
