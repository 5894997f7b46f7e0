"""Fits what networks between clouds lose, and prints how each route is predicted by the others.

    python .ci/wan_folds.py [TABLE]

A table has the columns of calibration/wan-truth/public.csv. How likely a run is at a loss, for 100 ms of round trip,
since it grows with length: the part of the round model's runs, as long as it and with the route's window, that have
its rate, where it sent segments again, and that this happens; else that nothing is lost in so many packets. Routes
differ log-normally, and so do the runs of each, of which 20 a route count at most. Predicted with nothing stated but
rate and round trip, ``medium`` and ``role: cloud``.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.components import network_kinds
from dtnsim.description import spec
from dtnsim.ground import library
from dtnsim.ground.quantity import factor_spread
from dtnsim.ground.uncertainty import NAMES, WITHIN
from dtnsim.physics._arrays import LEVELS
from dtnsim.physics.tcp import outcome, rounds
from dtnsim.physics.tcp.coefficients import SPREAD_LOSS
from dtnsim.physics.tcp.setting import HEADERS_B, Setting
from dtnsim.steady.prediction import predict

KINDS: Final = {"backbone": "backbone", "between providers": "internet"}
#: shorter routes are held by cores and by what providers let a machine send
LEAST_RTT_S: Final = 0.02
LEAST_WINDOW_B: Final = 2.9e6  #: no route's window is smaller
MOST_RUNS: Final = 20
OMITTED_S: Final = 3.0
MEASURED_S: Final = 10.0
STRANGE: Final = 1e-3  #: how likely a rate is of which no run of the model is near
LOSSES: Final = 10.0 ** np.arange(-9.0, -1.9, 0.1)
SAMPLES: Final = 1024
PATH: Final = """
name: route
hosts:
  a: &host
    role: cloud
    cpu: {kind: cpu, cores: 8, clock: 2.5 GHz}
    memory: {kind: memory, channels: 6, rate: 2933 MT/s, size: 32 GiB}
    nic: {kind: nic, rate: 16 Gb/s}
  b: *host
wan: {rtt: 50 ms, bandwidth: 10 Gb/s, medium: internet}
transfer: {from: "a:memory", to: "b:memory", tool: {name: iperf3, t: 10 s, O: 3 s}}
"""


@dataclass(frozen=True)
class Route:
    """A route: its least round trip, its runs' rates, and the logarithm of how likely each is at each of `LOSSES`."""

    name: str
    medium: str
    rtt_s: float
    rates_Bps: Any
    likely: Any


def routes(table: Path) -> list[Route]:
    """The routes of a table, the shortest first."""
    runs: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    with table.open() as file:
        for row in csv.DictReader(file):
            runs.setdefault((row["kind"], row["sender"], row["receiver"]), []).append(row)
    each = [_route(f"{sender} {receiver}", KINDS[kind], rows) for (kind, sender, receiver), rows in runs.items()]
    return sorted((r for r in each if r.rtt_s >= LEAST_RTT_S), key=lambda r: r.rtt_s)


def _route(name: str, kind: str, rows: list[dict[str, str]]) -> Route:
    rtt = float(np.median([float(r["min_rtt_ms"]) for r in rows])) / 1e3
    rates = np.array([float(r["rate_bps"]) / 8 for r in rows])
    flights = rates * np.array([float(r["mean_rtt_ms"]) / 1e3 for r in rows])
    mss, window = float(rows[0]["mss_B"]), max(float(np.quantile(flights, 0.9)), LEAST_WINDOW_B)
    usual = Setting(1.25e9, rtt, 0.0, mss + HEADERS_B, 1e9, 1, "cubic", window, duration_s=MEASURED_S, payload_B=mss)
    columns = [replace(usual, loss=p * rtt / network_kinds.LENGTH_S).columns() for p in LOSSES.tolist()]
    cases = rounds.Cases.of(**{key: [row[key] for row in columns] for key in columns[0]}, warmup_s=OMITTED_S)
    count = len(LOSSES)
    runs, steps = np.full(count, outcome.REPLICAS_LOSS), np.full(count, outcome.STEPS)
    could = np.empty((count, outcome.REPLICAS_LOSS))
    for part, samples in rounds.run_windows(cases, runs, steps, 1, np.empty((count, 0))):
        could[part] = samples.goodput_Bps
    z = np.log(rates / could[..., None]) / SPREAD_LOSS.value
    none = np.exp(-LOSSES[:, None] * rtt / network_kinds.LENGTH_S * rates * MEASURED_S / mss)
    again = np.array([row["retransmits"] != "0" for row in rows])
    likely = np.where(again, np.exp(-(z**2) / 2).mean(axis=1) * (1 - none), none) + STRANGE
    return Route(name, kind, rtt, rates, np.log(likely).T)


def fit(some: list[Route]) -> tuple[float, float, float]:
    """Median loss, and the factors within which two thirds of routes, and of a route's runs, lie."""
    from scipy.optimize import minimize

    at = np.log(LOSSES)

    def unlikely(tried: Any) -> float:
        middle, (routes, runs) = tried[0], np.exp(tried[1:])
        of_run = np.exp(-(((at - at[:, None]) / runs) ** 2) / 2)
        of_run /= of_run.sum(axis=1, keepdims=True)
        of_route = np.exp(-(((at - middle) / routes) ** 2) / 2)
        of_route /= of_route.sum()
        total = 0.0
        for route in some:
            weight = min(1.0, MOST_RUNS / len(route.rates_Bps))
            each = weight * np.log(of_run @ np.exp(route.likely.T)).sum(axis=1)
            total -= np.log(of_route @ np.exp(each - each.max())) + each.max()
        return float(total)

    best = minimize(unlikely, [-12.0, 0.0, -1.0], method="Nelder-Mead").x
    loss, between, within = np.exp([best[0], *np.exp(best[1:])])
    return float(loss), float(between), float(within)


def predicted(route: Route, loss: float, between: float, within: float) -> Any:
    """Rates of single runs [B/s], sorted, where the routes of its kind are like that."""
    usual = network_kinds.PRIORS[route.medium]
    network_kinds.PRIORS[route.medium] = replace(
        usual,
        loss=replace(usual.loss, value=loss, spread=factor_spread(between)),
        runs=replace(usual.runs, spread=factor_spread(within)),
    )
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(PATH)
            file.flush()
            loaded = spec.load(file.name, [f"wan.rtt={route.rtt_s:.6g} s", f"wan.medium={route.medium}"])
        drawn = predict(loaded, samples=SAMPLES).drawn
    finally:
        network_kinds.PRIORS[route.medium] = usual
    assert drawn is not None
    return np.sort(drawn.rates_Bps[:, 0])


def crps(drawn: Any, measured: Any) -> float:
    """Mean continuous ranked probability score of logarithms; ``drawn`` rises."""
    drawn, measured = np.log(drawn), np.log(measured)
    n = len(drawn)
    apart = (2 * np.arange(1, n + 1) - n - 1) @ drawn / n**2
    return float(np.abs(drawn[:, None] - measured).mean() - apart)


def main(table: str | None) -> None:
    """Fits, predicts and prints."""
    each = routes(Path(table) if table else library.root("calibration") / "wan-truth" / "public.csv")
    loss, between, within = fit(each)
    print(f"loss {loss:.2g}, routes within a factor of {between:.2g}, runs of {within:.2g}")
    for kind in KINDS.values():
        mine = [r for r in each if r.medium == kind]
        print(f"{kind}: loss {fit(mine)[0]:.2g} by themselves")
        heads = f"median/measured   {NAMES[2]}/{NAMES[0]}   in the {WITHIN} interval   below   above"
        print(f"    round trip   runs   {heads}")
        total = []
        for route in mine:
            rates = predicted(route, *fit([r for r in each if r is not route]))
            low, middle, high = np.quantile(rates, LEVELS)
            below, above = float(np.mean(route.rates_Bps < low)), float(np.mean(route.rates_Bps > high))
            ratio = middle / float(np.median(route.rates_Bps))
            over = float(np.mean(route.rates_Bps < middle))
            score = crps(rates, route.rates_Bps)
            total.append((len(route.rates_Bps), ratio, high / low, below, above, over, score))
            print(
                f"    {1e3 * route.rtt_s:7.1f} ms {len(route.rates_Bps):6d} {ratio:17.2f} {high / low:9.2f}"
                f" {1 - below - above:22.0%} {below:7.0%} {above:7.0%}   {route.name}"
            )
        runs, ratio, width, below, above, over, score = np.array(total).T
        for name, weight in (("runs", runs / runs.sum()), ("routes", np.full(len(runs), 1 / len(runs)))):
            print(
                f"    all, by {name}: in the interval {1 - weight @ (below + above):.0%}, below {weight @ below:.0%},"
                f" above {weight @ above:.0%}; the median is too high for {weight @ over:.0%};"
                f" median {NAMES[2]}/{NAMES[0]} {np.median(width):.2f}, CRPS {weight @ score:.3f}"
            )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
