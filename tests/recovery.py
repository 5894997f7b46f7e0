"""A host whose parameters are known is measured by `simulate`, with noise, and calibrated: are they found again?

python -m tests.recovery [HOSTS [FACTOR]]

For every synthetic host all uncertain parameters are drawn from what its file says; the tests that ``calibrate
--suggest`` asks for are simulated with them, three runs on each of three days that lie apart by known amounts, and
written as logs of fio and dd. Counted is how often a 90 % interval holds the true value, over parameters that the logs
determine (known better than four fifths of what the file says). With FACTOR the file says so many times what one kind
of drive really does.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from dtnsim.evidence import suggest
from dtnsim.evidence.calibrate import calibrate
from dtnsim.evidence.fit_model import Model, quantities
from dtnsim.evidence.fit_targets import Targets
from dtnsim.evidence.suggest import Candidate
from dtnsim.simulation.runs import simulate
from tests.each import tables

HOST = tables("tables")["bench"]
#: how far runs and days lie apart, how many there are
RUN, DAY, RUNS, DAYS = 0.02, 0.03, 3, 3
#: quantile of a 90 % interval; share of the description's deviation from which a parameter is not determined
HALF, SHARE = 1.6449, 0.8


@dataclass(frozen=True)
class Found:
    """Determined parameters of one host: (key, true, estimate, standard deviation of the logarithm)."""

    parameters: tuple[tuple[str, float, float, float], ...]
    released: tuple[str, ...]
    not_followed: int

    @property
    def inside(self) -> int:
        """How many 90 % intervals hold the true value."""
        return sum(abs(np.log(estimate / true)) <= HALF * sd for _, true, estimate, sd in self.parameters)


def recover(seed: int, factor: float = 1.0) -> Found:
    """One synthetic host, measured and calibrated."""
    rng = np.random.default_rng(seed)
    stated = {"rate": 150.0, "read": 2000.0, "write": 1000.0}
    wrong = {"rate"} if seed % 2 else {"read", "write"}
    with tempfile.TemporaryDirectory() as folder:
        right, told = Path(folder) / "right.yaml", Path(folder) / "told.yaml"
        right.write_text(HOST.format(**stated))
        told.write_text(HOST.format(**{k: v * (factor if k in wrong else 1.0) for k, v in stated.items()}))
        target = Targets([str(right)]).all[0]
        chosen = [s.test for s in suggest.suggest(suggest.candidates(target), "bench")[0]]
        model = Model([c.figure for c in chosen], ["bench"])
        truth = {}
        for p in model.parameters:
            if p.host:
                truth[p.key] = float(p.value(np.clip(rng.standard_normal(), *p.limits())))
        logs = Path(folder) / "logs"
        logs.mkdir()
        for number, test in enumerate(chosen):
            rate = simulated(test, truth)
            for name, text in written(test, number, rate, rng):
                (logs / name).write_text(text)
        fit = calibrate([logs], [str(told)])
    return Found(
        tuple(
            (p.key, truth[p.key], float(value), float(spread))
            for p, value, spread, u, sd in zip(
                fit.parameters, fit.values, fit.spread, np.sqrt(np.diag(fit.covariance)), fit.prior_sd, strict=True
            )
            if p.host and u < SHARE * sd
        ),
        tuple(r.parameter.key for r in fit.released),
        int((np.abs(fit.ratio_after) > 3 * fit.error).sum()),
    )


def simulated(test: Candidate, truth: dict[str, float]) -> float:
    """Rate of a test on the true host [B/s]."""
    given = test.figure.spec
    host = given.hosts["bench"]
    units = {key: {"1": "", "1/s": "/s"}.get(dim, dim) for key, dim in dims(host)}
    changes = [f"hosts.bench.{key}={value:.12g} {units[key]}".rstrip() for key, value in truth.items()]
    run = simulate(given.changed(changes)).runs[0]
    return run.transfers[0].throughput_Bps


def dims(host: object) -> Iterator[tuple[str, str]]:
    """Units of a host's parameters by key."""
    for key, quantity, _ in quantities(host):  # type: ignore[arg-type]
        yield key, quantity.dim


def written(test: Candidate, number: int, rate: float, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """(name, text) of the logs of all runs of a test."""
    for day in range(DAYS):
        level = rate * np.exp(DAY * rng.standard_normal())
        for run in range(RUNS):
            when = datetime(2024, 3, 1 + 7 * day, 9) + timedelta(minutes=10 * run)
            measured = level * np.exp(RUN * rng.standard_normal())
            text = fio(test, measured) if test.tool == "fio" else dd(test, measured, when)
            yield f"{test.tool}-{number}-{when:%Y-%m-%dT%H%M%S}.log", text


def fio(test: Candidate, rate: float) -> str:
    """Its JSON."""
    given = dict(word.lstrip("-").partition("=")[::2] for word in test.command[1:])
    options = {k: given[k] for k in ("rw", "bs", "iodepth", "ioengine", "direct")} | {"directory": test.volume}
    way = "read" if given["rw"].endswith("read") else "write"
    result = {"io_bytes": int(rate * 30), "bw_bytes": int(rate), "bw": int(rate / 1024), "runtime": 30000, "iops": 1.0}
    jobs = [{"jobname": "dtnsim", "error": 0, "job options": options, way: result}]
    return json.dumps({"fio version": "fio-3.28", "jobs": jobs}, indent=1)


def dd(test: Candidate, rate: float, when: datetime) -> str:
    """What it prints below its command."""
    command = " ".join(test.command).replace("FILE", f"{test.volume}/file")
    seconds = test.size_B / rate
    said = f"{test.size_B:.0f} bytes copied, {seconds:.6g} s, {rate / 1e6:.4g} MB/s"
    return f"{when:%a %b %d %H:%M:%S UTC %Y}\n$ {command}\n{said}\n"


def main(hosts: int, factor: float) -> None:
    """Prints what was found."""
    inside = known = 0
    for seed in range(hosts):
        found = recover(seed, factor)
        inside, known = inside + found.inside, known + len(found.parameters)
        out = [f"{k} {t:.3g} {e:.3g} +- {s:.1%}" for k, t, e, s in found.parameters if abs(np.log(e / t)) > HALF * s]
        print(f"{seed}: {found.inside} of {len(found.parameters)}; gave way: {', '.join(found.released) or 'none'}; "
              f"not followed {found.not_followed}; outside: {'; '.join(out) or 'none'}", flush=True)  # fmt: skip
    share = f"{inside} of {known} determined parameters in their 90 % interval: {inside / known:.1%}"
    print(f"{hosts} hosts, description times {factor:g}: {share}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
