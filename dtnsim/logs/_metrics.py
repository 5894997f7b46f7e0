"""What node_exporter's counters mean, for its text and for what Prometheus answers.

Source: github.com/prometheus/node_exporter ``collector/`` (netdev, netclass, diskstats, cpu, filesystem, netstat).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from dtnsim.logs.base import Conditions


class Metric(NamedTuple):
    """What one metric is.

    Attributes:
        total: Quantity of the counter itself (``bytes``), or of the gauge.
        unit: Its unit.
        rate: Quantity of its rate; "" for a gauge.
        known: Conditions that its name says.
    """

    total: str
    unit: str
    rate: str
    known: Conditions


_RECEIVE: Final[Conditions] = {"direction": "receive"}
_SEND: Final[Conditions] = {"direction": "send"}
_READ: Final[Conditions] = {"operation": "read"}
_WRITE: Final[Conditions] = {"operation": "write"}
METRICS: Final = {
    "node_network_receive_bytes_total": Metric("bytes", "B", "throughput", _RECEIVE),
    "node_network_transmit_bytes_total": Metric("bytes", "B", "throughput", _SEND),
    "node_network_receive_packets_total": Metric("count", "1", "rate", {"of": "packets", **_RECEIVE}),
    "node_network_transmit_packets_total": Metric("count", "1", "rate", {"of": "packets", **_SEND}),
    "node_network_receive_drop_total": Metric("count", "1", "rate", {"of": "drops", **_RECEIVE}),
    "node_network_transmit_drop_total": Metric("count", "1", "rate", {"of": "drops", **_SEND}),
    "node_network_receive_errs_total": Metric("count", "1", "rate", {"of": "errors", **_RECEIVE}),
    "node_network_transmit_errs_total": Metric("count", "1", "rate", {"of": "errors", **_SEND}),
    "node_network_speed_bytes": Metric("link_rate", "B/s", "", {}),
    "node_network_mtu_bytes": Metric("mtu", "B", "", {}),
    "node_disk_read_bytes_total": Metric("bytes", "B", "throughput", _READ),
    "node_disk_written_bytes_total": Metric("bytes", "B", "throughput", _WRITE),
    "node_disk_reads_completed_total": Metric("count", "1", "iops", _READ),
    "node_disk_writes_completed_total": Metric("count", "1", "iops", _WRITE),
    "node_disk_io_time_seconds_total": Metric("duration", "s", "utilization", {"of": "busy"}),
    "node_cpu_seconds_total": Metric("duration", "s", "cpu_share", {}),
    "node_netstat_Tcp_RetransSegs": Metric("retransmits", "1", "rate", {"of": "TcpRetransSegs"}),
    "node_netstat_Tcp_OutSegs": Metric("count", "1", "rate", {"of": "TcpOutSegs"}),
    "node_filesystem_size_bytes": Metric("capacity", "B", "", {"view": "total"}),
    "node_filesystem_avail_bytes": Metric("capacity", "B", "", {"view": "free"}),
    "node_load1": Metric("queue_depth", "1", "", {"of": "load"}),
}
#: label -> condition
LABELS: Final = {"mountpoint": "target", "mode": "state", "cpu": "cpu", "instance": "host"}
_PORT: Final = re.compile(r":\d{1,5}$")


def labelled(name: str, labels: dict[str, str]) -> Conditions:
    """Conditions that a metric's labels say; the port is cut off an instance."""
    known: Conditions = {}
    for label, value in labels.items():
        if label == "device":
            known["interface" if name.startswith("node_network") else "device"] = value
        elif label == "instance":
            known["host"] = _PORT.sub("", value)
        elif label in LABELS:
            known[LABELS[label]] = value
    return known


def unit_of(quantity: str) -> str:
    """Unit of the rate of a counter."""
    return {"throughput": "B/s", "iops": "1/s", "rate": "1/s"}.get(quantity, "1")
