"""What a benchmark log says: one `Measurement` per figure, in SI, with where it was read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

#: complete: the tool's own final figure. partial: the last progress line of an unfinished run.
#: failed: the tool reported an error (value is nan). truncated: the text stops before the figure's end.
Status = Literal["complete", "partial", "failed", "truncated"]

Condition = str | float | int | bool | None


class Measurement(NamedTuple):
    """One figure read from a log (a tuple, which is made quickly: a long log has millions).

    Attributes:
        tool: Name of the tool, e.g. ``dd``, ``iperf3``.
        quantity: What was measured, in the project's words: ``throughput``, ``iops``, ``latency``,
            ``cpu_share``, ``rtt``, ``loss``, ``duration``, ``retransmits`` ... A quantity that has a
            direction or an operation carries it in ``conditions`` (``operation="write"``).
        value: The figure in SI (B/s, s, 1/s, or a plain fraction).
        unit: SI unit of ``value``: ``B/s``, ``B``, ``s``, ``1/s``, ``1``.
        printed: The figure as the tool printed it, with the tool's own unit word.
        conditions: Block size, record length, streams, sync mode, direction, file size, host, ...
            keys carry their SI unit (``block_B``, ``record_B``, ``file_B``, ``rtt_s``).
        status: Whether the run ended (see `Status`).
        version: Tool version where the log has it.
        file: Name of the log file.
        line: Line of the figure, counted from 1.
    """

    tool: str
    quantity: str
    value: float
    unit: str
    printed: str = ""
    conditions: Mapping[str, Condition] = MappingProxyType({})
    status: Status = "complete"
    version: str | None = None
    file: str | None = None
    line: int | None = None


class Unread(NamedTuple):
    """A part of a log that looked like a tool's output and could not be read."""

    file: str | None
    line: int
    text: str
    why: str
