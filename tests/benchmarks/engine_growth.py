"""How the engine's cost grows: CPU time against flows, arrivals, files, stations, duration and bytes, on log-log axes.

``python tests/benchmarks/engine_growth.py [SVG]`` prints each series with its slope (1 is proportional, 0 is constant)
and draws them. Two to three minutes on one core.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import time
from pathlib import Path

import numpy as np
import simpy

from dtnsim.engine.arrivals import run_arrivals
from dtnsim.engine.engine import Engine
from dtnsim.engine.pipeline import Buffer, Pipeline, Stage
from dtnsim.engine.pool import aggregate_pool, run_pool

HERE = Path(__file__).parent


def load_workloads():
    spec = importlib.util.spec_from_file_location("workloads", HERE.parent / "engine" / "workloads.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WORK = load_workloads()


def flows(n):
    """W1: n flows that start together."""
    starts, sizes, which, caps = WORK.w1(n)
    return lambda: run_arrivals(WORK.capacities(), starts, sizes, WORK.rows(), which, caps=caps)


def arrivals(n):
    """W2: n arrivals at 0.9 of the WAN; a longer time at the same load."""
    starts, sizes, which, caps = WORK.w2(n)
    return lambda: run_arrivals(WORK.capacities(), starts, sizes, WORK.rows(), which, caps=caps)


def files(n):
    """W3: n files through 8 workers."""
    sizes = list(WORK.w3(n))
    return lambda: run_pool(WORK.W3_CAPACITIES, WORK.W3_ROW, sizes, 8, overhead=0.02, cap=WORK.W3_CAP)


def equal_files(n):
    """n equal files through 8 workers, aggregated."""
    return lambda: aggregate_pool(WORK.W3_CAPACITIES, WORK.W3_ROW, [(n, 1e6)], 8, overhead=0.02, cap=WORK.W3_CAP)


def stations(k):
    """20,000 transfers over k stations in pairs (disk and link), about k/2 of them under way at once."""
    rng, n = np.random.default_rng(1), 20_000
    pairs = k // 2
    rows = [{2 * p: 1.0, 2 * p + 1: 1.0} for p in range(pairs)]
    starts = np.cumsum(rng.exponential(2.0 / pairs, n))
    sizes, which = rng.exponential(1.0, n), rng.integers(pairs, size=n)
    return lambda: run_arrivals([1.0, 2.0] * pairs, starts, sizes, rows, which)


def size(n):
    """One transfer of n bytes from disk to disk through buffers of 64 MiB."""

    def run():
        env = simpy.Environment()
        engine = Engine(env, [3e9, 1.25e9, 2e9])
        env.run(Pipeline(engine, n, [Stage({k: 1.0}) for k in range(3)], [Buffer(2**26)] * 2).done)

    return run


SERIES = {
    "flows that start together (W1)": (flows, [100, 1_000, 10_000, 100_000]),
    "arrivals, or duration (W2)": (arrivals, [1_000, 10_000, 50_000]),
    "files (W3)": (files, [1_000, 10_000, 100_000, 1_000_000]),
    "equal files, aggregated": (equal_files, [1_000, 1_000_000, 1_000_000_000]),
    "stations (20,000 transfers)": (stations, [10, 100, 1_000, 10_000]),
    "bytes of one transfer": (size, [1e6, 1e9, 1e12, 1e15]),
}
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"]


def measure(make, n):
    """Least CPU time of runs that together take some tenths of a second [s]."""
    best, spent = math.inf, 0.0
    while spent < 0.3:
        run = make(n)
        start = time.process_time()
        run()
        took = time.process_time() - start
        best, spent = min(best, took), spent + max(took, 0.02)
    return best


def slope(xs, ys):
    """Least-squares slope on log-log axes, over the upper half of the range (start-up costs hide the lower)."""
    half = max(2, (len(xs) + 1) // 2)
    return float(np.polyfit(np.log(xs[-half:]), np.log(ys[-half:]), 1)[0])


def draw(results, path):
    """Writes the series as an SVG."""
    left, top, width, height = 60, 20, 520, 360
    low_x, high_x, low_y, high_y = 1, 15, -5, 2

    def at(x, y):
        return (
            left + (math.log10(x) - low_x) / (high_x - low_x) * width,
            top + (high_y - math.log10(y)) / (high_y - low_y) * height,
        )

    box = f"0 0 {left + width + 20} {top + height + 190}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>',
    ]
    for e in range(low_y, high_y + 1):
        _, y = at(1, 10.0**e)
        parts.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#ddd"/><text x="8" y="{y + 4:.1f}">1e{e} s</text>')
    for e in range(low_x, high_x + 1, 2):
        x, _ = at(10.0**e, 1)
        parts.append(f'<path d="M{x:.1f} {top}v{height}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 10:.1f}" y="{top + height + 16}">1e{e}</text>')
    for colour, (number, (name, (xs, ys))) in zip(COLOURS, enumerate(results.items()), strict=False):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(a, b) for a, b in zip(xs, ys, strict=True)))
        y = top + height + 45 + 18 * number
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<rect x="{left}" y="{y - 8}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{left + 22}" y="{y}">CPU time against {name}: slope {slope(xs, ys):.2f}</text>')
    path.write_text("\n".join([*parts, "</svg>\n"]))


def main():
    """Measures, prints, draws."""
    results = {}
    for name, (make, sizes) in SERIES.items():
        seconds = [measure(make, n) for n in sizes]
        results[name] = (sizes, seconds)
        points = ", ".join(f"{n:g}: {s:.3g} s" for n, s in zip(sizes, seconds, strict=True))
        print(f"{name}: slope {slope(sizes, seconds):.2f}  ({points})", flush=True)
    draw(results, Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "engine_growth.svg")


if __name__ == "__main__":
    main()
