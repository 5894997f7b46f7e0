"""Ways hop by hop: traceroute, tracepath and mtr."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dtnsim.logs._declared import LinesParser, Match, reads
from dtnsim.logs._numbers import as_dict, as_list, decimal, number, regex, whole_number
from dtnsim.logs.base import Conditions, Document, Evidence, LineParser, Record, Status, anew, documents, located

_HEAD: Final = regex(r"traceroute6?(?:: .*)? to <target:word> \((?P<address>[\da-fA-F.:]+)(?:%\w+)?\)(?P<rest>.*)")
_TRACERT: Final = re.compile(
    r"(?i)^(?:tracing route to|routenverfolgung zu|détermination de l'itinéraire vers|traza a)\s+"
    r"(?P<target>[\w.:-]+)(?:\s+\[(?P<address>[\da-f.:]+)\])?"
)
_TRACEROUTE_HOP: Final = re.compile(r"^\s*(?P<hop>\d{1,3})[.:]?(?:\s+(?P<rest>\S.*)|\s*)$")
_TOKEN: Final = regex(
    r"(?P<star>\*)|(?P<less><)?\s?<ms:comma>\s*ms\b|(?P<flag>!\S*)|(?P<name>[^\s()]+)\s+\("
    r"(?P<ip>[\da-fA-F]*[.:][\da-fA-F.:]+)(?:%\w+)?\)|\[(?P<bracket>\d[\d.]+|[\da-fA-F]*:[\da-fA-F:.]+)\]|\[[^\]]*\]"
    r"|\([^)]*\)|<[^>]*>|(?P<bare>\d{1,3}(?:\.\d{1,3}){3}|[\da-fA-F]{0,4}:[\da-fA-F:.]*:[\da-fA-F:.]*)(?![\w.])|\S+"
)
_FIRST: Final = re.compile(r"^\s*1\s+(?:\[AS\d+\]\s+)?\S+\s+(?:\([\da-fA-F.:]+\)\s+)?\d+\.\d+ ms\b")
_TRACEROUTE_FAILED: Final = re.compile(
    r"(?:traceroute6?: (?:unknown host|[Ww]arning.*not|.*[Nn]ot known|bad address|.*unreachable|.*permitted).*"
    r"|Unable to resolve target system name.*|^\S+: (?:Name or service not known|Temporary failure in name resolution)"
    r"|Cannot handle \"host\" cmdline arg.*)"
)
_MOST_HOPS: Final = 255

_Probe = tuple[str | None, float, str | None]  #: probes of a hop: (address, time [s], refusal)


class Traceroute(LineParser, evidence=Evidence.WAY):
    """traceroute (Linux, BSD, macOS, Solaris, busybox, IPv6) and Windows tracert.

    Units: milliseconds. Each probe of a hop is a record (``hop``, ``probe``, ``interval=True``); the headline is the
    mean of the last hop that answered, with ``reached`` telling whether that is the target, and ``hops`` is its
    number. ``!X``, ``!H`` and the like are ICMP refusals by that hop: its times are good, the target counts as
    reached only if the address is the target's.

    Lines may be wrapped anywhere by a mailer: text is gathered until the next hop number. Timeouts give no figure. A
    router that answers slowly (ICMP is handled aside the fast path) is no slow path: use the smallest times.
    """

    words = "traceroute Tracing tracert Routenverfolgung itinéraire resolve known"
    commands = ("traceroute", "traceroute6", "tracert")
    shape = r"^\s+\S.* ms(?:   ms|  \*)"  #: a first hop whose head is missing (it goes to stderr on BSD and macOS)

    _target = anew(str)
    _address = anew(str)
    _start = anew(int)  # line of the head
    _hop = anew(int)  # that is read, its line and its text
    _line = anew(int)
    _text = anew(str)
    _last: tuple[int, int, list[_Probe]] | None = anew()  # number, line and probes of the last hop that answered
    _cut = anew(bool)  # the file ends inside a line of the last hop

    def feed(self, text: str) -> Iterator[Record]:
        head = (_HEAD.search(text) if "traceroute" in text else None) or _TRACERT.search(text)
        if head is not None:
            yield from self.settle()
            self._begin(head["target"], head["address"])
            return
        if self.open:
            yield from self._more(text)
        if not self.open and _FIRST.match(text):
            self._begin(None, None)
            yield from self._more(text)
        elif not self.open:
            words = ("traceroute", "Unable to", "Cannot handle")
            problem = located(_TRACEROUTE_FAILED, text, *words) or _TRACEROUTE_FAILED.match(text)
            if problem is not None and ("traceroute" in text or self.ctx.args(*self.commands) is not None):
                yield self.failure(problem[0])

    def settle(self) -> Iterator[Record]:
        if not self.open:
            return
        self.open = False
        yield from self._probed()
        number, line, probes = self.need(self._last, "", "no hop answered", line=self._start)
        answers = [probe for probe in probes if probe[0] in (self._address, self._target)]
        reached, answers = bool(answers), answers or probes
        times, flags = [time for _, time, _ in answers], [flag for _, _, flag in answers if flag]
        conditions: Conditions = {**self.known, "hop": number, "reached": reached, "address": answers[-1][0]}
        conditions["annotation"] = flags[0] if flags else None
        status: Status = "truncated" if self._cut else "complete" if reached else "partial"
        mean, least = sum(times) / len(times), {**conditions, "statistic": "min"}
        yield self.measure("rtt", mean, f"{mean * 1e3:.3f} ms", status=status, line=line, **conditions)
        yield self.measure("rtt", min(times), f"{min(times) * 1e3:g} ms", least, status=status, line=line)
        yield self.measure("hops", number, str(number), status=status, line=line, **conditions)

    def _begin(self, target: str | None, address: str | None) -> None:
        host = self.where["host"]
        self.forget()
        self.known = {key: value for key, value in (("target", target), ("host", host)) if value is not None}
        self._target, self._address = target or "", address or target or ""
        self._start, self.open = self.ctx.line, True

    def _more(self, text: str) -> Iterator[Record]:
        self._cut = self.ctx.last
        match = _TRACEROUTE_HOP.match(text)
        number = int(match["hop"]) if match is not None else 0
        wrapped = self._text.rstrip().endswith(tuple("0123456789")) and text.lstrip().startswith("ms")
        indented = text[:1] in (" ", "\t")
        if match is not None and self._hop < number <= min(self._hop + 30, _MOST_HOPS) and not wrapped:
            yield from self._probed()
            self._hop, self._text, self._line = number, match["rest"] or "", self.ctx.line
        elif self._hop and text.strip() and (indented or wrapped):
            self._text = (self._text + " " + text.strip())[:4000]
        elif self._hop or self.ctx.line - self._start > 2:
            yield from self.settle()
        elif text.strip() and not (indented or "packets" in text or "hops" in text):
            yield from self.settle()  # neither the wrapped end of the head nor tracert's second line

    def _probed(self) -> Iterator[Record]:
        """The probes of the hop whose text is gathered."""
        text, self._text = self._text, ""
        address: str | None = None
        probes: list[_Probe] = []
        sent = 0
        for token in _TOKEN.finditer(text):
            address = token["ip"] or token["bracket"] or token["bare"] or address
            sent += bool(token["star"] or token["ms"])
            if token["flag"] and probes:
                probes[-1] = (*probes[-1][:2], token["flag"])
            elif token["ms"]:
                value = decimal(token["ms"]) * 1e-3
                probes.append((address, value, None))
                conditions: Conditions = {**self.known, "hop": self._hop, "probe": sent}
                conditions |= {"address": address, "interval": True, "upper_bound": True if token["less"] else None}
                yield self.measure("rtt", value, token[0].strip(), line=self._line, **conditions)
        if probes:
            if probes[0][0] is None:  # tracert prints the address after the times
                probes = [(address, time, flag) for _, time, flag in probes]
            self._last = self._hop, self._line, probes


_TIME: Final = regex(r"(?<![\d.,])<ms:comma> ?ms\b")
_PMTU: Final = re.compile(r"\bpmtu (\d+)")
_ASYMM: Final = re.compile(r"\basymm +(\d+)")


class Tracepath(LinesParser, evidence=Evidence.WAY):
    """tracepath and tracepath6 of iputils.

    Units: milliseconds; ``pmtu`` in bytes of the IP packet. ``asymm N`` says that the way back seems to have N hops.
    A hop may print several lines (a lower path MTU found there, a late answer after it). The headline is the RTT of
    the host that is ``reached``, the path MTU of the ``Resume`` line and the number of hops; without ``reached``
    there is no RTT of the target.
    """

    words = "pmtu reached asymm tracepath LOCALHOST reply Resume"
    shape = r"^ ?: .*ms"
    commands = ("tracepath", "tracepath6")

    _target: str | None = None
    _last: tuple[int, str] | None = None

    _active = anew(bool)  # a first hop or a command of the tool was seen

    @reads(r"^\s*Resume: pmtu <mtu:int>(?: hops <hops:int>)?(?: back <back:int>)?")
    def _summary(self, match: Match) -> Iterator[Record]:
        hops = whole_number(match["hops"])
        facts: Conditions = {"target": self._target, "reached": hops is not None, "hops": hops}
        yield self.measure("mtu", int(match["mtu"]), f"pmtu {match['mtu']}", **facts)
        if hops is not None:
            more = {"target": self._target, "hops_back": whole_number(match["back"])}
            yield self.measure("hops", hops, f"hops {hops}", more)
        self._active, self._last, self._target = False, None, None

    @reads(r"^\s*Too many hops: pmtu (\d+)")
    def _many(self, match: Match) -> Record:
        return self.unread(match.string, "the target was not reached")

    @reads(r"^\s*(?P<hop>\d{1,3})(?P<maybe>\?)?:\s+(?P<host>\S+)(?:\s+\((?P<address>[\da-fA-F.:]+)\))?(?P<rest>\s.*)?$")
    def _hop(self, match: Match) -> Iterator[Record]:
        rest, args = match["rest"] or "", self.ctx.args("tracepath", "tracepath6")
        first = match["maybe"] is not None or match["host"] == "[LOCALHOST]"
        mine = first or "pmtu" in rest or "reached" in rest or "asymm" in rest
        if not (self._active or mine or args is not None):
            return
        if first or not self._active:
            self._target = args[-1] if args and not args[-1].startswith("-") else None
        self._active, time = True, _TIME.search(rest)
        if time is None or first:
            return
        hop = int(match["hop"]), match["address"] or match["host"]
        facts: Conditions = {"hop": hop[0], "address": hop[1], "target": self._target}
        facts |= {key: int(n[1]) for key, n in (("hops_back", _ASYMM.search(rest)), ("mtu_B", _PMTU.search(rest))) if n}
        if "reached" in rest:
            facts |= {"reached": True, "interval": True if self._last == hop else None}  # a second probe of the target
            self._last = hop
        else:
            facts["interval"] = True
        yield self.measure("rtt", decimal(time["ms"]) * 1e-3, time[0], **facts)

    @reads(r"tracepath6?: .*(?:known|unreachable|permitted|resol).*")
    def _failed(self, match: Match) -> Record:
        return self.failure(match[0])


_COLUMN: Final = re.compile(r"Loss%|Drop|Rcv|Snt|Last|Best|Avg|Wrst|StDev|Gmean|Jttr|Javg|Jmax|Jint")
_ROW: Final = re.compile(r"^\s*(?P<hop>\d{1,3})\.(?:\|--)?\s+(?P<rest>\S.*)$")
_OTHER: Final = re.compile(r"^\s+(?:\||`|\+|\\|[\w.:-]+\s*$|\[MPLS)")
_FIGURES: Final = re.compile(r"(?<=\s)-?\d+(?:\.\d+)?%?(?=\s|$)")
_AS: Final = re.compile(r"^AS\S*\s+")
_CSV: Final = re.compile(r"^(?:Mtr_Version|MTR\.(?P<version>[\d.]++\w*+))[,;]")

_TIMES: Final = (
    "rtt {Avg:g} ms", "rtt {Best:g} ms : statistic=min", "rtt {Wrst:g} ms : statistic=max",
    "rtt {StDev:g} ms : statistic=stddev", "jitter {Javg:g} ms",
)  # fmt: skip

_Row = tuple[int, str, dict[str, float], int]  #: hop, address, figures by column, line


class Mtr(LineParser, evidence=Evidence.WAY):
    """mtr: report (``-r``, ``-w``, ``-b``, ``-z``, ``-o``), interactive screen, CSV, JSON and XML.

    Units: milliseconds, ``Loss%`` in per cent (mtr ``ui/mtr.c``, data_fields). Columns are those that the head
    names: L Loss%, D Drop, R Rcv, S Snt, N Last, B Best, A Avg, W Wrst, V StDev, G Gmean, J Jttr, M Javg, X Jmax,
    I Jint. A hop ``???`` answered nothing: it has a loss and no RTT. Routers limit their ICMP answers: a loss in the
    middle of a path that is gone further on is no loss of the path. The last hop carries ``last=True`` and is the
    headline, unless it is ``???``. Of an interactive screen only the last drawing counts.
    """

    words = "Loss Snt MTR Mtr Drop mtr"

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
            yield from self._path(rows, self._known, line=rows[-1][3])

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
        match = _ROW.match(text)
        if match is None:
            # other addresses of the same hop, and blank lines of a screen, belong to the table
            if not (_OTHER.match(text) if text.strip() else self._screen):
                yield from self.settle()
            return
        rest, hop = _AS.sub("", match["rest"]), int(match["hop"])
        figures = list(_FIGURES.finditer(rest))
        if len(figures) >= len(self._columns) and len(self._rows) < 256:
            tail = figures[-len(self._columns) :]
            values = {c: float(f[0].rstrip("%")) for c, f in zip(self._columns, tail, strict=True)}
            self._rows.append((hop, rest[: tail[0].start()].strip(), values, self.ctx.line))
        elif rest.strip() in ("???", "(waiting for reply)"):
            self._rows.append((hop, "???", {"Loss%": 100.0}, self.ctx.line))

    def _csv_row(self, match: re.Match[str], fields: list[str]) -> Iterator[Record]:
        self.version = match["version"] or self.version
        if match["version"] is None:
            yield from self.settle()
            self._heads = fields
            return
        row = dict(zip(self._heads, fields, strict=False))
        hop, target = number(row.get("Hop")), {"target": row.get("Host")}
        if not self._heads or not -1 <= len(fields) - len(self._heads) <= 0:
            yield self.unread(match.string, "CSV without a head that names its columns")
        elif hop is None:
            yield self.unread(match.string, "the hop is no number")
        else:
            if self._rows and (self._columns or hop <= self._rows[-1][0] or target != self._known):
                yield from self.settle()
            values = {column: value for column in self._heads if (value := number(row.get(column))) is not None}
            self._rows.append((int(hop), row.get("Ip", ""), values, self.ctx.line))
            self._known = target

    def _path(
        self, rows: Sequence[_Row], path: Conditions, *, whole: bool = True, line: int | None = None
    ) -> Iterator[Record]:
        """The figures of all hops, of which the last of a whole path is its headline, and how many answered."""
        for hop, host, values, row_line in rows:
            loss, sent = values.get("Loss%"), values.get("Snt")
            conditions = {**path, "hop": hop, "address": host, "packets": None if sent is None else int(sent)}
            conditions["last"] = (whole and row_line == rows[-1][3] and hop == rows[-1][0]) or None
            if loss is None or loss <= 100:
                yield from self.figures(values, conditions, "loss {Loss%:g}% [percent]", line=row_line)
            yield from self.figures(values, conditions, *_TIMES, line=row_line) if host != "???" and loss != 100 else ()
        answered = [row[0] for row in rows if row[1] != "???"]
        if answered and whole and line is not None:
            yield self.measure("hops", max(answered), str(max(answered)), dict(path), line=line)

    @documents(fits=lambda doc: "hubs" in as_dict(as_dict(doc.data).get("report")))
    def _json(self, doc: Document) -> Iterator[Record]:
        report, lines = doc.data["report"], doc.lines()
        about = as_dict(report.get("mtr"))
        path = {name: None if (end := about.get(key)) is None else str(end)
                for name, key in (("target", "dst"), ("source", "src"))}  # fmt: skip
        rows: list[_Row] = []
        for index, hub in enumerate(filter(None, map(as_dict, as_list(report["hubs"]))), 1):
            hop = int(number(hub.get("count")) or index)
            values = {key: value for key in hub if (value := number(hub[key])) is not None and key != "count"}
            rows.append((hop, str(hub.get("host", "")), values, lines('"count"')))
        yield from self._path(rows, path, whole=not doc.cut, line=doc.line_of('"hubs"'))

    @documents(kind="xml", sign=r"<MTR\b")
    def _xml(self, doc: Document) -> Iterator[Record]:
        """The hops; read by pattern, for the files are flat and may be cut."""
        target = re.search(r'\bDST="([^"]*)"', doc.text)
        rows: list[_Row] = []
        for hub in re.finditer(r'<HUB COUNT="(\d+)" HOST="([^"]*)">(.*?)</HUB>', doc.text, re.DOTALL):
            pairs = re.findall(r"<(\w+)%?>\s*(-?[\d.]+)%?\s*</", hub[3])
            parsed = ((key, number(text)) for key, text in pairs)
            values = {"Loss%" if key == "Loss" else key: value for key, value in parsed if value is not None}
            rows.append((int(hub[1]), hub[2], values, doc.line_at(hub.start())))
        yield from self._path(rows, {"target": target[1] if target is not None else None})
