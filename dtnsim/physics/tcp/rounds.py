"""The round model: transfers in time, from a cold start, with their spread.

Three engines behind one function, all vectorised over scenarios and replicas:

* Reno, CUBIC and H-TCP streams with one round-trip time: windows advanced from event to event (`_step`);
* BBR streams alone: start-up, cruise and pauses (`bbr`);
* two flows of unequal round trips or algorithms: time slices at a shared queue (`competition`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics._arrays import BoolArray, FloatArray, IntArray, Rows, among
from dtnsim.physics.tcp import _lanes, _run, coefficients as known, controls, linux, loss as lossy, window

MOST_FLOWS: Final = 4  #: Streams that are simulated one by one; more are lumped
LEAST_BUFFER: Final = 4.0  #: a buffer holds at least this many packets, as those of the measured runs do
#: [B] what one busy port has of a shallow switch's memory (Broadcom Triumph, 48 x 1 Gb/s and 4 MB: Alizadeh et al.,
#: Data Center TCP, SIGCOMM 2010, figure 1): no less is in front of a link of whose buffer nothing is said
SHALLOW_B: Final = 700e3
CHUNK: Final = 2048  #: Lanes stepped together: enough to hide numpy's overhead, few enough for the cache
#: Receiver's clock to the first data at the bottleneck: connection set-up and half a round trip [RTT]
SET_UP: Final = 1.5
SECOND_START_S: Final = 0.45  #: Start of a second flow after the first: the next command of a script [s]


@dataclass(frozen=True, slots=True)
class Cases(Rows):
    """Transfers to simulate; every field is an array (cases,), see `Cases.of`."""

    rate_Bps: FloatArray  #: Bottleneck in IP bytes [B/s].
    rtt_s: FloatArray  #: Base round-trip time [s].
    buffer_B: FloatArray  #: Drop-tail buffer [B].
    loss: FloatArray  #: Mean random loss of the data direction [1].
    burst: FloatArray  #: Mean length of a loss burst [packets].
    background: FloatArray  #: Part of the rate that traffic which does not yield takes [1].
    #: IP packet and its payload [B].
    mtu_B: FloatArray
    mss_B: FloatArray
    streams: IntArray  #: Parallel streams.
    cc: NDArray[np.str_]  #: Algorithm, a name of `controls`.
    window_B: FloatArray  #: Most payload in flight of a stream [B].
    send_B: FloatArray  #: Payload that a sender's buffer holds, in flight or not; inf where that never binds [B].
    size_B: FloatArray  #: Payload of the transfer, inf for one that is stopped by the clock [B].
    #: Window of the measurement [s].
    warmup_s: FloatArray
    duration_s: FloatArray
    paced: BoolArray  #: Whether the sender paces.
    line_Bps: FloatArray  #: Rate at which a sender's bursts reach the bottleneck [B/s].
    #: Algorithm and round trip of a second flow behind the same buffer; "" for none.
    cc2: NDArray[np.str_]
    rtt2_s: FloatArray
    start2_s: FloatArray  #: When that one starts after the first [s].

    @classmethod
    def of(
        cls,
        *,
        rate_Bps: ArrayLike,
        rtt_s: ArrayLike,
        buffer_B: ArrayLike | None = None,
        loss: ArrayLike = 0.0,
        burst: ArrayLike = 1.0,
        background: ArrayLike = 0.0,
        mtu_B: ArrayLike = 1500.0,
        mss_B: ArrayLike | None = None,
        streams: ArrayLike = 1,
        cc: ArrayLike = "cubic",
        window_B: ArrayLike = np.inf,
        send_B: ArrayLike = np.inf,
        size_B: ArrayLike = np.inf,
        warmup_s: ArrayLike = 0.0,
        duration_s: ArrayLike = 30.0,
        paced: ArrayLike = False,
        line_Bps: ArrayLike = np.inf,
        cc2: ArrayLike = "",
        rtt2_s: ArrayLike | None = None,
        start2_s: ArrayLike = SECOND_START_S,
    ) -> Cases:
        """Cases from values that broadcast, named as the fields are.

        Where left out, the buffer is one bandwidth-delay product, the MSS MTU - 52 (IPv4 and TCP with timestamps: RFC
        791, 9293 and 7323), the round trip of a second flow that of the first.
        """
        values: dict[str, Any] = {name: value for name, value in locals().items() if name != "cls"}
        if buffer_B is None:
            values["buffer_B"] = np.asarray(rate_Bps, float) * np.asarray(rtt_s, float)
        if mss_B is None:
            values["mss_B"] = np.asarray(mtu_B, float) - 52
        if rtt2_s is None:
            values["rtt2_s"] = rtt_s
        kinds: dict[str, Any] = {"streams": np.int64, "cc": np.str_, "cc2": np.str_, "paced": np.bool_}
        arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, kinds.get(k, float))) for k, v in values.items()))
        return cls(**dict(zip(values, arrays, strict=True)))

    @property
    def link_Bps(self) -> FloatArray:
        """Payload that the background leaves [B/s]."""
        return np.asarray(self.rate_Bps * (1 - self.background) * self.mss_B / self.mtu_B, float)


@dataclass(slots=True, eq=False, repr=False)
class Samples:
    """What the replicas of one group of cases did; (cases, replicas) unless said otherwise."""

    #: Of the transfer and of the second flow (nan without) [B/s].
    goodput_Bps: FloatArray
    second_Bps: FloatArray
    completion_s: FloatArray  #: Connection to last byte read, nan without a size [s].
    retransmits: FloatArray  #: Segments sent again in the measured window.
    trip_s: FloatArray  #: Mean round-trip time in the window [s].
    delivered_B: FloatArray  #: At the times asked for (cases, times) [B], mean of the replicas.
    scatter: FloatArray  #: Their relative standard deviation (cases, times) [1].
    behind_s: FloatArray  #: Until what was lost by then would have come, were it the end; mean (cases, times) [s].
    steps: FloatArray  #: Steps of the engine (cases,).


def packets(c: Cases) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rate [packets/s] and buffer [packets] left by the background, and window [packets]."""
    left = 1 - c.background
    return (
        c.rate_Bps / c.mtu_B * left,
        c.buffer_B / c.mtu_B * left,
        np.maximum(np.minimum(c.window_B, window.MOST_WINDOW_B) / c.mss_B, 2.0),
    )


def mean_flight(c: Cases) -> FloatArray:
    """Most that is in flight of a stream in the mean [packets]."""
    rate, _, most = packets(c)
    trains = window.of_trains(most, c.send_B / c.mss_B, linux.GSO_B / c.mss_B, trip(c), rate, c.streams)
    by_loss = among(c.cc, controls.names(by_loss=True))
    if by_loss.all():
        return trains
    return np.where(by_loss, trains, window.past_holes(most, lossy.events(c.loss, c.burst), window.RECEIVER))


def trip(c: Cases) -> FloatArray:
    """Round trip of a full packet over an empty path: what both hosts add, and its own time at the bottleneck [s]."""
    return np.asarray(_least_trip(c) + c.mtu_B / c.rate_Bps, float)


def _least_trip(c: Cases) -> FloatArray:
    """Round trip of a small packet over an empty path [s]."""
    return np.asarray(c.rtt_s + known.HOST_DELAY.value, float)


def run_windows(
    c: Cases, replicas: IntArray, most_steps: IntArray, seed: int, times_s: FloatArray
) -> Iterator[tuple[IntArray, Samples]]:
    """Loss-based streams of equal round trips, in one run whatever their algorithms and numbers of flows are.

    Args:
        c: The transfers.
        replicas: Runs of each (cases,).
        most_steps: Steps after which a run is taken to repeat itself (cases,).
        seed: Seed of the draws.
        times_s: Times of each at which the bytes delivered are wanted (cases, T) [s].

    Yields:
        Cases of as many runs, and what they did.

    Source: `_run.run`.
    """
    flows = np.minimum(c.streams, MOST_FLOWS)
    # of very many, lanes that are alike and take about as many steps lie together, so that chunks shrink evenly
    order = np.lexsort((c.duration_s / c.rtt_s, c.cc, flows)) if replicas.sum() > CHUNK else np.arange(len(flows))
    case = np.repeat(order, replicas[order])
    replica = np.concatenate([np.arange(count) for count in replicas[order]])
    noted = _run.Noted.of(len(case), times_s.shape[1] + 2)
    for begin in range(0, len(case), CHUNK):
        chunk, runs = case[begin : begin + CHUNK], replica[begin : begin + CHUNK]
        dice = _lanes.Dice(seed, tuple(sorted(set(replicas[chunk].tolist()))), int(flows[chunk].max()))
        draws = runs + np.array([dice.first[count] for count in replicas[chunk].tolist()])
        fixed = _fixed(c.take(chunk), flows[chunk], times_s[chunk], draws, most_steps[chunk])
        _run.run(replace(fixed, lane=fixed.lane + begin), dice, noted)
    for count in sorted(set(replicas.tolist())):
        lanes = np.flatnonzero(replicas[case] == count)
        cases = case[lanes[::count]]
        lump = (c.streams / flows)[case[lanes]]
        yield cases, _samples(c.take(case[lanes]), lump, noted.take(lanes), times_s[cases], count)


def _samples(c: Cases, lump: FloatArray, n: _run.Noted, times_s: FloatArray, replicas: int) -> Samples:
    """What all streams of the cases did, from the counters of their lanes, so many for each."""
    shape, k, sized = (len(times_s), replicas), times_s.shape[1], np.isfinite(c.size_B)
    delivered, lost = n.delivered * lump[:, None], n.lost * lump[:, None]

    def within(counter: FloatArray) -> FloatArray:
        return np.asarray(counter[:, k + 1] - counter[:, k])

    done = n.done + SET_UP * trip(c)
    rate = np.where(sized, np.where(sized, c.size_B, 0.0) / done, within(delivered) * c.mss_B / c.duration_s)
    # a lane that was carried forward saw only a part of its window: its spread is that of the part
    seen = np.sqrt(np.clip(n.simulated / np.where(sized, done, c.warmup_s + c.duration_s), 0.0, 1.0))
    runs = rate.reshape(shape)
    mean = runs.mean(axis=1, keepdims=True)
    goodput = mean + (runs - mean) * seen.reshape(shape)
    return Samples(
        goodput,
        np.full(shape, np.nan),
        np.where(sized, c.size_B, np.nan).reshape(shape) / goodput,
        np.where(sized, lost[:, -1], within(lost)).reshape(shape),
        np.where(sized, np.nan, within(n.waited) / c.duration_s).reshape(shape),
        *_at_times(delivered[:, :k] * c.mss_B[:, None], n.simulated, times_s, shape),
        n.behind[:, :k].reshape(*shape, -1).mean(axis=1),
        n.steps.reshape(shape).mean(axis=1),
    )


def _at_times(
    delivered: FloatArray, simulated: FloatArray, times_s: FloatArray, shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Mean and relative scatter of the replicas' counters (cases, times); what was carried on less and less."""
    runs = delivered.reshape(*shape, -1)
    mean = runs.mean(axis=1)
    seen = simulated.reshape(shape).mean(axis=1, keepdims=True) / np.maximum(times_s, 1e-12)
    return mean, runs.std(axis=1) / np.maximum(mean, 1e-30) * np.sqrt(np.minimum(seen, 1.0))


def _fixed(c: Cases, flows: IntArray, times_s: FloatArray, draws: IntArray, most_steps: IntArray) -> _lanes.Fixed:
    C, B, cap = packets(c)
    lump = c.streams / flows
    number = {name: n for n, name in enumerate(sorted(set(c.cc.tolist())))}
    law, laws = np.array([number[name] for name in c.cc.tolist()]), {n: controls.find(k) for k, n in number.items()}
    own = np.arange(flows.max())[:, None] < flows
    C, B, T = C / lump, B / lump, trip(c)
    sized = np.isfinite(c.size_B)
    marks = _marks(c, times_s)
    last = np.where(sized, 1e12, marks[:, -1])
    # the least round trip that bursts go by is the handshake's, of small packets
    short = linux.short_trip_burst(_least_trip(c), c.mss_B)
    # what of a burst is left to queue when the bottleneck takes its share as it arrives
    excess = np.clip(1 - c.rate_Bps * (1 - c.background) / c.line_Bps, 1e-9, 1.0)
    buffers = _lanes.buffers(C, T, B, short, c.mss_B, excess)
    held, mean = c.send_B / c.mss_B, mean_flight(c)
    trains = np.where((mean < cap) & ~c.paced, linux.WOKEN_SHARE * held + B / excess, np.inf)
    buffers["safe"] = np.minimum(buffers["safe"], trains)
    full, bursts = buffers.pop("full"), bool(np.isfinite(buffers["safe"]).any())
    each = buffers | {
        "C": C, "B": B, "T": T, "cap": cap, "short": short, "lost": c.loss, "arrives": 1 - c.loss, "paced": c.paced,
        "lump": known.STALL_SHARE.value * known.STALL_LENGTH.value * excess,
        "excess": excess, "mean": mean, "held": held,
        "event": lossy.events(c.loss, c.burst), "start": np.where(sized, 0.0, SET_UP * T),
    }  # fmt: skip
    return _lanes.Fixed(
        **{name: np.tile(value, (len(own), 1)) for name, value in each.items()},
        full=full,
        size=c.size_B / c.mss_B / lump,
        end=last,
        lane=np.arange(len(c.rtt_s)),
        replica=draws,
        marks=marks,
        flows=flows,
        own=own,
        most_steps=most_steps,
        law=law,
        laws=laws,
        which=_lanes.which(law, laws),
        ragged=not own.all(),
        bursts=bursts,
        sized=bool(sized.any()),
    )


def _marks(c: Cases, times_s: FloatArray) -> FloatArray:
    """Times that are noted: those wanted, the measured window's begin and its end (lanes, T + 2) [s]."""
    sized = np.isfinite(c.size_B)
    begin, end = np.where(sized, 1e11, [c.warmup_s, c.warmup_s + c.duration_s])
    marks = np.column_stack([np.where(np.isnan(times_s), begin[:, None], times_s), begin, end])
    if not (np.diff(marks, axis=1) >= 0).all():
        msg = "times_s must come before the measured window's end and begin"
        raise ValueError(msg)
    return marks


def run_bbr(c: Cases, replicas: int, seed: int, times_s: FloatArray) -> Samples:
    """BBR streams that share the bottleneck with nobody but an unyielding background.

    Args:
        c: The transfers.
        replicas: Runs of each.
        seed: Seed of the draws.
        times_s: Times at which the bytes delivered are wanted (cases, T) [s].

    Source: `bbr`, in closed form by event.
    """
    from dtnsim.physics.tcp import bbr

    lanes = c.take(np.repeat(np.arange(len(c.rtt_s)), replicas))
    C, B, _ = packets(lanes)
    T = _least_trip(lanes)
    sized = np.isfinite(lanes.size_B)
    flows = bbr.Flows(
        C,
        T,
        B,
        lanes.loss,
        mean_flight(lanes),
        lanes.streams.astype(float),
        lanes.mss_B,
        np.where(sized, 0.0, SET_UP * T),
        lanes.background,
        np.array([controls.find(cc).probing is not None for cc in lanes.cc.tolist()]),
        np.arange(len(T)) % replicas,
        seed,
    )
    shape = (len(c.rtt_s), replicas)
    completion = np.full(len(T), np.nan)
    if sized.any():
        size = np.where(sized, lanes.size_B / lanes.mss_B, 1.0)
        completion = np.where(sized, bbr.completion(flows, size) + SET_UP * T, np.nan)
    marks = _marks(lanes, np.repeat(times_s, replicas, axis=0))
    delivered = bbr.delivered(flows, marks)
    rate = (delivered[:, -1] - delivered[:, -2]) * lanes.mss_B / np.maximum(lanes.duration_s, 1e-9)
    goodput = np.where(sized, np.where(sized, lanes.size_B, 0.0) / completion, rate)
    sent = np.where(sized, goodput * np.nan_to_num(completion), goodput * lanes.duration_s) / lanes.mss_B
    sent_again = np.where(sized | (lanes.warmup_s == 0), bbr.overshoot(flows), 0.0)
    dropped = bbr.drops(flows)
    sent_again = sent_again + sent * (lanes.loss + dropped / (1 - dropped))
    k = times_s.shape[1]
    return Samples(
        goodput.reshape(shape),
        np.full(shape, np.nan),
        completion.reshape(shape),
        sent_again.reshape(shape),
        np.broadcast_to(T + np.minimum(5e-3, B / C), len(T)).reshape(shape),
        *_at_times(delivered[:, :k] * lanes.mss_B[:, None], np.full(len(T), np.inf), times_s, shape),
        bbr.behind(flows, delivered[:, :k], marks[:, :k]).reshape(*shape, -1).mean(axis=1),
        np.zeros(shape[0]),
    )
