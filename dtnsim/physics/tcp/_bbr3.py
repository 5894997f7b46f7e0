"""BBR v2 and v3 for the kernel of `shared`: bounds of rate and of what is in flight, and the cycle that moves them.

A flow keeps the largest delivery rate of two cycles, an upper bound of what is in flight (set where a probe lost more
than 2 % of a flight, raised where it did not), and lower bounds of both, cut by 0.7 in every round with a loss outside
a probe and forgotten at the next probe. Scalars and lists of floats only, as in `_kernel`.
"""

from __future__ import annotations

import math

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp.controls import codes

# isort: off
# fmt: off
from dtnsim.physics.tcp._fields import (
    ACKED, BANDWIDTH, BEST, BEST_NEW, BURST, CC, CWND, CYCLE, DRAIN, FLAT, FLIGHT, FULL, FULL_NOW, GOT,
    IN_FLIGHT, LATEST, LEAST, LEAST_NEW, LOSS_EVENTS, LOSS_ROUND, LOSSES, LOST_TRIP, LOW, MODE, NEVER,
    NEW_ROUND, NEXT, PACE, PHASE, PLATEAU, PROBE_BW, PROBE_END, PROBE_ROUND, PROBE_RTT, RATE_LATEST, RATE_LOW,
    RISKY, ROUNDS_SINCE, SAMPLES, STAMP, STAMP_NEW, STARTUP, STOPPING, TOO_HIGH, TRIP, UP_ACKS, UP_ROUNDS,
    UPPER, WAIT,
)
# fmt: on
# isort: on

BBR3 = codes()["bbr3"]
DOWN, CRUISE, REFILL, UP = 0.0, 1.0, 2.0, 3.0
THRESHOLD, BETA, HEADROOM = linux.BBR3_LOSS_THRESHOLD, linux.BBR3_BETA, linux.BBR3_HEADROOM
MOST_ROUNDS, WAIT_S, PROBE_RTT_S, KEPT = (
    linux.BBR3_MOST_ROUNDS,
    linux.BBR3_PROBE_S,
    linux.BBR3_PROBE_RTT_S,
    linux.BBR3_PROBE_RTT_GAIN,
)
START_V2, START_V3 = linux.BBR_HIGH_GAIN, linux.BBR3_START_GAIN
DOWN_V2, DOWN_V3 = linux.BBR2_DOWN_GAIN, linux.BBR3_DOWN_GAIN
EVENTS_V2, EVENTS_V3 = linux.BBR2_LOSS_EVENTS, linux.BBR3_LOSS_EVENTS
UP_GAIN, UP_WINDOW, WINDOW = linux.BBR_CYCLE[0], linux.BBR3_UP_WINDOW, linux.BBR_CWND_GAIN
MARGIN, FLAT_GROWTH, FLAT_ROUNDS = linux.BBR_MARGIN, linux.BBR_FULL_GROWTH, linux.BBR_FULL_ROUNDS
LEAST_WINDOW, MIN_RTT_S, PAUSE_S = linux.BBR_MIN_WINDOW, linux.BBR_MIN_RTT_S, linux.BBR_PROBE_RTT_S
INITIAL, BURSTS = linux.INITIAL_WINDOW, linux.BURSTS_PER_S


def begin_down(f: list[float], now: float, u: float) -> None:
    """A new cycle: the next probe comes in two to three seconds, or in as many rounds as the flight has segments."""
    f[LOSS_ROUND] = f[RATE_LATEST] = f[LATEST] = 0.0
    f[ROUNDS_SINCE], f[WAIT] = math.floor(2.0 * u), WAIT_S + u
    f[CYCLE], f[STOPPING], f[NEXT], f[PHASE] = now, 1.0, f[ACKED], DOWN


def begin_refill(f: list[float]) -> None:
    """A round at the largest rate, before a probe."""
    f[RATE_LOW] = f[LOW] = NEVER
    f[UP_ROUNDS] = f[UP_ACKS] = f[RISKY] = f[STOPPING] = 0.0
    f[NEXT], f[PHASE] = f[ACKED], REFILL


def lower_bounds(f: list[float], sample: float) -> None:
    """The largest rate of two cycles; both lower bounds after a round with a loss outside a probe."""
    f[RATE_LATEST], f[LATEST] = max(f[RATE_LATEST], sample), max(f[LATEST], f[GOT])
    f[BEST_NEW] = max(f[BEST_NEW], sample)
    f[BANDWIDTH] = max(f[BEST], f[BEST_NEW], 1e-9)
    if f[LOSSES] > 0.0:
        f[LOSS_ROUND] = 1.0
        f[LOSS_EVENTS] += 1.0
    if f[NEW_ROUND] == 0.0:
        return
    probing = f[MODE] == STARTUP or (f[MODE] == PROBE_BW and f[PHASE] >= REFILL)
    if f[LOSS_ROUND] > 0.0 and not probing:
        if f[RATE_LOW] >= NEVER:
            f[RATE_LOW] = f[BANDWIDTH]
        if f[LOW] >= NEVER:
            f[LOW] = f[CWND]
        f[RATE_LOW], f[LOW] = max(f[RATE_LATEST], BETA * f[RATE_LOW]), max(f[LATEST], BETA * f[LOW])
    f[LOSS_ROUND] = 0.0


def start_up(f: list[float], sample: float, now: float, u: float) -> None:
    """The plateau of the rate, in start-up and in probes; start-up's end by it or by losses; its drain."""
    pipe = f[BANDWIDTH] * f[LEAST]
    if f[FULL_NOW] == 0.0:
        if sample >= FLAT_GROWTH * f[PLATEAU]:
            f[PLATEAU], f[FLAT] = sample, 0.0
        elif f[NEW_ROUND] > 0.0:
            f[FLAT] += 1.0
            if f[FLAT] >= FLAT_ROUNDS:
                f[FULL_NOW] = f[FULL] = 1.0
    if f[NEW_ROUND] > 0.0:
        events = EVENTS_V3 if f[CC] == BBR3 else EVENTS_V2
        if f[FULL] == 0.0 and f[LOSS_EVENTS] >= events and f[LOST_TRIP] > THRESHOLD * f[IN_FLIGHT]:
            f[FULL], f[UPPER] = 1.0, max(pipe, f[LATEST])
        f[LOSS_EVENTS] = 0.0
    if f[MODE] == STARTUP and f[FULL] > 0.0:
        f[MODE] = DRAIN
    if f[MODE] == DRAIN and f[FLIGHT] <= pipe:
        f[MODE] = PROBE_BW
        begin_down(f, now, u)


def upper_bound(f: list[float], acked: float, now: float, u: float) -> bool:
    """What the last round trip's losses say of what was in flight; True where it has decided the next phase."""
    if f[STOPPING] > 0.0 and f[NEW_ROUND] > 0.0:
        f[SAMPLES] = f[STOPPING] = 0.0
        if f[MODE] == PROBE_BW:
            if f[BEST_NEW] > 0.0:
                f[BEST], f[BEST_NEW] = f[BEST_NEW], 0.0
            if f[RISKY] > 0.0 and f[TOO_HIGH] == 0.0:
                begin_refill(f)
                return True
    if f[LOST_TRIP] > 0.5 and f[LOST_TRIP] > THRESHOLD * f[IN_FLIGHT]:
        if f[SAMPLES] > 0.0:
            f[TOO_HIGH], f[SAMPLES] = 1.0, 0.0
            f[UPPER] = max(f[IN_FLIGHT], BETA * min(f[BANDWIDTH] * f[LEAST], f[CWND]))
            if f[MODE] == PROBE_BW and f[PHASE] == UP:
                begin_down(f, now, u)
    elif f[UPPER] < NEVER:
        f[UPPER] = max(f[UPPER], f[IN_FLIGHT])
        if f[MODE] == PROBE_BW and f[PHASE] == UP and f[CWND] >= f[UPPER] and f[FLIGHT] + acked + 1.0 >= f[CWND]:
            f[UP_ACKS] += acked
            step = max(f[CWND] / 2.0 ** f[UP_ROUNDS], 1.0)
            f[UPPER] += math.floor(f[UP_ACKS] / step)
            f[UP_ACKS] -= step * math.floor(f[UP_ACKS] / step)
            if f[NEW_ROUND] > 0.0:
                f[UP_ROUNDS] = min(f[UP_ROUNDS] + 1.0, 30.0)
    return False


def cycle(f: list[float], sample: float, acked: float, now: float, u: float) -> None:
    """Down, cruise, refill, up."""
    if f[FULL] == 0.0 or upper_bound(f, acked, now, u) or f[MODE] != PROBE_BW:
        return
    pipe = f[BANDWIDTH] * f[LEAST]
    if f[PHASE] == UP:
        done = False
        if f[TOO_HIGH] > 0.0 and f[FLIGHT] >= f[UPPER]:
            f[RISKY], done = 1.0, True
        elif f[CC] != BBR3:
            done = now - f[CYCLE] > f[LEAST] and f[FLIGHT] >= UP_GAIN * pipe
        elif f[CWND] >= f[UPPER] and f[FLIGHT] + acked + 1.0 >= f[CWND]:
            f[PLATEAU], f[FLAT], f[FULL_NOW] = sample, 0.0, 0.0
        else:
            done = f[FULL_NOW] > 0.0
        if done:
            f[TOO_HIGH] = 0.0
            begin_down(f, now, u)
    elif f[PHASE] == REFILL:
        if f[NEW_ROUND] > 0.0:
            f[SAMPLES], f[PHASE], f[CYCLE], f[NEXT] = 1.0, UP, now, f[ACKED]
            f[PLATEAU], f[FLAT], f[FULL_NOW] = sample, 0.0, 0.0
            f[UP_ROUNDS] += 1.0
    elif now - f[CYCLE] > f[WAIT] or f[ROUNDS_SINCE] >= min(MOST_ROUNDS, pipe, f[CWND]):
        begin_refill(f)
    elif f[PHASE] == DOWN and f[FLIGHT] <= min(pipe, max((1.0 - HEADROOM) * f[UPPER], LEAST_WINDOW)):
        f[PHASE] = CRUISE
        if f[LOW] < NEVER:
            f[LOW] = min(f[LOW], f[UPPER])


def pause(f: list[float], now: float, u: float) -> None:
    """The least round trip of ten seconds, and the half of the pipe for 200 ms that looks for it every five."""
    expired = f[STAMP_NEW] > 0.0 and now > f[STAMP_NEW] + PROBE_RTT_S
    if f[TRIP] < f[LEAST_NEW] or expired or f[STAMP_NEW] == 0.0:
        f[LEAST_NEW], f[STAMP_NEW] = f[TRIP], max(now, 1e-6)
    if f[LEAST_NEW] <= f[LEAST] or now > f[STAMP] + MIN_RTT_S:
        f[LEAST], f[STAMP] = f[LEAST_NEW], f[STAMP_NEW]
    if expired and f[MODE] != PROBE_RTT:
        f[MODE], f[PROBE_END], f[STOPPING], f[NEXT] = PROBE_RTT, NEVER, 1.0, f[ACKED]
    if f[MODE] != PROBE_RTT:
        return
    if f[PROBE_END] >= NEVER:
        if f[FLIGHT] <= max(KEPT * f[BANDWIDTH] * f[LEAST], LEAST_WINDOW) + 0.5:
            f[PROBE_END], f[PROBE_ROUND], f[NEXT] = now + PAUSE_S, 0.0, f[ACKED]
    elif f[NEW_ROUND] > 0.0:
        f[PROBE_ROUND] = 1.0
    if f[PROBE_ROUND] > 0.0 and now > f[PROBE_END]:
        f[STAMP_NEW], f[RATE_LOW], f[LOW] = now, NEVER, NEVER
        f[PROBE_ROUND], f[PROBE_END] = 0.0, NEVER
        f[MODE] = PROBE_BW if f[FULL] > 0.0 else STARTUP
        begin_down(f, now, u)
        f[PHASE] = CRUISE


def bounded(f: list[float], acked: float) -> None:
    """Pacing rate and congestion window within the bounds."""
    third = f[CC] == BBR3
    up = f[MODE] == PROBE_BW and f[PHASE] == UP
    gain, wide = 1.0, WINDOW
    if f[MODE] == STARTUP:
        gain = START_V3 if third else START_V2
        wide = WINDOW if third else START_V2
    elif f[MODE] == DRAIN:
        gain = 1.0 / START_V2
        wide = WINDOW if third else START_V2
    elif up:
        gain, wide = UP_GAIN, UP_WINDOW if third else WINDOW
    elif f[MODE] == PROBE_BW and f[PHASE] == DOWN:
        gain = DOWN_V3 if third else DOWN_V2
    rate = min(f[BANDWIDTH], f[RATE_LOW])
    pace = gain * rate * MARGIN
    f[PACE] = max(pace, f[PACE]) if f[FULL] == 0.0 else pace
    target = wide * rate * f[LEAST] + 3.0 * min(max(f[PACE] / BURSTS, 2.0), BURST)
    window = f[CWND]
    if f[FULL] > 0.0:
        window = min(window + acked, target)
    elif window < target or f[ACKED] < 2.0 * INITIAL:
        window += acked
    most = NEVER
    if f[MODE] == PROBE_RTT or (f[MODE] == PROBE_BW and f[PHASE] == CRUISE):
        most = (1.0 - HEADROOM) * f[UPPER]
    elif f[MODE] == PROBE_BW:
        most = f[UPPER]
    if f[MODE] == PROBE_RTT:
        most = min(most, KEPT * f[BANDWIDTH] * f[LEAST])
    f[CWND] = max(min(window, most, f[LOW]), LEAST_WINDOW)


def bbr3_flow(f: list[float], acked: float, sample: float, now: float, u: float) -> None:
    """BBR v2 and v3: model of the path, cycle, bounds, window and pacing rate.

    ``u`` is a draw from 0 to 1.
    """
    if f[UPPER] == 0.0:
        f[UPPER] = f[LOW] = f[RATE_LOW] = f[LEAST_NEW] = NEVER
    if acked > 1e-9:
        if f[LEAST] >= NEVER:
            f[LEAST] = f[TRIP]
        if f[NEW_ROUND] > 0.0:
            f[ROUNDS_SINCE] += 1.0
        lower_bounds(f, sample)
        start_up(f, sample, now, u)
        cycle(f, sample, acked, now, u)
        pause(f, now, u)
        bounded(f, acked)
        if f[NEW_ROUND] > 0.0:
            f[RATE_LATEST], f[LATEST] = sample, f[GOT]
