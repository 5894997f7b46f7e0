"""Where components write down their stations and what a byte costs there.

Components get a `Row` and charge it; they never see each other's internals nor the solver. A row
carries a factor, so that parity, framing or a verification pass scale everything below them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw, Quantity, Value
from dtnsim.ground.records import Connection, Demand, Station
from dtnsim.ground.runtime import record
from dtnsim.ground.term import PRODUCT, Term, parameter, term, worded
from dtnsim.ground.uncertainty import Change

#: what stations of a kind are asked for where that is no byte
_UNITS: Final = {"core": "cycles", "cpu": "cycles", "lock": "op", "target-core": "op", "metadata": "s", "tape": "s"}


@dataclass(slots=True)
class Ledger:
    """All stations of a path, and the warnings met while composing it."""

    draw: Draw
    stations: dict[str, Station] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    connections: dict[str, Connection] = field(default_factory=dict)
    #: what several hosts mount, by name: the first mount met, whose numbers (and their draws) hold for all
    systems: dict[str, Any] = field(default_factory=dict)
    #: what was worked out for one transfer and holds for all that are like it, by what it follows from
    known: dict[Any, Any] = field(default_factory=dict)
    #: what is charged now, while somebody wants to charge it again (`Row.likewise`)
    tape: list[tuple[Row, dict[str, Any], Demand, Term]] | None = None

    def warn(self, text: str) -> None:
        """Notes something the reader of the answer should know; says it once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def folded(self, names: Iterable[str]) -> list[str]:
        """The warnings, each once: the same of several hosts or transfers names the first and the number."""
        prefixes = set(names)
        same: dict[tuple[bool, str], list[str]] = {}
        for text in self.warnings:
            name, _, rest = text.partition(": ")
            same.setdefault((True, rest) if name in prefixes else (False, text), []).append(name)
        return [
            text
            if not of_one
            else f"{' and '.join(owners) if len(owners) < 3 else f'{owners[0]} and {len(owners) - 1} others'}: {text}"
            for (of_one, text), owners in same.items()
        ]


@record(frozen=True, slots=True)
class Row:
    """The row of demands of one phase of one transfer, as seen from one place on the path."""

    ledger: Ledger  #: The ledger of the path.
    transfer: str  #: Name of the transfer (private stations carry it).
    demands: list[Demand]  #: The demands charged so far (shared by all views of the row).
    factor: Term | Value = 1.0  #: Bytes here per byte of the phase.
    host: str = ""  #: Host that the charging component is in.
    below_cache: bool = False  #: True where the destination's page cache comes before what is charged.
    missed: int = 0  #: How many memories must lack what is read for this to be charged.
    #: Where given, what was charged, as terms: for those who charge it again in parts (`Row.charged_again`).
    terms: list[Term] | None = None
    owner: str = ""  #: Whose the private stations are where several transfers share them: a mount and its connections.

    # written out: `dataclasses.replace` takes three times as long, and many transfers ask a hundred thousand times

    def seen_from(self, host: str) -> Row:
        """The same row, seen from another host."""
        factor, below = self.factor, self.below_cache
        return Row(self.ledger, self.transfer, self.demands, factor, host, below, self.missed, self.terms, self.owner)

    def times(self, factor: Term | Value) -> Row:
        """The same row where each byte counts ``factor`` times."""
        scaled, below = term(self.factor) * term(factor), self.below_cache
        return Row(
            self.ledger, self.transfer, self.demands, scaled, self.host, below, self.missed, self.terms, self.owner
        )

    def owned(self, owner: str) -> Row:
        """The same row, whose private stations are of something that all transfers share."""
        return replace(self, owner=owner)

    @property
    def whose(self) -> str:
        """Name that private stations carry."""
        return self.owner or self.transfer

    def behind_cache(self) -> Row:
        """The same row, below the destination's page cache."""
        return replace(self, below_cache=True)

    def where_missed(self) -> Row:
        """The same row for what the next memory on the way does not have."""
        return replace(self, missed=self.missed + 1)

    def value(self, quantity: Quantity) -> Value:
        """Value of a parameter in this scenario, or in all of them."""
        return self.ledger.draw(quantity)

    def term(self, quantity: Quantity) -> Term:
        """A parameter with its formula and source."""
        return parameter(self.ledger.draw, quantity)

    def charge(
        self,
        component: str,
        kind: str,
        *,
        capacity: Term | Value,
        per_byte: Term | Value = 1.0,
        unit: str = "",
        what: str,
        private: bool = False,
        alone: Value | None = None,
        label: str = "",
        remedy: str = "",
        changes: tuple[Change, ...] = (),
    ) -> str:
        """Charges this row at station ``host.component``, making the station where it is new.

        Args:
            component: Name of the station within its host.
            kind: Kind of station.
            capacity: Capacity [unit/s] with its formula and source. Where the station exists already its first
                capacity stays, and the demand is scaled so that a byte takes the time that it takes at its own
                capacity (a drive that writes slower than it reads).
            per_byte: Demand of one byte seen here [unit/B] with its formula and source.
            unit: Unit of the station; where none is given that of its kind, or bytes.
            what: The activity, in words.
            private: One station for each transfer, or for the row's ``owner``, instead of one for all.
            alone: What one worker has of a private station while the others are elsewhere; None: its part.
            label: What sentences call the station, where its name is not good enough.
            remedy: What relieves the station, naming keys and options; by its kind where nothing is given.
            changes: Those of its ways that can be tried, as ``key=value`` too.

        Returns:
            Name of the station.
        """
        host = self.host or "network"
        name = f"{host}.{component}" + (f"[{self.whose}]" if private else "")
        private, unit = private and not self.owner, unit or _UNITS.get(kind, "B")
        rate, use = term(capacity), term(per_byte)
        station = self.ledger.stations.get(name)
        if station is None:
            self.ledger.stations[name] = Station(
                name, host, component, kind, rate.value, unit, rate.formula, rate.source, private,
                alone if private else None, label, remedy=remedy, changes=changes,
            )  # fmt: skip
        elif (station.kind, station.unit) != (kind, unit):
            remedy = "give mounts, adapters and NICs other names"
            raise SpecError(f"names two components, a {station.kind} and a {kind}", key=name, remedy=remedy)
        else:
            use = use * _scale(station, rate)
        factor = self.factor
        cost = use if isinstance(factor, float) and factor == 1.0 else use * term(factor)
        demand = Demand(
            name, cost.value, what, cost.formula, cost.source, below_cache=self.below_cache, missed=self.missed
        )
        self.demands.append(demand)
        if self.terms is not None:
            self.terms.append(cost)
        if self.ledger.tape is not None:
            kwargs = {"component": component, "kind": kind, "capacity": rate, "per_byte": term(per_byte), "unit": unit,
                    "what": what, "private": private, "alone": alone, "label": label, "remedy": remedy,
                    "changes": changes}  # fmt: skip
            self.ledger.tape.append((self, kwargs, demand, cost))
        return name

    def likewise(self, key: tuple[Any, ...], charge: Callable[[], None]) -> None:
        """Charges this row as one before it that was seen from the same place was, where ``key`` was the same.

        The key is all that charges follow from, but for this row and its transfer's name; ``charge`` charges the first.
        """
        ledger, factor = self.ledger, self.factor
        if ledger.tape is not None or not isinstance(factor.value if isinstance(factor, Term) else factor, float):
            charge()
            return
        full_key = (key, factor, self.host, self.below_cache, self.missed, self.owner, worded())
        tape = ledger.known.get(full_key)
        if tape is None:
            ledger.tape = tape = []
            try:
                charge()
            finally:
                ledger.tape = None
            ledger.known[full_key] = tape
            return
        for row, kwargs, demand, cost in tape:
            if kwargs["private"]:
                mine = Row(
                    ledger, self.transfer, self.demands, row.factor, row.host, row.below_cache, row.missed, self.terms,
                    row.owner,
                )  # fmt: skip
                mine.charge(**kwargs)
            else:
                self.demands.append(demand)
                if self.terms is not None:
                    self.terms.append(cost)

    def probed(self, charge: Callable[[Row], None]) -> Value:
        """Rate that the stations which ``charge`` charges allow alone [B/s]; this row is not charged for them."""
        probe = self._probe(charge)
        return solo_rate(probe.ledger.stations, probe.demands)

    def stations_of(self, charge: Callable[[Row], None]) -> frozenset[str]:
        """Names of the stations that ``charge`` charges; this row is not charged for them."""
        return frozenset(d.station for d in self._probe(charge).demands)

    def _probe(self, charge: Callable[[Row], None]) -> Row:
        probe = Row(Ledger(self.ledger.draw), self.transfer, [], host=self.host)
        charge(probe)
        return probe

    def charged_again(self, part: Term | Value, below: Term | Value) -> list[Demand]:
        """What was charged, ``part`` of it, and ``below`` of what lies below the destination's page cache."""
        assert self.terms is not None
        if all(isinstance(share, float) and share == 1.0 for share in (part, below)):
            return list(self.demands)
        demands = []
        shares = _share(part, "part of the bytes in this phase"), _share(below, "part of the bytes that drives take")
        for demand, charged in zip(self.demands, self.terms, strict=True):
            cost = charged * shares[demand.below_cache]
            demands.append(
                Demand(
                    demand.station, cost.value, demand.what, cost.formula, cost.source,
                    below_cache=demand.below_cache, missed=demand.missed,
                )
            )  # fmt: skip
        return demands


def _share(part: Term | Value, source: str) -> Term:
    """A part of the bytes, which says what it is where it is not all of them."""
    return term(part) if isinstance(part, float) and part == 1.0 else term(part, source=source)


def _scale(existing: Station, rate: Term) -> Term:
    """Factor on a demand at capacity ``rate`` that keeps its time at a station of another capacity."""
    if isinstance(existing.capacity, float) and isinstance(rate.value, float):  # most often, and a tenth of the time
        alike = existing.capacity == rate.value
    else:
        alike = np.array_equal(existing.capacity, rate.value)
    if alike:
        return Term(1.0, "1")
    station, row_capacity = np.asarray(existing.capacity, float), np.asarray(rate.value, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        good = np.isfinite(station) & np.isfinite(row_capacity) & (station > 0) & (row_capacity > 0)
        factor = np.where(good, station / row_capacity, 1.0)
    return Term(factor, f"({existing.formula}) / ({rate.formula})", rate.source, PRODUCT)


def per_station(demands: Iterable[Demand]) -> dict[str, Value]:
    """What a byte of some demands costs at each station."""
    costs: dict[str, Value] = {}
    for demand in demands:
        costs[demand.station] = costs.get(demand.station, 0.0) + demand.per_byte
    return costs


def solo_rate(stations: Mapping[str, Station], demands: Iterable[Demand]) -> Value:
    """Rate that the stations of some demands allow when nobody else is there [B/s]."""
    rate: Value = np.inf
    with np.errstate(divide="ignore", invalid="ignore"):  # no demand, no limit, whatever the capacity
        for name, per_byte in per_station(demands).items():
            capacity = stations[name].capacity
            if isinstance(rate, float) and isinstance(per_byte, float) and isinstance(capacity, float):
                rate = min(rate, capacity / per_byte) if per_byte > 0 else rate
                continue
            cost = np.asarray(per_byte)
            rate = np.minimum(rate, np.where(cost > 0, capacity / cost, np.inf))
    return rate
