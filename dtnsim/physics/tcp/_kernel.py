"""The scalar kernel of `shared`: one bottleneck, flows of any algorithm, time in equal slices.

Written so that the same source runs as plain Python and, for large jobs, compiled by numba: state is
lists of floats, one a flow, with the fields named below; no closures, no objects.
"""

from __future__ import annotations

import math

from dtnsim.physics.tcp import linux
from dtnsim.physics.tcp._growth import BBR, CUBIC, WESTWOOD, filtered, growth, kept

STARTUP, DRAIN, PROBE_BW, PROBE_RTT = 0.0, 1.0, 2.0, 3.0
RING = 512
NEVER = 1e30
# fields of a flow
CC, T, START, FLIGHT, ACKED, SENT, LOST, CWND, SSTHRESH = 0, 1, 2, 3, 4, 5, 6, 7, 8
HIGH, RECOVERING, BEFORE, TOP, EPOCH, K, ORIGIN, FRIENDLY, BETA = 9, 10, 11, 12, 13, 14, 15, 16, 17
LEAST, STAMP, SMOOTH, MODE, PLATEAU, FLAT, FULL, PHASE, CYCLE = 18, 19, 20, 21, 22, 23, 24, 25, 26
NEXT, ROUND, BANDWIDTH, PROBE_END, PROBE_ROUND, PRIOR, CONSERVE, PACE = 27, 28, 29, 30, 31, 32, 33, 34
QUEUED, UNUSED, DROPPED, TRIP, NEW_ROUND, STEPS_T, LOSSES, PULL, CAP, BUSY = 35, 36, 37, 38, 39, 40, 41, 42, 43, 44
NOISE, EVENT, STRAY, POWER, ESTIMATE, MOST, FIELDS = 45, 46, 47, 48, 49, 50, 51

# constants of the sender by the names that they have in `linux`; tuples are unpacked, as numba wants numbers
GAINS, HIGH_GAIN, CUBIC_C = linux.BBR_CYCLE, linux.BBR_HIGH_GAIN, linux.CUBIC_C
FAIR, FIRST, MOST_GROWTH = linux.CUBIC_FRIENDLY, linux.CUBIC_FIRST_GROWTH, linux.CUBIC_MOST_GROWTH
CONVERGENCE, RENO_BETA = linux.CUBIC_FAST_CONVERGENCE, linux.RENO_BETA
WINDOW, BURSTS, MARGIN = linux.INITIAL_WINDOW, linux.BURSTS_PER_S, linux.BBR_MARGIN
SLOW, FAST = linux.PACING_SLOW_START, linux.PACING_AVOIDANCE
LOW_WINDOW = linux.HYSTART_LOW
DELAY_LOW, DELAY_HIGH = linux.HYSTART_DELAY_S
FILTER, FULL_GROWTH, FULL_ROUNDS = linux.BBR_FILTER_ROUNDS, linux.BBR_FULL_GROWTH, linux.BBR_FULL_ROUNDS
MIN_RTT_S, PROBE_S, CWND_GAIN, LEAST_WINDOW = (
    linux.BBR_MIN_RTT_S,
    linux.BBR_PROBE_RTT_S,
    linux.BBR_CWND_GAIN,
    linux.BBR_MIN_WINDOW,
)
#: largest burst of segmentation offload at MTU 1500 [segments]; share of srtt's newest sample (RFC 6298)
BURST, ALPHA = 44.0, 0.125


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


def cut(f: list[float]) -> None:
    """A loss-based flow notices a loss."""
    window = f[CWND]
    f[TOP] = CONVERGENCE * window if window < f[TOP] else window
    f[BETA] = kept(int(f[CC]), window, f[T], f[TRIP], f[MOST])
    f[SSTHRESH] = max(math.floor(math.floor(window) * f[BETA]), 2.0)
    f[BEFORE], f[HIGH], f[RECOVERING], f[EPOCH] = window, f[SENT], 1.0, -1.0


def target_of(f: list[float], acked: float, now: float) -> float:
    """CUBIC's window one round trip ahead; starts its epoch if there is none."""
    if f[EPOCH] < 0.0:
        below = f[TOP] > f[CWND]
        f[K] = ((f[TOP] - f[CWND]) / CUBIC_C) ** (1 / 3) if below else 0.0
        f[ORIGIN] = f[TOP] if below else f[CWND]
        f[FRIENDLY], f[EPOCH] = f[CWND], now
    f[FRIENDLY] += FAIR * acked / max(f[CWND], 1.0)
    least = f[LEAST] if f[LEAST] < NEVER else f[T]
    # math.pow and not **: compiled, an integer power is a product, which rounds otherwise
    return max(f[ORIGIN] + CUBIC_C * math.pow(now - f[EPOCH] + least - f[K], 3.0), f[FRIENDLY])


def avoid(f: list[float], acked: float, now: float) -> None:
    """Congestion avoidance: growth per acknowledged segment."""
    share = acked / max(f[CWND], 1.0)
    if f[CC] == CUBIC:
        gain = min(max(target_of(f, acked, now) - f[CWND], 0.01), MOST_GROWTH * f[CWND])
        if f[TOP] == 0.0:
            gain = max(gain, FIRST * f[CWND])
        f[CWND] += gain * share
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
        cut(f)
    if f[RECOVERING] > 0.0:
        if f[FLIGHT] > f[SSTHRESH]:
            f[CWND] = f[FLIGHT] + acked * f[SSTHRESH] / max(f[BEFORE], 1.0)
        else:
            f[CWND] = min(f[SSTHRESH], f[FLIGHT] + acked + 1.0)
    elif acked > 1e-9 and f[FLIGHT] + acked + 1.0 >= 0.5 * f[CWND] and f[CWND] < f[CAP]:
        if f[CWND] < f[SSTHRESH]:
            rise = min(max(f[LEAST] / 8, DELAY_LOW), DELAY_HIGH)
            late = f[CC] == CUBIC and f[NEW_ROUND] > 0.0 and f[CWND] >= LOW_WINDOW and f[TRIP] > f[LEAST] + rise
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
    if f[CC] == BBR:
        burst = f[NOISE] * min(max(f[PACE] / BURSTS, 2.0), BURST)
        bbr_flow(f, best, acked, (f[ACKED] - before + burst) / (trip * slice_s), now, phase)
    else:
        f[ESTIMATE] = filtered(f[ESTIMATE], acked / slice_s * f[T], slice_s, f[TRIP])
        window_flow(f, acked, now)
    acks[n % RING] = f[ACKED]
    return min(max(min(f[CWND], f[CAP]) - f[FLIGHT], 0.0), f[PACE] * slice_s)


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
