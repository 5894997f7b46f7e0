"""Flows that compete: unequal round trips, unequal algorithms, at one drop-tail bottleneck.

Time goes in equal slices of a part of the shortest round trip. Each flow is a fluid with its own state
machine (those that go by losses by their windows, BBR v1 by its model of the path); what it sends meets the
others in one queue, well mixed; departures come back after its base round trip, drops after that and the
full queue's delay.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dtnsim.physics.tcp import _bbr1, _bbr3, _fields, _kernel, controls, linux
from dtnsim.physics.tcp import coefficients as known
from dtnsim.physics.tcp.controls import cubic, westwood

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

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
        codes: Algorithms, values of `controls.codes`.
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
    if _Plain.work <= WORTH_LOADING:
        return False
    folder = Path(_kernel.__file__).parent / "__pycache__"
    return _Plain.work > WORTH_COMPILING or any(folder.glob(f"_kernel.run_{_digest()}-*.nbi"))


@lru_cache(maxsize=1)
def _digest() -> str:
    """Of all sources of the compiled kernel: numba itself looks at the file of the outermost function alone."""
    import hashlib

    modules = {c.growth.__module__ for c in controls.controls().values() if c.growth is not None}
    files = [sys.modules[name].__file__ for name in sorted(modules)]
    files += [module.__file__ for module in (linux, _fields, controls, cubic, westwood, _bbr1, _bbr3, _kernel)]
    return hashlib.sha256(b"".join(Path(str(file)).read_bytes() for file in files)).hexdigest()[:12]


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., Any] | None:
    """The kernel compiled by numba, None where numba is not installed."""
    if not compiles():
        return None
    import numba

    laws = [c for c in controls.controls().values() if c.by_loss]
    made = {name: _chain(numba.njit, [getattr(c, name) for c in laws]) for name in ("growth", "kept")}
    for module in (controls, cubic, westwood, _bbr1, _bbr3, _kernel):  # each calls those before it
        names = {**vars(module), **made}
        for name, value in vars(module).items():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name not in made:
                names[name] = _jit(numba.njit, value, names)
        made |= {name: value for name, value in names.items() if isinstance(value, numba.core.dispatcher.Dispatcher)}
    return made["run"]  # type: ignore[no-any-return]


def _jit(njit: Any, law: FunctionType, names: dict[str, Any]) -> Any:
    """A function compiled when it is first called, with others of its names in place."""
    again = FunctionType(law.__code__, names, law.__name__)
    again.__qualname__ = f"{law.__name__}_{_digest()}"  # what it is kept as
    try:
        return njit(again, cache=True)
    except RuntimeError:  # nowhere to keep compiled code: compile in each process
        return njit(again)


def _chain(njit: Any, laws: list[Any]) -> Any:
    """Laws by their number: numba knows no table of functions, so that this is a chain of ifs."""
    plain = {name: njit(getattr(controls, name)) for name in ("where", "cbrt")}
    names = {f"law{n}": njit(FunctionType(law.__code__, {**law.__globals__, **plain})) for n, law in enumerate(laws)}
    lines = [f"    if cc == {n}:\n        return law{n}(*a)\n" for n in range(1, len(laws))]
    exec(f"def chain(cc, *a):\n{''.join(lines)}    return law0(*a)\n", names)  # noqa: S102 - the lines above
    return njit(names["chain"])


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
    bbr = lanes.codes >= controls.MODELS
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
