"""Answers of shipped paths as JSON lines: ``.ci/answers.py > FILE``; ``.ci/answers.py --compare A B [DIGITS]``."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: significant digits in which answers of different libraries are equal: sums and special functions are their own
DIGITS = 12
#: every so many-th path is simulated, too
SIMULATED = 8


def answers() -> Iterator[dict[str, Any]]:
    """What predict and simulate say of every shipped path."""
    import dtnsim
    from dtnsim.ground import library
    from dtnsim.report import document, simulation

    for number, name in enumerate(library.names("paths")):
        yield {"path": name, "predict": document.prediction_document(dtnsim.predict(name, samples=64))}
        if number % SIMULATED == 0:
            yield {"path": name, "simulate": simulation.document(dtnsim.simulate(name))}


def differences(one: Any, other: Any, where: str = "", digits: int = DIGITS) -> Iterator[str]:
    """Keys whose values differ: numbers by more than their last digits, anything else at all."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            if key != "versions":  # an answer says whose it is
                yield from differences(one[key], other[key], f"{where}.{key}", digits)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{number}]", digits)
    elif isinstance(one, float | int) and isinstance(other, float | int):
        if not math.isclose(one, other, rel_tol=10.0**-digits, abs_tol=10.0 ** -(digits + 3)):
            yield f"{where}: {one!r} and {other!r}"
    elif one != other:
        yield f"{where}: {str(one)[:80]!r} and {str(other)[:80]!r}"


def compare(first: Path, second: Path, digits: int) -> int:
    """Prints what differs between two files of answers; returns how many answers do."""
    pairs = zip(first.read_text().splitlines(), second.read_text().splitlines(), strict=True)
    count = different = exact = 0
    for a, b in pairs:
        count, exact = count + 1, exact + (a == b)
        one = json.loads(a)
        moved = list(differences(one, json.loads(b), one["path"], digits))
        different += bool(moved)
        sys.stdout.writelines(f"{line}\n" for line in moved[:3])
    sys.stdout.write(
        f"{count} answers: {exact} the same to the last digit, {different} differ in their first {digits} digits\n"
    )
    return different


def main() -> None:
    """Prints answers, or compares two files of them."""
    if sys.argv[1:2] == ["--compare"]:
        digits = int(sys.argv[4]) if len(sys.argv) > 4 else DIGITS
        sys.exit(1 if compare(Path(sys.argv[2]), Path(sys.argv[3]), digits) else 0)
    for answer in answers():
        sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
