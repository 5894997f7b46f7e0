"""Independent answers to hold the engine against: plain progressive filling, re-solved at every event.

Nothing of the engine is used here, and nothing is clever: every rate is recomputed from the
definition, every flow is moved on at every event.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass
class Job:
    """A transfer of the oracle."""

    start: float
    size: float
    row: dict[int, float]
    weight: float = 1.0
    cap: float = math.inf
    finish: float = math.nan


def exact_filling(capacity, rows, weights, caps):
    """`progressive_filling` in rational numbers: no rounding at all."""

    def exact(x):
        return x if x == math.inf else Fraction(x)

    exact_rows = [{k: Fraction(d) for k, d in row.items()} for row in rows]
    return progressive_filling(
        [exact(c) for c in capacity], exact_rows, [Fraction(w) for w in weights], [exact(c) for c in caps], 0
    )


def progressive_filling(capacity, rows, weights, caps, slack=1e-13):  # noqa: C901 - the definition, in one piece
    """Weighted max-min fair rates: raise all levels together, stop whom a cap or a full station stops."""
    n = len(rows)
    rate = [0.0] * n
    frozen = [False] * n
    left = list(capacity)
    level = 0
    while not all(frozen):
        use = [0.0] * len(capacity)
        for f in range(n):
            if not frozen[f]:
                for k, d in rows[f].items():
                    use[k] += weights[f] * d
        rise = min(
            [left[k] / use[k] for k in range(len(capacity)) if use[k] > 0]
            + [caps[f] / weights[f] - level for f in range(n) if not frozen[f]]
        )
        if rise == math.inf:
            for f in range(n):
                if not frozen[f]:
                    rate[f] = math.inf
            return rate
        rise = max(rise, 0)
        level += rise
        full = set()
        for k in range(len(capacity)):
            if use[k] > 0 and capacity[k] < math.inf:
                left[k] -= use[k] * rise
                if left[k] <= slack * capacity[k]:
                    left[k] = 0
                    full.add(k)
        for f in range(n):
            if frozen[f]:
                continue
            if caps[f] / weights[f] <= level * (1 + slack):
                rate[f], frozen[f] = caps[f], True
            elif any(k in full and d > 0 for k, d in rows[f].items()):
                rate[f], frozen[f] = weights[f] * level, True
    return rate


def event_by_event(capacity, jobs, changes=()):
    """Finish times of jobs on stations; ``changes``: (time, station, capacity)."""
    capacity = list(capacity)
    coming = sorted(range(len(jobs)), key=lambda i: jobs[i].start)
    pending = sorted(changes)
    left: dict[int, float] = {}
    now = 0.0
    while coming or left or pending:
        live = list(left)
        rates = progressive_filling(
            capacity, [jobs[i].row for i in live], [jobs[i].weight for i in live], [jobs[i].cap for i in live]
        )
        ends = {}
        for i, r in zip(live, rates, strict=True):
            ends[i] = now + left[i] / r if r > 0 else math.inf
        time = min([*ends.values(), *(jobs[i].start for i in coming[:1]), *(c[0] for c in pending[:1])])
        if time == math.inf:
            break
        for i, r in zip(live, rates, strict=True):
            if ends[i] <= time * (1 + 1e-14):
                jobs[i].finish = time
                del left[i]
            else:
                left[i] -= r * (time - now)
        now = time
        while coming and jobs[coming[0]].start <= now:
            i = coming.pop(0)
            if jobs[i].size == 0:
                jobs[i].finish = now
            else:
                left[i] = jobs[i].size
        while pending and pending[0][0] <= now:
            _, station, value = pending.pop(0)
            capacity[station] = value
    return [j.finish for j in jobs]


def lexicographic(capacity, rows, weights, caps):
    """Weighted max-min by linear programs: raise the least rate per weight, fix who cannot rise further, repeat."""
    from scipy.optimize import linprog

    n = len(rows)
    use = np.array([[rows[f].get(k, 0.0) for f in range(n)] for k in range(len(capacity))])
    weight = np.array(weights)
    fixed = {}
    while len(fixed) < n:
        free = [f for f in range(n) if f not in fixed]
        # variables: rates, level; maximise the level that every free flow reaches
        a = [np.append(row, 0.0) for row in use]
        b = list(capacity)
        for f in free:
            line = np.zeros(n + 1)
            line[f], line[n] = -1.0, weight[f]
            a.append(line)
            b.append(0.0)
        most = [c if math.isfinite(c) else None for c in caps]
        bounds = [(fixed[f], fixed[f]) if f in fixed else (0, most[f]) for f in range(n)]
        top = linprog(np.append(np.zeros(n), -1.0), A_ub=a, b_ub=b, bounds=[*bounds, (0, None)], method="highs")
        assert top.status == 0
        level = top.x[n]
        stuck = {}
        for f in free:  # those who cannot pass the level while the others keep it
            least = level * weight * (1 - 1e-9)
            floor = [bounds[g] if g in fixed else (least[g], most[g]) for g in range(n)]
            goal = np.zeros(n)
            goal[f] = -1.0
            best = linprog(goal, A_ub=use, b_ub=np.array(capacity) * (1 + 1e-12), bounds=floor, method="highs")
            assert best.status == 0
            if best.x[f] <= level * weight[f] * (1 + 1e-6):
                stuck[f] = level * weight[f]
        assert stuck
        fixed.update(stuck)
    return [fixed[f] for f in range(n)]
