"""BBR v1 for the kernel of `shared`: model of the path, state machine, window and pacing rate.

Scalars and lists of floats only, as in `_kernel`.
"""

from __future__ import annotations

from dtnsim.physics.tcp import linux

# isort: off
# fmt: off
from dtnsim.physics.tcp._fields import (
    ACKED, BANDWIDTH, BURST, CONSERVE, CWND, CYCLE, DRAIN, EVENT, FLAT, FLIGHT, FULL, HIGH, LEAST, LOSSES, LOST,
    MODE, NEVER, NEW_ROUND, NEXT, PACE, PHASE, PLATEAU, PRIOR, PROBE_BW, PROBE_END, PROBE_ROUND, PROBE_RTT,
    RECOVERING, ROUND, SENT, STAMP, STARTUP, TRIP,
)
# fmt: on
# isort: on

# constants of the sender by the names that they have in `linux`; tuples are unpacked, as numba wants numbers
GAINS, HIGH_GAIN, MARGIN = linux.BBR_CYCLE, linux.BBR_HIGH_GAIN, linux.BBR_MARGIN
WINDOW, BURSTS = linux.INITIAL_WINDOW, linux.BURSTS_PER_S
FILTER, FULL_GROWTH, FULL_ROUNDS = linux.BBR_FILTER_ROUNDS, linux.BBR_FULL_GROWTH, linux.BBR_FULL_ROUNDS
MIN_RTT_S, PROBE_S, CWND_GAIN, LEAST_WINDOW = (
    linux.BBR_MIN_RTT_S,
    linux.BBR_PROBE_RTT_S,
    linux.BBR_CWND_GAIN,
    linux.BBR_MIN_WINDOW,
)


def bandwidth(f: list[float], best: list[float], sample: float) -> None:
    """BBR's filter: the largest delivery rate of ten rounds; start-up ends when it stops growing."""
    if f[MODE] != PROBE_RTT:
        if f[NEW_ROUND] > 0.0:
            best[int(f[ROUND]) % FILTER] = 0.0
        best[int(f[ROUND]) % FILTER] = max(best[int(f[ROUND]) % FILTER], sample)
        largest = max(best)
        f[BANDWIDTH] = max(largest, 1e-9)
    if f[NEW_ROUND] > 0.0 and f[FULL] == 0.0:
        if f[BANDWIDTH] >= FULL_GROWTH * f[PLATEAU]:
            f[PLATEAU], f[FLAT] = f[BANDWIDTH], 0.0
        else:
            f[FLAT] += 1.0
            if f[FLAT] >= FULL_ROUNDS:
                f[FULL] = 1.0


def cruise(f: list[float], now: float, phase: float) -> None:
    """BBR's drain and the eight phases of ProbeBW."""
    pipe = f[BANDWIDTH] * f[LEAST]
    if f[MODE] == STARTUP and f[FULL] > 0.0:
        f[MODE] = DRAIN
    if f[MODE] == DRAIN and f[FLIGHT] <= pipe:
        f[MODE], f[PHASE], f[CYCLE] = PROBE_BW, phase, now
    if f[MODE] != PROBE_BW:
        return
    gain = GAINS[int(f[PHASE])]
    long = now - f[CYCLE] > f[LEAST]
    if gain > 1.0:
        go = long and (f[LOSSES] > 0.0 or f[FLIGHT] >= GAINS[0] * pipe)
    else:
        go = long or (gain < 1.0 and f[FLIGHT] <= pipe)
    if go:
        f[PHASE], f[CYCLE] = float((int(f[PHASE]) + 1) % 8), now


def least_delay(f: list[float], now: float, phase: float) -> None:
    """BBR's least round trip, and ProbeRTT when it has not been seen for ten seconds."""
    expired = f[STAMP] > 0.0 and now > f[STAMP] + MIN_RTT_S
    if f[TRIP] <= f[LEAST] or expired:
        f[LEAST], f[STAMP] = f[TRIP], max(now, 1e-6)
    if expired and f[MODE] != PROBE_RTT:
        f[PRIOR] = f[CWND] if f[RECOVERING] == 0.0 else max(f[PRIOR], f[CWND])
        f[MODE], f[PROBE_END] = PROBE_RTT, NEVER
    if f[MODE] != PROBE_RTT:
        return
    if f[PROBE_END] >= NEVER:
        if f[FLIGHT] <= LEAST_WINDOW + 0.5:
            f[PROBE_END], f[PROBE_ROUND], f[NEXT] = now + PROBE_S, 0.0, f[ACKED]
    elif f[NEW_ROUND] > 0.0:
        f[PROBE_ROUND] = 1.0
    if f[PROBE_ROUND] > 0.0 and now > f[PROBE_END]:
        f[STAMP], f[PROBE_ROUND], f[PROBE_END] = now, 0.0, NEVER
        f[CWND] = max(f[CWND], f[PRIOR])
        f[MODE] = PROBE_BW if f[FULL] > 0.0 else STARTUP
        f[PHASE], f[CYCLE] = phase, now


def bbr_window(f: list[float], acked: float) -> None:
    """BBR's congestion window: conservation for a round after a loss, then up to the target."""
    ended = f[RECOVERING] > 0.0 and f[ACKED] + f[LOST] >= f[HIGH]
    if ended:
        f[RECOVERING] = 0.0
    gain = HIGH_GAIN if f[MODE] == STARTUP or f[MODE] == DRAIN else CWND_GAIN if f[MODE] == PROBE_BW else 1.0
    burst = min(max(f[PACE] / BURSTS, 2.0), BURST)
    target = gain * f[BANDWIDTH] * f[LEAST] + 3 * burst + f[BANDWIDTH] * 0.0005
    window = f[CWND]
    if f[EVENT] > 0.0:
        if f[MODE] != PROBE_RTT:
            f[PRIOR] = f[CWND]
        f[HIGH], f[RECOVERING], f[CONSERVE] = f[SENT], 1.0, 1.0
        window = f[FLIGHT] + acked
    elif f[LOSSES] > 0.0:
        window = max(window - f[LOSSES], 1.0)
    if ended:
        window, f[CONSERVE] = max(window, f[PRIOR]), 0.0
    if f[CONSERVE] > 0.0:
        window = max(window, f[FLIGHT] + acked)
    elif f[FULL] > 0.0:
        window = min(window + acked, target)
    elif window < target or f[ACKED] < WINDOW:
        window += acked
    window = max(window, LEAST_WINDOW)
    f[CWND] = min(window, LEAST_WINDOW) if f[MODE] == PROBE_RTT else window


def bbr_flow(f: list[float], best: list[float], acked: float, sample: float, now: float, phase: float) -> None:
    """BBR v1: model of the path, state machine, window and pacing rate."""
    if acked > 1e-9:
        bandwidth(f, best, sample)
        if f[LEAST] >= NEVER:
            f[LEAST] = f[TRIP]
        cruise(f, now, phase)
        least_delay(f, now, phase)
        if f[NEW_ROUND] > 0.0 and f[EVENT] == 0.0:
            f[CONSERVE] = 0.0
        bbr_window(f, acked)
    gain = 1.0
    if f[MODE] == STARTUP:
        gain = HIGH_GAIN
    elif f[MODE] == DRAIN:
        gain = 1 / HIGH_GAIN
    elif f[MODE] == PROBE_BW:
        gain = GAINS[int(f[PHASE])]
    rate = gain * f[BANDWIDTH] * MARGIN
    f[PACE] = max(rate, f[PACE]) if f[FULL] == 0.0 else rate
