"""What iperf2 and iperf3 share: the report row, its units, and whose row it is.

Both print sizes in powers of 1024 (``GBytes`` = 2^30 B) and rates in bits with powers of 1000 (``Gbits/sec`` = 1e9
bit/s); with ``-f K/M/G`` the rate is in bytes with powers of 1024. Source: ``unit_snprintf`` in iperf ``src/stdio.c``
and iperf3 ``src/units.c``; checked on rows of the collection (3.81 GBytes in 1 s printed as 32721 Mbits/sec).
"""

import re
from typing import Final, NamedTuple

from dtnsim.logs._numbers import BINARY, DECIMAL, decimal, regex
from dtnsim.logs.base import Context

#: words that occur in every report row of either tool, and in lines about it
ROW_WORDS: Final = "iperf Bytes KBytes MBytes GBytes TBytes PBytes"

ROW: Final = regex(
    r"\[ *(?P<star>\*?)(?P<id>SUM|FD|\d+)(?:-\d+)?\](?:\[(?P<way>[TR]X-[CS])\])?(?P<gap>\s*)(?P<start>\d+[.,]\d+)- *"
    r"(?P<end>\d+[.,]\d+)(?P<gap2> +)sec\s+<size:comma> <sizeu:k>Bytes\s+<rate:comma> <rateu:k>"
    r"(?P<kind>bits|Bytes)/sec(?P<rest>.*)"
)
#: jitter, lost/total (loss share) of a UDP row
UDP: Final = regex(r"\s*<jitter:comma> ms\s+(?P<lost>-?\d+)/\s*(?P<total>-?\d+)\s+\((?:[-\d.,e+]+|-?nan)%\)")

_SECOND: Final = re.compile(r"iperf(?: version )?2|connected with|Client connecting to|Server listening on (?:TCP|UDP)")
_THIRD: Final = re.compile(
    r"iperf ?3|connected to|^\s*(?:\S+:\s+)?(?:Connecting to host|Server listening on \d|Accepted connection)"
)


class Row(NamedTuple):
    """One report row."""

    id: str  # stream number or ``SUM``
    star: bool  # iperf2's mark of the reverse direction
    way: str | None  # iperf3's ``TX-C``/``RX-C`` (``-S`` on the server), None without ``--bidir``
    start_s: float
    end_s: float
    size: float  # transferred, to the three digits that are printed [B]
    rate: float  # [B/s]
    printed: str  # the rate
    rest: str  # what follows on the line
    line: int
    text: str


def read_line(text: str, ctx: Context) -> tuple[int, Row | None]:
    """(2, 3 or 0 for unknown: which iperf printed this line, the report row on it).

    Both parsers ask about every row: the answer is kept for the second. What other lines of the file
    known about the generation is remembered per host.
    """
    memo = ctx.memo
    last = memo.get("iperf line")
    if last is not None and last[0] == ctx.line and last[1] is text:
        return last[2]  # type: ignore[no-any-return]  # what is stored below
    match = ROW.search(text) if "/sec" in text and "[" in text else None
    answer: tuple[int, Row | None]
    if match is None:
        key = f"iperf {ctx.host}"
        if generation := 3 if _THIRD.search(text) else 2 if _SECOND.search(text) else 0:
            memo[key] = generation
        answer = int(memo.get(key, 0)), None
    else:
        star, number, way, gap, start, end, gap2, size, size_unit, rate, unit, kind, rest = match.groups()
        who, read = _generation(start, way, rest, gap, gap2, ctx), decimal if "," in text else float
        scale = DECIMAL[unit] / 8 if kind == "bits" else BINARY[unit]
        volume, printed, line = read(size) * BINARY[size_unit], f"{rate} {unit}{kind}/sec", ctx.line
        span = read(start), read(end)
        answer = who, Row(number, bool(star), way, *span, volume, read(rate) * scale, printed, rest, line, text)
    memo["iperf line"] = (ctx.line, text, answer)
    return answer


def _generation(start: str, way: str | None, rest: str, gap: str, gap2: str, ctx: Context) -> int:
    """The generation that printed a row."""
    key = f"iperf {ctx.host}"
    generation = ctx.memo.get(key)
    if start[-3] not in ".,":  # iperf3 prints two decimals, iperf2 one or four
        ctx.memo[key] = 2
        return 2
    if generation == 3:
        return 3
    if way or (rest[-1:] in "rd) " and rest.rstrip().endswith(("sender", "receiver", "(omitted)"))):
        ctx.memo[key] = 3
        return 3
    if generation is not None:
        return int(generation)
    if ctx.args("iperf3") is not None:
        return 3
    if ctx.args("iperf", "iperf2") is not None:
        return 2
    # iperf3 pads the ends to six places, iperf2 -e does not
    return 3 if len(gap) > 1 or len(gap2) > 1 else 2


def udp_of(rest: str) -> tuple[float, int, int] | None:
    """(jitter [s], lost, total) of a UDP row; None if it has none or counts nothing."""
    match = UDP.match(rest)
    return None if match is None else (decimal(match["jitter"]) * 1e-3, int(match["lost"]), int(match["total"]))
