"""Globus transfer tasks: ``globus task show`` and ``list`` as text, and task documents of the Transfer API.

Units: bytes and B/s. ``Bytes Per Second`` (``effective_bytes_per_second``) is bytes transferred over the wall clock
from request to completion: it includes queueing, listing, checksums after the transfer and retries (Globus Transfer
API, task document), so it is a lower bound of what the path carried. Venadi's 45.56 MB/s stood beside about 110
MB/s without the integrity check. Checked: 819556855 bytes in 302 s printed as 2714391.

A task that is ACTIVE or INACTIVE gives a ``partial`` figure, FAILED a failure. A SUCCEEDED task of zero bytes
(everything was there, or only directories) is normal and has no rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Parser, Record, number, whole
from dtnsim.logs.measurement import Status

_PAIR: Final = re.compile(r"^\s*(?P<key>[A-Z][A-Za-z ]{1,40}?):\s++(?P<value>\S++(?:\s++\S++)*)\s*+$")
_ROW: Final = re.compile(r"^\s*+(?P<task>[0-9a-f]{8}-[0-9a-f-]{27}) \| (?P<status>[A-Z]{4,12}) {1,12}\| (?P<rest>\S.*)")
#: key of the text form -> key of the task document
_KEYS: Final = {
    "Task ID": "task_id", "Type": "type", "Status": "status", "Files": "files", "Directories": "directories",
    "Request Time": "request_time", "Completion Time": "completion_time", "Deadline": "deadline",
    "Bytes Transferred": "bytes_transferred", "Bytes Per Second": "effective_bytes_per_second", "Faults": "faults",
    "Label": "label", "Source Endpoint": "source_endpoint_display_name", "Is Paused": "is_paused",
    "Destination Endpoint": "destination_endpoint_display_name", "Total Subtasks": "subtasks_total",
    "Source Collection": "source_endpoint_display_name", "Details": "nice_status_details", "Label ": "label",
    "Destination Collection": "destination_endpoint_display_name", "Subtasks Failed": "subtasks_failed",
    "Source Endpoint ID": "source_endpoint_id", "Destination Endpoint ID": "destination_endpoint_id",
}  # fmt: skip
_SWITCHES: Final = {"verify_checksum": "checksum", "encrypt_data": "encryption"}
_WORDS: Final = (
    "Task", "Transferred", "Bytes", "Status", "Faults", "Request", "Completion", "Source", "Destination", "Files",
    "Directories", "Type", "Subtasks", "Label", "Is",
)  # fmt: skip


class GlobusText(LineParser):
    """The ``Key: value`` block of ``globus task show``."""

    tool = "globus"
    evidence = Evidence.TRANSFER
    words = _WORDS

    def forget(self) -> None:
        self._task: dict[str, str] = {}
        self._lines: dict[str, int] = {}
        self._host: Conditions = {}

    def feed(self, text: str) -> Iterator[Record]:
        found = _PAIR.match(text)
        key = _KEYS.get(found["key"]) if found is not None else None
        if found is None or key is None:
            return
        if key in self._task or (key in ("task_id", "label") and "status" in self._task):
            yield from self.settle()
        self._task[key] = found["value"]
        self._lines[key] = self.ctx.line
        self._host = host_of(self.ctx)

    def settle(self) -> Iterator[Record]:
        task, lines = self._task, self._lines
        self._task, self._lines = {}, {}
        if "bytes_transferred" in task or ("task_id" in task and "status" in task):
            line = lines.get("effective_bytes_per_second") or max(lines.values())
            yield from _records(self, task, line, self._host)


class GlobusList(LineParser, of=GlobusText):
    """The table of ``globus task list``: which tasks failed; it has no bytes and no times."""

    words = ("Task", "FAILED", "SUCCEEDED", "ACTIVE", "INACTIVE")

    def feed(self, text: str) -> Iterator[Record]:
        if text.lstrip().startswith("Task ID  ") and "| Status" in text:
            why = "a list has no bytes and no times: globus task list -F json has them"
            yield self.unread("globus task list", why)
        row = _ROW.match(text[:600])
        if row is None or row["status"] != "FAILED":
            return
        cells = [cell.strip() for cell in row["rest"].split(" | ")]
        names = ("operation", "source", "target", "label")
        known: Conditions = dict(zip(names, cells, strict=False))
        yield self.failure("task FAILED", **{**host_of(self.ctx), "task": row["task"], **known})


class GlobusJson(DocumentParser, of=GlobusText):
    """Task documents and task lists of the Transfer API."""

    def match(self, doc: Document) -> bool:
        data = doc.data
        if not isinstance(data, dict):
            return False
        if data.get("DATA_TYPE") == "task_list":
            return isinstance(data.get("DATA"), list)
        return data.get("DATA_TYPE") == "task" or {"task_id", "bytes_transferred", "status"} <= data.keys()

    def read(self, doc: Document) -> Iterator[Record]:
        tasks = doc.data["DATA"] if doc.data.get("DATA_TYPE") == "task_list" else [doc.data]
        lines = doc.lines()
        for task in tasks:
            if not isinstance(task, dict):
                continue
            yield from _records(self, task, lines.next('"effective_bytes_per_second"'), {}, cut=doc.cut)


def _records(
    parser: Parser, task: Mapping[str, Any], line: int, more: Conditions, *, cut: bool = False
) -> Iterator[Record]:
    status = str(task.get("status", "")).upper()
    size, rate, seconds = _figure(task, "bytes_transferred"), _figure(task, "effective_bytes_per_second"), _span(task)
    known: Conditions = {
        **more,
        "operation": str(task.get("type", "TRANSFER")).lower(),
        "source": _text(task, "source_endpoint_display_name") or _text(task, "source_endpoint"),
        "target": _text(task, "destination_endpoint_display_name") or _text(task, "destination_endpoint"),
        **{key: whole(_figure(task, key)) for key in ("files", "directories", "faults", "files_skipped")},
        **{to: task[key] for key, to in _SWITCHES.items() if isinstance(task.get(key), bool)},
        "task": _text(task, "task_id"),
        "bytes": size,
        "includes": "queueing, listing and checksums",
        "duration_s": seconds,
    }
    if status == "FAILED":
        text = f"task {status}: {_text(task, 'nice_status_details') or ''}".rstrip(": ")
        yield parser.failure(text, line=line, **known)
        return
    if not size or not rate:
        why = "an ACTIVE task has no rate yet" if status in ("ACTIVE", "INACTIVE") else "zero bytes: no rate"
        yield parser.unread(f"task {status}", why, line=line)
        return
    final: Status = "complete" if status == "SUCCEEDED" else "partial"
    if not status:
        final = "truncated" if cut else "complete"
    if seconds and seconds >= 10 and final == "complete" and abs(size / seconds / rate - 1) > 0.05 + 1 / seconds:
        yield parser.unread(f"{rate:g} B/s", "bytes and wall clock do not give the printed rate", line=line)
    yield parser.measure("throughput", rate, "B/s", f"{rate:.10g} B/s", status=final, line=line, **known)
    if seconds:
        yield parser.measure("duration", seconds, "s", f"{seconds:g} s", status=final, line=line, **known)


def _figure(task: Mapping[str, Any], key: str) -> float | None:
    value = task.get(key)
    return number(value.replace(",", "")) if isinstance(value, str) else number(value)


def _text(task: Mapping[str, Any], key: str) -> str | None:
    value = task.get(key)
    return None if value in (None, "", "None") else str(value)


def _span(task: Mapping[str, Any]) -> float | None:
    """Request to completion [s]; None if one of them is missing."""
    try:
        began, ended = (
            datetime.fromisoformat(str(task[key]).replace(" UTC", "+00:00"))
            for key in ("request_time", "completion_time")
        )
        return (ended - began).total_seconds() if ended > began else None
    except (KeyError, ValueError, TypeError):
        return None
