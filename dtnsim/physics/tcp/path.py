"""The closed-form front: goodput of one transfer over one bottleneck, and the name of its limit.

    link   (rate - background) mss/mtu
    buffer that times the sawtooth's utilisation over a drop-tail buffer
    window streams W / T
    loss   streams x response function(p, T, mss)

joined by (1/window^k + 1/loss^k + 1/link^k)^(-1/k): a sawtooth that meets a limit now and then loses
part of its top, so the sum stays below the least of its limits near a knee. k = 8 for the window and
the link is the value for a sawtooth of depth 1/2 clipped at its mean (8 % off, derived).
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics._arrays import FloatArray
from dtnsim.physics.tcp import controls, droptail, response

#: Names of the limits in the order of the codes
LIMITS: Final = ("link", "buffer", "window", "loss")
_KNEE: Final = 8.0


def _utilisation(control: controls.Control, buffer_bdp: FloatArray, streams: FloatArray) -> FloatArray:
    """What the buffer lets n flows use of the link [1]."""
    if not control.by_loss:
        return np.ones(np.broadcast_shapes(buffer_bdp.shape, streams.shape))
    single = droptail.sawtooth_utilisation(buffer_bdp, control.sawtooth(buffer_bdp))
    return droptail.streams_utilisation(single, streams)


def _terms(control: controls.Control, a: dict[str, FloatArray]) -> tuple[dict[str, FloatArray], FloatArray]:
    """What loss, the windows and the link allow by themselves [B/s], and what the buffer lets flows use of the link."""
    payload = a["rate_Bps"] * (1 - a["background_share"]) * a["mss_B"] / a["mtu_B"]
    bdp = np.maximum(payload * a["rtt_s"], 1e-300)
    n = a["streams"]
    used = _utilisation(control, a["buffer_B"] * a["mss_B"] / a["mtu_B"] / bdp, n)
    link = payload * used * (1 - a["loss"])
    with np.errstate(divide="ignore", invalid="ignore"):
        window = n * a["window_B"] / a["rtt_s"]
        single = control.response(a["loss"], a["rtt_s"], a["mss_B"], link)
        if control.by_loss:
            single = response.with_timeouts(single, a["loss"], a["rtt_s"], a["mss_B"])
    loss = n * single if control.by_loss else np.minimum(single, link)
    return {"loss": loss, "window": window, "link": link}, used


def figures(s: Any, **others: ArrayLike) -> dict[str, Any]:
    """Arguments of `path_goodput` that a record has as fields of these names, and others."""
    names = ("rate_Bps", "rtt_s", "loss", "mss_B", "mtu_B", "buffer_B", "streams", "cc", "window_B")
    return {name: getattr(s, name) for name in names if name not in others} | others


class Closed:
    """What streams of one congestion control come to, worked out once for all that is asked of it.

    Args:
        cc: The congestion control.
        arguments: The other arguments of `path_goodput`.

    Source: as `path_goodput`.
    """

    def __init__(self, cc: str, **arguments: ArrayLike) -> None:
        self._control = controls.find(cc)
        self._terms, self._used = _terms(self._control, _numbers(arguments))

    @cached_property
    def goodput(self) -> tuple[FloatArray, NDArray[np.str_]]:
        """What `path_goodput` gives."""
        terms = np.stack(np.broadcast_arrays(*self._terms.values()))
        least, which = terms.min(axis=0), terms.argmin(axis=0)
        goodput = least * _held_parts(terms).sum(axis=0) ** (-1 / _KNEE) if self._control.by_loss else least
        code = np.array([3, 2, 0])[which]
        code = np.where((code == 0) & (self._used < 0.99), 1, code)
        if not self._control.by_loss:
            code = np.where((code == 3) & (self._terms["loss"] >= 0.9 * self._terms["link"]), 0, code)
        return np.where(least > 0, goodput, 0.0), np.array(LIMITS)[code]

    @property
    def allowed(self) -> dict[str, FloatArray]:
        """What each limit by itself allows all streams [B/s], by its name, less what a knee can take of it.

        A congestion control that takes no loss for congestion has its loss in the link's; of n equal terms the join
        leaves n^(-1/8).
        """
        if not self._control.by_loss:
            return {"window": self._terms["window"], "link": self._terms["loss"]}
        return {name: term * len(self._terms) ** (-1 / _KNEE) for name, term in self._terms.items()}

    @cached_property
    def window_knee(self) -> FloatArray:
        """What the goodput would be over what it is, if the nearer of window and link held alone [1].

        In rounds it does: the round model joins window and link by their least.
        """
        loss, window, link = np.broadcast_arrays(*self._terms.values())
        of_loss, near, far = _held_parts(np.stack([loss, np.minimum(window, link), np.maximum(window, link)]))
        knee = (1 + far / (of_loss + near)) ** (1 / _KNEE)
        return np.where(np.isfinite(knee) & self._control.by_loss, knee, 1.0)


def _numbers(arguments: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
    return {name: np.asarray(v, float) for name, v in ({"background_share": 0.0} | dict(arguments)).items()}


def _held_parts(terms: FloatArray) -> FloatArray:
    """How far each of some limits holds; together they leave the least times the -1/8th power of the sum."""
    least = terms.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.maximum(terms / np.where(least > 0, least, 1.0), 1.0) ** -_KNEE)


def path_goodput(
    *,
    rate_Bps: ArrayLike,
    rtt_s: ArrayLike,
    loss: ArrayLike = 0.0,
    mss_B: ArrayLike = 1448.0,
    mtu_B: ArrayLike = 1500.0,
    buffer_B: ArrayLike = np.inf,
    streams: ArrayLike = 1,
    cc: ArrayLike = "cubic",
    window_B: ArrayLike = np.inf,
    background_share: ArrayLike = 0.0,
) -> tuple[FloatArray, NDArray[np.str_]]:
    """Steady goodput of a transfer of n streams over one bottleneck, and what limits it.

    All arguments broadcast over scenarios.

    Args:
        rate_Bps: Rate of the bottleneck in IP bytes [B/s].
        rtt_s: Base round-trip time [s].
        loss: Random packet loss of the data direction [1].
        mss_B: Payload of a segment [B].
        mtu_B: IP packet that carries it [B].
        buffer_B: Drop-tail buffer at the bottleneck [B].
        streams: Parallel streams of the transfer.
        cc: Congestion control, one of `controls` (text or array of text).
        window_B: Most payload in flight a stream may have [B].
        background_share: Part of the rate that traffic which does not yield takes [1].

    Returns:
        (goodput of all streams [B/s], name of the limit: one of `LIMITS`).

    Raises:
        KeyError: an algorithm that is not in `controls`.

    Valid: transfers long against the ramp; T from 0.1 ms to 0.4 s; loss to 45 %. More rate, window,
    buffer or streams never lowers the result; more loss, RTT or background never raises it.
    Neglects: start-up, bursts, synchronised losses, competing flows that yield (see `rounds`).
    Source: the functions of `response` and `droptail`.
    """
    arguments = locals()
    numbers = _numbers({name: value for name, value in arguments.items() if name != "cc"})
    kinds, *values = np.broadcast_arrays(np.asarray(cc, dtype=np.str_), *numbers.values())
    goodput, limit = np.zeros(kinds.shape), np.zeros(kinds.shape, np.array(LIMITS).dtype)
    for name in sorted(set(kinds.ravel().tolist())):
        mask = kinds == name
        goodput[mask], limit[mask] = Closed(name, **{k: v[mask] for k, v in zip(numbers, values, strict=True)}).goodput
    return goodput, limit[()]
