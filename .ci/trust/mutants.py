"""Mutants of everything that is read, by number: the grammars lie beside the tests, which try some hundreds of them.

Held to 10 s of CPU and 500 MB each, exit codes 0 to 3, no traceback, no raw control character, one line for each thing
that is wrong, which names the file or the option and the key; answers are in order (p10 <= p50 <= p90) and no wire
carries more than it can.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fuzz import files as fuzz_files, paths as fuzz_paths
from tests.logs import fuzz as fuzz_logs

#: how many of each an ordinary run tries
USUAL = {"paths": 1000, "files": 1000, "logs": 1000}
FOLDER = tempfile.TemporaryDirectory()


def paths(number: int) -> str | None:
    """Paths, hosts, parts, calibrations of a path, --set, events: predict, explain and simulate."""
    return _named(fuzz_paths, number)


def files(number: int) -> str | None:
    """Prices, data sets, sizes, events, traces, tables, workloads, cases, calibrations, logs that fit, histories."""
    return _named(fuzz_files, number)


def logs(number: int) -> str | None:
    """Logs of benchmarks and transfers."""
    found: str | None = fuzz_logs.check(fuzz_logs.mutant(number))
    return found


def _named(module: Any, number: int) -> str | None:
    given, arguments = module.mutant(number)
    found: str | None = module.check(given, arguments, Path(FOLDER.name))
    return found
