"""``dtnsim tcp``: the TCP calculator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from dtnsim.cli import options
from dtnsim.ground import units
from dtnsim.ground.errors import InputError, UnitError

if TYPE_CHECKING:
    from dtnsim.physics.tcp.advice import Setting
    from dtnsim.physics.tcp.outcome import Outcome

#: bytes of preamble, Ethernet header, checksum and gap around an IP packet (reference: IEEE 802.3)
ETHERNET_B: Final = 38.0
#: one answer comes while one looks at the screen: fewer replicas and steps than a table has
QUICK_REPLICAS: Final = 16
QUICK_STEPS: Final = 400


def command(
    rate: Annotated[str | None, typer.Option(help="Rate of the bottleneck in IP packets, e.g. 10Gb/s.")] = None,
    rtt: Annotated[str | None, typer.Option(help="Round-trip time without queueing, e.g. 50ms.")] = None,
    loss: Annotated[str, typer.Option(help="Random packet loss: 1e-5, 0.01%, 10ppm.")] = "0",
    cc: Annotated[str, typer.Option(help="reno, cubic, htcp, bbr (v1) or bbr3.")] = "cubic",
    streams: Annotated[int, typer.Option(help="Parallel streams.", min=1, max=10_000)] = 1,
    buffer: Annotated[str, typer.Option(help="Bottleneck's buffer: 0.5bdp or 16MB.")] = "1bdp",
    mtu: Annotated[int, typer.Option(help="IP packet size in bytes.", min=576, max=65_535)] = 1500,
    window: Annotated[str | None, typer.Option(help="Most data in flight of a stream, e.g. 64MiB.")] = None,
    background: Annotated[str, typer.Option(help="Share of the rate taken by traffic that does not yield.")] = "0",
    duration: Annotated[str | None, typer.Option(help="Length of the transfer (default 30s).")] = None,
    size: Annotated[str | None, typer.Option(help="Size of the transfer, e.g. 10GB, instead of its length.")] = None,
    target: Annotated[str | None, typer.Option(help="Goodput wanted (default 90 % of the link).")] = None,
    line_rate: Annotated[str | None, typer.Option(help="Rate of the sender's NIC (default: far above --rate).")] = None,
    ethernet: Annotated[bool, typer.Option("--ethernet", help="Rate is that of the wire, with framing.")] = False,  # noqa: FBT002
    pacing: Annotated[bool, typer.Option(help="Whether the sender paces (fq, or a pacing rate).")] = True,  # noqa: FBT002 - a flag
    table: Annotated[str | None, typer.Option(metavar="FILE", help="CSV of cases; the columns are told below.")] = None,
    out: Annotated[str | None, typer.Option("-o", "--out", metavar="FILE", help="Where --table writes.")] = None,
    coefficients: Annotated[bool, typer.Option("--coefficients", help="Print all coefficients.")] = False,  # noqa: FBT002
    seed: options.Seed = 1,
    json: options.Json = False,  # noqa: FBT002 - a flag
) -> None:  # fmt: skip
    """TCP over one bottleneck: goodput with interval, what limits it, the window and buffers it needs.

    \b
    Examples:
      dtnsim tcp --rate 10Gb/s --rtt 50ms --loss 1e-5 --streams 8 --buffer 0.5bdp --mtu 9000 --window 64MiB
      dtnsim tcp --rate 10Gb/s --rtt 88ms --cc bbr --size 100GB --json
      dtnsim tcp --table cases.csv -o answered.csv
      dtnsim tcp --coefficients

    \b
    A table needs the columns rate_bps, rtt_s, cc and duration_s (or size_bytes). It may have streams, loss_prob,
    burst_loss_prob and burst_len_pkts, buffer_bytes or buffer_bdp, mtu_bytes, mss_bytes, wnd_limit_bytes, bg_share,
    line_rate_bps, warmup_s, flow2_cc and flow2_rtt_s. All columns come back, with predicted_goodput_bps, p10, p90,
    limit, predicted_completion_s and predicted_flow2_goodput_bps beside them.
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    if coefficients:
        _coefficients(json=json)
        return
    options.writable(out, "--out")
    if table is not None:
        _table(table, out, seed, json=json)
        return
    if rate is None or rtt is None:
        msg = "give --rate and --rtt (or --table FILE); try: dtnsim tcp --rate 10Gb/s --rtt 50ms"
        raise InputError(msg)
    line = _positive("--line-rate", line_rate, "B/s") if line_rate else math.inf
    if line_rate and line < _positive("--rate", rate, "B/s"):  # then the sender's own card is the narrowest place
        rate = line_rate
    setting = _setting(rate, rtt, loss, cc, streams, buffer, mtu, window, background, ethernet=ethernet)
    if duration is not None and size is not None:
        msg = "give --duration or --size, not both"
        raise InputError(msg)
    length = _positive("--duration", duration or "30s", "s")
    bytes_ = _positive("--size", size, "B") if size is not None else math.inf
    wanted = _positive("--target", target, "B/s") if target else 0.9 * setting.link_Bps
    answer = _simulate(setting, length, bytes_, seed, line, pacing=pacing)
    from dtnsim.cli import _tcp_text

    document = _tcp_text.document(setting, answer, length, bytes_, wanted, line, seed)
    if json:
        options.emit(document)
    else:
        _tcp_text.show(document)


def _positive(name: str, text: str, dimension: str) -> float:
    try:
        value = units.parse(text, dimension)
    except UnitError as error:
        msg = f"{name}: {error}"
        raise UnitError(msg) from None
    if value <= 0:
        msg = f"{name}: {text!r} is not positive; write it like {units.EXAMPLES[dimension]}"
        raise InputError(msg)
    return value


def _share(name: str, text: str, most: float) -> float:
    try:
        value = units.parse(text, "1")
    except UnitError as error:
        msg = f"{name}: {error}"
        raise UnitError(msg) from None
    if not 0 <= value < most:
        msg = f"{name}: {text!r} is not a share from 0 to {most:g}; write it like 1e-5 or 0.01 %"
        raise InputError(msg)
    return value


def _setting(
    rate: str, rtt: str, loss: str, cc: str, streams: int, buffer: str, mtu: int, window: str | None, background: str,
    *, ethernet: bool,
) -> Setting:  # fmt: skip
    from dtnsim.physics.tcp.advice import Setting
    from dtnsim.physics.tcp.path import ALGORITHMS

    if cc not in ALGORITHMS:
        msg = f"--cc: {cc!r} is not known; write {', '.join(ALGORITHMS)}"
        raise InputError(msg)
    bottleneck = _positive("--rate", rate, "B/s") * (mtu / (mtu + ETHERNET_B) if ethernet else 1.0)
    trip = _positive("--rtt", rtt, "s")
    if buffer.strip().lower().endswith("bdp"):
        room = _share("--buffer", buffer.strip()[:-3] or "1", 1e6) * bottleneck * trip
    else:
        room = _positive("--buffer", buffer, "B")
    return Setting(
        bottleneck, trip, _share("--loss", loss, 1.0), float(mtu), max(room, 4.0 * mtu), streams, cc,
        _positive("--window", window, "B") if window is not None else math.inf, _share("--background", background, 1.0),
    )  # fmt: skip


def _simulate(s: Setting, length_s: float, size_B: float, seed: int, line_Bps: float, *, pacing: bool) -> Outcome:
    from dtnsim.physics.tcp import outcome, rounds

    return outcome.simulate(
        rounds.Cases.of(
            rate_Bps=s.rate_Bps, rtt_s=s.rtt_s, buffer_B=s.buffer_B, loss=s.loss, background=s.background,
            mtu_B=s.mtu_B, streams=s.streams, cc=s.cc, window_B=s.window_B, size_B=size_B, duration_s=length_s,
            paced=pacing, line_Bps=line_Bps,
        ),
        seed=seed,
        replicas=QUICK_REPLICAS,
        most_steps=QUICK_STEPS,
    )  # fmt: skip


def _table(path: str, out: str | None, seed: int, *, json: bool) -> None:
    from dtnsim.cli import _tcp_table

    cases = _tcp_table.read(path)
    rows = _tcp_table.answer(cases, seed)
    if json:
        options.emit({"schema": "dtnsim.tcp-table/1", "seed": seed, "rows": rows})
    if out is not None or not json:
        _tcp_table.write(cases, rows, out)


def _coefficients(*, json: bool) -> None:
    from dtnsim.physics.tcp import coefficients

    fields: list[dict[str, Any]] = [
        {"name": c.name, "value": c.value, "unit": c.unit, "fitted_rows": c.fitted_rows, "reason": c.reason}
        for c in coefficients.ALL
    ]
    if json:
        options.emit({"schema": "dtnsim.tcp-coefficients/1", "coefficients": fields})
        return
    from dtnsim.report import text

    shown = text.table(("name", "left"), ("value", "right"), ("unit", "left"), ("rows", "right"), ("reason", "left"))
    for c in fields:
        shown.add_row(c["name"], f"{c['value']:g}", c["unit"], str(c["fitted_rows"]), c["reason"])
    text.console().print(shown)
