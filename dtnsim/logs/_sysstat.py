"""What iostat, mpstat and sar print alike: CPU states, time stamps, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dtnsim.logs._declared import declared
from dtnsim.logs.base import number

#: states of a CPU
STATES: Final = declared("""
    %user %usr : cpu_share % state=user
    %nice      : cpu_share % state=nice
    %system %sys : cpu_share % state=system
    %iowait    : cpu_share % state=iowait
    %irq       : cpu_share % state=irq
    %soft      : cpu_share % state=softirq
    %steal     : cpu_share % state=steal
    %guest     : cpu_share % state=guest
    %gnice     : cpu_share % state=guest_nice
    %idle      : cpu_share % state=idle
""")
#: the same by the keys of the JSON
JSON_STATES: Final = {head.removeprefix("%"): column for head, column in STATES.items()}
#: ``03:15:06 PM``, ``15:15:06``, ``Average:`` and its translations
STAMP: Final = re.compile(
    r"^\s*(?P<stamp>\d\d?[:.]\d\d[:.]\d\d(?: ?[AP]M)?|(?P<mean>[^\W\d][\w.]*:))\s+(?P<rest>\S.*)$"
)


def plain(value: object) -> tuple[float, str] | None:
    """A JSON value as a cell."""
    found = number(value)
    return None if found is None else (found, "")


def statistics(data: Any) -> Iterator[dict[str, Any]]:
    """The statistics objects of a sysstat JSON document."""
    hosts = data.get("sysstat", {}).get("hosts", []) if isinstance(data, dict) else []
    for host in hosts if isinstance(hosts, list) else []:
        for entry in host.get("statistics", []) if isinstance(host, dict) else []:
            if isinstance(entry, dict):
                yield entry


def is_mpstat(heads: Sequence[str]) -> bool:
    """Whether a CPU table's headings are mpstat's and not sar's: interrupts before steal, or ``intr/s``.

    ``sar -u ALL`` has the same columns as mpstat, with ``%steal`` before ``%irq`` (sysstat ``rd_stats``,
    ``pr_stats.c`` and ``mpstat.c``); mpstat before sysstat 10 said ``%user`` and closed with ``intr/s``.
    """
    if "intr/s" in heads:
        return True
    return "%usr" in heads and ("%steal" not in heads or "%irq" in heads[: heads.index("%steal")])
