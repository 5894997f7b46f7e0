"""What a benchmark log says: one `Measurement` per figure, in SI, and what a tool's figures are good for."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

#: complete: the tool's own final figure. partial: the last progress line of an unfinished run.
#: failed: the tool reported an error (value is nan). truncated: the text stops before the figure's end.
Status = Literal["complete", "partial", "failed", "truncated"]

Condition = str | float | int | bool | None
#: conditions under construction (a dict of `Condition`; Any, so that it can be passed on as keywords)
Conditions = dict[str, Any]

#: quantity -> its unit of SI; all others are plain numbers: counts, shares, ratios
UNITS: Final = {
    **dict.fromkeys(("throughput", "link_rate"), "B/s"),
    **dict.fromkeys(("bytes", "capacity", "mtu", "max_payload", "max_read_request"), "B"),
    **dict.fromkeys(("duration", "latency", "rtt", "jitter", "power_on", "cpu_time"), "s"),
    **dict.fromkeys(("iops", "rate", "transfer_rate", "rotation_rate", "symbol_rate"), "1/s"),
}


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


ALL_SENT: Final = (0.95, 1.05)  #: rsync's speedup where it sent all that there is


def of_data(m: Measurement) -> bool:
    """Whether a rate is the data's own: what passed the wire counts only where a run skipped what was there."""
    speedup = float(m.conditions.get("speedup") or 1.0)
    return not m.conditions.get("wire") or not ALL_SENT[0] <= speedup <= ALL_SENT[1]


class Unread(NamedTuple):
    """A part of a log that looked like a tool's output and could not be read."""

    file: str | None
    line: int
    text: str
    why: str


_CASES: Final = "'dtnsim init --cases' writes a cases file to begin with; give it role: fit"


class Evidence(Enum):
    """What a tool's figures are good for; the value says why they fit no parameter, and what would."""

    FITS = ""  # of the volumes and hosts that they were measured on: `dtnsim.evidence.fit_tests` describes the test
    CORRECTS = "it says what there is, not how fast: the host file is corrected where the two differ"
    DESCRIBES = "it says what there is, not how fast: it goes into the host file ('dtnsim discover')"
    WAY = "it measures the way between hosts: --wan FILE writes that as a network which a path can name"
    DELAYS = "it measures delays between hosts: ping says them too, and --wan FILE reads ping"
    NETWORK = (
        "its rates and retransmits are of the way between two hosts: --wan FILE writes them with what ping says of it, "
        f"and --watch follows them; {_CASES}"
    )
    TRANSFER = (
        "an end-to-end transfer fits where --path names the path that it went over; 'dtnsim validate LOG --path PATH' "
        "holds it against one"
    )
    SERVERS = f"it tests servers and clients together; {_CASES}"
    CONNECTIONS = f"it says how connections fared, not what hosts can do; {_CASES}"
    BUSY = "it says how busy the machine was, not what it can do: fio or dd on the volume does"
    NO_MODEL = "dtnsim has no model of it: fio or dd on the volume fits"
