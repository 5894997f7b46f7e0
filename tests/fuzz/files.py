"""Mutated files beside paths: price lists, data sets, sizes, events, tables, traces, workloads, cases, calibrations.

``python -m tests.fuzz.files 10000 [FIRST]`` runs so many; the suite runs a few hundred. YAML is mutated by the grammar
of `paths`, lines and cells of text by what people and machines get wrong.
"""

import copy
import json
import random
import time
from functools import cache
from pathlib import Path
from typing import Any, Final

from dtnsim.ground import library
from dtnsim.ground.errors import DtnsimError
from dtnsim.planning import catalog
from tests.each import texts
from tests.fuzz import paths

PATH: Final = "esnet/lbl-anl"
FLEET: Final = "examples/facility-year"
_CELLS: Final = (
    "", "0", "-1", "1e999", "nan", "inf", "9" * 400, "x", "1 GB", "\x1b[31m", '"', '""', "\u202e", "a" * 200_000, ",",
    "é", "1e-300", "\x00", "\r", "1_000", "٣", "0x10", "=1+1", "  ", "true",
)  # fmt: skip

_SIZES: Final = "4096\n0\n1048576\n17\n" * 20
_CATALOG: Final = "part,price,date,fits\nconnectx-5-100g,700 USD,2023-07-01,\nconnectx-6-200g,1300 EUR,2023-07-01,\n"
_SWEEP: Final = "wan.rtt,transfer.tool.p\n1 ms,1\n20 ms,4\n90 ms,8\n"
_TCP: Final = "rate_bps,rtt_s,cc,duration_s,flow2_cc\n1e8,0.02,cubic,2,\n1e8,0.05,reno,5,bbr\n"
_RUNS: Final = (
    "tool_key,version,direction,options,rate_bps,rtt_s,buffer_bytes,loss,mtu,cc,files,total_bytes\n"
    "scp,9.2,put,,1e8,0.02,1250000,0,1500,cubic,1,64000000\ncurl,7.88,get,,1e8,0.05,1250000,0.001,1500,cubic,4,64000000\n"
)
_DD: Final = "".join(
    f"$ dd if=/dev/zero of=/{where} bs=1M count=10240\n10737418240 bytes (11 GB) copied, {seconds} s, 3.1 GB/s\n"
    for where, seconds in (("home/dong/10GB", 3.46705), ("bigdata/dong/10GB", 2.21714), ("home/dong/10GB", 3.4))
)
_SEEN: Final = (
    '{"log": "a.txt", "digest": "00", "note": "", "runs": [["dd", "throughput", 1e8, "B/s", {"target": "/x"}, "", 1]], '
    '"series": [["ping", "rtt", "s", "a", "b", "", [["2026-01-05", 0.01, 3], ["2026-01-06", 0.02, 3]]]]}\n'
    '{"told": ["ping rtt", "2026-01-06"]}\n'
)
_TRACE: Final = "time_s,bytes\n0,1e9\n10,2e9\n30,5e8\n"


@cache
def _yaml_of(folder: str) -> tuple[Any, ...]:
    return tuple(texts(f.read_text()) for f in sorted((library.root("models") / folder).rglob("*.yaml")))


def _text(rng: random.Random, text: str) -> str:
    """A table with wrong cells, lines and ends."""
    lines = [line.split(",") for line in text.split("\n")]
    for _ in range(rng.choice((1, 1, 2, 5))):
        row = rng.choice(lines)
        how = rng.randrange(7)
        if how < 3:
            row[rng.randrange(len(row))] = rng.choice(_CELLS)
        elif how == 3:
            row.append(rng.choice(_CELLS))
        elif how == 4:
            row.pop(rng.randrange(len(row)))
            row[:] = row or [""]
        elif how == 5:
            lines.insert(rng.randrange(len(lines)), copy.copy(row))
        else:
            lines.remove(row) if len(lines) > 1 else None
    whole = rng.choice(("\n", "\n", "\n", "\r\n", "\r")).join(",".join(row) for row in lines)
    return rng.choice(("", "", "", "\ufeff")) + whole


def _mutated(rng: random.Random, doc: Any) -> Any:
    doc = copy.deepcopy(doc)
    gentle = rng.random() < 0.5
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = list(paths._places(doc))
        if places:
            (paths._nearby if gentle else rng.choice(paths.CHANGES))(rng, *rng.choice(places))
    return doc


def _dataset(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    doc = _mutated(rng, rng.choice(_yaml_of("datasets")))
    return {"data.yaml": doc}, ["predict", PATH, "--json", "--samples", "16", "--set", "transfer.dataset=data.yaml"]


def _sizes(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    doc = {"name": "listed", "sizes_file": "sizes.txt"}
    files = {"sizes.txt": _text(rng, _SIZES), "data.yaml": doc}
    return files, ["predict", PATH, "--json", "--samples", "16", "--set", "transfer.dataset=data.yaml"]


def _events(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    doc: dict[str, Any] = {}
    paths._in_time(rng, doc)
    files = {"events.yaml": _mutated(rng, doc)}
    if rng.random() < 0.4:
        files["events.yaml"] = {"others": [{"stations": ["network.*"], "trace": "trace.csv"}]}
        files["trace.csv"] = _text(rng, _TRACE)
    return files, ["simulate", PATH, "--json", "--max-events", "2000", "--until", "1h", "--events", "events.yaml"]


def _table(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    text, arguments = rng.choice(
        ((_SWEEP, ["sweep", PATH, "--json", "--table", "table.csv"]), (_TCP, ["tcp", "--json", "--table", "table.csv"]),
         (_RUNS, ["tools", "--json", "--table", "table.csv"]))
    )  # fmt: skip
    return {"table.csv": _text(rng, text)}, list(arguments)


def _catalogue(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    if rng.random() < 0.5:
        return {"catalog.csv": _text(rng, _CATALOG)}, ["catalog"]
    return {"catalog.yaml": _mutated(rng, rng.choice(_yaml_of("catalog")))}, ["catalog"]


def _workload(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    """A facility's day: a span that is not mutated bounds the work, and a volume that is too large is cut by time."""
    doc = _mutated(rng, rng.choice(_yaml_of("workloads")))
    arguments = ["fleet", FLEET, "--replicas", "1", "--json", "--processes", "1", "--workload", "workload.yaml"]
    return {"workload.yaml": doc}, [*arguments, "--set", "workload.span=6 h"]


@cache
def _cases_of(site: str) -> Any:
    """Those of shipped paths, without their logs: they lie elsewhere."""
    whole = texts((library.root("calibration") / site / "cases.yaml").read_text())
    cases = [{k: v for k, v in case.items() if k != "log"} for case in whole["cases"] if "repeats" not in case]
    return {**whole, "cases": cases}


def _cases(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    whole = _cases_of(rng.choice(("venadi", "nasa", "uci", "esnet")))
    few = {**whole, "cases": rng.sample(whole["cases"], min(len(whole["cases"]), rng.choice((1, 2, 4))))}
    return {"cases.yaml": _mutated(rng, few)}, ["validate", "cases.yaml", "--json", "--samples", "16"]


def _calibration(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    fitted = _mutated(rng, texts((library.root("calibration") / "venadi" / "fitted.yaml").read_text()))
    arguments = ["predict", "venadi/gridftp-gpfs", "--json", "--samples", "16", "--calibration", "fitted.yaml"]
    return {"fitted.yaml": fitted}, arguments


def _logs(rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    """Logs to fit, what they are called on the host, and a history of a folder."""
    given = _text(rng, _DD) if rng.random() < 0.5 else _DD
    seen = [json.dumps(_mutated(rng, json.loads(line))) for line in _SEEN.splitlines()]
    arguments = ["calibrate", "dd.txt", "--host", "host.yaml", "--as", "/home/dong=/", "-o", "/dev/null"]
    if rng.random() < 0.3:
        arguments = ["calibrate", "--watch", ".", "--history", "seen.jsonl", "--json"]
        return {"dd.txt": given, "seen.jsonl": "\n".join(seen)}, arguments
    host = texts((library.root("models") / "hosts" / "venadi.yaml").read_text())
    return {"dd.txt": given, "host.yaml": host if given != _DD else _mutated(rng, host)}, arguments


KINDS: Final = (
    _dataset, _sizes, _events, _table, _catalogue, _workload, _cases, _calibration, _logs,
)  # fmt: skip
#: fleets and fits take ten times what the others do
WEIGHTS: Final = (4, 4, 4, 4, 4, 1, 4, 4, 1)


def mutant(seed: int) -> tuple[dict[str, Any], list[str]]:
    """The files of a mutant, and the arguments of the command that reads them."""
    rng = random.Random(seed)
    return rng.choices(KINDS, WEIGHTS)[0](rng)


def check(files: dict[str, Any], arguments: list[str], folder: Path) -> str | None:
    """What is wrong with what is made of the files; None if nothing is."""
    if arguments != ["catalog"]:
        found: str | None = paths.check(files, arguments, folder)
        return found
    ((name, doc),) = files.items()
    text = doc if isinstance(doc, str) else json.dumps(doc)  # YAML, too
    (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")
    start = time.process_time()
    try:
        made = catalog.read(str(folder / name))
    except DtnsimError as error:
        return None if len(str(error)) < 2300 else f"too long: {str(error)[:200]}"
    except Exception as error:  # noqa: BLE001 (any exception is the finding)
        import traceback

        return "".join(traceback.format_exception(error)[-5:])
    wrong = [o.part for o in made.offers if not 0 <= o.price.amount < float("inf")]
    if time.process_time() - start > paths.CPU_S:
        return "more than 10 s of CPU"
    return f"prices of {wrong[:3]}" if wrong else None


if __name__ == "__main__":
    paths.many(mutant, check, 10_000)
