"""Rucio: events of transfers (Hermes to ActiveMQ, OpenSearch or a file), and what ``rucio download`` prints.

Units: ``bytes``; the time is ``transferred_at`` less ``started_at``, whole seconds as FTS gives them (``duration`` is
the same rounded; ``resolution_s``), so that small files look slow. What an event of a failure says is a failure. The
client prints ``kB``, ``MB``, ``GB`` as powers of 1000 and ``MBps`` as 10^6 B/s (rucio ``common/utils.py``,
``sizefmt``; ``client/downloadclient.py``); the rate is computed from its size and seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dtnsim.logs._exports import first, records, seconds, stamp
from dtnsim.logs._net import host_of
from dtnsim.logs.base import (
    DECIMAL,
    Conditions,
    Document,
    DocumentParser,
    Evidence,
    LineParser,
    Record,
    located,
    number,
)

_PAYLOAD: Final = {"src-rse", "dst-rse"}
_LOADED: Final = re.compile(
    r"successfully downloaded(?:\. (?P<size>\d++(?:\.\d++)?) ?(?P<su>[kKMGTP]?)B?)? in "
    r"(?P<seconds>\d++(?:\.\d++)?) seconds?"
    r"(?: = (?P<rate>\d++(?:\.\d++)?) MBps)?"
)
_FILE: Final = re.compile(r"File (?P<file>[^\s:]++:\S++) ")


class RucioEvents(DocumentParser):
    """Events ``transfer-done`` and ``transfer-failed``."""

    tool = "rucio"
    evidence = Evidence.TRANSFER
    by_document = True
    long = ("hits.hits", "hits", "data")

    def match(self, doc: Document) -> bool:
        """An event, its payload, or an export of them."""
        found = first(doc.data)
        return found.keys() >= _PAYLOAD and ("transferred_at" in found or "event_type" in found)

    def read(self, doc: Document) -> Iterator[Record]:
        lines = doc.lines()
        kind = ""
        for record in records(doc.data):
            kind = str(record.get("event_type") or kind)
            if record.keys() >= _PAYLOAD:
                yield from self._event(record, kind, lines.next('"dst-rse"'))

    def _event(self, event: Mapping[str, Any], kind: str, line: int) -> Iterator[Record]:
        known: Conditions = {
            "source": _text(event, "src-rse"),
            "target": _text(event, "dst-rse"),
            "file": ":".join(filter(None, (_text(event, "scope"), _text(event, "name")))) or None,
            "protocol": _text(event, "protocol"),
            "task": _text(event, "transfer-id"),
            "activity": _text(event, "activity"),
        }
        if "failed" in kind or (not kind and event.get("reason") and not event.get("transferred_at")):
            yield self.failure(_text(event, "reason") or kind, line=line, **known)
            return
        if kind and kind != "transfer-done":
            return
        size = number(event.get("bytes")) or number(event.get("file-size"))
        began, ended = seconds(event.get("started_at")), seconds(event.get("transferred_at"))
        spent = ended - began if began is not None and ended is not None else number(event.get("duration"))
        if not size or not spent or spent <= 0:
            yield self.unread(f"{size} B in {spent} s", "no bytes, or less than a second: no rate", line=line)
            return
        known |= {"bytes": size, "duration_s": spent, "resolution_s": 1.0, "end": stamp(ended)}
        submitted = seconds(event.get("submitted_at"))
        if submitted is not None and began is not None and began >= submitted:
            known["queued_s"] = round(began - submitted, 3)
        yield self.measure("throughput", size / spent, "B/s", f"{size:.15g} B in {spent:.6g} s", line=line, **known)
        yield self.measure("duration", spent, "s", f"{spent:.6g} s", line=line, **known)


class RucioClient(LineParser):
    """Lines of ``rucio download``."""

    tool = "rucio"
    evidence = Evidence.TRANSFER
    by_document = True
    words = ("downloaded",)
    commands = ("rucio",)

    def feed(self, text: str) -> Iterable[Record]:
        found = located(_LOADED, text, "successfully downloaded")
        return () if found is None else self._figures(found, located(_FILE, text, "File "))

    def _figures(self, found: re.Match[str], file: re.Match[str] | None) -> Iterator[Record]:
        spent = float(found["seconds"])
        known: Conditions = {**host_of(self.ctx), "direction": "receive", "duration_s": spent}
        known["file"] = None if file is None else file["file"]
        if found["size"] is None:
            yield self.measure("duration", spent, "s", f"{found['seconds']} seconds", **known)
            return
        size = float(found["size"]) * DECIMAL[found["su"]]
        if size <= 0 or spent <= 0:
            yield self.unread(found[0], "no bytes, or no time: no rate")
            return
        known["bytes"] = size
        rate = size / spent
        if found["rate"] and spent >= 1 and abs(rate - float(found["rate"]) * 1e6) > 0.02 * rate + 5e3:
            yield self.unread(found[0], f"bytes and seconds give {rate / 1e6:.4g} MBps")
        printed = f"{found['size']} {found['su']}B in {found['seconds']} seconds"
        yield self.measure("throughput", rate, "B/s", printed, **known)


def _text(event: Mapping[str, Any], key: str) -> str | None:
    value = event.get(key)
    return value if isinstance(value, str) and value else None
