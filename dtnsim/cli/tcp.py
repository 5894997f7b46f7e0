"""``dtnsim tcp``: the TCP calculator."""

import math
import re
from dataclasses import replace
from typing import Annotated, Final

from typer import Option

from dtnsim.cli import options
from dtnsim.ground.errors import InputError
from dtnsim.physics.tcp import controls

#: the kernel whose share of a socket buffer counts where none is named (`dtnsim.physics.tcp.linux.NEWEST`)
NEWEST: Final = "6.18"
ALGORITHMS_HELP: Final = f"{controls.described()}."
BUFFER_HELP: Final = "Instead of --window: socket buffer (tcp_rmem[2], or twice iperf3's -w); a share of it is window."
FRAMING_HELP: Final = "Whether --rate and --line-rate are of the wire, as those of a path are, or count IP packets."
KERNEL_HELP: Final = "Linux of the receiver: 3/4 of a socket buffer is window before 3.4, 1/2 before 6.6."
RESENT: Final = (
    "retransmits are taken as independent loss, right within a factor of 3 at best: bursts cost less, and what TCP's "
    "own overshoot lost is among them; measure the loss with UDP or owping"
)


def command(
    rate: Annotated[str | None, Option(help="Rate of the bottleneck on the wire, e.g. 10Gb/s.")] = None,
    rtt: Annotated[str | None, Option(help="Round-trip time without queueing, e.g. 50ms.")] = None,
    loss: Annotated[str, Option(help="Random packet loss: 1e-5, 0.01%, 10ppm.")] = "0",
    burst_loss: Annotated[str, Option(help="Mean loss that comes in bursts (Gilbert), beside --loss.")] = "0",
    burst_length: Annotated[float, Option(help="Packets that a burst takes on average.", min=1, max=1e6)] = 1.0,
    retransmits: Annotated[float | None, Option(help="Segments retransmitted; needs --moved.", min=0)] = None,
    moved: Annotated[str | None, Option(help="Payload moved while they were counted, e.g. 100GB.")] = None,
    cc: Annotated[str, Option(help=ALGORITHMS_HELP)] = "cubic",
    streams: Annotated[int, Option(help="Parallel streams.", min=1, max=10_000)] = 1,
    buffer: Annotated[
        str | None, Option(help="Bottleneck's buffer: 0.5bdp or 16MB (default 1bdp, no less than 700kB).")
    ] = None,
    mtu: Annotated[int, Option(help="IP packet size in bytes.", min=576, max=65_535)] = 1500,
    window: Annotated[str | None, Option(help="Most payload of a stream in flight, e.g. 64MiB.")] = None,
    socket_buffer: Annotated[str | None, Option(help=BUFFER_HELP)] = None,
    kernel: Annotated[str, Option(help=KERNEL_HELP)] = NEWEST,
    background: Annotated[str, Option(help="Share of the rate taken by traffic that does not yield.")] = "0",
    duration: Annotated[str | None, Option(help="Duration of the transfer (default 30s).")] = None,
    size: Annotated[str | None, Option(help="Size of the transfer, e.g. 10GB, instead of --duration.")] = None,
    target: Annotated[str | None, Option(help="Goodput wanted (default 90 % of the link).")] = None,
    line_rate: Annotated[str | None, Option(help="Rate of the sender's NIC (default: far above --rate).")] = None,
    ethernet: Annotated[bool, Option("--ethernet/--ip", help=FRAMING_HELP)] = True,
    pacing: Annotated[bool, Option(help="Whether the sender paces (fq, or a pacing rate).")] = False,
    table: Annotated[str | None, Option(metavar="FILE", help="CSV of cases; the columns are listed above.")] = None,
    out: Annotated[str | None, options.Written("-o", "--out", help="Where --table writes.")] = None,
    coefficients: Annotated[bool, Option("--coefficients", help="Print all coefficients.")] = False,
    seed: options.Seed = 1,
    json: options.Json = False,
) -> None:
    """TCP over one bottleneck: goodput with interval, what limits it, the window and buffers it needs.

    \b
    Examples:
      dtnsim tcp --rate 10Gb/s --rtt 50ms --loss 1e-5 --streams 8 --buffer 0.5bdp --mtu 9000 --window 64MiB
      dtnsim tcp --rate 10Gb/s --rtt 88ms --cc bbr --size 100GB --json
      dtnsim tcp --table cases.csv -o answered.csv
      dtnsim tcp --coefficients

    \b
    A table needs the columns rate_bps (of IP packets), rtt_s, cc and duration_s (or size_bytes). It may have streams,
    loss_prob, burst_loss_prob and burst_len_pkts, known_retransmits and known_moved_bytes, buffer_bytes or buffer_bdp,
    mtu_bytes, mss_bytes, window_bytes (payload in flight) or socket_buffer_bytes (a share of it is window),
    bg_share, line_rate_bps, warmup_s, flow2_cc, flow2_rtt_s and flow2_start_s (default 0.45 s: a script goes on).
    Tables of measurements may also have wnd_limit_bytes with wnd_method (sysctl: the socket buffer; sockbuf: half of
    it, as iperf3's -w). All columns come back, with predicted_goodput_bps, p10, p90, limit, predicted_completion_s and
    predicted_flow2_goodput_bps beside them.
    """
    if coefficients:
        _coefficients(json=json)
        return
    if table is not None:
        _table(table, out, seed, json=json)
        return
    if rate is None or rtt is None:
        raise InputError("give --rate and --rtt (or --table FILE); try: dtnsim tcp --rate 10Gb/s --rtt 50ms")
    if duration is not None and size is not None:
        raise InputError("give --duration or --size, not both")
    from dtnsim.steady.tcp_calculator import positive, setting

    line = positive("--line-rate", line_rate, "B/s") if line_rate else math.inf
    if line_rate and line < positive("--rate", rate, "B/s"):  # then the sender's own card is the narrowest place
        rate = line_rate
    case = setting(
        rate, rtt, cc, streams, buffer, mtu, background,
        duration=duration or "30s", size=size, ethernet=ethernet, option="--",
    )  # fmt: skip
    lost = _loss(loss, burst_loss, burst_length, retransmits, moved, mtu)
    case = replace(
        case,
        loss=lost[0],
        burst=lost[1],
        window_B=_window(window, socket_buffer, kernel, mtu),
        line_Bps=line * case.ip_share(mtu, ethernet=ethernet),
        paced=pacing,
    )
    wanted = positive("--target", target, "B/s") if target else 0.9 * case.link_Bps
    from dtnsim.cli import _tcp_text

    document = _tcp_text.document(case, wanted, kernel, seed)
    if retransmits:
        document["warnings"] = [RESENT]
    (options.emit if json else _tcp_text.show)(document)


def _loss(
    loss: str, burst_loss: str, burst_length: float, retransmits: float | None, moved: str | None, mtu: int
) -> tuple[float, float]:
    """Mean loss, and the mean length of a burst of it [packets]."""
    from dtnsim.physics.tcp import loss as lossy
    from dtnsim.steady.tcp_calculator import positive, share

    places = [(share("--loss", loss), 1.0), (share("--burst-loss", burst_loss), burst_length)]
    if retransmits is not None:
        if moved is None:
            raise InputError("--retransmits: needs --moved, the payload that was moved meanwhile, e.g. --moved 100GB")
        places.append((float(lossy.of_retransmits(retransmits, positive("--moved", moved, "B"), mtu - 52.0)), 1.0))
    mean, burst = lossy.together(*zip(*places, strict=True))
    return float(mean), float(burst)


def _window(window: str | None, buffer: str | None, kernel: str, mtu: int) -> float:
    """Most payload of a stream in flight [B]."""
    from dtnsim.physics.tcp import linux, window as windows
    from dtnsim.steady.tcp_calculator import positive

    if window is not None and buffer is not None:
        raise InputError("give --window (payload in flight) or --socket-buffer (of which a share is window), not both")
    if re.fullmatch(r"\d+\.\d+(\.\d+)?", kernel) is None:
        raise InputError(f"--kernel: {kernel!r} is no version of Linux; write it like 5.15")
    if buffer is not None:
        size = min(positive("--socket-buffer", buffer, "B"), windows.MOST_SYSCTL_B)
        return float(windows.in_flight(size * linux.receive_share(mtu, kernel), mtu - 52.0))
    return windows.MOST_WINDOW_B if window is None else min(positive("--window", window, "B"), windows.MOST_WINDOW_B)


def _table(path: str, out: str | None, seed: int, *, json: bool) -> None:
    from dtnsim.cli import _table, _tcp_table

    columns, rows = _table.read(path, _tcp_table.NEEDED, _tcp_table.REMEDY)
    _table.answer("tcp", columns, _tcp_table.PREDICTED, _tcp_table.answer(rows, path, seed), seed, out, json=json)


def _coefficients(*, json: bool) -> None:
    from dtnsim.ground.output import fields
    from dtnsim.physics.tcp import coefficients

    kept = ("value", "unit", "fitted_rows", "reason")
    entries = [{"name": name, **fields(c, *kept)} for name, c in coefficients.ALL.items()]
    if json:
        options.emit({"schema": "dtnsim.tcp-coefficients/1", "coefficients": entries})
        return
    from dtnsim.report.table import Table, console

    rows = [(c["name"], f"{c['value']:g}", c["unit"], str(c["fitted_rows"]), c["reason"]) for c in entries]
    console().print(Table("name", ">value", "unit", ">rows", "reason", rows=rows))
