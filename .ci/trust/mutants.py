"""Mutants of everything that is read, by number: the grammars lie beside the tests, which try some hundreds of them.

Held to 10 s of CPU and 500 MB each, exit codes 0 to 3, no traceback, no raw control character, one line for each thing
that is wrong, which names the file or the option and the key; answers are in order (p10 <= p50 <= p90) and no wire
carries more than it can.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2] / "tests"
#: how many of each an ordinary run tries
USUAL = {"paths": 1000, "files": 1000, "logs": 1000}
FOLDER = tempfile.TemporaryDirectory()


def _module(name: str, file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


_paths = _module("fuzz_paths", TESTS / "fuzz" / "paths.py")
_files = _module("fuzz_files", TESTS / "fuzz" / "files.py")
_logs = _module("fuzz_logs", TESTS / "logs" / "fuzz.py")


def paths(number: int) -> str | None:
    """Paths, hosts, parts, calibrations of a path, --set, events: predict, explain and simulate."""
    return _named(_paths, number)


def files(number: int) -> str | None:
    """Prices, data sets, sizes, events, traces, tables, workloads, cases, calibrations, logs that fit, histories."""
    return _named(_files, number)


def logs(number: int) -> str | None:
    """Logs of benchmarks and transfers."""
    found: str | None = _logs.check(_logs.mutant(number))
    return found


def _named(module: Any, number: int) -> str | None:
    given, arguments = module.mutant(number)
    found: str | None = module.check(given, arguments, Path(FOLDER.name))
    return found
