"""Tables of TCP cases: read, checked, answered, written back (``dtnsim tcp --table``)."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dtnsim.ground import units
from dtnsim.ground.errors import SpecError
from dtnsim.physics.tcp import controls, linux, loss, outcome, rounds, window

Row = dict[str, str]

#: column -> (least, most, default; None: must be given)
NUMBERS: Final[dict[str, tuple[float, float, float | None]]] = {
    "rate_bps": (1e3, 1e13, None),
    "rtt_s": (1e-5, 10.0, None),
    "buffer_bytes": (1.0, 1e15, math.nan),
    "buffer_bdp": (0.0, 1e6, math.nan),
    "loss_prob": (0.0, 0.999999, 0.0),
    "burst_loss_prob": (0.0, 0.999999, 0.0),
    "burst_len_pkts": (1.0, 1e6, 1.0),
    "loss_rev_prob": (0.0, 0.999999, 0.0),
    "bg_share": (0.0, 0.999, 0.0),
    "mtu_bytes": (576.0, 65535.0, 1500.0),
    "mss_bytes": (100.0, 65495.0, math.nan),
    "streams": (1.0, 10_000.0, 1.0),
    "known_retransmits": (0.0, 1e15, math.nan),
    "known_moved_bytes": (1.0, 1e18, math.nan),
    "window_bytes": (1.0, 1e15, math.inf),
    "socket_buffer_bytes": (1.0, 1e15, math.inf),
    "wnd_limit_bytes": (1.0, 1e15, math.inf),
    "line_rate_bps": (1e3, 1e15, math.inf),
    "size_bytes": (1.0, 1e18, math.inf),
    "flow2_rtt_s": (1e-5, 10.0, math.nan),
    "flow2_start_s": (0.0, 1e6, rounds.SECOND_START_S),
    "warmup_s": (0.0, 1e6, 0.0),
    "duration_s": (1e-3, 1e9, math.nan),
}
NEEDED: Final = (*(key for key, (_, _, default) in NUMBERS.items() if default is None), "cc")
REMEDY: Final = "use the column names that --help lists: rate_bps, rtt_s, cc, buffer_bdp, loss_prob, streams, ..."
PREDICTED: Final = (
    "predicted_goodput_bps",
    "predicted_p10_bps",
    "predicted_p90_bps",
    "limit",
    "predicted_completion_s",
    "predicted_flow2_goodput_bps",
)


def _word(row: Row, key: str, allowed: tuple[str, ...], default: str = "") -> str:
    text = (row.get(key) or "").strip() or default
    if text not in allowed:
        raise SpecError("is not known", key=key, value=text, remedy=f"write {' or '.join(allowed)}")
    return text


def cases(rows: Sequence[Row], file: str) -> rounds.Cases:
    """The cases that rows describe."""
    parsed = []
    for line, row in enumerate(rows, start=2):
        try:
            parsed.append(_case(row))
        except SpecError as error:
            error.file, error.line = file, line
            raise
    return rounds.Cases.of(**{key: np.array([m[key] for m in parsed]) for key in parsed[0]})


def _case(row: Row) -> dict[str, Any]:
    n = {key: units.number_in(row, key, *limits) for key, limits in NUMBERS.items()}
    cc, second = _word(row, "cc", controls.names()), _word(row, "flow2_cc", ("", *controls.names()))
    if n["streams"] != int(n["streams"]):
        raise SpecError("is not a whole number", key="streams", value=row["streams"])
    sized = math.isfinite(n["size_bytes"])
    if not sized and math.isnan(n["duration_s"]):
        raise SpecError("is empty and so is size_bytes", key="duration_s", remedy="give one of them")
    if second and sized:
        raise SpecError("a transfer of given size against another flow is not modelled")
    mtu = n["mtu_bytes"]
    mss = mtu - 52 if math.isnan(n["mss_bytes"]) else min(n["mss_bytes"], mtu - 40)
    buffer = n["buffer_bytes"]
    if math.isnan(buffer):
        bdp, least = n["rate_bps"] / 8 * n["rtt_s"], rounds.LEAST_BUFFER * mtu
        buffer = max(bdp, rounds.SHALLOW_B) if math.isnan(n["buffer_bdp"]) else max(n["buffer_bdp"] * bdp, least)
    lost, burst = _loss(n, mss)
    return {
        "rate_Bps": min(n["rate_bps"], n["line_rate_bps"]) / 8,
        "rtt_s": n["rtt_s"],
        "buffer_B": buffer,
        "loss": lost,
        "burst": burst,
        "background": n["bg_share"],
        "mtu_B": mtu,
        "mss_B": mss,
        "streams": int(n["streams"]),
        "cc": cc,
        "window_B": _window(row, n, mtu, mss),
        "size_B": n["size_bytes"],
        "warmup_s": n["warmup_s"],
        "duration_s": 1.0 if sized else n["duration_s"],
        "paced": (row.get("kind") or "").strip() != "fct",
        "line_Bps": n["line_rate_bps"] / 8,
        "cc2": second,
        "start2_s": n["flow2_start_s"],
        "rtt2_s": n["rtt_s"] if math.isnan(n["flow2_rtt_s"]) else n["flow2_rtt_s"],
    }


def _loss(n: dict[str, float], mss: float) -> tuple[float, float]:
    """Mean loss and mean burst [packets] of random loss, bursts and retransmits together."""
    places = [(n["loss_prob"], 1.0), (n["burst_loss_prob"], n["burst_len_pkts"])]
    if not math.isnan(n["known_retransmits"]):
        if math.isnan(n["known_moved_bytes"]):
            remedy = "give the payload that was moved meanwhile"
            raise SpecError("is empty beside known_retransmits", key="known_moved_bytes", remedy=remedy)
        places.append((float(loss.of_retransmits(n["known_retransmits"], n["known_moved_bytes"], mss)), 1.0))
    mean, burst = loss.together(*zip(*places, strict=True))
    return float(mean), float(burst)


def _window(row: Row, n: dict[str, float], mtu: float, mss: float) -> float:
    """Payload in flight: as given, or from a limit on socket buffers.

    Of measured tables `sysctl` is tcp_rmem[2] itself, `sockbuf` what SO_RCVBUF asks for, which the kernel doubles.
    """
    method = _word(row, "wnd_method", ("sysctl", "sockbuf"), "sysctl")
    limit = n["wnd_limit_bytes"] * (window.SOCKBUF_DOUBLING if method == "sockbuf" else 1)
    buffer = min(n["socket_buffer_bytes"], limit)
    if math.isinf(buffer):
        return n["window_bytes"]
    return min(float(window.in_flight(buffer * linux.receive_share(mtu), mss)), n["window_bytes"])


def answer(rows: Sequence[Row], file: str, seed: int) -> list[dict[str, Any]]:
    """The rows of a table with the predicted columns added."""
    o = outcome.simulate(cases(rows, file), seed=seed)
    rates = (8 * goodput for goodput in (o.goodput_Bps, o.goodput_p10_Bps, o.goodput_p90_Bps))
    columns = dict(zip(PREDICTED, (*rates, o.limit, o.completion_s, 8 * o.second_Bps), strict=True))
    return [row | {key: _text(column[i]) for key, column in columns.items()} for i, row in enumerate(rows)]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if math.isnan(value) else f"{value:.9g}"
