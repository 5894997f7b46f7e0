"""Places in the state of a flow of the kernel of `shared`: a list of floats, one a flow."""

from __future__ import annotations

#: largest burst of segmentation offload at MTU 1500 [segments]
BURST = 44.0
STARTUP, DRAIN, PROBE_BW, PROBE_RTT = 0.0, 1.0, 2.0, 3.0
NEVER = 1e30
# all flows, and those that go by losses
CC, T, START, FLIGHT, ACKED, SENT, LOST, CWND, SSTHRESH = 0, 1, 2, 3, 4, 5, 6, 7, 8
HIGH, RECOVERING, BEFORE, TOP, EPOCH, K, ORIGIN, FRIENDLY, BETA = 9, 10, 11, 12, 13, 14, 15, 16, 17
LEAST, STAMP, SMOOTH, MODE, PLATEAU, FLAT, FULL, PHASE, CYCLE = 18, 19, 20, 21, 22, 23, 24, 25, 26
NEXT, ROUND, BANDWIDTH, PROBE_END, PROBE_ROUND, PRIOR, CONSERVE, PACE = 27, 28, 29, 30, 31, 32, 33, 34
QUEUED, UNUSED, DROPPED, TRIP, NEW_ROUND, STEPS_T, LOSSES, PULL, CAP, BUSY = 35, 36, 37, 38, 39, 40, 41, 42, 43, 44
NOISE, EVENT, STRAY, POWER, ESTIMATE, MOST = 45, 46, 47, 48, 49, 50
# BBR v2 and v3: bounds of rate and of what is in flight, the last round, the cycle
BEST, BEST_NEW, RATE_LOW, LOW, UPPER, RATE_LATEST, LATEST = 51, 52, 53, 54, 55, 56, 57
LOSS_ROUND, LOSS_EVENTS, FULL_NOW, ROUNDS_SINCE, WAIT, TOO_HIGH, RISKY = 58, 59, 60, 61, 62, 63, 64
SAMPLES, UP_ROUNDS, UP_ACKS, STOPPING, LEAST_NEW, STAMP_NEW, IN_FLIGHT, LOST_TRIP, GOT = (
    65,
    66,
    67,
    68,
    69,
    70,
    71,
    72,
    73,
)
FIELDS = 74
