"""Tests and copies with MPI: mpiFileUtils, mdtest, IO500."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from dtnsim.logs._net import host_of
from dtnsim.logs.base import BINARY, Command, Conditions, Context, Evidence, LineParser, Record, located

_RATE: Final = re.compile(
    r"^\s*+(?P<what>Rate|Copy rate): (?P<rate>\d++\.\d++) (?P<unit>[KMGTP]?)i?B/s "
    r"\((?P<size>\d++) bytes in (?P<seconds>\d++\.\d++) seconds\)"
)
_PROGRESS: Final = re.compile(
    r"^\s*+Copied (?P<size>\d++\.\d++) (?P<su>[KMGTP]?)i?B \((?P<share>\d{1,3})%\) in (?P<seconds>\d++\.\d++) secs "
    r"\((?P<rate>\d++\.\d++) (?P<ru>[KMGTP]?)i?B/s\)"
)
_COUNT: Final = re.compile(r"^\s*+(?P<what>Items|Directories|Files|Links): (?P<count>\d++)\s*+$")
_SECONDS: Final = re.compile(r"^\s*+Seconds: \d++\.\d++\s*+$")


class Dcp(LineParser):
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

    def forget(self) -> None:
        self._counts: Conditions = {}
        self._whole = False

    def feed(self, text: str) -> Iterable[Record]:
        if (count := _COUNT.match(text)) is not None:
            if len(count["count"]) < 16:
                self._counts[count["what"].lower()] = int(count["count"])
        elif _SECONDS.match(text) is not None:
            self._whole = True
        elif (rate := _RATE.match(text)) is not None:
            return self._rate(rate)
        elif (progress := _PROGRESS.match(text)) is not None:
            return self._progress(progress)
        return ()

    def _rate(self, found: re.Match[str]) -> Iterator[Record]:
        size, seconds = int(found["size"]), float(found["seconds"])
        known: Conditions = {**host_of(self.ctx), "bytes": float(size), "duration_s": seconds}
        whole, self._whole = self._whole, False
        if found["what"] == "Copy rate" or not whole:
            known["of"] = "data"
        else:
            known |= self._counts
            self._counts = {}
        known["tasks"] = self._tasks()
        if size <= 0 or seconds <= 0:
            yield self.unread(found[0], "nothing was copied: no rate")
            return
        rate, printed = size / seconds, f"{found['rate']} {found['unit']}iB/s"
        stated = float(found["rate"]) * BINARY[found["unit"]]
        if abs(rate - stated) > 0.01 * rate + 0.001 * BINARY[found["unit"]]:
            yield self.unread(printed, f"bytes and seconds give {rate:.4g} B/s")
        yield self.measure("throughput", rate, "B/s", printed, **known)
        if whole:
            yield self.measure("duration", seconds, "s", f"{found['seconds']} seconds", **known)

    def _progress(self, found: re.Match[str]) -> Iterator[Record]:
        rate = float(found["rate"]) * BINARY[found["ru"]]
        size = float(found["size"]) * BINARY[found["su"]]
        known: Conditions = {**host_of(self.ctx), "interval": True, "cumulative": True, "bytes": size}
        known["duration_s"] = float(found["seconds"])
        if rate > 0:
            yield self.measure("throughput", rate, "B/s", f"{found['rate']} {found['ru']}iB/s", **known)

    def _tasks(self) -> int | None:
        """Ranks, if the command line says how many."""
        command = self.ctx.command
        if command is None:
            return None
        found = re.search(r" (?:-n|-np|--ntasks=?) ?(\d{1,6})(?= )", command.text[:2000])
        return None if found is None else int(found[1])


_LAUNCH: Final = re.compile(r"mdtest-(\S+) was launched with (\d+) total task\(s\) on (\d+) node")
_TABLE: Final = re.compile(r"SUMMARY(?: (rate|time)\b|: \(of \d+ iterations?\))")
_ROW: Final = re.compile(
    r"^\s*(?P<what>(?:Directory|File|Tree) (?:creation|create|stat|read|rename|removal)(?: \(stonewall\))?)"
    r"(?:\s*+:\s++|\s++)"
    r"(?P<values>(?:NA|[\d.]++)(?:\s++(?:NA|[\d.]++)){2,6}+)\s*+$"
)
_FILES: Final = re.compile(r"^(\d+) tasks, (\d+) (files|directories)")
_ERROR: Final = re.compile(r"\bERROR: .*|mdtest: .*\b(?:failed|error)\b.*", re.IGNORECASE)


class Mdtest(LineParser):
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
    commands = ("mdtest",)

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._run: Conditions = {}
        self._read_any = False

    def feed(self, text: str) -> Iterable[Record]:
        if (launch := _LAUNCH.search(text)) is not None:
            self.version = launch[1]
            self._run = {"tasks": int(launch[2]), "nodes": int(launch[3])}
        elif (table := _TABLE.search(text)) is not None:
            self.open = table[1] != "time"  # before 1.9.3 the heading names no unit and there is no table of times
            self._read_any = False
        elif (files := _FILES.match(text)) is not None and self._run:
            self._run["files"] = int(files[2])
        elif self.open:
            row = _ROW.match(text)
            if row is not None:
                self._read_any = True
                return self._row(row)
            if (not text.strip() and self._read_any) or text.startswith("--"):
                self.open = False
        elif self._run and (error := located(_ERROR, text, "mdtest: ", "ERROR: ", "Error: ", "error: ")) is not None:
            return (self.failure(error[0], **self._run),)
        return ()

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        values = row["values"].split()
        stonewall = "stonewall" in row["what"]
        if stonewall and len(values) == 4:
            figures = [("mean", values[2])]
        elif len(values) == 3:  # a mailer put the standard deviation on the next line
            figures = [("max", values[0]), ("mean", values[2])]
        elif len(values) in (4, 7):
            figures = list(zip(("max", "mean"), values[-4:-1:2], strict=True))
        else:
            yield self.unread(row[0], f"the row has {len(values)} figures, not 3, 4 or 7")
            return
        operation = row["what"].replace(" (stonewall)", "").lower()
        operation = operation.replace("creation", "create").replace("removal", "remove").replace(" ", "_")
        for statistic, text in figures:
            if text != "NA" and float(text) > 0:
                yield self.measure(
                    "rate",
                    float(text),
                    "1/s",
                    f"{text} /s",
                    operation=operation,
                    statistic=statistic,
                    view="stonewall" if stonewall else None,
                    **self._run,
                )


_RESULT: Final = re.compile(
    r"^\s*+\[RESULT(?P<bad>-invalid)?\](?: (?:BW|IOPS) +phase \d++)? ++(?P<phase>[a-z][\w-]++) ++(?P<value>\d++\.\d++) "
    r"(?P<unit>GiB/s|GB/s|kIOPS|kiops) *+: time ++(?P<seconds>\d++\.\d++) seconds(?P<rest>.{0,20})"
)
_SCORE: Final = re.compile(
    r"^\s*+\[SCORE(?P<bad>-invalid| INVALID)? ?\] Bandwidth "
    r"(?P<rate>\d++\.\d++) (?:GiB/s|GB/s) *+: IOPS (?P<iops>\d++\.\d++) kiops *+: "
    r"TOTAL (?P<total>\d++\.\d++)(?P<rest>.{0,20})"
)
_VERSION: Final = re.compile(r"^\s*+IO500 version (\S++)")
_SECTION: Final = re.compile(r"^\s*+\[(?P<phase>(?:ior|mdtest)-(?:easy|hard|rnd)[\w-]{0,20}|find[\w-]{0,20})\]\s*+$")
_PAIR: Final = re.compile(
    r"^\s*+(?P<key>score|t_delta|t_start|t_end)\s++= (?P<value>\S++)(?: (?P<clock>[\d:]{8}))?\s*+$"
)
_GIB: Final = 2.0**30
_OPERATIONS: Final = {"write": "write", "read": "read", "stat": "stat", "delete": "delete"}


class Io500(LineParser):
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
    words = ("RESULT", "SCORE", "IO")

    def feed(self, text: str) -> Iterable[Record]:
        if (version := _VERSION.match(text)) is not None:
            self.version = version[1]
        elif (result := _RESULT.match(text)) is not None:
            return self._phase(result)
        elif (score := _SCORE.match(text)) is not None:
            return self._score(score)
        return ()

    def _phase(self, found: re.Match[str]) -> Iterator[Record]:
        phase = found["phase"].replace("_", "-")
        value, seconds = float(found["value"]), float(found["seconds"])
        more: Conditions = {"of": phase, "operation": _OPERATIONS.get(phase.rpartition("-")[2], phase)}
        more |= {"duration_s": seconds, "valid": found["bad"] is None and "INVALID" not in found["rest"]}
        printed = f"{found['value']} {found['unit']}"
        if value <= 0:
            yield self.unread(f"{phase} {printed}", "nothing was done: no rate")
        elif found["unit"].startswith("G"):
            yield self.measure("throughput", value * _GIB, "B/s", printed, **more)
        else:
            yield self.measure("rate", value * 1e3, "1/s", printed, **more)

    def _score(self, found: re.Match[str]) -> Iterator[Record]:
        more: Conditions = {"of": "score", "statistic": "geometric mean"}
        more["valid"] = found["bad"] is None and "INVALID" not in found["rest"]
        if float(found["rate"]) > 0:
            yield self.measure("throughput", float(found["rate"]) * _GIB, "B/s", f"{found['rate']} GiB/s", **more)
        if float(found["iops"]) > 0:
            yield self.measure("rate", float(found["iops"]) * 1e3, "1/s", f"{found['iops']} kiops", **more)

    def on_command(self, command: Command) -> Iterable[Record]:  # noqa: ARG002 (the base's signature)
        """Another run may be of another version."""
        self.version = None
        return ()


class Io500Result(LineParser):
    """Sections of result.txt."""

    tool = "io500"
    evidence = Evidence.SERVERS
    shape = r"^\s*\[(?:(?:ior|mdtest)-(?:easy|hard|rnd)|find)[^\]]{0,20}\]"

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._phase = ""
        self._pairs: dict[str, str] = {}
        self._valid, self._line = True, 0

    def feed(self, text: str) -> Iterable[Record]:
        if (section := _SECTION.match(text)) is not None:
            done = list(self.settle())
            self._phase, self.open = section["phase"], True
            return done
        if self.open and (pair := _PAIR.match(text)) is not None:
            self._pairs[pair["key"]] = pair["value"] if pair["clock"] is None else f"{pair['value']}T{pair['clock']}Z"
            self._line = self.ctx.line if pair["key"] == "score" else self._line
        elif "INVALID" in text:
            self._valid = False
        elif text.lstrip().startswith("["):
            return self.settle()
        return ()

    def settle(self) -> Iterator[Record]:
        phase, pairs, valid = self._phase, self._pairs, self._valid
        self._phase, self._pairs, self._valid, self.open = "", {}, True, False
        try:
            score = float(pairs.get("score", ""))
            seconds = float(pairs["t_delta"]) if "t_delta" in pairs else None
        except ValueError:
            return
        if not phase or not 0.0 < score < 1e9:
            return
        known: Conditions = {**host_of(self.ctx), "of": phase}
        known |= {"operation": _OPERATIONS.get(phase.rpartition("-")[2], phase), "duration_s": seconds}
        known |= {"valid": valid, "end": pairs.get("t_end")}
        if phase.startswith("ior"):
            yield self.measure("throughput", score * _GIB, "B/s", f"{pairs['score']} GiB/s", line=self._line, **known)
        else:
            yield self.measure("rate", score * 1e3, "1/s", f"{pairs['score']} kIOPS", line=self._line, **known)
