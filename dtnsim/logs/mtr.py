"""mtr: report (``-r``, ``-w``, ``-b``, ``-z``, ``-o``), interactive screen, CSV, JSON and XML.

Units: milliseconds, ``Loss%`` in per cent (mtr ``ui/mtr.c``, data_fields). Columns are those that the head
names: L Loss%, D Drop, R Rcv, S Snt, N Last, B Best, A Avg, W Wrst, V StDev, G Gmean, J Jttr, M Javg, X Jmax,
I Jint. A hop ``???`` answered nothing: it has a loss and no RTT. Routers limit their ICMP answers: a loss in the
middle of a path that is gone further on is no loss of the path. The last hop carries ``last=True`` and is the
headline, unless it is ``???``. Of an interactive screen only the last drawing counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dtnsim.logs._numbers import as_dict, as_list, number
from dtnsim.logs.base import Conditions, Document, DocumentParser, Evidence, LineParser, Parser, Record, anew

_COLUMN: Final = re.compile(r"Loss%|Drop|Rcv|Snt|Last|Best|Avg|Wrst|StDev|Gmean|Jttr|Javg|Jmax|Jint")
_ROW: Final = re.compile(r"^\s*(?P<hop>\d{1,3})\.(?:\|--)?\s+(?P<rest>\S.*)$")
_OTHER: Final = re.compile(r"^\s+(?:\||`|\+|\\|[\w.:-]+\s*$|\[MPLS)")
_FIGURES: Final = re.compile(r"(?<=\s)-?\d+(?:\.\d+)?%?(?=\s|$)")
_AS: Final = re.compile(r"^AS\S*\s+")
_CSV: Final = re.compile(r"^(?:Mtr_Version|MTR\.(?P<version>[\d.]++\w*+))[,;]")

#: column -> statistic of the times
_TIMES: Final = {"Avg": None, "Best": "min", "Wrst": "max", "StDev": "stddev"}

#: hop, address, figures by column, line
_Row = tuple[int, str, dict[str, float], int]


def _path(parser: Parser, rows: Sequence[_Row], path: Conditions, *, whole: bool = True) -> Iterator[Record]:
    """The figures of all hops; the last of a whole path is its headline."""
    for hop, host, values, line in rows:
        loss, sent = values.get("Loss%"), values.get("Snt")
        known = {**path, "hop": hop, "address": host, "packets": None if sent is None else int(sent)}
        known["last"] = (whole and line == rows[-1][3] and hop == rows[-1][0]) or None
        if loss is not None and loss <= 100:
            yield parser.measure("loss", loss / 100, "1", f"{loss:g}%", dict(known), line=line)
        for column in (*_TIMES, "Javg") if host != "???" and loss != 100 else ():
            if column in values:
                quantity = "jitter" if column == "Javg" else "rtt"
                more, text = {**known, "statistic": _TIMES.get(column)}, f"{values[column]:g} ms"
                yield parser.measure(quantity, values[column] * 1e-3, "s", text, more, line=line)


def _hops(parser: Parser, rows: Sequence[_Row], path: Conditions, line: int) -> Iterator[Record]:
    """How far away the last hop is that answered."""
    answered = [row[0] for row in rows if row[1] != "???"]
    if answered:
        yield parser.measure("hops", max(answered), "1", str(max(answered)), dict(path), line=line)


class MtrText(LineParser):
    """Report, screen and CSV."""

    tool = "mtr"
    evidence = Evidence.WAY
    words = ("Loss", "Snt", "MTR", "Mtr", "Drop", "mtr")

    _rows: list[_Row] = anew(list)

    _columns: Sequence[str] = ()  # of the table that is open
    _heads: Sequence[str] = ()  # of the CSV
    _known, _screen = Conditions(), False

    def feed(self, text: str) -> Iterator[Record]:
        if (row := _CSV.match(text)) is not None:
            yield from self._csv_row(row, [field.strip() for field in re.split(r"[,;]", text.rstrip(",; "))])
        elif "Snt" in text and len(columns := _COLUMN.findall(text)) >= 3 and "Snt" in columns:
            yield from self._begin(text, columns)
        elif "mtr: " in text and re.search(r"(?:Failed|failure|resolve|known|permitted|denied)", text):
            yield self.failure(text)
        elif self._columns:
            yield from self._row(text)

    def settle(self) -> Iterator[Record]:
        rows, self._rows, self._columns, self.open = self._rows, [], (), False
        if rows:
            yield from _path(self, rows, self._known)
            yield from _hops(self, rows, self._known, rows[-1][3])

    def _begin(self, text: str, columns: list[str]) -> Iterator[Record]:
        head = text[: text.index(columns[0])].strip()
        report = head.startswith("HOST")
        if self._screen and not report:
            self._rows = []  # the screen is drawn anew
        else:
            yield from self.settle()
        args = self.ctx.args("mtr")
        self._known = {"target": args[-1] if args and not args[-1].startswith("-") else None}
        self._known["source"] = head.removeprefix("HOST:").strip() or None if report else None
        self._screen, self._columns, self.open = not report, columns, True

    def _row(self, text: str) -> Iterator[Record]:
        found = _ROW.match(text)
        if found is None:
            # other addresses of the same hop, and blank lines of a screen, belong to the table
            if not (_OTHER.match(text) if text.strip() else self._screen):
                yield from self.settle()
            return
        rest, hop = _AS.sub("", found["rest"]), int(found["hop"])
        figures = list(_FIGURES.finditer(rest))
        if len(figures) >= len(self._columns) and len(self._rows) < 256:
            tail = figures[-len(self._columns) :]
            values = {c: float(f[0].rstrip("%")) for c, f in zip(self._columns, tail, strict=True)}
            self._rows.append((hop, rest[: tail[0].start()].strip(), values, self.ctx.line))
        elif rest.strip() in ("???", "(waiting for reply)"):
            self._rows.append((hop, "???", {"Loss%": 100.0}, self.ctx.line))

    def _csv_row(self, found: re.Match[str], fields: list[str]) -> Iterator[Record]:
        self.version = found["version"] or self.version
        if found["version"] is None:
            yield from self.settle()
            self._heads = fields
            return
        row = dict(zip(self._heads, fields, strict=False))
        hop, target = number(row.get("Hop")), {"target": row.get("Host")}
        if not self._heads or not -1 <= len(fields) - len(self._heads) <= 0:
            yield self.unread(found.string, "CSV without a head that names its columns")
        elif hop is None:
            yield self.unread(found.string, "the hop is no number")
        else:
            if self._rows and (self._columns or hop <= self._rows[-1][0] or target != self._known):
                yield from self.settle()
            values = {column: value for column in self._heads if (value := number(row.get(column))) is not None}
            self._rows.append((int(hop), row.get("Ip", ""), values, self.ctx.line))
            self._known = target


class MtrJson(DocumentParser, of=MtrText):
    """Documents of ``mtr -j``."""

    def match(self, doc: Document) -> bool:
        report = doc.data.get("report") if isinstance(doc.data, dict) else None
        return isinstance(report, dict) and "hubs" in report

    def read(self, doc: Document) -> Iterator[Record]:
        report, lines = doc.data["report"], doc.lines()
        about = as_dict(report.get("mtr"))
        path = {name: None if (end := about.get(key)) is None else str(end)
                for name, key in (("target", "dst"), ("source", "src"))}  # fmt: skip
        rows: list[_Row] = []
        for index, hub in enumerate(filter(None, map(as_dict, as_list(report["hubs"]))), 1):
            hop = int(number(hub.get("count")) or index)
            values = {key: value for key in hub if (value := number(hub[key])) is not None and key != "count"}
            rows.append((hop, str(hub.get("host", "")), values, lines.next('"count"')))
        yield from _path(self, rows, path, whole=not doc.cut)
        if not doc.cut:
            yield from _hops(self, rows, path, doc.line_of('"hubs"'))


class MtrXml(DocumentParser, of=MtrText):
    """Documents of ``mtr --xml``."""

    kind = "xml"

    def match(self, doc: Document) -> bool:
        return bool(re.search(r"<MTR\b", doc.text[:2000]))

    def read(self, doc: Document) -> Iterator[Record]:
        """The hops; read by pattern, for the files are flat and may be cut."""
        target = re.search(r'\bDST="([^"]*)"', doc.text)
        rows: list[_Row] = []
        for hub in re.finditer(r'<HUB COUNT="(\d+)" HOST="([^"]*)">(.*?)</HUB>', doc.text, re.DOTALL):
            pairs = re.findall(r"<(\w+)%?>\s*(-?[\d.]+)%?\s*</", hub[3])
            found = ((key, number(text)) for key, text in pairs)
            values = {"Loss%" if key == "Loss" else key: value for key, value in found if value is not None}
            rows.append((int(hub[1]), hub[2], values, doc.line_at(hub.start())))
        yield from _path(self, rows, {"target": target[1] if target is not None else None})
