"""Every coefficient of the TCP models that neither an RFC nor the kernel source gives.

One record each: value, unit, reason, and the number of measured rows that its value was fitted on (0
where it was derived, or read from a figure that is no goodput).
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number the model needs and no standard gives."""

    value: float  #: Its value.
    unit: str  #: SI unit.
    reason: str  #: Why it is there and where the value comes from.
    fitted_rows: int  #: Measured goodput rows its value was chosen on.


HOST_DELAY: Final = Coefficient(
    1.0e-4,
    "s",
    "both hosts and the forwarding between add this to the round trip; idle pings over the emulated path show "
    "0.06 to 0.15 ms",
    0,
)
DELAYED_ACK_SHARE: Final = Coefficient(
    0.5, "1", "half of the ACK trains end with an unpaired segment, whose ACK waits for the next train or 40 ms", 0
)
STALL_RATE: Final = Coefficient(
    3.4,
    "1/s",
    "hosts stop for a moment and then send a lump; rate and mean length follow from the emulator's lateness "
    "(median p99.9 1 ms, median longest 4 ms in 25 s), not from goodput",
    0,
)
STALL_LENGTH: Final = Coefficient(0.9e-3, "s", "mean length of such a stall, exponential", 0)
STALL_SHARE: Final = Coefficient(
    0.58,
    "1",
    "share of a stall's lump that reaches the queue at once: a paced sender catches up at up to 2 x 1.2 of its rate, "
    "(2.4 - 1)/2.4; assumed of others, whose goodput at shallow buffers it meets no worse than 1 does (tcp-truth)",
    0,
)
BURST_MARGIN: Final = Coefficient(
    1.5,
    "segments",
    "free buffer beyond a TSO burst when it is safe: the rest of the burst before; seen in two packet traces "
    "(10 and 12 ms, buffer 0.1 BDP) as 1.4 and 1.9",
    1,
)
ACK_GAP_RATE: Final = Coefficient(
    10.0,
    "1/s",
    "gaps over 2 ms that break HyStart's ACK train: in 8 own traces trains of 40 to 60 ms mostly held, of "
    "75 ms and more did not",
    0,
)
TAIL_LOSS: Final = Coefficient(
    0.5,
    "1",
    "chance that a queue overflow in the last round drops the very last segment (every other one is dropped)",
    0,
)
BBR_STARTUP: Final = Coefficient(
    7.9,
    "segments",
    "BBR v1 has sent 7.9 x 2^(t/T) segments t after its first: a packet trace of its paced start-up (the closed "
    "form gives 10 to 14)",
    0,
)
BBR_REFRESH: Final = Coefficient(
    0.005,
    "1",
    "chance in ten seconds, times (T / 10 ms)^2 and at most 1/2, that BBR sees its least delay again, which puts "
    "ProbeRTT off: dips come 10 s apart at 10 to 60 ms and about 12 s apart at 100 and 200 ms",
    20,
)
BBR_ROOM: Final = Coefficient(
    0.69,
    "1",
    "share of the buffer that a burst of BBR finds free, the rest is its standing queue: 0.66 to 0.71 in three runs "
    "of our own (25 to 50 Mb/s, 1.8 to 2.2 ms, buffers of 4 to 8 packets; up to half of the link lost) and one public "
    "point; three more runs, with bursts under 0.65 of the buffer, lost nothing",
    6,
)
BBR_PUSH: Final = Coefficient(
    0.6,
    "1",
    "of the background's loss, the share that BBR v1 gains: smooth background loses less than its part to bursts",
    2,
)
BURST_LOSS: Final = Coefficient(
    0.5,
    "1",
    "drops at a full queue fall on flows by packets / N^0.5, N their TSO burst: between by packet (0) and by burst "
    "(1), chosen on the public two-flow rows",
    11,
)
BBR_NOISE: Final = Coefficient(
    3.5,
    "bursts",
    "bursts by which the largest delivery rate of a round passes the mean where BBR flows meet: they overfill the "
    "queue (5 % loss measured at one BDP), which a fluid without bursts does not show; of 0.75 to 5 the value without "
    "bias on three public and six own pairs (round trips 15 to 200 ms, 0.5 to 2 BDP), median error 11 to 16 %",
    9,
)
SPREAD_LINK: Final = Coefficient(
    0.01, "1", "standard deviation of measured over modelled goodput of a saturated link", 60
)
SPREAD_LOSS: Final = Coefficient(
    0.06, "1", "the same where loss, a window or a sawtooth holds the rate below the link", 50
)
SPREAD_SHARED: Final = Coefficient(0.12, "1", "the same for a flow that shares with another", 11)
SPREAD_UNJUDGED: Final = Coefficient(
    0.35,
    "1",
    "the same where one of them is an algorithm of which no pair was measured: assumed, twice the 90th percentile of "
    "the error of pairs that were (18 %); of 47 published runs of BBR v2 and v3 74 % lie within its 80 %",
    0,
)

#: all of them by name
ALL: Final = {name.lower(): value for name, value in globals().items() if isinstance(value, Coefficient)}
