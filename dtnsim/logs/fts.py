"""FTS3: what its REST interface says of a job's files, and the message it sends when a transfer is complete.

Units: bytes, ``tx_duration`` in s, times of messages in ms since 1970. The rate is computed: bytes over the
transfer's own time (``timestamp_tr_st`` to ``timestamp_tr_comp``, or ``tx_duration``), without SRM's preparation and
without checksums, which ``overhead_s`` sums up (checked: 10556847 B from 1493217332255 to 1493217334563 ms, beside
which the message says operation_time 2308). ``throughput`` of the documents is not used, for its unit changed (MiB/s
in jobs, bit/s in messages).

Source: fts3 ``src/msg-bus/events.cpp``, ``src/server/services/transfers/MessageProcessingService.cpp`` (names);
fts-rest ``fts-rest-transfer-status -j``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dtnsim.logs._exports import first, records, seconds, stamp
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, Record, number

_MESSAGE: Final = {"tr_id", "timestamp_tr_st", "timestamp_tr_comp"}
_JOB: Final = {"file_state", "dest_surl"}


class FtsJson(DocumentParser):
    """Jobs with files, and messages of ``fts_monitoring_complete``."""

    tool = "fts"
    evidence = Evidence.TRANSFER
    by_document = True
    long = ("files", "hits.hits", "hits", "data")

    def match(self, doc: Document) -> bool:
        """A message, an export of messages, a job with its files, or its files alone."""
        found = first(doc.data)
        if found.keys() >= _MESSAGE or found.keys() >= _JOB:
            return True
        files = found.get("files")
        return isinstance(files, list) and bool(files) and isinstance(files[0], dict) and files[0].keys() >= _JOB

    def read(self, doc: Document) -> Iterator[Record]:
        lines = doc.lines()
        for record in records(doc.data):
            if record.keys() >= _MESSAGE:
                yield from self._message(record, lines.next('"tr_id"'))
            elif record.keys() >= _JOB:
                yield from self._file(record, {}, lines.next('"file_state"'))
            files = record.get("files")
            for item in files if isinstance(files, list) else ():
                if isinstance(item, dict) and item.keys() >= _JOB:
                    yield from self._file(item, record, lines.next('"file_state"'))

    def _message(self, record: Mapping[str, Any], line: int) -> Iterator[Record]:
        known: Conditions = {
            "source": _text(record, "src_hostname"), "target": _text(record, "dst_hostname"),
            "file": _text(record, "src_url"), "task": _text(record, "job_id") or _text(record, "tr_id"),
            "user": _text(record, "vo"), "streams": _whole(record.get("nstreams")),
            "window_B": number(record.get("tcp_buf_size")) or None, "retries": _whole(record.get("retry")),
        }  # fmt: skip
        if str(record.get("t_final_transfer_state")).lower() not in ("ok", "true", "1"):
            text = _text(record, "t__error_message") or f"state {record.get('t_final_transfer_state')}"
            yield self.failure(text, line=line, **known)
            return
        size = number(record.get("tr_bt_transfered")) or number(record.get("f_size")) or number(record.get("file_size"))
        began, ended = seconds(record.get("timestamp_tr_st")), seconds(record.get("timestamp_tr_comp"))
        whole = (seconds(record.get("tr_timestamp_start")), seconds(record.get("tr_timestamp_complete")))
        spent = None if began is None or ended is None else ended - began
        if spent and whole[0] is not None and whole[1] is not None and whole[1] - whole[0] >= spent:
            known["overhead_s"] = round(whole[1] - whole[0] - spent, 3)
        known["end"] = stamp(ended)
        yield from self._rate(size, spent, known, line)

    def _file(self, item: Mapping[str, Any], job: Mapping[str, Any], line: int) -> Iterator[Record]:
        known: Conditions = {
            "source": _host(_text(item, "source_se") or _text(job, "source_se")),
            "target": _host(_text(item, "dest_se") or _text(job, "dest_se")),
            "file": _text(item, "source_surl"),
            "task": _text(item, "job_id") or _text(job, "job_id"),
            "user": _text(item, "vo_name") or _text(job, "vo_name"),
            "retries": _whole(item.get("retry")),
        }
        state = str(item["file_state"]).upper()
        if state in ("FAILED", "CANCELED"):
            yield self.failure(f"{state}: {_text(item, 'reason') or ''}".rstrip(": "), line=line, **known)
            return
        if state != "FINISHED":
            yield self.unread(state, "a transfer that is not finished has no rate", line=line)
            return
        size, spent = number(item.get("filesize")), number(item.get("tx_duration"))
        began, ended = seconds(item.get("start_time")), seconds(item.get("finish_time"))
        known["end"] = stamp(ended if ended is not None or began is None or spent is None else began + spent)
        if size is None and item.get("staging_finished"):
            yield self.unread(state, "staged from tape only: no transfer", line=line)
            return
        yield from self._rate(size, spent, known, line)

    def _rate(self, size: float | None, spent: float | None, known: Conditions, line: int) -> Iterator[Record]:
        if not size or not spent or spent <= 0:
            yield self.unread(f"{size} B in {spent} s", "no bytes, or no time: no rate", line=line)
            return
        known |= {"bytes": size, "duration_s": round(spent, 6)}
        yield self.measure("throughput", size / spent, "B/s", f"{size:.15g} B in {spent:.6g} s", line=line, **known)
        yield self.measure("duration", spent, "s", f"{spent:.6g} s", line=line, **known)


def _text(record: Mapping[str, Any], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def _whole(found: object) -> int | None:
    value = number(found)
    return None if value is None else int(value)


def _host(url: str | None) -> str | None:
    """The host of ``srm://host:8446``."""
    return None if url is None else url.rpartition("://")[2].partition("/")[0].partition(":")[0] or None
