"""Transfers that wait for each other never run together: each turn has the stations to itself.

The solver knows only stations and transfers. For a path with several turns, each station is copied for every turn that
visits it, so that one solution gives the rates of all turns; results refer to the original stations again.
"""

from dataclasses import replace

import numpy as np

from dtnsim.ground.records import Prediction, Problem
from dtnsim.physics._arrays import FloatArray as Array, Index
from dtnsim.steady.matrices import OF_STATIONS, Matrices
from dtnsim.steady.rows import Rows
from dtnsim.tools.plan import Tool


def by_turn(m: Matrices) -> tuple[Matrices, Index]:
    """The problem with a copy of each station for every turn that visits it, and the station of each copy."""
    count, total = m.capacity.shape[1], m.total
    pairs = np.unique((m.turn[total.row] * count + total.station)[total.station < count])
    stations, turns = pairs % count, pairs // count

    def visited(rows: Rows, turn: Index) -> Rows:
        places = np.searchsorted(pairs, turn[rows.row] * count + rows.station)
        return replace(rows, station=np.where(rows.station < count, places, len(pairs)))

    slowdowns = tuple(
        (int(driver), np.flatnonzero((turns == turns[driver]) & np.isin(stations, affected)), slope, reference)
        for drives, affected, slope, reference in m.slowdowns
        for driver in np.flatnonzero(stations == drives)
    )
    parted = replace(
        m,
        **m.select(OF_STATIONS, stations),
        total=visited(total, m.turn),
        phases=visited(m.phases, m.turn[m.transfer]),
        slowdowns=slowdowns,
        turn=np.zeros_like(m.turn),
    )
    return parted, stations


def lasts(problem: Problem, rates: Array) -> Array:
    """Duration of each transfer (S, F) [s] at rates (S, F) [B/s]; that of a test includes the seconds it omits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        seconds = np.array([t.payload_B for t in problem.transfers]) / rates
    for f, t in enumerate(problem.transfers):
        if t.timed:
            seconds[:, f] = t.omitted_s + t.time_s
    return np.asarray(seconds)


def longest(problem: Problem, rates: Array) -> Index:
    """Number of the longest transfer (S,) at rates (S, F) [B/s]; the first of equals."""
    seconds = lasts(problem, rates)
    return np.asarray((seconds >= seconds.max(axis=1, keepdims=True) * (1 - 1e-9)).argmax(axis=1))


def ends(problem: Problem, rates: Array) -> Array:
    """End of each transfer (S, F) [s] at rates (S, F) [B/s]."""
    place = {t.name: f for f, t in enumerate(problem.transfers)}
    ended_s, seconds = np.zeros(rates.shape), lasts(problem, rates)
    for f in sorted(place.values(), key=lambda f: problem.transfers[f].turn):
        t = problem.transfers[f]
        begins = np.full(len(rates), t.start_s)
        for name in t.after:
            begins = np.maximum(begins, ended_s[:, place[name]])
        ended_s[:, f] = begins + t.pause_s + seconds[:, f]
    return ended_s


def span(problem: Problem, rates: Array) -> Array:
    """Time from the first start to the last end (S,) [s]; the seconds that a timed test omits precede its start."""
    first = [t for t in problem.transfers if not t.after]
    begins = min(t.start_s + t.pause_s + (t.omitted_s if t.timed else 0.0) for t in first)
    return np.asarray(ends(problem, rates).max(axis=1) - begins)


def moved(prediction: Prediction) -> tuple[int, float]:
    """Files and bytes [B] that a path moves; those that pass through a copy on the way count once."""
    both = zip(prediction.transfers, prediction.problem.transfers, strict=True)
    counted = [t for t, composed in both if composed.counted]
    pieces = {t.name: t.dataset.pieces for t in prediction.given.transfers if t.dataset is not None}
    return round(sum(t.files / pieces.get(t.name, 1) for t in counted)), sum(t.payload_B for t in counted)


def sends(tool: Tool) -> str:
    """The part of the files that a tool sends if the others exist at the destination; rates count all files."""
    changed = getattr(tool, "changed", None)
    part = 1.0 if changed is None else changed.value
    return f", of which {tool.kind} sends {100 * part:.3g}%" if part < 1 else ""


def total_rate(problem: Problem, rates: Array) -> Array:
    """Rate of the path (S,) [B/s]: bytes that count over the time from the first start to the last end."""
    if len(problem.transfers) == 1:
        return np.asarray(rates[:, 0])
    counted = [(f, t) for f, t in enumerate(problem.transfers) if t.counted]
    moved = [rates[:, f] * t.time_s if t.timed else t.payload_B for f, t in counted]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sum(moved) / np.maximum(span(problem, rates), 1e-300))
