"""Flows that compete: unequal round trips, unequal algorithms, at one drop-tail bottleneck.

Time goes in equal slices of a part of the shortest round trip. Each flow is a fluid with its own state
machine (those that go by losses by their windows, BBR v1 by its model of the path); what it sends meets the
others in one queue, well mixed; departures come back after its base round trip, drops after that and the
full queue's delay.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics.tcp import _bbr1, _bbr3, _growth, _kernel
from dtnsim.physics.tcp import coefficients as known

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CODES: Final = {
    "reno": _growth.RENO,
    "cubic": _growth.CUBIC,
    "htcp": _growth.HTCP,
    "bbr": _growth.BBR,
    "scalable": _growth.SCALABLE,
    "westwood": _growth.WESTWOOD,
    "illinois": _growth.ILLINOIS,
    "bbr2": _growth.BBR2,
    "bbr3": _growth.BBR3,
}
#: Slices in the shortest round trip; least and longest slice [s]
SLICES: Final = 4.0
SLICE_S: Final = (5e-4, 0.0075)
#: From this many flow-slices in a process on compiling pays, and loading what was compiled before: plain Python takes
#: about 5 us for one, compiling 7 s, loading 0.2 s
WORTH_COMPILING: Final = 1_000_000
WORTH_LOADING: Final = 50_000


@dataclass(frozen=True, slots=True)
class Lanes:
    """Lanes of competing flows: (lanes,) and (lanes, flows).

    Attributes:
        C: Rate left by the background [segments/s].
        B: Buffer left by the background [segments].
        T: Base round-trip times, hosts included [s].
        codes: Algorithms, values of `CODES`.
        start: Time of the first segment [s].
        cap: Most segments in flight.
        marks: Begin and end of the measured window (lanes, 2) [s].
        loss: Random loss behind the queue [1].
        replica: Number of the run of its case.
    """

    C: FloatArray
    B: FloatArray
    T: FloatArray
    codes: IntArray
    start: FloatArray
    cap: FloatArray
    marks: FloatArray
    loss: FloatArray
    replica: IntArray

    def slices(self) -> FloatArray:
        """Length of a slice in each lane [s]: the longest round trip fits into the kernel's memory."""
        wanted = np.clip(self.T.min(axis=1) / SLICES, *SLICE_S)
        longest = self.T.max(axis=1) + self.B / self.C
        return np.asarray(np.maximum(wanted, 2 * longest / (_kernel.RING - 8)), float)


def compiles() -> bool:
    """Whether numba is installed."""
    try:
        return importlib.util.find_spec("numba") is not None
    except ValueError:  # it is blocked
        return False


class _Plain:
    """Flow-slices that this process has run in plain Python."""

    work = 0.0


def _pays(work: float) -> bool:
    """Whether so many more flow-slices are worth compiled code; the answers are the same, bit by bit."""
    _Plain.work += work
    known = Path(_kernel.__file__).parent / "__pycache__"
    kept = any(known.glob(f"_kernel.{_kernel.run.__name__}-*.nbi"))
    return _Plain.work > (WORTH_LOADING if kept else WORTH_COMPILING)


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., Any] | None:
    """The kernel compiled by numba, None where numba is not installed."""
    if not compiles():
        return None
    import numba

    made: dict[str, Any] = {}
    for source in (_growth, _bbr1, _bbr3, _kernel):  # each calls those before it
        spec = importlib.util.find_spec(source.__name__)
        if spec is None or spec.loader is None:
            return None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found = {name: value for name, value in vars(module).items() if isinstance(value, FunctionType)}
        vars(module).update({name: made[name] for name in found.keys() & made.keys()})
        own = {name: value for name, value in found.items() if name not in made}
        try:
            made |= {name: numba.njit(value, cache=True) for name, value in own.items()}
        except RuntimeError:  # nowhere to keep compiled code: compile in each process
            made |= {name: numba.njit(value) for name, value in own.items()}
        vars(module).update({name: made[name] for name in own})
    return made["run"]  # type: ignore[no-any-return]


def simulate(lanes: Lanes, seed: int, *, compiled: bool | None = None) -> FloatArray:
    """Runs the lanes.

    Args:
        lanes: The lanes.
        seed: Seed of the draws.
        compiled: Whether to use numba; None: where it is installed and the job is large enough.

    Returns:
        (lanes, flows, 3): delivered segments, dropped segments, mean round trip [s] in the measured window.

    Valid: round trips of 1 ms to 0.4 s, buffers of a few segments and more.
    Neglects: order within the queue, bursts, timeouts.
    Source: net/ipv4/tcp_cubic.c, tcp_bbr.c, tcp_input.c (PRR); coefficients `BURST_LOSS`, `BBR_NOISE`.
    """
    slice_s = lanes.slices()
    work = float((lanes.marks[:, 1] / slice_s).sum()) * lanes.T.shape[1]
    kernel: Callable[..., Any] = _kernel.run
    if compiled or (compiled is None and _pays(work)):
        kernel = _compiled() or _kernel.run
    bbr = np.isin(lanes.codes, (_growth.BBR, _growth.BBR2, _growth.BBR3))
    noise = np.where(bbr & (bbr.sum(axis=1, keepdims=True) > 1), known.BBR_NOISE.value, 0.0)
    room = np.maximum(lanes.B - 1.0, 1.0)
    power = known.BURST_LOSS.value
    out = np.zeros((*lanes.T.shape, 3))
    columns = (lanes.T, lanes.codes, lanes.start, lanes.cap, noise, lanes.marks)
    for i in range(len(lanes.C)):
        start = (seed * 7919 + int(lanes.replica[i]) * 104729 + 12345) % 2147483646 + 1
        rows = [x[i].tolist() if kernel is _kernel.run else x[i] for x in columns]
        kernel(float(lanes.C[i]), float(slice_s[i]), float(room[i]), *rows, power, float(lanes.loss[i]), start, out[i])
        out[i, :, 2] *= slice_s[i] / (lanes.marks[i, 1] - lanes.marks[i, 0])
    return out
