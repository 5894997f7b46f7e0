"""Counts of what was tried, kept in counts.json beside this file, and the table that is made of them."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILE = Path(os.environ.get("TRUST_COUNTS", HERE / "counts.json"))
TABLE = HERE.parents[1] / "docs" / "trust.md"


def read() -> dict[str, Any]:
    """Of each family: how many were tried, how many were ever wrong, which still are, and where to go on."""
    return dict(json.loads(FILE.read_text())) if FILE.is_file() else {}


class SkippedError(Exception):
    """What was to be tried could not be made here: it counts as nothing."""


@cache
def commit() -> str:
    """The commit of this checkout: what a count is of."""
    asked = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(asked, cwd=HERE, capture_output=True, text=True, check=False).stdout.strip() or "none"


def add(name: str, number: int, problem: str | None) -> None:
    """Counts one; several processes may do so at once. What is tried again is wrong or mended, and no new one."""
    with FILE.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read()
        of = known.setdefault(name, {"tried": 0, "found": 0, "wrong": {}, "next": 0})
        again = of["wrong"].pop(str(number), None) is not None
        of["tried"] += not again
        of["found"] += problem is not None and not again
        of["next"] = max(of["next"], number + 1)
        of.setdefault("at", {})[commit()] = of.get("at", {}).get(commit(), 0) + 1
        if problem is not None:
            of["wrong"][str(number)] = problem.strip().splitlines()[-1][:120]
        new = FILE.with_suffix(".new")
        new.write_text(json.dumps(known, indent=1) + "\n")
        new.replace(FILE)


#: how many of a family are wanted
WANTED = {"paths and files": 100_000, "valid": 2000, "stops": 200, "missing": 5457, "code": 60}
#: what a family tries, in the words of the table
WHAT = {
    "paths": "mutants of paths, hosts, parts, calibrations, `--set` and events, with predict, explain, simulate",
    "files": "mutants of price lists, data sets, sizes, traces, tables, workloads, cases, calibrations, histories",
    "logs": "mutants of benchmark logs",
    "missing": "shipped paths and starters, each without one of its keys",
    "valid": "random valid paths: more is never slower, names, order and units move nothing, commands within 10 %",
    "stops": "Ctrl-C and SIGKILL at random moments of sweep, fleet, calibrate, plan, report, given again: same bytes",
    "faults": "full and read-only disks, two processes, cut and foreign checkpoints, bombs, killed children, locales",
    "code": "single-point mutants of the code, which the tests of its room have to find; some are no other program",
}


def _last(of: dict[str, Any]) -> str:
    commit, count = next(reversed(of.get("at", {"before commits were noted": of["tried"]}).items()))
    return f"{commit} ({count:,})"


def write_table() -> None:
    """Makes docs/trust.md: the counts, and what grew how."""
    known = read()
    lines = [
        "# What it was tried with",
        "",
        "Made by `python .ci/trust table` of what `python .ci/trust FAMILY` has counted. A find is mended with its",
        "smallest case in the suite; what is still wrong stands below, with its number: `--again` tries those again.",
        "",
        "Wanted: " + ", ".join(f"{n:,} of {name}" for name, n in WANTED.items()) + ".",
        "",
        "A count is of the commits that it was tried at: the last of them is named, with how many were tried there.",
        "",
        "| family | what is tried | tried | finds | still wrong | last |",
        "|---|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| `{name}` | {WHAT[name]} | {of['tried']:,} | {of['found']} | {len(of['wrong'])} | {_last(of)} |"
        for name, of in known.items()
        if name in WHAT
    ]
    left = [f"- `{name} {n}`: {why}" for name, of in known.items() if name in WHAT for n, why in of["wrong"].items()]
    if left:
        lines += ["", "Still wrong:", "", *left]
    grown = known.get("growth", {}).get("rows", [])
    if grown:
        lines += [
            "",
            "## Growth",
            "",
            "One command, its CPU time and peak memory.",
            "",
        ]
        lines += ["| what | how many | CPU | memory | exit code |", "|---|---:|---:|---:|---:|"]
        lines += [f"| {what} | {n:,} | {cpu:.1f} s | {mb:.0f} MB | {code} |" for what, n, cpu, mb, code in grown]
    TABLE.write_text("\n".join([*lines, ""]))
