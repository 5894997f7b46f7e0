"""Which tests would say more of a host: the shortest list that determines what can be determined.

Every candidate is a command that its owner can run, and the same test described to the model. What it says of the
parameters is its expected Fisher information: the mean of ``J J' / s^2`` over draws of what is known now, ``J`` the
slope of the logarithm of its rate, ``s`` the error of a run. Tests are taken one after the other, always the one that
determines most parameters more (their standard deviation falls below half of what the description says), until none
does.
Source: Fedorov, Theory of Optimal Experiments (1972), sequential designs; the criterion is a count, for people.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from dtnsim.description import spec
from dtnsim.discovery.finding_out import how, table
from dtnsim.evidence.cases import Case
from dtnsim.evidence.figures import Figure
from dtnsim.evidence.fit import Fit
from dtnsim.evidence.fit_logs import SPREAD
from dtnsim.evidence.fit_model import Model
from dtnsim.evidence.fit_targets import Target, Targets
from dtnsim.ground import yamlio
from dtnsim.ground.errors import DtnsimError
from dtnsim.ground.grouping import by_key
from dtnsim.ground.units import plural
from dtnsim.physics._arrays import FloatArray as Array

#: a parameter is determined where its standard deviation falls below this share of the description's
DETERMINED: Final = 0.5
#: draws of what is known now, and the step of the slopes in prior deviations
_DRAWS: Final = 6
_STEP: Final = 1e-3
#: most bytes that a test writes, and the share of a volume that it may take
_MOST_B: Final = 32 * 2**30
_SHARE: Final = 0.1
_MIB: Final = 2**20

#: bytes that dd writes: to the medium, in one go for the page cache, and where it waits for every block
_SIZES: Final = {"fdatasync": _MOST_B, "": 4 * 2**30, "dsync": 2**30}
#: beginnings of words that are alike in all commands
_FIXED: Final = ("--directory", "--name", "--size", "--output", "--time_based", "--runtime", "--ioengine", "--direct=",
                 "of=", "if=", "count=")  # fmt: skip
#: what the tests here are
_HERE: Final = "fio or dd on the volume"
_BLOCKS: Final = {"4k": 4096, "1M": _MIB, "64M": 64 * _MIB}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A test that can be run."""

    volume: str  #: Mount point.
    command: tuple[str, ...]  #: What to run; ``DIR`` stands for a new folder on the volume, ``FILE`` for a file in it.
    size_B: float  #: What it writes.
    figure: Figure  #: The same described to the model.

    @property
    def words(self) -> str:
        """For people: the command without folders and sizes."""
        return f"{' '.join(w for w in self.command if not w.startswith(_FIXED))} on {self.volume}"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A test, and the parameters that it determines once the tests before it have been run."""

    test: Candidate
    determines: tuple[str, ...]


def candidates(target: Target) -> list[Candidate]:
    """Tests of a host's volumes that the model can describe."""
    tests = []
    for mount, volume in target.host.volumes.items():
        room = volume.size.value * _SHARE if volume.size is not None else _MOST_B
        for options in table()["volumes"]["fio"]:
            size = _whole_blocks(min(_MOST_B, room))
            tool = {"name": "fio", "direct": "true", "ioengine": "libaio", **options}
            flags = [f"--{k}={v}" for k, v in options.items()]
            timed = [
                "--direct=1",
                f"--size={size // _MIB:.0f}M",
                "--time_based",
                "--runtime=30",
                "--output-format=json",
            ]
            command = ("fio", "--name=dtnsim", "--directory=DIR", *flags, "--ioengine=libaio", *timed)
            tests.append(_candidate(target, mount, command, tool, size))
        for dd_options in table()["volumes"]["dd"]:
            size = _whole_blocks(min(_SIZES[dd_options.get("conv") or dd_options.get("oflag") or ""], room))
            count = f"count={size // _BLOCKS[dd_options['bs']]:.0f}"
            more = [f"{k}={v}" for k, v in dd_options.items() if k != "bs"]
            command = ("dd", "if=/dev/zero", "of=FILE", f"bs={dd_options['bs']}", count, *more)
            tests.append(_candidate(target, mount, command, {"name": "dd", **dd_options}, size))
    return [c for c in tests if c is not None]


def _whole_blocks(size: float) -> float:
    """A size in whole blocks of the largest."""
    return max(size // (64 * _MIB), 1) * 64 * _MIB


def _candidate(
    target: Target, mount: str, command: tuple[str, ...], tool: Mapping[str, Any], size: float
) -> Candidate | None:
    """None where the volume does not take such a test: a file system without direct I/O, a share."""
    block = f"{_BLOCKS[tool['bs']]} B"
    source = "/dev/zero" if tool["name"] == "dd" else "memory"
    transfer = {
        "from": f"{target.name}:{source}",
        "to": f"{target.name}:{mount}",
        "tool": {**{k: str(v) for k, v in tool.items()}, "bs": block},
        "dataset": {"files": 1, "size": f"{size:.0f} B"},
    }
    description = {"name": " ".join(command), "transfer": transfer, "hosts": {target.name: target.raw}}
    name, overrides = tool["name"], (json.dumps(transfer),)
    case = Case(id=name, site=target.name, path=Path(name), overrides=overrides, quantity="throughput", measured=1.0,
                spread=SPREAD, role="fit", tool=name, log=None, what="")  # fmt: skip
    try:
        figure = Figure(case, spec.resolve(yamlio.mapping(description, "suggested", 0)))
        Model([figure], [target.name])
    except DtnsimError:
        return None
    return Candidate(mount, command, size, figure)


def suggest(tests: Sequence[Candidate], host: str, fit: Fit | None = None) -> tuple[list[Suggestion], list[str]]:
    """(the shortest list of tests that determines what these candidates on a host can, what none of them does)."""
    if not tests:
        return [], []
    model = Model([t.figure for t in tests], [host])
    indices = [j for j, p in enumerate(model.parameters) if p.host]
    centre, covariance = _known_now(model, indices, fit)
    slopes = _slopes(model, indices, centre, covariance)
    determined = np.diag(covariance) < DETERMINED**2
    left, chosen = list(range(len(tests))), list[Suggestion]()
    while left:
        after = [_after(covariance, slopes[:, n]) for n in left]
        new = [(np.diag(a) < DETERMINED**2) & ~determined for a in after]
        gains = [(int(n.sum()), -float(np.log(np.diag(a)).sum())) for n, a in zip(new, after, strict=True)]
        best = max(range(len(left)), key=lambda i: gains[i])
        if not new[best].any():
            break
        names = tuple(model.parameters[indices[i]].key for i in np.flatnonzero(new[best]))
        chosen.append(Suggestion(tests[left[best]], names))
        covariance, determined = after[best], determined | new[best]
        left.pop(best)
    return chosen, [model.parameters[indices[i]].key for i in np.flatnonzero(~determined)]


def _known_now(model: Model, indices: Sequence[int], fit: Fit | None) -> tuple[Array, Array]:
    """(where all parameters are, covariance of the host's) as a fit has them, or as they are described."""
    centre, covariance = np.zeros(len(model.parameters)), np.eye(len(indices))
    if fit is None:
        return centre, covariance
    where = {(p.host, p.key): n for n, p in enumerate(fit.parameters)}
    keys = [(model.parameters[j].host, model.parameters[j].key) for j in indices]
    fitted = [i for i, key in enumerate(keys) if key in where]
    rows = [where[keys[i]] for i in fitted]
    centre[[indices[i] for i in fitted]] = fit.u[rows]
    covariance[np.ix_(fitted, fitted)] = fit.covariance[np.ix_(rows, rows)]
    return centre, covariance


def _slopes(model: Model, indices: Sequence[int], centre: Array, covariance: Array) -> Array:
    """D ln(rate) / du of every candidate at draws of what is known, (draws, candidates, parameters)."""
    rng = np.random.default_rng(1)
    width = np.zeros(centre.size)
    width[list(indices)] = np.minimum(np.sqrt(np.diag(covariance)), 1.0)
    low, high = np.array([p.limits() for p in model.parameters]).T
    steps = np.zeros((len(indices) + 1, centre.size))
    steps[np.arange(1, len(indices) + 1), indices] = _STEP
    slopes = []
    for draw in range(_DRAWS):
        point = centre + (width * rng.standard_normal(centre.size) if draw else 0.0)
        point = np.where(width > 0, np.clip(point, low, high - _STEP), point)
        ratios = model.ratios(point + steps)
        slopes.append((ratios[1:] - ratios[0]).T / _STEP)
    return np.array(slopes)


def _after(covariance: Array, slopes: Array) -> Array:
    """Covariance once a test with these slopes (draws, parameters) has been run, by Woodbury's identity."""
    seen = slopes @ covariance
    noise = np.eye(len(slopes)) * len(slopes) * SPREAD**2
    return np.asarray(covariance - seen.T @ np.linalg.solve(noise + seen @ slopes.T, seen))


def for_hosts(hosts: Sequence[str], fit: Fit | None = None) -> dict[str, tuple[list[Suggestion], list[str]]]:
    """(tests, parameters left open) by the name of each host."""
    return {t.name: suggest(candidates(t), t.name, fit) for t in Targets(hosts).all}


def script(chosen: Sequence[Suggestion], left: Sequence[str], host: str, file: str) -> str:
    """The script.

    Args:
        chosen: Tests in their order.
        left: Parameters that none of them determines.
        file: The host's file, as the user wrote it.
    """
    room = max((s.test.size_B for s in chosen), default=0.0) / 2**30
    head = Path(__file__).with_name("suggested.sh").read_text(encoding="utf-8")
    lines = [head.format(what=plural(len(chosen), "test"), host=host, file=shlex.quote(file), room=f"{room:.0f}")]
    for number, s in enumerate(chosen, 1):
        lines.append(f"# {number}: determines {', '.join(s.determines)}\n")
        volume, kib = shlex.quote(s.test.volume), f"{s.test.size_B / 1024:.0f}"
        words = " ".join(_word(w) for w in s.test.command)
        lines.append(f"if begin {volume} {kib}; then run {s.test.command[0]}-{number} {words}; finish; fi\n")
    lines.append("done\n")
    lines += [f"# {line}\n" for line in elsewhere(left)]
    return "".join(lines)


def _word(word: str) -> str:
    key, mark, value = word.partition("=")
    if value == "DIR":
        return f'{key}{mark}"$dir"'
    return f'{key}{mark}"$dir"/file' if value == "FILE" else shlex.quote(word)


def elsewhere(left: Sequence[str]) -> list[str]:
    """What would determine parameters that these tests leave open."""
    ways = by_key((how(f".{key}"), key) for key in left)
    lines = [f"{', '.join(ways[way])}: {way}" for way in ways if way != _HERE]
    if lines:
        lines.append("figures of these are cases with role: fit (dtnsim init --cases), or values with 'spread:'")
    if _HERE in ways:
        lines.append(f"no test of these narrows: {', '.join(ways[_HERE])}; they keep what the description says")
    return lines
