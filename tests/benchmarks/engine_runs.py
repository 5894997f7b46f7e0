"""Programs that are timed as processes of their own, next to SimGrid's on the same files.

engine_runs.py w1|w2 PLATFORM.csv FLOWS.csv [--out FILE]    flows over 50 hosts a side and one WAN
engine_runs.py w3 FILES.csv                                 8 workers move files
engine_runs.py w5 BYTES BLOCK STREAMS                       disk to disk through buffers of 4 blocks
engine_runs.py homogeneous FILES                            so many equal files
engine_runs.py year TRANSFERS                               a laboratory's year: 20 DTNs, day and week, heavy tails

Each prints one JSON line. Files are those that `workloads.py` writes (see README.md).
"""

from __future__ import annotations

import json
import sys
import time

GB_S = 1e9 / 8
HOSTS = 50


def w12(platform: str, flows: str, *rest: str) -> dict[str, float]:
    import numpy as np

    from dtnsim.engine.arrivals import run_arrivals

    capacity = [0.0] * (1 + 4 * HOSTS)
    with open(platform) as lines:
        next(lines)
        for line in lines:
            kind, side, host, rate = line.split(",")
            base = 0 if kind == "wan" else (1 if side == "s" else 1 + 2 * HOSTS) + 2 * int(host) + (kind == "disk")
            capacity[base] = float(rate)
    table = np.loadtxt(flows, delimiter=",", skiprows=1, ndmin=2)
    pairs = (table[:, 1] * HOSTS + table[:, 2]).astype(int)
    used, which = np.unique(pairs, return_inverse=True)
    rows = []
    for pair in used.tolist():
        out, into = 1 + 2 * (pair // HOSTS), 1 + 2 * HOSTS + 2 * (pair % HOSTS)
        rows.append(dict.fromkeys((0, out, out + 1, into, into + 1), 1.0))
    found = run_arrivals(capacity, table[:, 3], table[:, 4], rows, which, caps=table[:, 5])
    if rest[:1] == ("--out",):
        np.savetxt(rest[1], found.finish, fmt="%.6f")
    return {"n": len(table), "end_s": float(found.finish.max()), "under_way": found.mean, "events": found.events}


def w3(files: str) -> dict[str, float]:
    from dtnsim.engine.pool import run_pool

    def sizes():
        with open(files) as lines:
            next(lines)
            for line in lines:
                yield float(line[line.index(",") + 1 :])

    capacity, row = [8 * GB_S, 10 * GB_S, 10 * GB_S, 10 * GB_S, 6 * GB_S], dict.fromkeys(range(5), 1.0)
    found = run_pool(capacity, row, sizes(), 8, overhead=0.02, cap=2 * GB_S)
    return {"n": found.files, "end_s": found.end}


def w5(size: str, block: str, streams: str) -> dict[str, float]:
    import simpy

    from dtnsim.engine.engine import Engine
    from dtnsim.engine.pipeline import Buffer, Pipeline, Stage

    start = time.process_time()
    env = simpy.Environment()
    engine = Engine(env, [3e9, 10 * GB_S, 10 * GB_S, 10 * GB_S, 2e9])
    stages = [Stage({0: 1.0}), Stage({1: 1.0, 2: 1.0, 3: 1.0}), Stage({4: 1.0})]
    buffers = [Buffer(4 * float(block))] * 2
    jobs = [Pipeline(engine, float(size) / int(streams), stages, buffers) for _ in range(int(streams))]
    env.run(env.all_of([job.done for job in jobs]))
    return {
        "n": int(streams),
        "end_s": env.now,
        "Gb_per_s": float(size) * 8e-9 / env.now,
        "events": engine.fluid.settled,
        "model_cpu_s": time.process_time() - start,
    }


def homogeneous(files: str) -> dict[str, float]:
    from dtnsim.engine.pool import aggregate_pool

    found = aggregate_pool([8 * GB_S, 6 * GB_S], {0: 1.0, 1: 1.0}, [(int(files), 1e6)], 8, overhead=0.02, cap=2 * GB_S)
    return {"n": found.files, "end_s": found.end}


def year(transfers: str) -> dict[str, float]:
    import numpy as np

    from dtnsim.engine.arrivals import run_arrivals
    from dtnsim.engine.traffic import pareto_mean, pareto_sizes, poisson_times

    rng, dtns, duration = np.random.default_rng(1), 20, 365 * 86400.0
    starts = poisson_times(
        rng,
        int(transfers) / duration,
        duration,
        hours=[2, 1, 1, 1, 1, 1, 2, 3, 5, 7, 8, 8, 7, 8, 8, 8, 7, 6, 4, 4, 3, 3, 3, 2],
        days=[1, 1, 1, 1, 1, 0.5, 0.5],
    )
    n = len(starts)
    sizes = pareto_sizes(rng, n, 1e6, 1e14, 1.1)
    # the border link carries 40 % of its capacity in the mean; each DTN has a NIC and a file system behind it
    border = len(sizes) * pareto_mean(1e6, 1e14, 1.1) / duration / 0.4
    dtn = border / dtns * 4
    capacity = [border] + [c for k in range(dtns) for c in (dtn, dtn * (0.4 + 0.6 * k / dtns))]
    rows = [{0: 1.05, 1 + 2 * k: 1.05, 2 + 2 * k: 1.0} for k in range(dtns)]
    found = run_arrivals(
        capacity, starts, sizes, rows, rng.integers(dtns, size=n), caps=dtn * 10 ** rng.uniform(-2, 0, n)
    )
    took = found.finish - starts
    return {
        "n": n,
        "end_s": float(found.finish.max()),
        "under_way": found.mean,
        "most": found.peak,
        "events": found.events,
        "median_took_s": float(np.median(took)),
        "p99_took_s": float(np.quantile(took, 0.99)),
    }


def main() -> None:
    name, *arguments = sys.argv[1:]
    start = time.process_time()
    result = {"w1": w12, "w2": w12, "w3": w3, "w5": w5, "homogeneous": homogeneous, "year": year}[name](*arguments)
    cpu = time.process_time() - start
    with open("/proc/self/status") as status:  # since this program's exec; ru_maxrss has its parent's in it
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    print(json.dumps({"w": name, **result, "cpu_s": cpu, "peak_MB": peak / 1024}))


if __name__ == "__main__":
    main()
