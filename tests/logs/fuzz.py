"""Mutated logs: nothing raises, no figure is infinite, no JSON invalid, no line takes long.

``python tests/logs/fuzz.py 50000`` reads so many mutants of the fixtures and of the excerpts in the tests and counts
what went wrong; the suite reads a few hundred.
"""

import ast
import json
import math
import random
import re
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path

from dtnsim.cli.logs import _cells, _line
from dtnsim.ground.errors import LogError, visible
from dtnsim.logs import read_text

HERE = Path(__file__).parent
SIZE = 6000  # bytes of a log that are mutated
LIMIT_S = 2.0  # CPU time a mutant may take

_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_HOSTILE = (
    b"9" * 400, b"9" * 5000, b"0", b"-1", b"1e999", b"nan", b"NaN", b"Infinity", b"-", b"", b"1.2.3", b"1,2,3", b"0x7f",
    b"\x1b[31m", b"\x9b", b": ", b"$ ", "\u202e".encode(), "²".encode(), "٣".encode(), b"\x00", b"\xff", b"{" * 50,
    b"[" * 50, b'"', b"}", b"\r", b"\r\n", b"a" * 3000, b"1 " * 2000, b" " * 5000, b"%", b"\\", b"<b>", b"&amp;",
    b"x@y:~$ dd if=a of=b ",
)  # fmt: skip


@cache
def corpus() -> tuple[bytes, ...]:
    """The fixtures, the samples, and every excerpt of a log that stands in a test."""
    found = [path.read_bytes() for path in sorted((HERE / "data").rglob("*")) if path.is_file()]
    for path in sorted((HERE / "samples").glob("*.txt")):
        parts = path.read_bytes().split(b"\n=== ")[1:]
        found += [part.partition(b"\n")[2].partition(b"\n---\n")[0] for part in parts]
    for module in sorted(HERE.glob("test_*.py")):
        nodes = [node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Constant)]
        texts = [node.value for node in nodes if isinstance(node.value, str) and len(node.value) > 60]
        found += [text.encode("utf-8", "surrogatepass") for text in texts]
    return tuple(found)


def _numbers(rng: random.Random, raw: bytes) -> bytes:
    share = rng.choice((0.02, 0.2, 1.0))
    choice = rng.choice(_HOSTILE[:13])
    return _NUMBER.sub(lambda found: choice if rng.random() < share else found[0], raw)


def _insert(rng: random.Random, raw: bytes) -> bytes:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + rng.choice(_HOSTILE) + raw[at + rng.choice((0, 1, 5)) :]
    return raw


def _edit(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice((b"", b"0", b" ", b"x", b".", b"%", b"/")) + raw[at + rng.choice((0, 1)) :]


def _lines(rng: random.Random, raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    how = rng.randrange(5)
    if how == 0:
        rng.shuffle(lines)
    elif how == 1:
        lines = [line for line in lines if rng.random() > 0.3]
    elif how == 2:
        lines = [line for line in lines for _ in range(rng.choice((1, 1, 3)))]
    elif how == 3:
        lines = [line[: rng.randrange(len(line) + 1)] if rng.random() < 0.3 else line for line in lines]
    else:
        lines = [line[rng.randrange(len(line) + 1) :] if rng.random() < 0.3 else line for line in lines]
    return rng.choice((b"\n", b"\n", b"\r", b"\r\n", b" ")).join(lines)


def _noise(rng: random.Random, raw: bytes) -> bytes:
    data = bytearray(raw)
    for _ in range(max(1, len(data) // 300)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def _cut(rng: random.Random, raw: bytes) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def _splice(rng: random.Random, raw: bytes) -> bytes:
    other = rng.choice(corpus())
    at = rng.randrange(len(other) + 1)
    return _cut(rng, raw) + other[at : at + SIZE]


def _prefix(rng: random.Random, raw: bytes) -> bytes:
    before = rng.choice(
        (b"dtn01: ", b"> ", b"# ", b"(out)", b"2024-03-04T10:00:00Z ", b"\t", b"Mar  4 10:00:00 h x[1]: ")
    )
    return b"\n".join(before + line for line in raw.split(b"\n"))


def _wrap(rng: random.Random, raw: bytes) -> bytes:
    text = raw.decode("latin-1")
    return json.dumps({"stdout": text} if rng.random() < 0.5 else [{"log": line} for line in text.split("\n")]).encode()


MUTATORS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _numbers, _insert, _edit, _lines, _noise, _cut, _splice, _prefix, _wrap,
)  # fmt: skip


def mutant(seed: int) -> bytes:
    """The mutant of a number: one to three changes of one log."""
    rng = random.Random(seed)
    raw = rng.choice(corpus())
    at = rng.randrange(max(1, len(raw) - SIZE))
    raw = raw[at : at + SIZE]
    for _ in range(rng.choice((1, 1, 2, 3))):
        raw = rng.choice(MUTATORS)(rng, raw)
    return raw


def check(raw: bytes) -> str | None:
    """What is wrong with what is read from a log; None if nothing is."""
    start = time.process_time()
    try:
        found, notes = read_text(raw)
        shown = [*map(_cells, found), *((visible(note.why), visible(note.text)) for note in notes)]
        lines = [_line(record) for record in found]
    except LogError:
        return None
    except Exception:  # noqa: BLE001 (any exception is the finding)
        return traceback.format_exc(limit=-4)
    if time.process_time() - start > LIMIT_S:
        return f"took {time.process_time() - start:.1f} s of CPU"
    for record, line in zip(found, lines, strict=True):
        if record.status != "failed" and not (math.isfinite(record.value) and record.value >= 0):
            return f"a value of {record.value}: {record}"
        try:
            json.loads(line, parse_constant=_refuse)
        except ValueError as error:
            return f"invalid JSON ({error}): {line[:300]}"
    raw_cells = [cell for row in shown for cell in row if any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in cell)]
    return f"a raw control character: {raw_cells[0]!r}" if raw_cells else None


def _refuse(word: str) -> None:
    raise ValueError(word)


def main() -> None:
    """Reads as many mutants as are asked for; leaves with 1 if any is wrong."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    wrong = 0
    for seed in range(first, first + count):
        problem = check(mutant(seed))
        if problem is not None:
            wrong += 1
            sys.stdout.write(f"mutant {seed}: {problem}\n")
    sys.stdout.write(f"{count} mutants of {len(corpus())} logs, {wrong} wrong\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
