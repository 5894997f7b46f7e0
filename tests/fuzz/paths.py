"""Mutated descriptions: every command answers, or says in one line what is wrong; nothing raises, hangs or lies.

``python -m tests.fuzz.paths 100000 [FIRST]`` runs so many mutants of the shipped paths, hosts, parts and calibrations;
the suite runs a thousand. The grammar is that of the files: a mutant changes, adds, moves and removes keys and values
that such files have, so that many get past the reader.
"""

import contextlib
import copy
import io
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from dtnsim import cli
from dtnsim.ground import library
from dtnsim.ground.errors import DtnsimError, visible
from dtnsim.steady.prediction import predict
from tests.each import texts

CPU_S: Final = 10.0
MEMORY_KIB: Final = 500_000
CODES: Final = frozenset({0, 1, 2, 3})
#: on standard error: findings of a path, and how many more there are
MOST_LINES: Final = 21
#: in the place of a command: predict without a draw and without a report, half the work of the cheapest command
ANSWER: Final = "answer"

_HOSTILE: Final = (
    None, "", "0", "-1", "1", "1e-300", "1e300", "1e999", "nan", "inf", "-0", "9" * 400, "0 B", "1 B", "0 s", "1 ns",
    "1e9 d", "0 Gb/s", "1 b/s", "1e15 Gb/s", "0 %", "100 %", "99.9999 %", "1e-13", "yes", "off", "x" * 3000, "a\nb",
    "\x1b[31m", "\u202e", "[bold]", "{}", "../../etc/passwd", ".", "/", "é", "none", "unknown", [], {}, [[]], {"": ""},
    [None], ["a", "b"], {"value": "1", "spread": None}, {"value": "1 GB/s", "spread": []}, {"part": "."}, {"like": "x"},
    {"value": "3 GHz", "spread": {"a": 1}}, {"value": "1 ms", "spread": "3"}, {"kind": "nothing"}, {"kind": "raid"},
)  # fmt: skip
_NUMBER: Final = re.compile(r"^([-+0-9.e]+)(.*)$", re.DOTALL)
#: what a refusal names: a file, an option, a key within others, or the argument itself
_NAMED: Final = re.compile(r"\.(?:yaml|csv|txt|jsonl)\b|--\w|/\w+: |transfer \w+: |Error: |name of a path|\b\w+\.\w+")
_HOST_KEYS: Final = ("placement", "tcp", "vm", "stack", "slots", "hbas", "nics", "devices", "volumes", "cpu", "memory")

Node = Any
Files = dict[str, Node]


@cache
def corpus() -> tuple[tuple[Node, Path], ...]:
    """Shipped paths as plain data, and their folders."""
    base = library.root("models") / "paths"
    return tuple((texts(file.read_text()), file.parent) for file in sorted(base.rglob("*.yaml")))


@cache
def _hosts() -> dict[str, Node]:
    return {f.stem: texts(f.read_text()) for f in sorted((library.root("models") / "hosts").glob("*.yaml"))}


@cache
def _parts() -> dict[str, Node]:
    return {f.stem: texts(f.read_text()) for f in sorted((library.root("models") / "parts").rglob("*.yaml"))}


@cache
def _fits() -> dict[str, Node]:
    return {f.parent.name: texts(f.read_text()) for f in sorted(library.root("calibration").glob("*/fitted.yaml"))}


@cache
def _pool() -> tuple[tuple[str, Node], ...]:
    """Keys with values that files have somewhere: the words of the grammar."""
    from dtnsim.components.base import find_kind, kinds

    found: dict[str, tuple[str, Node]] = {}
    for doc in (*(d for d, _ in corpus()), *_hosts().values(), *_parts().values()):
        for where, key in _places(doc):
            if isinstance(where, dict):
                found.setdefault(f"{key}{where[key]!r}"[:200], (key, where[key]))
    for kind in kinds():
        for name, field in find_kind(kind).model_fields.items():
            given = field.get_default(call_default_factory=True, validated_data={}) if not field.is_required() else None
            text = str(given) if isinstance(given, int | float | str) or hasattr(given, "dim") else "1"
            found.setdefault(f"{kind} {name}", (name, text))
    return tuple(found.values())


@cache
def _by_key() -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for key, value in _pool():
        found.setdefault(key, []).append(value)
    return found


def _places(node: Node, depth: int = 0) -> Iterator[tuple[Node, Any]]:
    """Every (container, key or index) below a node."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(items):
        yield node, key
        if depth < 12:
            yield from _places(value, depth + 1)


_POWERS: Final = (-18, -12, -9, -6, -3, -2, -1, 1, 2, 3, 6, 9, 12, 18)
_NEAR: Final = (-3, -2, -1, 1, 2, 3)


# -- changes: each takes a random place of a document ---------------------------------------------------------
def _hostile(rng: random.Random, where: Node, key: Any) -> None:
    where[key] = copy.deepcopy(rng.choice(_HOSTILE))


def _scaled(rng: random.Random, where: Node, key: Any, powers: tuple[int, ...] = _POWERS) -> None:
    """A number times a power of ten, or without its unit."""
    text = where[key]
    found = _NUMBER.match(text) if isinstance(text, str) else None
    if found is None:
        return _hostile(rng, where, key)
    with contextlib.suppress(ValueError):
        number = float(found[1]) * 10.0 ** rng.choice(powers)
        whole = number.is_integer() and abs(number) < 1e15
        where[key] = (str(int(number)) if whole else repr(number)) + (found[2] if rng.random() < 0.95 else "")
    return None


def _another(rng: random.Random, where: Node, key: Any) -> None:
    """What another file has under this key."""
    known = _by_key().get(key) if isinstance(key, str) else None
    where[key] = copy.deepcopy(rng.choice(known) if known else rng.choice(_pool())[1])


def _removed(rng: random.Random, where: Node, key: Any) -> None:
    del where[key]


def _nearby(rng: random.Random, where: Node, key: Any) -> None:
    """A number that might be meant, or what another file says there."""
    text = where[key]
    if isinstance(text, str) and _NUMBER.match(text):
        _scaled(rng, where, key, _NEAR)
    elif isinstance(key, str) and isinstance(text, str):
        where[key] = copy.deepcopy(rng.choice(_by_key().get(key, [text])))


def _added(rng: random.Random, where: Node, key: Any) -> None:
    inner = where[key] if isinstance(where[key], dict) else where
    name, value = rng.choice(_pool())
    if isinstance(inner, dict):
        inner[name] = copy.deepcopy(value)
    else:
        inner.append(copy.deepcopy(value))


def _renamed(rng: random.Random, where: Node, key: Any) -> None:
    if isinstance(where, dict):
        where[rng.choice((rng.choice(_pool())[0], f"{key}x", "\x1b[1mkey", "a.b", "", "0"))] = where.pop(key)


def _doubled(rng: random.Random, where: Node, key: Any) -> None:
    """Many where there was one."""
    times = rng.choice((2, 3, 30))
    if isinstance(where, list):
        where.extend(copy.deepcopy(where[key]) for _ in range(times))
    else:
        for number in range(times):
            where[f"{key}{number}"] = copy.deepcopy(where[key])


def _wrapped(rng: random.Random, where: Node, key: Any) -> None:
    where[key] = rng.choice(([where[key]], {key if isinstance(key, str) else "x": where[key]}, {"value": where[key]}))


CHANGES: tuple[Callable[[random.Random, Node, Any], None], ...] = (
    _hostile, _scaled, _scaled, _scaled, _another, _another, _removed, _added, _added, _renamed, _doubled, _wrapped,
)  # fmt: skip


def _spelled_out(rng: random.Random, doc: Node, files: Files) -> None:
    """Hosts and parts that are only named become mappings or files, so that they can be changed."""
    hosts = doc.get("hosts")
    for alias, host in list(hosts.items()) if isinstance(hosts, dict) else ():
        if isinstance(host, str) and host in _hosts():
            how = rng.random()
            whole = copy.deepcopy(_hosts()[host])
            if how < 0.5:
                hosts[alias] = whole
            elif how < 0.7:
                hosts[alias], files["host.yaml"] = "host.yaml", whole
            elif how < 0.8:
                hosts[alias] = {
                    "like": host,
                    **({k: v} if (k := rng.choice(_HOST_KEYS)) and (v := whole.get(k)) else {}),
                }
    for where, key in list(_places(doc)):
        named = where[key] if not isinstance(where, dict) or key in where else None
        if isinstance(named, str) and named in _parts() and key != "part" and rng.random() < 0.5:
            if rng.random() < 0.8:
                where[key] = copy.deepcopy(_parts()[named])
            else:
                where[key], files["part.yaml"] = "part.yaml", copy.deepcopy(_parts()[named])


def _in_time(rng: random.Random, doc: Node) -> None:
    """Events and other people's transfers."""
    stations = ["network.wan", "network.*", "*", "x.cpu", "*.disks", "*.rx"]
    event = {"at": rng.choice(("0 s", "1 s", "1 min", "1e9 s", "-1 s")), "station": rng.choice(stations),
             "factor": rng.choice(("0", "0.5", "1e-13", "1e-300", "1", "2")),
             "until": rng.choice(("2 s", "1 d", "0 s"))}  # fmt: skip
    doc["events"] = [event] * rng.choice((1, 1, 3, 200))
    if rng.random() < 0.3:
        doc["events"] = [
            {"at": "1 s", "set": {rng.choice(("wan.loss", "wan.rtt", "transfer.tool.p", "hosts.x.cpu")): "1e-4"}}
        ]
    if rng.random() < 0.3:
        doc["others"] = [{"stations": [rng.choice(stations)], "rate": rng.choice(("0.005 ops/s", "0", "1e9 /s")),
                          "size": rng.choice(("100 GB", "1 B", "0 B"))}]  # fmt: skip


def mutant(seed: int) -> tuple[Files, list[str]]:
    """The files of a mutant, and the arguments of the command that reads them."""
    rng = random.Random(seed)
    doc = copy.deepcopy(rng.choice(corpus())[0])
    files: Files = {"path.yaml": doc}
    if rng.random() < 0.7:
        _spelled_out(rng, doc, files)
    if rng.random() < 0.1:
        files["fitted.yaml"] = copy.deepcopy(rng.choice(list(_fits().values())))
        doc["calibration"] = "fitted.yaml"
    arguments = _command(rng)
    if arguments[0] == "simulate" and rng.random() < 0.4:
        _in_time(rng, doc)
    gentle = rng.random() < 0.6
    for _ in range(rng.choice((2, 4, 8)) if gentle else rng.choice((1, 1, 2, 3, 5))):
        name = rng.choice(sorted(files))
        places = list(_places(files[name]))
        if places:
            where, key = rng.choice(places)
            (_nearby if gentle else rng.choice(CHANGES))(rng, where, key)
    return files, arguments


def _command(rng: random.Random) -> list[str]:
    small = ["--samples", "32"]
    return list(
        rng.choices(
            ([ANSWER, "path.yaml"], ["predict", "path.yaml", "--json", *small], ["predict", "path.yaml", *small],
             ["explain", "path.yaml"], ["explain", "path.yaml", "--json"],
             ["simulate", "path.yaml", "--json", "--max-events", "5000"],
             ["simulate", "path.yaml", "--max-events", "5000"],
             ["predict", "path.yaml", "--set", _set(rng), *small]),
            (38, 12, 8, 4, 4, 16, 4, 14),
        )[0]
    )  # fmt: skip


def _set(rng: random.Random) -> str:
    key, value = rng.choice(_pool())
    first = rng.choice(
        ("wan", "hosts", "hosts.venadi", "transfer", "transfer.tool", "", "hosts.venadi.cpu", "transfers.0")
    )
    return f"{first}.{key}={json.dumps(value if rng.random() < 0.5 else rng.choice(_HOSTILE))}"


# -- what every answer must be ------------------------------------------------------------------------------
class TooLongError(BaseException):
    """More CPU time than a command may take."""


def _stop(*_: object) -> None:
    raise TooLongError


def run(arguments: list[str]) -> tuple[int, str, str]:
    """A command in this process: exit code, standard output, standard error."""
    if arguments[0] == ANSWER:
        return _answer(arguments[1])
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    before = sys.argv
    sys.argv = ["dtnsim", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as left:
        code = left.code
    finally:
        sys.argv = before
    return int(code) if isinstance(code, int) else 0 if code is None else 1, out.getvalue(), err.getvalue()


def _answer(file: str) -> tuple[int, str, str]:
    """What `run` gives of a rate and a duration, or of a refusal as the command line writes it."""
    try:
        rate = predict(file, samples=0).throughput_Bps.p50
    except DtnsimError as error:
        return error.exit_code, "", "".join(visible(f"dtnsim: {line}") + "\n" for line in error.lines)
    return (0, "", "") if 0 <= rate < float("inf") else (9, "", f"{rate} B/s")


def check(files: Files, arguments: list[str], folder: Path) -> str | None:
    """What is wrong with what a command makes of some files; None if nothing is."""
    for name, doc in files.items():
        text = doc if isinstance(doc, str) else yaml.dump(doc, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
        (folder / name).write_text(text, encoding="utf-8", errors="replace")
    here = Path.cwd()
    start, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    usual = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    os.environ["DTNSIM_DEBUG"] = "1"  # a fault of ours shows where it is
    os.chdir(folder)
    try:
        code, out, err = run(arguments)
    except TooLongError:
        return f"more than {CPU_S} s of CPU:\n" + traceback.format_exc(limit=-6)
    except Exception:  # noqa: BLE001 (any exception is the finding)
        return traceback.format_exc(limit=-5)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, usual)
        os.chdir(here)
        for name in files:
            (folder / name).unlink(missing_ok=True)
    used, grown = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    if grown > MEMORY_KIB:
        return f"{grown / 1000:.0f} MB of memory after {used:.1f} s"
    return _wrong(
        code, out, err, json_wanted="--json" in arguments, rows=arguments[0] == "tools" and "--table" in arguments
    )


def _wrong(code: int, out: str, err: str, *, json_wanted: bool, rows: bool = False) -> str | None:
    if code not in CODES:
        return f"exit code {code}: {err[:300]}"
    obeyed = [c for c in out + err if not c.isprintable() and c != "\n"]
    if obeyed:
        return f"a raw {obeyed[0]!r}"
    if code in (1, 2):
        lines = [line for line in err.strip().splitlines() if " scenarios (" not in line]  # but for a sweep's progress
        whole = bool(lines) and all(line.startswith("dtnsim: ") for line in lines)  # all that is missing, a line each
        if not whole and not (lines and lines[-1].startswith("Error: ")):
            return f"{len(lines)} lines on standard error: {err[:300]}"
        if "internal error" in err or "Traceback" in err or max(map(len, lines)) > 2300 or len(lines) > MOST_LINES:
            return f"not what is wrong: {err[:300]}"
        if code == 2 and not _NAMED.search(err):
            return f"neither a file nor a key is named: {err[:300]}"
        beside = out and code == 2 and not rows and "refused; the first" not in err  # other rows, other scenarios
        return f"an answer beside an error: {out[:200]}" if beside else None
    return _document(out) if json_wanted else None


def _document(out: str) -> str | None:
    try:
        found = json.loads(out, parse_constant=_refuse)
    except ValueError as error:
        return f"invalid JSON ({error}): {out[:300]}"
    if found["schema"].startswith("dtnsim.prediction/"):
        return _prediction(found)
    if found["schema"].startswith("dtnsim.simulation/"):
        return _simulation(found)
    return None


def _prediction(found: Any) -> str | None:
    for name in ("throughput_Bps", "duration_s"):
        low, middle, high = (found[name][p] for p in ("p10", "p50", "p90"))
        if middle is None or not middle >= 0:
            return f"{name}: {found[name]}"
        # p50 is at the wire, and p90 with it, where nothing else holds the medians
        if low is not None and high is not None and not 0 <= low <= middle <= high:
            return f"{name}: {found[name]}"
    for station in found["stations"]:
        if not 0 <= station["utilization"] <= 1 + 1e-9:
            return f"utilization {station}"
        wire = station["kind"] in ("nic", "wire", "segment") and station["unit"] == "B/s"
        alone = len(found["transfers"]) == 1 and station["demand_per_byte"] > 0
        most = station["capacity"] / max(station["demand_per_byte"], 1e-300)
        if wire and alone and found["throughput_Bps"]["p50"] > most * (1 + 1e-6):
            return f"{found['throughput_Bps']} is more than {most} of {station['station']}"
    return None


def _simulation(found: Any) -> str | None:
    for transfer in found["transfers"]:
        rates = transfer["throughput_Bps"]
        if rates["p50"] is not None and not 0 <= rates["p10"] <= rates["p50"] <= rates["p90"]:
            return f"throughput {transfer}"
    return None


def _refuse(word: str) -> None:
    raise ValueError(word)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Without anchors, as people write."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def many(
    mutant: Callable[[int], tuple[Files, list[str]]], check: Callable[[Files, list[str], Path], str | None], usual: int
) -> None:
    """Runs as many mutants as are asked for, or the usual number; leaves with 1 if any is wrong."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else usual
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found: dict[str, int] = {}
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            files, arguments = mutant(seed)
            problem = check(files, arguments, Path(folder))
            if problem is not None:
                kind = problem.strip().splitlines()[-1][:90]
                found[kind] = found.get(kind, 0) + 1
                if found[kind] <= 3:
                    sys.stdout.write(f"mutant {seed}: {' '.join(arguments)[:200]}\n{problem}\n")
                    sys.stdout.flush()
    wrong = sum(found.values())
    sys.stdout.write(f"{count} mutants from {first} in {time.monotonic() - start:.0f} s, {wrong} wrong\n")
    sys.stdout.writelines(f"{n:6d} {kind}\n" for kind, n in sorted(found.items(), key=lambda x: -x[1]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    many(mutant, check, 100_000)
