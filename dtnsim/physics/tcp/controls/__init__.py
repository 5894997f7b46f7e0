"""Congestion controls: one file each, known by its name; here what they have in common and the table of them all.

A new algorithm is one new file in this package with a `CONTROLS`: specs, ``--cc``, help texts, the round model, flows
that compete and the closed forms find it there. CONTRIBUTING has the recipe.

Laws of growth and cut are written once, as functions of numbers that use nothing but arithmetic, ``min``, ``max``,
``floor``, ``expm1``, `where` and `cbrt`: flows that compete call them so; `on_arrays` gives the same source for arrays,
which the round model of like flows calls.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import floor
from types import FunctionType
from typing import Any, Final

import numpy as np

Law = Callable[..., Any]

PACKAGES = ("dtnsim.physics.tcp.controls",)  #: packages that are searched for congestion controls


@dataclass(frozen=True, slots=True)
class Probing:
    """How a version of BBR that goes by bounds of what is in flight starts and probes."""

    #: Gains of rate and window in start-up [1].
    start: float
    start_window: float
    events: float  #: Loss events of a round that end it.
    window: float  #: Gain of the window in a probe [1].
    plateau: bool  #: Whether a probe goes on until the rate grows no more; else until a quarter of the pipe is queued.
    down: float  #: Gain of the rate after a probe [1].


@dataclass(frozen=True, slots=True)
class Control:
    """A congestion control."""

    name: str  #: As in net.ipv4.tcp_congestion_control.
    response: Law  #: Rate of one stream under random loss: (loss, rtt_s, mss_B, rate_Bps) -> [B/s]; arrays broadcast.
    #: Measured pairs of flows that found its share beside others within `SPREAD_SHARED`; empty for none.
    judged: str = ""
    #: Segments that a window gains in a round trip: (window [segments], since the last loss [s], least round trip [s],
    #: share kept at the last loss [1], queueing delay [s], largest queueing delay [s]); None for one that does not take
    #: a loss for congestion, but builds a model of the path.
    growth: Law | None = None
    #: Share of its window that a loss leaves: (window, least round trip, queueing delay, largest delay) [1]. It is also
    #: asked for an infinite window, with delays in round trips, and has to be finite there.
    kept: Law | None = None
    settles: float = 0.0  #: Share that it goes on with after the recovery where that is another, in the mean [1].
    clocked: bool = False  #: Whether its growth follows from the time since the last loss.
    cube: bool = False  #: Whether its window follows CUBIC's cube, and its slow start ends by HyStart.
    estimates: bool = False  #: Whether it goes on with its estimate of what is in flight (Westwood).
    probing: Probing | None = None  #: Of one that bounds what is in flight, how it probes; None for all others.
    offered: bool = False  #: Whether advice tries it in place of another.
    #: System -> its first release that has it, and the year from which on installed ones mostly do; of systems that are
    #: not there none has it; empty where nobody says.
    since: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    version: str = ""  #: What people call it, where its name does not say.

    @property
    def by_loss(self) -> bool:
        """Whether it takes a loss for congestion."""
        return self.kept is not None

    @property
    def leaves(self) -> float:
        """Share of its window that a loss leaves where nothing queues [1]."""
        return float(self.sawtooth(0.0))

    @property
    def adds(self) -> float:
        """Segments that it adds in a round trip soon after a loss at a window of 100, where nothing queues."""
        return float(self.growth(100.0, 0.0, 1.0, self.leaves, 0.0, 1.0)) if self.growth else 0.0

    def sawtooth(self, buffer_bdp: Any) -> Any:
        """Share of its window that it has after a loss at a full buffer of so many bandwidth-delay products [1]."""
        buffer = np.minimum(np.asarray(buffer_bdp, float), 1e6)
        if self.settles or self.kept is None:
            return np.full(buffer.shape, self.settles or 1.0)
        return np.asarray(on_arrays(self.kept)(np.full(buffer.shape, np.inf), 1.0, buffer, buffer), float)


def where(condition: bool, yes: float, no: float) -> float:  # noqa: FBT001 - numpy's name and order
    """One of two numbers, both worked out: what laws use in place of ``if``.

    Args:
        condition: Which of them.
        yes: That where it holds.
        no: That where it does not.

    Source: numpy.where, which takes its place for arrays.
    """
    return yes if condition else no


def cbrt(x: float) -> float:
    """Cube root of a number that is not negative."""
    return x ** (1 / 3)  # type: ignore[no-any-return]


#: what takes the place of the functions that laws may use
_ARRAYS: Final = {
    "where": np.where, "cbrt": np.cbrt, "floor": np.floor, "expm1": np.expm1, "min": np.minimum, "max": np.maximum,
}  # fmt: skip


def cut(window: float, beta: float) -> float:
    """Window after a loss that leaves such a share of it: whole segments, two at least."""
    return max(floor(floor(window) * beta), 2.0)


@lru_cache(maxsize=64)
def on_arrays(law: Law) -> Law:
    """The same source, with numpy's functions in place of Python's, and its constants as arrays, which are quicker.

    Args:
        law: A function that calls none but those of `_ARRAYS` and other laws.

    Returns:
        It as a function of arrays that broadcast.
    """
    assert isinstance(law, FunctionType)
    called = {name: law.__globals__.get(name) for name in law.__code__.co_names if name not in _ARRAYS}
    of_numbers = [n for n, o in called.items() if "math" in (getattr(o, "__name__", ""), getattr(o, "__module__", ""))]
    assert not of_numbers, f"{law.__name__} uses {of_numbers}, which take no arrays: np.log and the like do"
    laws = {name: on_arrays(other) for name, other in called.items() if isinstance(other, FunctionType)}
    numbers = {name: np.array(number) for name, number in called.items() if isinstance(number, float)}
    return FunctionType(law.__code__, {**law.__globals__, **_ARRAYS, **laws, **numbers}, law.__name__, law.__defaults__)


@lru_cache(maxsize=1)
def controls() -> dict[str, Control]:
    """All congestion controls by name, those that go by losses first."""
    listed: list[Control] = []
    for package in PACKAGES:
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            listed += importlib.import_module(f"{package}.{module.name}").CONTROLS
    return {c.name: c for c in sorted(listed, key=lambda c: not c.by_loss)}


def find(cc: str) -> Control:
    """The congestion control of a name.

    Raises:
        KeyError: none of the name.
    """
    return controls()[cc]


def names(*, by_loss: bool | None = None) -> tuple[str, ...]:
    """Names of all congestion controls, or of those that go by losses, or by a model of the path."""
    return tuple(name for name, c in controls().items() if by_loss in (None, c.by_loss))


def unjudged() -> tuple[str, ...]:
    """Congestion controls whose shares beside others no measurement has confirmed."""
    return tuple(name for name, c in controls().items() if not c.judged)


def offered() -> tuple[str, ...]:
    """Congestion controls that advice may propose in place of another."""
    return tuple(name for name, c in controls().items() if c.offered)


def described() -> str:
    """The names as a help text has them: "reno, bbr (v1) or cubic"."""
    words = [f"{c.name} ({c.version})" if c.version else c.name for c in controls().values()]
    return f"{', '.join(words[:-1])} or {words[-1]}"
