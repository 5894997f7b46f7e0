"""The scalar kernel of `shared`: one bottleneck, flows of any algorithm, time in equal slices.

Written so that the same source runs as plain Python and, for large jobs, compiled by numba: state is
lists of floats, one a flow, with the fields named below; no closures, no objects.
"""

from __future__ import annotations

import math

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp._bbr1 import bbr_flow
from dtnsim.physics.tcp._bbr3 import bbr3_flow
from dtnsim.physics.tcp.controls import codes, cut, laws
from dtnsim.physics.tcp.controls.cubic import cube, gain, hystart_delay, new_top, plateau
from dtnsim.physics.tcp.controls.westwood import filtered

# isort: off
# fmt: off
from dtnsim.physics.tcp._fields import (
    ACKED, BANDWIDTH, BEFORE, BETA, BURST, BUSY, CAP, CC, CWND, DROPPED, EPOCH, ESTIMATE, EVENT, FIELDS, FLIGHT,
    FRIENDLY, GOT, HIGH, IN_FLIGHT, LEAST, LOSSES, LOST, LOST_TRIP, MOST, NEVER, NEW_ROUND, NEXT, NOISE, ORIGIN,
    PACE, POWER, PRIOR, PROBE_END, PULL, QUEUED, RECOVERING, ROUND, SENT, SMOOTH, SSTHRESH, START, STEPS_T,
    STRAY, TOP, TRIP, K, T,
)
# fmt: on
# isort: on

RING = 512
# constants of the sender by the names that they have in `linux`; tuples are unpacked, as numba wants numbers
HIGH_GAIN, FAIR, RENO_BETA = linux.BBR_HIGH_GAIN, linux.CUBIC_FRIENDLY, linux.RENO_BETA
WINDOW, BURSTS, FILTER = linux.INITIAL_WINDOW, linux.BURSTS_PER_S, linux.BBR_FILTER_ROUNDS
SLOW, FAST = linux.PACING_SLOW_START, linux.PACING_AVOIDANCE
LOW_WINDOW = linux.HYSTART_LOW
CUBIC, WESTWOOD, BBR = (codes()[name] for name in ("cubic", "westwood", "bbr"))
#: share of srtt's newest sample (RFC 6298)
ALPHA = 0.125


def draw(seed: int) -> int:
    """Next state of the Park-Miller generator; the draw is state / 2147483647."""
    return seed * 16807 % 2147483647


def fresh(cc: int, trip: float, start: float, steps: int, cap: float, power: float, noise: float) -> list[float]:
    """A flow that has sent nothing."""
    f = [0.0] * FIELDS
    f[CC], f[T], f[START], f[STEPS_T] = float(cc), trip, start, float(steps)
    f[CAP], f[POWER], f[NOISE] = cap, power, noise
    f[CWND], f[SSTHRESH], f[HIGH], f[BEFORE], f[EPOCH], f[BETA] = WINDOW, NEVER, -1.0, 1.0, -1.0, RENO_BETA
    f[LEAST], f[SMOOTH], f[BANDWIDTH], f[PROBE_END], f[PRIOR] = NEVER, trip, WINDOW / trip, NEVER, WINDOW
    f[PACE] = HIGH_GAIN * WINDOW / trip
    return f


def acknowledge(f: list[float], acked: float, lost: float, delay: float, before: float) -> None:
    """Takes in what came back in this slice, and notes whether a new loss event begins."""
    f[FLIGHT] = max(f[FLIGHT] - acked - lost, 0.0)
    f[ACKED] += acked
    f[LOST] += lost
    f[LOSSES] = lost
    f[TRIP] = f[T] + delay
    f[NEW_ROUND] = 0.0
    if acked > 1e-9:
        if before >= f[NEXT]:
            f[NEW_ROUND] = 1.0
            f[NEXT] = f[ACKED]
            f[ROUND] += 1.0
        f[SMOOTH] += ALPHA * (f[TRIP] - f[SMOOTH]) * min(1.0, acked)
    new = lost > 0.5 and f[ACKED] + f[LOST] > f[HIGH] and f[RECOVERING] == 0.0
    f[EVENT] = 1.0 if new else 0.0


def growth(cc: int, window: float, since: float, least: float, beta: float, delay: float, most: float) -> float:
    """The law of an algorithm; where the kernel is compiled, a chain of ifs takes its place (`shared`)."""
    return float(laws(cc)[0](window, since, least, beta, delay, most))


def kept(cc: int, window: float, least: float, delay: float, most: float) -> float:
    """The law of an algorithm, as `growth`."""
    return float(laws(cc)[1](window, least, delay, most))


def notice(f: list[float]) -> None:
    """A loss-based flow notices a loss."""
    window = f[CWND]
    f[TOP] = new_top(window, f[TOP])
    f[BETA] = kept(int(f[CC]), window, f[T], f[TRIP] - f[T], f[MOST])
    f[SSTHRESH] = cut(window, f[BETA])
    f[BEFORE], f[HIGH], f[RECOVERING], f[EPOCH] = window, f[SENT], 1.0, -1.0


def target_of(f: list[float], acked: float, now: float) -> float:
    """CUBIC's window one round trip ahead; starts its epoch if there is none."""
    if f[EPOCH] < 0.0:
        f[K], f[ORIGIN] = plateau(f[TOP], f[CWND])
        f[FRIENDLY], f[EPOCH] = f[CWND], now
    f[FRIENDLY] += FAIR * acked / max(f[CWND], 1.0)
    least = f[LEAST] if f[LEAST] < NEVER else f[T]
    return max(cube(f[ORIGIN], now - f[EPOCH] + least - f[K]), f[FRIENDLY])


def avoid(f: list[float], acked: float, now: float) -> None:
    """Congestion avoidance: growth per acknowledged segment."""
    share = acked / max(f[CWND], 1.0)
    if f[CC] == CUBIC:
        f[CWND] += gain(f[CWND], target_of(f, acked, now), f[TOP], 0.01) * share
    else:
        if f[EPOCH] < 0.0:
            f[EPOCH] = now
        delay = f[TRIP] - f[T]
        f[CWND] += growth(int(f[CC]), f[CWND], now - f[EPOCH], f[T], f[BETA], delay, f[MOST]) * share


def window_flow(f: list[float], acked: float, now: float) -> None:
    """Algorithms that go by losses: slow start with HyStart, avoidance, proportional rate reduction."""
    f[MOST] = max(f[MOST], f[TRIP] - f[T])
    ended = f[RECOVERING] > 0.0 and f[ACKED] + f[LOST] >= f[HIGH]
    if ended:
        f[RECOVERING] = 0.0
        if f[CC] == WESTWOOD:
            f[SSTHRESH] = max(math.floor(f[ESTIMATE]), 2.0)
        f[CWND] = f[SSTHRESH]
    if f[EVENT] > 0.0:
        notice(f)
    if f[RECOVERING] > 0.0:
        if f[FLIGHT] > f[SSTHRESH]:
            f[CWND] = f[FLIGHT] + acked * f[SSTHRESH] / max(f[BEFORE], 1.0)
        else:
            f[CWND] = min(f[SSTHRESH], f[FLIGHT] + acked + 1.0)
    elif acked > 1e-9 and f[FLIGHT] + acked + 1.0 >= 0.5 * f[CWND] and f[CWND] < f[CAP]:
        if f[CWND] < f[SSTHRESH]:
            late = f[CC] == CUBIC and f[NEW_ROUND] > 0.0 and f[CWND] >= LOW_WINDOW
            late = late and f[TRIP] > f[LEAST] + hystart_delay(f[LEAST])
            if late and f[SSTHRESH] >= NEVER:
                f[SSTHRESH] = f[CWND]
            else:
                f[CWND] = min(f[CWND] + acked, f[SSTHRESH])
        else:
            avoid(f, acked, now)
    if acked > 1e-9:
        f[LEAST] = min(f[LEAST], f[TRIP])
    slow = f[SSTHRESH] >= NEVER or f[CWND] < f[SSTHRESH] / 2
    f[PACE] = (SLOW if slow else FAST) * max(f[CWND], f[FLIGHT]) / f[SMOOTH]


def serve(flows: list[list[float]], sends: list[float], room: float, most: float, u: float, v: float) -> float:
    """Puts the slice's arrivals into the FIFO; returns its backlog before the slice's service.

    What passes the buffer is dropped in whole segments, shared out between packets and bursts: by sends / N^power.
    """
    total = 0.0
    pull = 0.0
    for i in range(len(flows)):
        f = flows[i]
        f[DROPPED] = 0.0
        f[PULL] = sends[i] / min(max(f[PACE] / BURSTS, 2.0), BURST) ** f[POWER]
        total += f[QUEUED] + sends[i]
        pull += f[PULL]
    over = total - room - most
    if over > 0.0 and pull > 0.0:
        count = int(over + u)
        for _ in range(count):
            v = (v * 16807.0 + 0.1) % 1.0
            at = v * pull
            for i in range(len(flows)):
                at -= flows[i][PULL]
                if at <= 0.0 or i == len(flows) - 1:
                    if flows[i][DROPPED] + 1.0 <= flows[i][QUEUED] + sends[i]:
                        flows[i][DROPPED] += 1.0
                        total -= 1.0
                    break
    return total


def depart(flows: list[list[float]], sends: list[float], total: float, most: float, loss: float, u: float) -> float:
    """Serves the well-mixed backlog; each flow's share leaves, random loss takes of it; returns what stays."""
    out = min(most, total)
    share = out / total if total > 1e-12 else 0.0
    for i in range(len(flows)):
        f = flows[i]
        held = max(f[QUEUED] + sends[i] - f[DROPPED], 0.0)
        f[BUSY] = held * share
        f[QUEUED] = held - f[BUSY]
        f[STRAY] = 0.0
        if loss > 0.0:
            u = (u * 16807.0 + 0.1) % 1.0
            f[STRAY] = min(float(int(f[BUSY] * loss + u)), f[BUSY])
            f[BUSY] -= f[STRAY]
        f[FLIGHT] += sends[i]
        f[SENT] += sends[i]
    return total - out


def turn(
    f: list[float],
    best: list[float],
    outs: list[float],
    drops: list[float],
    strays: list[float],
    acks: list[float],
    losts: list[float],
    flights: list[float],
    delays: list[float],
    n: int,
    full: int,
    slice_s: float,
    phase: float,
) -> float:
    """One flow's slice: what came back, its control law, and what it may send [segments]."""
    now = n * slice_s
    if now < f[START]:
        return 0.0
    back = n - int(f[STEPS_T])
    acked = outs[back % RING] if back >= 0 else 0.0
    lost = drops[(back - full) % RING] if back >= full else 0.0
    if back >= 0:
        lost += strays[back % RING]
    delay = delays[back % RING] if back >= 0 else 0.0
    trip = int((f[T] + delay) / slice_s + 0.5)
    before = acks[(n - trip) % RING] if n >= trip else 0.0
    acknowledge(f, acked, lost, delay, before)
    f[GOT], f[IN_FLIGHT], f[LOST_TRIP] = f[ACKED] - before, 0.0, 0.0
    if n >= trip:
        f[IN_FLIGHT], f[LOST_TRIP] = flights[(n - trip) % RING], f[LOST] - losts[(n - trip) % RING]
    if f[CC] >= BBR:
        burst = f[NOISE] * min(max(f[PACE] / BURSTS, 2.0), BURST)
        sample = (f[ACKED] - before + burst) / (trip * slice_s)
        if f[CC] == BBR:
            bbr_flow(f, best, acked, sample, now, phase)
        else:
            bbr3_flow(f, acked, sample, now, phase / 8.0)
    else:
        if f[CC] == WESTWOOD:
            f[ESTIMATE] = filtered(f[ESTIMATE], acked / slice_s * f[T], slice_s, f[TRIP])
        window_flow(f, acked, now)
    acks[n % RING], losts[n % RING] = f[ACKED], f[LOST]
    sends = min(max(min(f[CWND], f[CAP]) - f[FLIGHT], 0.0), f[PACE] * slice_s)
    flights[n % RING] = f[FLIGHT] + sends
    return sends


def run(rate, slice_s, room, trips, codes, starts, caps, noises, marks, power, loss, seed, out):  # type: ignore[no-untyped-def]
    """Runs one lane.

    `out[flow]` receives delivered and lost segments and the summed round trip between the two marks.
    """
    count = len(trips)
    most = rate * slice_s
    full = int(room / rate / slice_s + 0.5)
    flows = [
        fresh(codes[i], trips[i], starts[i], max(1, int(trips[i] / slice_s + 0.5)), caps[i], power, noises[i])
        for i in range(count)
    ]
    bests = [[0.0] * FILTER for _ in range(count)]
    outs = [[0.0] * RING for _ in range(count)]
    drops = [[0.0] * RING for _ in range(count)]
    strays = [[0.0] * RING for _ in range(count)]
    acks = [[0.0] * RING for _ in range(count)]
    losts = [[0.0] * RING for _ in range(count)]
    flights = [[0.0] * RING for _ in range(count)]
    delays = [0.0] * RING
    sends = [0.0] * count
    first, last = int(marks[0] / slice_s), int(marks[1] / slice_s)
    for n in range(last):
        seed = draw(seed)
        phase = seed % 7
        for i in range(count):
            sends[i] = turn(
                flows[i],
                bests[i],
                outs[i],
                drops[i],
                strays[i],
                acks[i],
                losts[i],
                flights[i],
                delays,
                n,
                full,
                slice_s,
                float(phase + (phase > 0)),
            )
        seed = draw(seed)
        total = serve(flows, sends, room, most, seed / 2147483647.0, (seed % 10007) / 10007.0)
        stays = depart(flows, sends, total, most, loss, (seed % 99991) / 99991.0)
        delays[n % RING] = stays / rate
        for i in range(count):
            outs[i][n % RING] = flows[i][BUSY]
            drops[i][n % RING] = flows[i][DROPPED]
            strays[i][n % RING] = flows[i][STRAY]
            if n >= first:
                out[i, 0] += flows[i][BUSY]
                out[i, 1] += flows[i][DROPPED] + flows[i][STRAY]
                out[i, 2] += flows[i][TRIP]
    return seed
