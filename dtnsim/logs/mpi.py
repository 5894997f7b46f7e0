"""Tests and copies with MPI: IOR, mdtest, IO500, mpiFileUtils."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._commands import meanings
from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import BINARY, as_dict, as_list, number, size_bytes
from dtnsim.logs.base import Conditions, Document, Evidence, Record, Status, anew, documents, located

MIB: Final = BINARY["M"]
_OPTION: Final = re.compile(r"^\s*([a-zA-Z]\w*+(?: ++\w++)*)\s*+[=:]\s*+(\S*+(?:\s++\S++)*)\s*+$")
_ROW: Final = re.compile(r"^\s*(?:\S+\s+)?(write|read)\s+([\d.]+)(?:\s+[\d.]+)+\s*$")
_SIZE: Final = re.compile(r"(?<![\d.])([\d.]++) ?(bytes|[KMGTP]iB)")
_SPREAD: Final = ("throughput? {MinMiB} [MiB/s] : statistic=min", "throughput? {MeanMiB} [MiB/s] : statistic=mean")
_ERROR: Final = re.compile(r"(?:ior|IOR) ERROR: .*|ERROR: .*\(\S+\.c:\d+\)")


class Ior(LinesParser, evidence=Evidence.SERVERS):
    """IOR 2.10, 3.x and 4.x.

    Units: ``bw(MiB/s)`` and ``Max Write: x MiB/sec (y MB/sec)`` say what they mean (checked: y = x * 1.048576).
    ``Max Write``/``Max Read`` are the headline; newer versions print them only with -v, then the ``Summary of all
    tests`` row, or at last the row of the single repetition, gives it. ``block`` and ``xfer`` columns are KiB.
    Stonewall warnings are normal: IOR then divides the bytes really moved by the time. Source: ior-output.c.
    """

    words = "IOR bw Max Stonewall OPs ERROR Began"
    commands = ("ior", "IOR")
    longest = 5000

    _rows: list[tuple[str, str, int, bool]] = anew(list)  # operation, figure, line, whether it is cut
    _heads: list[str] = anew(list)
    _done: set[str] = anew(set)
    _table = anew(bool)

    _version = notes(r"\bIOR-(?P<version>\d[\w.+-]*): MPI", to=str, opens=True, settles=True)

    @reads(r"^\s*Max (?P<what>Write|Read):\s+<mib:dots> MiB/sec \(<mb:dots> MB/sec\)")
    def _max(self, match: Match) -> Iterator[Record]:
        operation, value = match["what"].lower(), float(match["mib"]) * MIB
        if value == 0 or operation in self._done:
            return  # zero: not run
        self._done.add(operation)
        if abs(value - float(match["mb"]) * 1e6) > 0.006 * 1e6 + 1e-3 * value:
            yield self.unread(match[0], "MiB/sec and MB/sec disagree; the former is used")
        yield self.measure("throughput", value, f"{match['mib']} MiB/sec", operation=operation, **self.known)

    @reads(r"^(?=.*access).*bw\(MiB/s\)", opens=True)
    def _head(self, _: Match) -> Iterator[Record]:
        yield from self.settle() if self._done else ()
        self.open = self._table = True

    def other(self, text: str) -> Found:
        if "ERROR" in text and (self.open or text.startswith(("ior ERROR", "IOR ERROR"))) and _ERROR.search(text):
            return self.failure(text, **self.known)
        if not self.open:
            return self.settle() if self.longest < self.lines and self._rows else None
        if self._table and not self._heads and (row := _ROW.match(text)) is not None:
            if len(self._rows) < 10_000:
                self._rows.append((row[1], row[2], self.ctx.line, self.ctx.cut))
        elif text.startswith("Operation") and "Max(MiB)" in text:
            self._heads = text.split()
        elif self._heads and text.strip():
            return self._summary(text.split())
        else:
            if not self._table and (option := _OPTION.match(text)) is not None:
                self.known |= _option(option[1].strip(), option[2])
            return self.settle() if text.startswith("Finished") or "Finished:" in text else None
        return None

    def _summary(self, words: list[str]) -> Iterator[Record]:
        """The row under the summary's heads; blank cells cannot occur before the ones read."""
        named, operation = dict(zip(self._heads, words, strict=False)), words[0]
        if operation not in ("write", "read") or len(words) < 6:
            return
        row = {re.sub(r"\W", "", head): text for head, text in named.items()}
        most, least, conditions = float(row["MaxMiB"]), float(row["MinMiB"]), {**self.known, "operation": operation}
        if most > 0 and operation not in self._done:
            self._done.add(operation)
            yield self.printed("throughput", row["MaxMiB"], "MiB/s", conditions)
        if least != most:
            yield from self.figures(row, conditions, *_SPREAD)
        yield from self.figures(row, conditions, "iops? {MaxOPs} OPs [/s]")
        if re.fullmatch(r"\d+\.\d+", row.get("StonewallMiB", "NA")):
            yield from self.figures(row, conditions, "throughput? {StonewallMiB} MiB [MiB/s] : view=stonewall")

    def settle(self, *, closing: bool = False) -> Iterator[Record]:
        """Rows whose operation got no summary: the single repetition's row, or an unfinished run's rows."""
        rows = [row for row in self._rows if row[0] not in self._done]
        unfinished = closing and self.version is not None and not self._done  # a whole run prints its summary
        counts = Counter(row[0] for row in rows)
        for operation, figure, line, cut in rows:
            single = self.known.get("repetitions", 1) == 1 and counts[operation] == 1
            finished = (single or bool(self._done)) and not unfinished
            status: Status = "truncated" if cut else "complete" if finished else "partial"
            conditions = {**self.known, "operation": operation}
            if float(figure) > 0:
                rate, printed = float(figure) * MIB, f"{figure} MiB/s"
                yield self.measure("throughput", rate, printed, line=line, status=status, **conditions)
        self.forget()
        self.version = None

    def close(self) -> Iterable[Record]:
        return self.settle(closing=True)

    @documents(fits=lambda doc: any("Results" in as_dict(test) for test in as_list(as_dict(doc.data).get("tests"))))
    def _json(self, doc: Document) -> Iterator[Record]:
        """``-O summaryFormat=JSON``."""
        self.version = str(doc.data.get("Version", "")).removeprefix("IOR-") or None
        for test in map(as_dict, doc.data["tests"]):
            conditions: Conditions = {}
            for key, value in as_dict(test.get("Options") or test.get("Parameters")).items():
                conditions |= _option(key, str(value))
            best: dict[str, dict[str, object]] = {}
            for row in map(as_dict, test.get("Results") or []):
                rate, access = number(row.get("bwMiB")), str(row.get("access"))
                if rate and (number(best.get(access, {}).get("bwMiB")) or 0) < rate:
                    best[access] = row
            for operation, row in best.items():
                self.ctx.line, self.ctx.cut = doc.line_of(str(row["bwMiB"])), doc.cut  # the best may be yet to come
                more = {**conditions, "operation": operation}
                yield from self.figures(row, more, "throughput {bwMiB} MiB/s", "iops? {iops} iops [/s]")


def _option(key: str, value: str) -> Conditions:
    """What an option of IOR says: sizes such as ``1 MiB`` or ``4096 bytes``, counts, words."""
    name = meanings("ior").get(key.lower())
    if name is None or not value:
        return {}
    if name.endswith("_B"):
        return {} if (size := _SIZE.match(value)) is None else {name: size_bytes(size[0])}
    if (count := re.match(r"(\d+)(?: \((\d+) per node\))?", value)) is not None:
        return {name: int(count[1]), **({"tasks_per_node": int(count[2])} if count[2] else {})}
    return {name: value.partition(" (")[0]}


_TASKS: Final = re.compile(r" (?:-n|-np|--ntasks=?) ?(\d{1,6})(?= )")
_MDTEST_ERROR: Final = re.compile(r"\bERROR: .*|mdtest: .*\b(?:failed|error)\b.*", re.IGNORECASE)
_GIB: Final = 2.0**30
_OPERATIONS: Final = {"write", "read", "stat", "delete"}


class Dcp(LinesParser, evidence=Evidence.TRANSFER):
    """dcp and dsync of mpiFileUtils 0.8 and later.

    Units: ``GiB``, ``MiB/s`` are powers of 1024; the rate is computed from the bytes and seconds beside it (checked:
    70634049927 bytes in 8004.996 s are 8.415 MiB/s). ``Rate:`` is printed for the copying alone (``of="data"``) and
    again below ``Seconds:`` for the whole run, which is the headline; ``Copy rate:`` of dsync counts making
    directories (issue 493). Progress lines are intervals, cumulative. Numbers of files, directories and items are
    conditions of the whole.
    """

    tool = "mpifileutils"
    words = "Rate rate Copied Items Directories Files Links Seconds"
    commands = ("dcp", "dsync")

    _whole = anew(bool)

    _counts = notes(
        r"^\s*+(?:Items: (?P<items>\d{1,15})|Directories: (?P<directories>\d{1,15})|Files: (?P<files>\d{1,15})"
        r"|Links: (?P<links>\d{1,15}))\s*+$"
    )

    _seconds = notes(r"^\s*+Seconds: \d++\.\d++\s*+$", _whole=True)

    @reads(
        r"^\s*+(?P<what>Rate|Copy rate): <rate:real> <unit:k>i?B/s \(<size:int> bytes in <seconds:real> seconds\)",
        result=" bytes in ",
    )
    def _rate(self, match: Match) -> Iterator[Record]:
        size, seconds, command = int(match["size"]), float(match["seconds"]), self.ctx.command
        tasks = None if command is None else _TASKS.search(command.text[:2000])
        conditions: Conditions = {**self.where, "bytes": float(size), "duration_s": seconds}
        conditions["tasks"] = None if tasks is None else int(tasks[1])
        overall, self._whole = self._whole, False
        if match["what"] == "Copy rate" or not overall:
            conditions["of"] = "data"
        else:
            conditions, self.known = conditions | self.known, {}
        self.need(size > 0 and seconds > 0, match[0], "nothing was copied: no rate")
        rate, printed, unit = size / seconds, f"{match['rate']} {match['unit']}iB/s", BINARY[match["unit"]]
        if abs(rate - float(match["rate"]) * unit) > 0.01 * rate + 0.001 * unit:
            yield self.unread(printed, f"bytes and seconds give {rate:.4g} B/s")
        yield self.measure("throughput", rate, printed, **conditions)
        if overall:
            yield self.measure("duration", seconds, f"{match['seconds']} seconds", **conditions)

    @reads(r"^\s*+Copied <size:real> <su:k>i?B \(\d{1,3}%\) in <seconds:real> secs \(<rate:real> <ru:k>i?B/s\)")
    def _progress(self, match: Match) -> Found:
        if float(match["rate"]) <= 0:
            return None
        conditions: Conditions = {**self.where, "interval": True, "cumulative": True}
        conditions |= {"bytes": float(match["size"]) * BINARY[match["su"]], "duration_s": float(match["seconds"])}
        return self.printed("throughput", match["rate"], f"{match['ru']}iB/s", conditions)


class Mdtest(LinesParser, evidence=Evidence.SERVERS):
    """mdtest 1.8 to 4.x.

    Units: the table ``SUMMARY rate`` is operations per second; ``SUMMARY time`` has the same labels with seconds
    (3.x) or milliseconds per operation (4.x, ``in ms/op``) and is not read, for it repeats the rates. A rate of zero
    means that the phase was not run. With per-rank statistics (``per Rank: Max Min Mean per Iteration: Max Min
    Mean``) the columns per iteration are read. The headline is Max; for one iteration Mean differs from it only by
    the ranks' clocks.
    """

    words = "mdtest SUMMARY tasks ERROR"
    _read_any = False

    _launch = notes(r"mdtest-<version:word> was launched with <tasks:int> total task\(s\) on <nodes:int> n", new=True)

    @reads(r"SUMMARY(?: (rate|time)\b|: \(of \d+ iterations?\))")
    def _table(self, match: Match) -> None:
        self.open = match[1] != "time"  # before 1.9.3 the heading names no unit and there is no table of times
        self._read_any = False

    @reads(r"^\d+ tasks, (\d+) (?:files|directories)")
    def _files(self, match: Match) -> None:
        if self.known:
            self.known["files"] = int(match[1])

    @reads(
        r"^\s*(?P<what>(?:Directory|File|Tree) (?:creation|create|stat|read|rename|removal)(?: \(stonewall\))?)"
        r"(?:\s*+:\s++|\s++)(?P<values>(?:NA|[\d.]++)(?:\s++(?:NA|[\d.]++)){2,6}+)\s*+$",
        inside=True,
    )
    def _row(self, row: Match) -> Iterator[Record]:
        self._read_any, values, stonewall = True, row["values"].split(), "stonewall" in row["what"]
        if stonewall and len(values) == 4:
            figures = [("mean", values[2])]
        elif len(values) == 3:  # a mailer put the standard deviation on the next line
            figures = [("max", values[0]), ("mean", values[2])]
        else:
            self.need(len(values) in (4, 7), row[0], f"the row has {len(values)} figures, not 3, 4 or 7")
            figures = list(zip(("max", "mean"), values[-4:-1:2], strict=True))
        operation = row["what"].replace(" (stonewall)", "").lower().replace(" ", "_")
        conditions = {"operation": operation.replace("creation", "create").replace("removal", "remove"), **self.known}
        conditions["view"] = "stonewall" if stonewall else None
        for statistic, text in figures:
            if text != "NA" and float(text) > 0:
                yield self.printed("rate", text, "/s", statistic=statistic, **conditions)

    def other(self, text: str) -> Found:
        if self.open:
            self.open = bool(text.strip() or not self._read_any) and not text.startswith("--")
            return None
        words = ("mdtest: ", "ERROR: ", "Error: ", "error: ")
        error = located(_MDTEST_ERROR, text, *words) if self.known else None
        return None if error is None else self.failure(error[0], **self.known)


def _phase_conditions(phase: str, *, valid: bool) -> Conditions:
    operation = phase.rpartition("-")[2]
    return {"of": phase, "operation": operation if operation in _OPERATIONS else phase, "valid": valid}


class Io500(LinesParser, evidence=Evidence.SERVERS):
    """IO500: the summary of the C program (since 2020) and of the scripts before it, and the program's result.txt.

    Units: ``GiB/s`` and, in the scripts, ``GB/s`` are 2^30 B/s (io500.sh divides IOR's MiB/s by 1024); ``kIOPS`` and
    ``kiops`` are thousands of files a second, since its operations are those of mdtest and find. ``valid`` is false
    where a phase broke the rules (less than 300 s); it was measured all the same. The scores are geometric means of
    the phases (``statistic="geometric mean"``); the total, which has no unit, is left out. ``score`` in result.txt is
    the phase's rate in GiB/s (``ior-``) or kIOPS, the same number as in the summary of the same run; its own section
    SCORE is left out.
    """

    commands = ()
    words = "RESULT SCORE IO"
    shape = r"^\s*\[(?:(?:ior|mdtest)-(?:easy|hard|rnd)|find)[^\]]{0,20}\]"

    version: str | None = anew()
    _pairs: dict[str, str] = anew(dict)  # of a section of result.txt
    _valid = anew(lambda: True)
    _line = anew(int)

    _version = notes(r"^\s*+IO500 version <version:word>", to=str)

    @reads(
        r"^\s*+\[RESULT(?P<bad>-invalid)?\](?: (?:BW|IOPS) +phase \d++)? ++(?P<phase>[a-z][\w-]++) ++<value:real> "
        r"(?P<unit>GiB/s|GB/s|kIOPS|kiops) *+: time ++<seconds:real> seconds(?P<rest>.{0,20})",
        result="[RESULT",
    )
    def _phase(self, match: Match) -> Found:
        phase, value = match["phase"].replace("_", "-"), float(match["value"])
        printed = match["value"] + " " + match["unit"]
        self.need(value > 0, f"{phase} {printed}", "nothing was done: no rate")
        conditions = _phase_conditions(phase, valid=match["bad"] is None and "INVALID" not in match["rest"])
        conditions["duration_s"] = float(match["seconds"])
        kind = ("throughput", value * _GIB) if match["unit"][0] == "G" else ("rate", value * 1e3)
        return self.measure(*kind, printed, **conditions)

    @reads(
        r"^\s*+\[SCORE(?P<bad>-invalid| INVALID)? ?\] Bandwidth <rate:real> (?:GiB/s|GB/s) *+: IOPS "
        r"<iops:real> kiops *+: TOTAL <total:real>(?P<rest>.{0,20})"
    )
    def _score(self, match: Match) -> Iterator[Record]:
        conditions: Conditions = {"of": "score", "statistic": "geometric mean"}
        conditions["valid"] = match["bad"] is None and "INVALID" not in match["rest"]
        yield from self.figures(match, conditions, "throughput? {rate} GiB/s")
        if float(match["iops"]) > 0:
            yield self.measure("rate", float(match["iops"]) * 1e3, f"{match['iops']} kiops", **conditions)

    _section = notes(
        r"^\s*+\[(?P<phase>(?:ior|mdtest)-(?:easy|hard|rnd)[\w-]{0,20}|find[\w-]{0,20})\]\s*+$",
        to=str, opens=True, settles=True,
    )  # fmt: skip

    @reads(r"^\s*+(?P<key>score|t_delta|t_start|t_end)\s++= <value:word>(?: (?P<clock>[\d:]{8}))?\s*+$", inside=True)
    def _pair(self, match: Match) -> None:
        self._pairs[match["key"]] = match["value"] + (f"T{match['clock']}Z" if match["clock"] else "")
        self._line = self.ctx.line if match["key"] == "score" else self._line

    def other(self, text: str) -> Found:
        self._valid = self._valid and "INVALID" not in text
        return self.settle() if text.lstrip().startswith("[") and "INVALID" not in text else None

    def settle(self) -> Iterable[Record]:
        phase, pairs, valid = str(self.known.pop("phase", "")), self._pairs, self._valid
        self._pairs, self._valid, self.open = {}, True, False
        score, seconds = number(pairs.get("score")) or 0.0, number(pairs.get("t_delta"))
        if phase and 0.0 < score < 1e9 and (seconds is not None or "t_delta" not in pairs):
            conditions = {**self.where, **_phase_conditions(phase, valid=valid), "duration_s": seconds}
            conditions["end"] = pairs.get("t_end")
            io = phase.startswith("ior")
            kind = ("throughput", score * _GIB) if io else ("rate", score * 1e3)
            before, self.version = self.version, None  # of what printed text
            yield self.measure(*kind, f"{pairs['score']} {'GiB/s' if io else 'kIOPS'}", line=self._line, **conditions)
            self.version = before
