"""Copies of the LHC grid: gfal-copy, xrdcp, Rucio, FTS."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

from dtnsim.logs._declared import Found, LinesParser, Match, Progress, ProgressParser, reads
from dtnsim.logs._documents import first, records, seconds, stamp
from dtnsim.logs._numbers import BINARY, DECIMAL, as_dict, as_list, number, regex, text_in, whole_number
from dtnsim.logs.base import Conditions, Document, Evidence, Parser, Record, anew, documents, located, noted

_DONE: Final = regex(r"Copying (?P<source>\S{1,600}) {1,9}\[(?P<state>DONE|FAILED)\] {1,4}after <seconds:int>s")


class GfalCopy(LinesParser, evidence=Evidence.TRANSFER):
    """gfal-copy (gfal2-util): ``Copying SOURCE   [DONE]  after 3s``, ``Copying N bytes SOURCE => TARGET`` with ``-v``.

    Units: bytes, and whole seconds, cut off (``resolution_s``): a copy of ``0s`` has no duration. The size is only
    printed with ``-v``; then the rate is bytes over that time. ``[FAILED]`` is a failure, as is ``gfal-copy error:``.
    """

    tool = "gfal-copy"
    words = "Copying gfal"

    _size: dict[str, tuple[int, str | None]] = anew(dict)

    @reads(r"^\s*+Copying <size:int> bytes (?P<source>\S{1,600}) {1,4}=> {1,4}(?P<target>\S{1,600})")
    def _sized(self, size: Match) -> None:
        self._size = {size["source"]: (int(size["size"]), size["target"])}

    @reads(r"^\s*+gfal-copy error: .{1,300}")
    def _failed(self, problem: Match) -> Found:
        return self.failure(problem[0], **self.where)

    def other(self, text: str) -> Iterator[Record]:
        if (match := max(_DONE.finditer(text), key=re.Match.start, default=None)) is None:
            return  # redraws may be joined: the last counts
        args = self.ctx.args("gfal-copy") or []
        named = args[-1] if len(args) > 1 and not args[-1].startswith("-") else None
        size, target = self._size.pop(match["source"], (0, named))
        facts: Conditions = {**self.where, "source": match["source"], "target": target}
        seconds, printed = int(match["seconds"]), f"after {match['seconds']}s"
        if match["state"] == "FAILED":
            yield self.failure(match[0], **facts)
        elif seconds == 0:
            yield self.unread(match[0], "a copy of less than a second: no duration, no rate")
        else:
            facts |= {"resolution_s": 1.0, "bytes": size or None}
            yield self.measure("duration", seconds, printed, **facts)
            if size:
                facts["duration_s"] = seconds
                yield self.measure("throughput", size / seconds, f"{size} B {printed}", facts)


_N: Final = r"\d++(?:\.\d++)?(?:e\+\d\d)?"


class Xrdcp(ProgressParser, evidence=Evidence.TRANSFER):
    """xrdcp's progress line (XRootD 3.3 and later): ``[16.11GB/16.11GB][100%][====][25.46MB/s]``.

    Units: ``kB``, ``MB``, ``GB`` of sizes and rates are powers of 1024 (XRootD ``XrdClUtils.cc``, ``BytesToString``,
    which prints four digits: ``1.024e+04GB``). The rate is the mean since the start over whole seconds, of which a
    copy of less than one counts as one (``resolution_s``; 26.51 kB are printed at 26.51kB/s): small files look slow.
    The line is redrawn; the last drawing counts. An error after it (``Run: [ERROR] ...``) makes the copy a failure; a
    line of less than 100 % is ``partial``.
    """

    words = "kB MB GB TB B ERROR FATAL"
    beside: ClassVar = dict.fromkeys(("kB", "MB", "GB", "TB", "B"), ("%][",))
    commands = ("xrdcp", "xrdcopy")
    sign = "%]["
    line = regex(
        rf"\[(?P<got>{_N})<gu:k>B/(?P<of>{_N})<ou:k>B\]"
        r"\[ *+(?P<share>\d{1,3})%\]\[[=> ]{0,80}+\]"
        rf"\[(?P<rate>{_N})<ru:k>B/s\]"
    )
    failures = re.compile(r"^\s*(?:Run: )?\[(?:ERROR|FATAL)\] .*")
    units = BINARY

    def same(self, progress: Progress, last: Progress) -> bool:  # noqa: ARG002 (the base's signature)
        """A line that overwrites another is of the same copy."""
        return self.ctx.after_redraw

    def conditions(self, match: re.Match[str] | None, moved: float) -> Conditions:  # noqa: ARG002
        """What the command line says; the time is whole seconds."""
        facts, _, paths = self.command_line()
        if len(paths) > 1:
            facts["source"], facts["target"] = paths[-2], paths[-1]
        return facts if match is None else {**facts, "resolution_s": 1.0}

    def failed(self, message: str) -> Iterable[Record]:
        """An error makes the copy a failure."""
        if self._held is None and self.ctx.args(*self.commands) is None:
            return ()
        last, self._held = self._held, None
        facts = self.conditions(None, 0.0) if last is None else {**last.known, "resolution_s": None}
        return (self.failure(message, **facts),)


_PAYLOAD: Final = {"src-rse", "dst-rse"}
_FILE: Final = re.compile(r"File (?P<file>[^\s:]++:\S++) ")

_EVENT: Final = {
    "source": "src-rse", "target": "dst-rse", "protocol": "protocol", "task": "transfer-id", "activity": "activity",
}  # fmt: skip


def _is_event(doc: Document) -> bool:
    record = first(doc.data)
    return record.keys() >= _PAYLOAD and ("transferred_at" in record or "event_type" in record)


class Rucio(LinesParser, evidence=Evidence.TRANSFER, by_document=True):
    """Rucio: events of transfers (Hermes to ActiveMQ, OpenSearch or a file), and what ``rucio download`` prints.

    Units: ``bytes``; the time is ``transferred_at`` less ``started_at``, whole seconds as FTS gives them
    (``duration`` is the same rounded; ``resolution_s``), so that small files look slow. What an event of a failure
    says is a failure. The client prints ``kB``, ``MB``, ``GB`` as powers of 1000 and ``MBps`` as 10^6 B/s (rucio
    ``common/utils.py``, ``sizefmt``; ``client/downloadclient.py``); the rate is computed from its size and seconds.
    """

    words = "downloaded"

    @documents(fits=_is_event, long=("hits.hits", "hits", "data"))
    def _events(self, doc: Document) -> Iterator[Record]:
        lines = doc.lines()
        kind = ""
        for record in records(doc.data):
            kind = str(record.get("event_type") or kind)
            if record.keys() >= _PAYLOAD:
                self.ctx.line = lines('"dst-rse"')
                yield from self._event(record, kind)

    def _event(self, event: Mapping[str, Any], kind: str) -> Iterator[Record]:
        facts: Conditions = {name: text_in(event, key) for name, key in _EVENT.items()}
        facts["file"] = ":".join(filter(None, (text_in(event, "scope"), text_in(event, "name")))) or None
        if "failed" in kind or (not kind and event.get("reason") and not event.get("transferred_at")):
            yield self.failure(text_in(event, "reason") or kind, **facts)
            return
        if kind and kind != "transfer-done":
            return
        size = number(event.get("bytes")) or number(event.get("file-size"))
        submitted, began, ended = (seconds(event.get(f"{step}_at")) for step in ("submitted", "started", "transferred"))
        spent = ended - began if began is not None and ended is not None else number(event.get("duration"))
        facts |= {"resolution_s": 1.0, "end": stamp(ended)}
        if submitted is not None and began is not None and began >= submitted:
            facts["queued_s"] = round(began - submitted, 3)
        yield from _moved(self, size, spent, facts, "no bytes, or less than a second: no rate")

    @reads(r"successfully downloaded(?:\. <size:num> ?<su:k>B?)? in <seconds:num> seconds?(?: = <rate:num> MBps)?")
    def _figures(self, match: Match) -> Iterator[Record]:
        spent, file = float(match["seconds"]), located(_FILE, match.string, "File ")
        facts: Conditions = {**self.where, "direction": "receive", "duration_s": spent}
        facts["file"] = None if file is None else file["file"]
        if match["size"] is None:
            yield self.measure("duration", spent, f"{match['seconds']} seconds", **facts)
            return
        size = float(match["size"]) * DECIMAL[match["su"]]
        self.need(size > 0 and spent > 0, match[0], "no bytes, or no time: no rate")
        facts["bytes"], rate = size, size / spent
        if match["rate"] and spent >= 1 and abs(rate - float(match["rate"]) * 1e6) > 0.02 * rate + 5e3:
            yield self.unread(match[0], f"bytes and seconds give {rate / 1e6:.4g} MBps")
        yield self.measure("throughput", rate, f"{match['size']} {match['su']}B in {match['seconds']} seconds", **facts)


@noted
def _moved(parser: Parser, size: float | None, spent: float | None, facts: Conditions, why: str) -> Iterator[Record]:
    """Rate and duration of what was moved; a note where it was nothing, or took no time."""
    size, spent = (parser.need(value, f"{size} B in {spent} s", why) for value in (size, max(spent or 0.0, 0.0)))
    facts |= {"bytes": size, "duration_s": round(spent, 6)}
    yield parser.measure("throughput", size / spent, f"{size:.15g} B in {spent:.6g} s", **facts)
    yield parser.measure("duration", spent, f"{spent:.6g} s", **facts)


_MESSAGE: Final = {"tr_id", "timestamp_tr_st", "timestamp_tr_comp"}
_JOB: Final = {"file_state", "dest_surl"}


def _is_fts(doc: Document) -> bool:
    record = first(doc.data)
    first_file = as_dict(next(iter(as_list(record.get("files"))), None))
    return record.keys() >= _MESSAGE or record.keys() >= _JOB or first_file.keys() >= _JOB


class Fts(Parser, evidence=Evidence.TRANSFER, by_document=True):
    """FTS3: what its REST interface says of a job's files, and the message it sends when a transfer is complete.

    Units: bytes, ``tx_duration`` in s, times of messages in ms since 1970. The rate is computed: bytes over the
    transfer's own time (``timestamp_tr_st`` to ``timestamp_tr_comp``, or ``tx_duration``), without SRM's preparation
    and without checksums, which ``overhead_s`` sums up (checked: 10556847 B from 1493217332255 to 1493217334563 ms,
    beside which the message says operation_time 2308). ``throughput`` of the documents is not used, for its unit
    changed (MiB/s in jobs, bit/s in messages).

    Source: fts3 ``src/msg-bus/events.cpp``, ``src/server/services/transfers/MessageProcessingService.cpp`` (names);
    fts-rest ``fts-rest-transfer-status -j``.
    """

    commands = ()

    @documents(fits=_is_fts, long=("files", "hits.hits", "hits", "data"))
    def _json(self, doc: Document) -> Iterator[Record]:
        lines = doc.lines()
        for record in records(doc.data):
            if record.keys() >= _MESSAGE:
                self.ctx.line = lines('"tr_id"')
                yield from self._message(record)
                continue
            for item in (record, *map(as_dict, as_list(record.get("files")))):
                if item.keys() >= _JOB:
                    self.ctx.line = lines('"file_state"')
                    yield from self._file(item, record)

    def _message(self, record: Mapping[str, Any]) -> Iterator[Record]:
        facts: Conditions = {
            "source": text_in(record, "src_hostname"), "target": text_in(record, "dst_hostname"),
            "file": text_in(record, "src_url"), "task": text_in(record, "job_id") or text_in(record, "tr_id"),
            "user": text_in(record, "vo"), "streams": whole_number(record.get("nstreams")),
            "window_B": number(record.get("tcp_buf_size")) or None, "retries": whole_number(record.get("retry")),
        }  # fmt: skip
        state = record.get("t_final_transfer_state")
        if str(state).lower() not in ("ok", "true", "1"):
            yield self.failure(text_in(record, "t__error_message") or f"state {state}", **facts)
            return
        size = number(record.get("tr_bt_transfered")) or number(record.get("f_size")) or number(record.get("file_size"))
        keys = ("timestamp_tr_st", "timestamp_tr_comp", "tr_timestamp_start", "tr_timestamp_complete")
        began, ended, first_s, last_s = (seconds(record.get(key)) for key in keys)
        spent = None if began is None or ended is None else ended - began
        if spent and first_s is not None and last_s is not None and last_s - first_s >= spent:
            facts["overhead_s"] = round(last_s - first_s - spent, 3)
        yield from _moved(self, size, spent, {**facts, "end": stamp(ended)}, "no bytes, or no time: no rate")

    @noted
    def _file(self, item: Mapping[str, Any], job: Mapping[str, Any]) -> Iterator[Record]:
        texts = {key: text_in(item, key) or text_in(job, key) for key in ("source_se", "dest_se", "job_id", "vo_name")}
        facts: Conditions = {"source": _host(texts["source_se"]), "target": _host(texts["dest_se"])}
        facts |= {"task": texts["job_id"], "user": texts["vo_name"], "file": text_in(item, "source_surl")}
        facts["retries"], state = whole_number(item.get("retry")), str(item["file_state"]).upper()
        if state in ("FAILED", "CANCELED"):
            yield self.failure(f"{state}: {text_in(item, 'reason') or ''}".rstrip(": "), **facts)
            return
        self.need(state == "FINISHED", state, "a transfer that is not finished has no rate")
        size, spent = number(item.get("filesize")), number(item.get("tx_duration"))
        began, ended = seconds(item.get("start_time")), seconds(item.get("finish_time"))
        self.need(size is not None or not item.get("staging_finished"), state, "staged from tape only: no transfer")
        end = ended if ended is not None or began is None or spent is None else began + spent
        yield from _moved(self, size, spent, {**facts, "end": stamp(end)}, "no bytes, or no time: no rate")


def _host(url: str | None) -> str | None:
    """The host of ``srm://host:8446``."""
    return None if url is None else url.rpartition("://")[2].partition("/")[0].partition(":")[0] or None
