"""A yard to try the rules of a fleet in: stations and lanes by hand, no path."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dtnsim.description.workload import Retry
from dtnsim.simulation.fleet import corruption
from dtnsim.simulation.fleet.event_loop import EventLoop
from dtnsim.simulation.fleet.facility import Endpoint, Kind, Lane, Reduced, User, Way, Work


def course(
    capacity: Sequence[float],
    ready,
    size,
    *,
    rows=None,
    lane=None,
    own=1.0,
    slots=None,
    retry=None,
    faults=(),
    files=None,
    cap=None,
    until=1e12,
    order="fifo",
    users=1,
    shares=None,
    user_limit=None,
    priorities=None,
    due=None,
    hosts=1,
    by_load=False,
    fast=False,
    hurt=None,
) -> EventLoop:
    """Transfers over ``rows`` (one lane each); alone each runs at ``own`` [B/s]; ``slots`` at once in all."""
    rows = rows or [{0: 1.0}]
    n = len(ready)
    retry = retry or Retry()
    here = Endpoint("here", slots, list(range(hosts)), by_load=by_load)
    there = Endpoint("there", None, [hosts], by_load=False)
    people = [User(f"u{k}", user_limit, 1.0 if shares is None else shares[k]) for k in range(users)]
    lanes, ways = [], []
    for k, row in enumerate(rows):
        each = []
        for h in range(hosts):
            way = Way(len(ways), Reduced(tuple(row.items()), (1.0,), (1.0 / own,), 1.0, 1.0, 0), h, hosts)
            ways.append(way)
            each.append([[way]])
        for user in people:
            kind = Kind(f"k{k}", None, k, 0 if priorities is None else priorities[k], retry, 1.0)
            lanes.append(Lane(len(lanes), (here, there), user, kind, each))
    ready, size = np.asarray(ready, float), np.asarray(size, float)
    whole = np.ones(n, np.int64)
    work = Work(
        ready, ready, size, whole if files is None else np.asarray(files),
        np.zeros(n, np.int64) if lane is None else np.asarray(lane), np.zeros(n, np.int64),
        np.full(n, math.inf) if due is None else np.asarray(due, float),
        np.full(n, math.inf) if cap is None else np.asarray(cap, float),
        replace(corruption.no_damage(n), again_B=np.zeros(n) if hurt is None else hurt),
    )  # fmt: skip
    return EventLoop(capacity, work, lanes, ways, faults, until=until, order=order, hosts=hosts + 1, fast=fast)


def ended(made: EventLoop) -> np.ndarray:
    """Runs it to its end."""
    while not made.run(100_000):
        pass
    return made.ended
