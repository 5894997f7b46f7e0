"""Which functions of physics and engine do the commands call? ``python tests/called.py`` (about a minute).

Runs `predict` and `simulate` over all shipped paths, and ``dtnsim tcp`` with every congestion control and a table of
competing flows; lists what none of them called, and ends with 1 below the share that the house wants.
"""

import ast
import contextlib
import io
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiled kernels call nothing that Python sees

import dtnsim
from dtnsim.cli import app
from dtnsim.ground import library
from dtnsim.physics.tcp import controls

ROOT = Path(dtnsim.__file__).parent
WANTED = 0.85
PAIRS = "rate_bps,rtt_s,cc,flow2_cc,duration_s\n1e8,0.03,cubic,bbr,20\n1e8,0.03,cubic,reno,20\n"


def run(*arguments: str) -> None:
    """One command, its output thrown away."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app(list(arguments))(args=list(arguments), standalone_mode=False)  # type: ignore[operator]


def everything() -> None:
    """What users run."""
    for name in library.names("paths"):
        dtnsim.predict(name)
        dtnsim.simulate(name)
    for cc in controls.names():
        run("tcp", "--rate", "1Gb/s", "--rtt", "20ms", "--loss", "1e-4", "--cc", cc)
    run("tcp", "--rate", "1Gb/s", "--rtt", "20ms", "--size", "1GB")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "pairs.csv"
        table.write_text(PAIRS, encoding="utf-8")
        run("tcp", "--table", str(table))


def main() -> int:
    """Counts what is called."""
    called: set[CodeType] = set()  # whose files are looked at once, not at each of millions of calls

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    sys.setprofile(note)
    everything()
    sys.setprofile(None)
    inside = [(Path(code.co_filename), code.co_name) for code in called]
    seen = {(str(file.relative_to(ROOT)), name) for file, name in inside if file.is_relative_to(ROOT)}
    known = {
        (str(path.relative_to(ROOT)), node.name)
        for room in ("physics", "engine") for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")
    }  # fmt: skip
    missing = defaultdict(list)
    for file, name in sorted(known - seen):
        missing[file].append(name)
    for file, names in missing.items():
        print(f"{file}: {', '.join(names)}")
    share = len(known & seen) / len(known)
    print(f"{len(known & seen)} of {len(known)} functions called: {share:.1%}")
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
