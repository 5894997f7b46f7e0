"""What ``dtnsim tcp`` says: one document, and the same as text."""

import math
import sys
from functools import partial
from typing import Any, Final

from dtnsim.ground import units
from dtnsim.ground.output import fields, number
from dtnsim.physics.tcp import advice, controls, droptail, linux, window
from dtnsim.physics.tcp.setting import Setting

WHY: Final = {
    "link": "the bottleneck is full",
    "window": "a window a round trip: larger socket buffers or more streams",
    "loss": "random loss holds the congestion windows down",
    "buffer": "the bottleneck's buffer is too shallow for the sawtooth or the sender's bursts",
    "start": "the transfer is over before its windows are open",
    "sharing": "another flow takes its share",
}

_rate, _size, _time = (partial(units.show, dimension=dimension) for dimension in ("B/s", "B", "s"))


def document(s: Setting, target_Bps: float, kernel: str, seed: int) -> dict[str, Any]:
    """The answer as one document, SI units in the names.

    Args:
        s: The transfer.
        target_Bps: Goodput wanted [B/s].
        kernel: Linux of the receiver.
        seed: Seed of the draws.
    """
    advised = advice.advise(s, target_Bps, seed)
    o = advised.answer
    goodput, done = float(o.goodput_Bps[0]), number(o.completion_s[0])
    spread = {q: float(getattr(o, f"goodput_{q}_Bps")[0]) for q in ("p10", "p50", "p90")}
    late = {q: float(getattr(o, f"completion_{q}_s")[0]) for q in ("p10", "p90")} if done is not None else {}
    receiving, sending = advice.socket_buffers(s, kernel)
    return {
        "schema": "dtnsim.tcp/1",
        "input": _input(s, target_Bps, kernel, seed),
        "goodput_Bps": {"mean": goodput, **spread},
        "completion_s": None if done is None else {"mean": done, **late},
        "limit": str(o.limit[0]),
        "reason": WHY[str(o.limit[0])],
        "link_Bps": s.link_Bps,
        "mean_rtt_s": number(o.trip_s[0]),
        "retransmits": float(o.retransmits[0]),
        "bdp_B": s.rate_Bps * s.rtt_s,
        "window_needed_B": s.link_Bps * s.rtt_s / s.streams,
        "socket_buffer_needed_B": receiving,
        "send_buffer_needed_B": sending,
        "window_share": float(linux.receive_share(s.mtu_B, kernel)),
        "steady": {"goodput_Bps": advised.after.steady_Bps, "limit": advised.after.limit},
        "loss_allowed": advised.allowed_loss,
        "streams_useful": advised.useful_streams,
        "goodput_by_streams": [{"streams": n, "goodput_Bps": rate} for n, rate in advised.by_streams.items()],
        "goodput_by_mtu": [{"mtu_B": mtu, "goodput_Bps": rate} for mtu, rate in advised.by_mtu.items()],
        "burst_unpaced_B": advice.burst_B(s),
        "burst_paced_B": advice.tso_burst_B(s, goodput),
        "bursts_fit": droptail.bursts_fit(float(advice.smooth_goodput(s)), s),
        "changes": [{"change": name, "goodput_Bps": value} for name, value in advised.changes],
    }


def _input(s: Setting, target_Bps: float, kernel: str, seed: int) -> dict[str, Any]:
    return {
        **fields(s, "rate_Bps", "rtt_s", "loss"),
        "burst_packets": s.burst,
        **fields(s, "cc", "streams", "paced", "buffer_B", "mtu_B", "mss_B", "framing_B"),
        "window_B": number(s.window_B),
        "background_share": s.background,
        "duration_s": s.duration_s if math.isinf(s.size_B) else None,
        "size_B": number(s.size_B),
        "target_Bps": target_Bps,
        "line_rate_Bps": number(s.line_Bps),
        "kernel": kernel,
        "seed": seed,
    }


def show(d: dict[str, Any]) -> None:
    """Prints the document for a person."""
    g, steady, i = d["goodput_Bps"], d["steady"], d["input"]
    printed = [
        f"goodput   {_rate(g['mean'])} ({_size(g['mean'])}/s), single runs from {_rate(g['p10'])} to {_rate(g['p90'])}"
    ]
    if i["duration_s"]:
        printed.append(f"duration  {_time(i['duration_s'])} (--duration, or --size)")
    if d["completion_s"]:
        c = d["completion_s"]
        printed.append(f"duration  {_time(c['mean'])}, from {_time(c['p10'])} to {_time(c['p90'])}")
    queued = f" ({_time(d['mean_rtt_s'])} with queueing)" if d["mean_rtt_s"] else ""
    bdp = f"BDP {_size(d['link_Bps'] * i['rtt_s'])} of payload"
    link = f"link {_rate(d['link_Bps'])} of payload ({_counted(i)})"
    printed += [
        f"limit     {d['limit']}: {d['reason']}",
        f"path      {link}, RTT {_time(i['rtt_s'])}{queued}, {bdp}",
        f"resent    {_resent(d)}",
        f"later     a transfer that goes on for hours settles at {_rate(steady['goodput_Bps'])} ({steady['limit']})",
        *(f"warning   {text}" for text in d.get("warnings", ())),
        "",
        "What it takes:",
        *(f"- {line}" for line in lines(d)),
    ]
    sys.stdout.write("\n".join(printed) + "\n")


def _counted(i: dict[str, Any]) -> str:
    """What the rate was taken for: the bottleneck's own, with or without framing."""
    if not i["framing_B"]:
        return f"{_rate(i['rate_Bps'])} of IP packets"
    wire = _rate(i["rate_Bps"] * (1 + i["framing_B"] / i["mtu_B"]))
    return f"{wire} on the wire, with Ethernet's framing; --ip where the rate counts IP packets"


def _resent(d: dict[str, Any]) -> str:
    """Segments sent again and, on a path without loss, why there are some or none: only the queue drops there."""
    i, segments = d["input"], d["retransmits"]
    resent = units.plural(round(segments), "segment")
    if i["loss"]:
        return resent
    if round(segments):
        fits = d["link_Bps"] / i["rate_Bps"] * (d["bdp_B"] + i["buffer_B"]) / i["streams"]
        why = "in slow start"
        if not controls.find(i["cc"]).by_loss:
            why = f"as {i['cc']} probes for more"
        elif (i["window_B"] or math.inf) > fits and d["goodput_Bps"]["mean"] * i["rtt_s"] / i["streams"] > fits / 2:
            why = (
                f"as windows above {_size(fits)} do over and over (BDP and buffer{' by streams' * (i['streams'] > 1)})"
            )
        return f"{resent} that overflowed the bottleneck's buffer, {why}; the path itself loses none"
    return "0 segments: what is in flight never overflows the bottleneck's buffer"


def _out_of_reach(i: dict[str, Any], streams: str) -> str:
    """What keeps a target out of reach: a window a round trip, or how the control grows."""
    most = math.inf if i["window_B"] is None else i["streams"] * i["window_B"] / i["rtt_s"]
    if most < i["target_Bps"]:
        return f"of a window of {_size(i['window_B'])} in flight, {_rate(most)} with {streams},"
    return f"with {i['cc']} and {streams}"


def lines(d: dict[str, Any]) -> list[str]:
    """The advice, one line each."""
    i = d["input"]
    n, receiving, sending = i["streams"], d["socket_buffer_needed_B"], d["send_buffer_needed_B"]
    share = d["window_share"]
    each, parts = ("", "") if n == 1 else (" each", f" / {n} streams")
    rmem, wmem = math.ceil(receiving), math.ceil(sending)
    flight, few = f"{_size(d['window_needed_B'])} in flight", math.ceil(d["bdp_B"] / window.MOST_WINDOW_B)
    if d["window_needed_B"] > window.MOST_WINDOW_B:
        flight += f", more than the 1 GiB that TCP allows: use {few} streams"
    most = window.MOST_SYSCTL_B
    why = "the most that Linux takes" if receiving >= most else f"BDP{parts} / {share:.4g}, of a buffer the part"
    why += "" if receiving >= most else " that is window"
    if (behind := receiving * share * n / d["bdp_B"]) > 1.01 and receiving < most:
        why = f"{behind:.3g} x {why}; what comes behind lost segments waits there"
    sockets = f"socket buffers: to receive {_size(receiving)}{each} = {why}; to send {_size(sending)}{each}; {flight}"
    typed = [
        f'net.ipv4.tcp_{key}="{start} {size}"'
        for (key, start), size, enough in zip(linux.STARTS.items(), (rmem, wmem), linux.DEFAULT_B, strict=True)
        if size > enough
    ]
    tips = [sockets, f"as root: sysctl -w {' '.join(typed)}" if typed else "nothing to set: what Linux has is enough"]
    target, allowed = _rate(i["target_Bps"]), d["loss_allowed"]
    streams = f"{n} stream{'' if n == 1 else 's'}"
    if allowed > 0:
        has = f"the path has {i['loss']:.2g}" if i["loss"] > 0 else "the path has none"
        tips.append(f"loss: {target} needs less than {allowed:.2g} with {i['cc']} and {streams}; {has}")
    else:
        tips.append(f"loss: {target} is out of reach {_out_of_reach(i, streams)} even without loss")
    best = d["streams_useful"]
    by = ", ".join(f"{e['streams']}: {_rate(e['goodput_Bps'])}" for e in d["goodput_by_streams"])
    tips.append(f"streams: {by}; more than {best} bring under 5 %, and cost losses of their own and seeks at the disks")
    pace = min(d["link_Bps"] / n, i["line_rate_Bps"] or math.inf)
    tips.append(
        f"pacing: an unpaced window is a burst that needs {_size(d['burst_unpaced_B'])} of buffer "
        f"(bottleneck has {_size(i['buffer_B'])}); paced, bursts are {_size(d['burst_paced_B'])}; "
        f"pace at {_rate(pace)}{each} (fq, iperf3 --fq-rate)"
    )
    if not d["bursts_fit"]:
        tips.append("bursts: the buffer cannot take what segmentation offload sends at once, which costs goodput")
    small, large = (entry["goodput_Bps"] for entry in d["goodput_by_mtu"])
    tips.append(f"MTU: {_rate(small)} at 1500, {_rate(large)} at 9000")
    changes = d["changes"]
    if changes:
        printed = ", ".join(f"{c['change']} -> {_rate(c['goodput_Bps'])}" for c in changes[:4])
        tips.append(f"change first: {printed}")
    else:
        tips.append("change first: nothing on the network side brings 5 % or more")
    return tips
