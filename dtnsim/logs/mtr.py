"""mtr: report (``-r``, ``-w``, ``-b``, ``-z``, ``-o``), interactive screen, CSV, JSON and XML.

Units: milliseconds, ``Loss%`` in per cent (mtr ``ui/mtr.c``, data_fields). Columns are those that the head
names: L Loss%, D Drop, R Rcv, S Snt, N Last, B Best, A Avg, W Wrst, V StDev, G Gmean, J Jttr, M Javg, X Jmax,
I Jint. A hop ``???`` answered nothing: it has a loss and no RTT. Routers limit their ICMP answers: a loss in the
middle of a path that is gone further on is no loss of the path. The last hop carries ``last=True`` and is the
headline, unless it is ``???``. Of an interactive screen only the last drawing counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Record, number

_COLUMN: Final = re.compile(r"Loss%|Drop|Rcv|Snt|Last|Best|Avg|Wrst|StDev|Gmean|Jttr|Javg|Jmax|Jint")
_ROW: Final = re.compile(r"^\s*(?P<hop>\d{1,3})\.(?:\|--)?\s+(?P<rest>\S.*)$")
_OTHER: Final = re.compile(r"^\s+(?:\||`|\+|\\|[\w.:-]+\s*$|\[MPLS)")
_FIGURES: Final = re.compile(r"(?<=\s)-?\d+(?:\.\d+)?%?(?=\s|$)")
_AS: Final = re.compile(r"^AS\S*\s+")
_CSV_HEAD: Final = re.compile(r"^Mtr_Version[,;]")
_CSV: Final = re.compile(r"^MTR\.(?P<version>[\d.]++\w*+)[,;]")

#: column -> (statistic, is a time)
_TIMES: Final = {"Avg": None, "Best": "min", "Wrst": "max", "StDev": "stddev"}


class _Hops:
    """Turns the figures of hops into records."""

    @staticmethod
    def records(
        parser: LineParser | DocumentParser,
        hop: int,
        host: str,
        values: Mapping[str, float],
        conditions: Conditions,
        line: int,
    ) -> Iterator[Record]:
        known: Conditions = {**conditions, "hop": hop, "address": host}
        sent = values.get("Snt")
        if sent is not None:
            known["packets"] = int(sent)
        loss = values.get("Loss%")
        if loss is not None and loss <= 100:
            yield parser.measure("loss", loss / 100, "1", f"{loss:g}%", line=line, **known)
        if host == "???" or loss == 100:
            return
        for column, statistic in _TIMES.items():
            if column in values:
                more = {**known, "statistic": statistic}
                text = f"{values[column]:g} ms"
                yield parser.measure("rtt", values[column] * 1e-3, "s", text, line=line, **more)
        if "Javg" in values:
            yield parser.measure("jitter", values["Javg"] * 1e-3, "s", f"{values['Javg']:g} ms", line=line, **known)


_Row = tuple[int, str, dict[str, float], int]


class MtrText(LineParser):
    """Report, screen and CSV."""

    tool = "mtr"
    evidence = Evidence.WAY
    words = ("Loss", "Snt", "MTR", "Mtr", "Drop", "mtr")
    commands = ("mtr",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._columns: list[str] = []
        self._rows: list[_Row] = []
        self._screen = False
        self._source: str | None = None
        self._csv: list[str] = []
        self._csv_hops: list[_Row] = []
        self._csv_target: str | None = None

    def feed(self, text: str) -> Iterator[Record]:
        if _CSV.match(text) or _CSV_HEAD.match(text):
            yield from self._csv_row(text)
            return
        if "Snt" in text or "Loss%" in text:
            columns = _COLUMN.findall(text)
            if len(columns) >= 3 and "Snt" in columns:
                yield from self._begin(text, columns)
                return
        if "mtr: " in text and re.search(r"(?:Failed|failure|resolve|known|permitted|denied)", text):
            yield self.failure(text)
            return
        if self._columns:
            yield from self._row(text)

    def settle(self) -> Iterator[Record]:
        rows, self._rows, self._columns, self.open = self._rows, [], [], False
        conditions: Conditions = {"target": self._target(), "source": self._source}
        yield from self._csv_close()
        yield from self._path(rows, conditions)

    def _path(self, rows: list[_Row], conditions: Conditions) -> Iterator[Record]:
        for at, (hop, host, values, line) in enumerate(rows):
            last = {"last": True} if at == len(rows) - 1 else {}
            yield from _Hops.records(self, hop, host, values, {**conditions, **last}, line)
        answered = [row[0] for row in rows if row[1] != "???"]
        if answered:
            hops = max(answered)
            yield self.measure("hops", hops, "1", str(hops), line=rows[-1][3], **conditions)

    def _begin(self, text: str, columns: list[str]) -> Iterator[Record]:
        head = text[: text.index(columns[0])].strip()
        if self._screen and not head.startswith("HOST"):
            self._rows = []  # the screen is drawn anew
        else:
            yield from self.settle()
        self._screen = not head.startswith("HOST")
        self._source = head.removeprefix("HOST:").strip() or None if not self._screen else None
        self._columns, self.open = columns, True

    def _row(self, text: str) -> Iterator[Record]:
        found = _ROW.match(text)
        if found is None:
            # other addresses of the same hop, and blank lines of a screen, belong to the table
            if not (_OTHER.match(text) if text.strip() else self._screen):
                yield from self.settle()
            return
        rest = _AS.sub("", found["rest"])
        figures = list(_FIGURES.finditer(rest))
        if len(figures) < len(self._columns):
            if rest.strip() in ("???", "(waiting for reply)"):
                self._rows.append((int(found["hop"]), "???", {"Loss%": 100.0}, self.ctx.line))
            return
        tail = figures[-len(self._columns) :]
        values = {c: float(f[0].rstrip("%")) for c, f in zip(self._columns, tail, strict=True)}
        host = rest[: tail[0].start()].strip()
        if len(self._rows) < 256:
            self._rows.append((int(found["hop"]), host, values, self.ctx.line))

    def _csv_row(self, text: str) -> Iterator[Record]:
        fields = [field.strip() for field in re.split(r"[,;]", text.rstrip(",; "))]
        if _CSV_HEAD.match(text):
            yield from self._csv_close()
            self._csv = fields
            return
        version = _CSV.match(text)
        self.version = version["version"] if version is not None else None
        if not self._csv or not -1 <= len(fields) - len(self._csv) <= 0:
            yield self.unread(text, "CSV without a head that names its columns")
            return
        row = dict(zip(self._csv, fields, strict=False))
        hop = number(row.get("Hop"))
        if hop is None:
            yield self.unread(text, "the hop is no number")
            return
        values = {column: value for column in self._csv if (value := number(row.get(column))) is not None}
        if self._csv_hops and (hop <= self._csv_hops[-1][0] or row.get("Host") != self._csv_target):
            yield from self._csv_close()
        self._csv_target = row.get("Host")
        self._csv_hops.append((int(hop), row.get("Ip", ""), values, self.ctx.line))

    def _csv_close(self) -> Iterator[Record]:
        """The hops of one path: a further one begins, or the file ends."""
        rows, self._csv_hops = self._csv_hops, []
        yield from self._path(rows, {"target": self._csv_target})

    def _target(self) -> str | None:
        args = self.ctx.args("mtr")
        return args[-1] if args and not args[-1].startswith("-") else None


class MtrJson(DocumentParser, of=MtrText):
    """Documents of ``mtr -j``."""

    def match(self, doc: Document) -> bool:
        report = doc.data.get("report") if isinstance(doc.data, dict) else None
        return isinstance(report, dict) and "hubs" in report

    def read(self, doc: Document) -> Iterator[Record]:
        report = doc.data["report"]
        about = report.get("mtr") if isinstance(report.get("mtr"), dict) else {}
        hubs = [hub for hub in report["hubs"] if isinstance(hub, dict)] if isinstance(report["hubs"], list) else []
        conditions: Conditions = {"target": _text(about.get("dst")), "source": _text(about.get("src"))}
        at, answered = 0, 0
        for index, hub in enumerate(hubs):
            at = max(doc.text.find('"count"', at + 1), at)
            line = doc.line_at(at)
            host, hop = str(hub.get("host", "")), int(number(hub.get("count")) or index + 1)
            values = {key: value for key in hub if (value := number(hub[key])) is not None and key != "count"}
            last = {"last": True} if index == len(hubs) - 1 and not doc.cut else {}
            answered = hop if host != "???" else answered
            yield from _Hops.records(self, hop, host, values, {**conditions, **last}, line)
        if answered and not doc.cut:
            yield self.measure("hops", answered, "1", str(answered), line=doc.line_of('"hubs"'), **conditions)


class MtrXml(DocumentParser, of=MtrText):
    """Documents of ``mtr --xml``."""

    kind = "xml"

    def match(self, doc: Document) -> bool:
        return bool(re.search(r"<MTR\b", doc.text[:2000]))

    def read(self, doc: Document) -> Iterator[Record]:
        """The hops; read by pattern, for the files are flat and may be cut."""
        target = re.search(r'\bDST="([^"]*)"', doc.text)
        conditions: Conditions = {"target": target[1] if target is not None else None}
        hubs = list(re.finditer(r'<HUB COUNT="(\d+)" HOST="([^"]*)">(.*?)</HUB>', doc.text, re.DOTALL))
        for at, hub in enumerate(hubs):
            pairs = re.findall(r"<(\w+)%?>\s*(-?[\d.]+)%?\s*</", hub[3])
            values = {
                "Loss%" if key == "Loss" else key: value for key, text in pairs if (value := number(text)) is not None
            }
            last = {"last": True} if at == len(hubs) - 1 else {}
            line = doc.line_at(hub.start())
            yield from _Hops.records(self, int(hub[1]), hub[2], values, {**conditions, **last}, line)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
