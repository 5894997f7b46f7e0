"""How to remove each bottleneck of a ladder: the command that does it, and the cheapest part on the price list."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.quantity import Draw
from dtnsim.ground.records import Prediction, Rung
from dtnsim.ground.term import without_words
from dtnsim.planning import actions, catalog, fitting
from dtnsim.planning.actions import tcp
from dtnsim.planning.bounds import times
from dtnsim.planning.money import exchange
from dtnsim.planning.option import Offered, Option, Setting
from dtnsim.planning.rating import Paths
from dtnsim.steady import timed
from dtnsim.steady.reasons import key_of

_SAVED: Final = 0.01  #: time at a station that a part must save to help
_TRIED: Final = 8  #: parts of one place that are tried, the cheapest first


class Reliefs:
    """How to remove each bottleneck of a path's ladders; what these share is worked out once."""

    def __init__(self, p: Prediction) -> None:
        self._given, self._problem = p.given, p.problem
        self._stations = {s.name: s for s in p.problem.stations}
        self._listed = catalog.read()
        self._currency = self._listed.offers[0].price.currency
        self._options: dict[str, Mapping[str, Sequence[Option]]] = {}
        self._settings: dict[str, list[tuple[Setting, dict[str, float]]]] = {}
        self._paths, self._loads = Paths(p.given), dict[tuple[str, ...], dict[str, float]]()

    def reliefs(self, rungs: Sequence[Rung]) -> list[tuple[str, str]]:
        """(what to type, the cheapest part that makes the station quicker) of each rung; empty where none is known."""
        return [self._relief(rung, max(r.throughput_Bps for r in rungs)) for rung in rungs]

    def _relief(self, rung: Rung, target_Bps: float) -> tuple[str, str]:
        station, least = self._stations.get(rung.station), self._load().get(rung.station, 0.0) * (1 - _SAVED)
        host = station.host if station is not None and station.host in self._given.hosts else ""
        command = self._own_remedy(rung)
        if not command:
            tried = self._tried(host, target_Bps)
            command = next(("; ".join(s.commands) for s, load in tried if load.get(rung.station, least) < least), "")
        key = key_of(self._problem, station) if station is not None and host else ""
        part = self._cheapest(host, key, rung.station, least) if key else None
        price = f"{part.what}, {part.price:,.0f} {self._currency}" if part else ""
        if part is not None and part.buys:
            price += f" ({part.buys[0][0].date})"
        return command, price

    def _own_remedy(self, rung: Rung) -> str:
        """What the rung's remedy says, as it is typed on its hosts; one sysctl has one value wherever it is named."""
        settings = [(name, tcp.sysctls(self._given, name, rung.overrides)) for name in self._given.hosts]
        return "; ".join(f"on {name}: {'; '.join(s.commands)}" for name, s in settings if s is not None)

    def _tried(self, host: str, target_Bps: float) -> list[tuple[Setting, dict[str, float]]]:
        """Settings of a host and of the tools, each with the load of the stations that it leaves."""
        if host not in self._settings:
            tried = []
            settings = actions.settings(self._given, [host] if host else [], target_Bps, ("tuning",))
            self._paths.ahead(s.overrides for s in settings if s.overrides not in self._loads)
            for setting in settings:
                with suppress(DtnsimError):
                    tried.append((setting, self._load(setting.overrides)))
            self._settings[host] = tried
        return self._settings[host]

    def _cheapest(self, host: str, key: str, station: str, least: float) -> Option | None:
        """The cheapest part in the place of a station that leaves less load on it."""
        if host not in self._options:
            try:
                offered = fitting.options(fitting.Shop(self._given, self._listed, exchange(())), [host])
            except DtnsimError:
                offered = Offered()
            self._options[host] = offered.choices
        places = self._options[host].items()
        near = [o for place, parts in places if place.startswith(key) or key.startswith(place) for o in parts]
        for option in sorted(near, key=lambda o: o.price)[:_TRIED]:
            try:
                after = self._load(option.overrides)
            except DtnsimError:
                continue
            if after.get(station, least) < least:
                return option
        return None

    def _load(self, overrides: tuple[str, ...] = ()) -> dict[str, float]:
        """Seconds a byte at each station of the path with overrides, waiting by the transfer it belongs to."""
        if overrides not in self._loads:
            with without_words():
                problem = timed.composer(self._paths(overrides), Draw()).problem()
            loads: dict[str, float] = {}
            for (transfer, station), seconds in times(problem).items():
                name = station or f"{transfer}.workers"
                loads[name] = loads.get(name, 0.0) + float(seconds[0])
            self._loads[overrides] = loads
        return self._loads[overrides]
