"""Tests and copies with MPI: mpiFileUtils, mdtest, IO500."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._declared import Found, LinesParser, Match, notes, reads
from dtnsim.logs._numbers import BINARY
from dtnsim.logs.base import Conditions, Evidence, Record, anew, located

_TASKS: Final = re.compile(r" (?:-n|-np|--ntasks=?) ?(\d{1,6})(?= )")
_ERROR: Final = re.compile(r"\bERROR: .*|mdtest: .*\b(?:failed|error)\b.*", re.IGNORECASE)
_GIB: Final = 2.0**30
_OPERATIONS: Final = {"write", "read", "stat", "delete"}


class Dcp(LinesParser):
    """dcp and dsync of mpiFileUtils 0.8 and later.

    Units: ``GiB``, ``MiB/s`` are powers of 1024; the rate is computed from the bytes and seconds beside it (checked:
    70634049927 bytes in 8004.996 s are 8.415 MiB/s). ``Rate:`` is printed for the copying alone (``of="data"``) and
    again below ``Seconds:`` for the whole run, which is the headline; ``Copy rate:`` of dsync counts making
    directories (issue 493). Progress lines are intervals, cumulative. Numbers of files, directories and items are
    conditions of the whole.
    """

    tool = "mpifileutils"
    evidence = Evidence.TRANSFER
    words = ("Rate", "rate", "Copied", "Items", "Directories", "Files", "Links", "Seconds")
    commands = ("dcp", "dsync")

    _whole = anew(bool)

    _counts = notes(
        r"^\s*+(?:Items: (?P<items>\d{1,15})|Directories: (?P<directories>\d{1,15})|Files: (?P<files>\d{1,15})"
        r"|Links: (?P<links>\d{1,15}))\s*+$"
    )

    @reads(r"^\s*+Seconds: \d++\.\d++\s*+$")
    def _seconds(self, found: Match) -> None:  # noqa: ARG002 (what reads hands over)
        self._whole = True

    @reads(
        r"^\s*+(?P<what>Rate|Copy rate): <rate:real> <unit:k>i?B/s \(<size:int> bytes in <seconds:real> seconds\)",
        result=" bytes in ",
    )
    def _rate(self, found: Match) -> Iterator[Record]:
        size, seconds, command = int(found["size"]), float(found["seconds"]), self.ctx.command
        tasks = None if command is None else _TASKS.search(command.text[:2000])
        known: Conditions = {**self.where, "bytes": float(size), "duration_s": seconds}
        known["tasks"] = None if tasks is None else int(tasks[1])
        whole, self._whole = self._whole, False
        if found["what"] == "Copy rate" or not whole:
            known["of"] = "data"
        else:
            known, self.known = known | self.known, {}
        if size <= 0 or seconds <= 0:
            yield self.unread(found[0], "nothing was copied: no rate")
            return
        rate, printed, unit = size / seconds, f"{found['rate']} {found['unit']}iB/s", BINARY[found["unit"]]
        if abs(rate - float(found["rate"]) * unit) > 0.01 * rate + 0.001 * unit:
            yield self.unread(printed, f"bytes and seconds give {rate:.4g} B/s")
        yield self.measure("throughput", rate, "B/s", printed, **known)
        if whole:
            yield self.measure("duration", seconds, "s", f"{found['seconds']} seconds", **known)

    @reads(
        r"^\s*+Copied <size:real> <su:k>i?B \((?P<share>\d{1,3})%\) in <seconds:real> secs \(<rate:real> <ru:k>i?B/s\)"
    )
    def _progress(self, found: Match) -> Found:
        if float(found["rate"]) <= 0:
            return None
        known: Conditions = {**self.where, "interval": True, "cumulative": True}
        known |= {"bytes": float(found["size"]) * BINARY[found["su"]], "duration_s": float(found["seconds"])}
        return self.printed("throughput", found["rate"], f"{found['ru']}iB/s", known)


class Mdtest(LinesParser):
    """mdtest 1.8 to 4.x.

    Units: the table ``SUMMARY rate`` is operations per second; ``SUMMARY time`` has the same labels with seconds
    (3.x) or milliseconds per operation (4.x, ``in ms/op``) and is not read, for it repeats the rates. A rate of zero
    means that the phase was not run. With per-rank statistics (``per Rank: Max Min Mean per Iteration: Max Min
    Mean``) the columns per iteration are read. The headline is Max; for one iteration Mean differs from it only by
    the ranks' clocks.
    """

    tool = "mdtest"
    evidence = Evidence.SERVERS
    words = ("mdtest", "SUMMARY", "tasks", "ERROR")
    _read_any = False

    _launch = notes(
        r"mdtest-<version:word> was launched with <tasks:int> total task\(s\) on <nodes:int> node", new=True
    )

    @reads(r"SUMMARY(?: (rate|time)\b|: \(of \d+ iterations?\))")
    def _table(self, found: Match) -> None:
        self.open = found[1] != "time"  # before 1.9.3 the heading names no unit and there is no table of times
        self._read_any = False

    @reads(r"^\d+ tasks, (\d+) (?:files|directories)")
    def _files(self, found: Match) -> None:
        if self.known:
            self.known["files"] = int(found[1])

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
        elif len(values) in (4, 7):
            figures = list(zip(("max", "mean"), values[-4:-1:2], strict=True))
        else:
            yield self.unread(row[0], f"the row has {len(values)} figures, not 3, 4 or 7")
            return
        operation = row["what"].replace(" (stonewall)", "").lower().replace(" ", "_")
        known = {"operation": operation.replace("creation", "create").replace("removal", "remove"), **self.known}
        known["view"] = "stonewall" if stonewall else None
        for statistic, text in figures:
            if text != "NA" and float(text) > 0:
                yield self.printed("rate", text, "/s", statistic=statistic, **known)

    def other(self, text: str) -> Found:
        if self.open:
            self.open = bool(text.strip() or not self._read_any) and not text.startswith("--")
            return None
        words = ("mdtest: ", "ERROR: ", "Error: ", "error: ")
        error = located(_ERROR, text, *words) if self.known else None
        return None if error is None else self.failure(error[0], **self.known)


def _known(phase: str, *, valid: bool) -> Conditions:
    operation = phase.rpartition("-")[2]
    return {"of": phase, "operation": operation if operation in _OPERATIONS else phase, "valid": valid}


class Io500(LinesParser):
    """IO500: the summary of the C program (since 2020) and of the scripts before it, and the program's result.txt.

    Units: ``GiB/s`` and, in the scripts, ``GB/s`` are 2^30 B/s (io500.sh divides IOR's MiB/s by 1024); ``kIOPS`` and
    ``kiops`` are thousands of files a second, since its operations are those of mdtest and find. ``valid`` is false
    where a phase broke the rules (less than 300 s); it was measured all the same. The scores are geometric means of
    the phases (``statistic="geometric mean"``); the total, which has no unit, is left out. ``score`` in result.txt is
    the phase's rate in GiB/s (``ior-``) or kIOPS, the same number as in the summary of the same run; its own section
    SCORE is left out.
    """

    tool = "io500"
    evidence = Evidence.SERVERS
    commands = ()
    words = ("RESULT", "SCORE", "IO")

    version: str | None = anew()

    _version = notes(r"^\s*+IO500 version <version:word>", to=str)

    @reads(
        r"^\s*+\[RESULT(?P<bad>-invalid)?\](?: (?:BW|IOPS) +phase \d++)? ++(?P<phase>[a-z][\w-]++) ++<value:real> "
        r"(?P<unit>GiB/s|GB/s|kIOPS|kiops) *+: time ++<seconds:real> seconds(?P<rest>.{0,20})",
        result="[RESULT",
    )
    def _phase(self, found: Match) -> Found:
        phase, value = found["phase"].replace("_", "-"), float(found["value"])
        printed = found["value"] + " " + found["unit"]
        if value <= 0:
            return self.unread(f"{phase} {printed}", "nothing was done: no rate")
        known = _known(phase, valid=found["bad"] is None and "INVALID" not in found["rest"])
        known["duration_s"] = float(found["seconds"])
        kind = ("throughput", value * _GIB, "B/s") if found["unit"][0] == "G" else ("rate", value * 1e3, "1/s")
        return self.measure(*kind, printed, **known)

    @reads(
        r"^\s*+\[SCORE(?P<bad>-invalid| INVALID)? ?\] Bandwidth <rate:real> (?:GiB/s|GB/s) *+: IOPS "
        r"<iops:real> kiops *+: TOTAL <total:real>(?P<rest>.{0,20})"
    )
    def _score(self, found: Match) -> Iterator[Record]:
        known: Conditions = {"of": "score", "statistic": "geometric mean"}
        known["valid"] = found["bad"] is None and "INVALID" not in found["rest"]
        if float(found["rate"]) > 0:
            yield self.printed("throughput", found["rate"], "GiB/s", **known)
        if float(found["iops"]) > 0:
            yield self.measure("rate", float(found["iops"]) * 1e3, "1/s", f"{found['iops']} kiops", **known)


class Io500Result(LinesParser, of=Io500):
    """Sections of result.txt."""

    shape = r"^\s*\[(?:(?:ior|mdtest)-(?:easy|hard|rnd)|find)[^\]]{0,20}\]"

    _phase = anew(str)
    _pairs: dict[str, str] = anew(dict)
    _valid = anew(lambda: True)
    _line = anew(int)

    @reads(r"^\s*+\[(?P<phase>(?:ior|mdtest)-(?:easy|hard|rnd)[\w-]{0,20}|find[\w-]{0,20})\]\s*+$")
    def _section(self, found: Match) -> Iterator[Record]:
        yield from self.settle()
        self._phase, self.open = found["phase"], True

    @reads(r"^\s*+(?P<key>score|t_delta|t_start|t_end)\s++= <value:word>(?: (?P<clock>[\d:]{8}))?\s*+$", inside=True)
    def _pair(self, found: Match) -> None:
        self._pairs[found["key"]] = found["value"] + (f"T{found['clock']}Z" if found["clock"] else "")
        self._line = self.ctx.line if found["key"] == "score" else self._line

    def other(self, text: str) -> Found:
        self._valid = self._valid and "INVALID" not in text
        return self.settle() if text.lstrip().startswith("[") and "INVALID" not in text else None

    def settle(self) -> Iterable[Record]:
        phase, pairs, valid, line = self._phase, self._pairs, self._valid, self._line
        self.forget()
        try:
            score, seconds = float(pairs.get("score", "")), float(pairs["t_delta"]) if "t_delta" in pairs else None
        except ValueError:
            return
        if phase and 0.0 < score < 1e9:
            known = {**self.where, **_known(phase, valid=valid), "duration_s": seconds}
            known["end"] = pairs.get("t_end")
            io = phase.startswith("ior")
            kind = ("throughput", score * _GIB, "B/s") if io else ("rate", score * 1e3, "1/s")
            yield self.measure(*kind, f"{pairs['score']} {'GiB/s' if io else 'kIOPS'}", line=line, **known)
