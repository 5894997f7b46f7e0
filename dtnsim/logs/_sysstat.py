"""What iostat, mpstat and sar print alike: CPU states, time stamps, column units, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dtnsim.logs.base import BINARY, DocumentParser, LineParser, Record, number

#: heading -> state of a CPU
STATES: Final = {
    "%user": "user", "%usr": "user", "%nice": "nice", "%system": "system", "%sys": "system", "%iowait": "iowait",
    "%irq": "irq", "%soft": "softirq", "%steal": "steal", "%guest": "guest", "%gnice": "guest_nice", "%idle": "idle",
}  # fmt: skip
#: ``03:15:06 PM``, ``15:15:06``, ``Average:`` and its translations
STAMP: Final = re.compile(
    r"^\s*(?P<stamp>\d\d?[:.]\d\d[:.]\d\d(?: ?[AP]M)?|(?P<mean>[^\W\d][\w.]*:))\s+(?P<rest>\S.*)$"
)
_SUFFIX: Final = re.compile(r"^(?P<n>\d[\d.,]*)(?P<s>[BkKMGTP%]?)$")


def figure(text: str) -> tuple[float, str] | None:
    """A cell as (number, suffix); None for ``-`` and words."""
    match = _SUFFIX.match(text)
    if match is None:
        return None
    try:
        return float(match["n"].replace(",", ".")), match["s"]
    except ValueError:
        return None


def scaled(text: str, factor: float) -> float | None:
    """A rate cell in [B/s]: the heading's factor, or the cell's own suffix with --human."""
    found = figure(text)
    if found is None:
        return None
    value, suffix = found
    if suffix == "%":
        return None
    return value * (BINARY[suffix] if suffix in BINARY and suffix else 1.0 if suffix == "B" else factor)


def cpu_row(
    parser: LineParser | DocumentParser, heads: list[str], cells: list[str], **conditions: Any
) -> Iterator[Record]:
    """``cpu_share`` of every state heading that has a cell."""
    for head, cell in zip(heads, cells, strict=False):
        state = STATES.get(head)
        found = figure(cell) if state is not None else None
        if found is not None and found[0] <= 100.5:
            yield parser.measure("cpu_share", found[0] / 100, "1", f"{cell} %", state=state, **conditions)


def statistics(data: Any) -> Iterator[dict[str, Any]]:
    """The statistics objects of a sysstat JSON document."""
    hosts = data.get("sysstat", {}).get("hosts", []) if isinstance(data, dict) else []
    for host in hosts if isinstance(hosts, list) else []:
        for entry in host.get("statistics", []) if isinstance(host, dict) else []:
            if isinstance(entry, dict):
                yield entry


def json_cpu(parser: DocumentParser, load: dict[str, Any], line: int, **conditions: Any) -> Iterator[Record]:
    """``cpu_share`` of one cpu-load object."""
    for key, value in load.items():
        state, share = STATES.get("%" + key), number(value)
        if state is not None and share is not None:
            yield parser.measure("cpu_share", share / 100, "1", f"{value} %", line=line, state=state, **conditions)


def is_mpstat(heads: Sequence[str]) -> bool:
    """Whether a CPU table's headings are mpstat's and not sar's: interrupts before steal, or ``intr/s``.

    ``sar -u ALL`` has the same columns as mpstat, with ``%steal`` before ``%irq`` (sysstat ``rd_stats``,
    ``pr_stats.c`` and ``mpstat.c``); mpstat before sysstat 10 said ``%user`` and closed with ``intr/s``.
    """
    if "intr/s" in heads:
        return True
    return "%usr" in heads and ("%steal" not in heads or "%irq" in heads[: heads.index("%steal")])
