"""What the readers of fio's text and of its JSON share: units, runs already counted, runs that were stopped."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from dtnsim.logs.base import BINARY, DECIMAL, Conditions, Parser, Record
from dtnsim.logs.measurement import Status

TIMES: Final = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
#: percentiles worth keeping
PERCENTILES: Final = ("50", "90", "95", "99", "99.9", "99.99")


def factor_of(unit: str) -> float:
    """``MiB`` 2**20; ``MB`` 1e6, ``Mbit`` 1e6 / 8 (3.x); use `BINARY` for 2.x, whose ``MB`` is 2**20."""
    if unit.endswith("bit"):
        return factor_of(unit.removesuffix("bit") + "B") / 8
    prefix = unit.rstrip("B")
    return BINARY[prefix[0]] if prefix.endswith("i") else DECIMAL[prefix]


def figure_of(text: str) -> float:
    return float(text.replace(",", ""))


class Stoppable(Parser):
    """A run that a signal (^C) stopped: fio reports what it did until then, which is ``partial``."""

    @property
    def stopped(self) -> bool:
        """Whether fio said that a signal stopped the run."""
        return bool(self.ctx.memo.get("fio stopped"))

    @stopped.setter
    def stopped(self, value: bool) -> None:
        self.ctx.memo["fio stopped"] = value

    def record(
        self,
        quantity: str,
        value: float,
        unit: str,
        printed: str,
        conditions: Conditions,
        *,
        status: Status = "complete",
        line: int | None = None,
    ) -> Record:
        """The record of one figure; that of a stopped run is not complete."""
        status = "partial" if status == "complete" and self.stopped else status
        return super().record(quantity, value, unit, printed, conditions, status=status, line=line)


#: options of a command line -> conditions
_GIVEN: Final = {"filename": "target", "directory": "target", "rw": "pattern", "readwrite": "pattern",
                 "ioengine": "engine"}  # fmt: skip
_SYNCS: Final = ("fsync", "end_fsync", "fdatasync", "sync")


@lru_cache(maxsize=64)
def of_command(args: tuple[str, ...]) -> Conditions:
    """What a command line says of its only job; nothing of one with several."""
    given: dict[str, str] = {}
    for arg in args:
        key, mark, value = arg.lstrip("-").partition("=")
        if not arg.startswith("--") or (key in given and key == "name"):
            return {}
        given[key] = value if mark else "1"
    found: Conditions = {to: given[key] for key, to in _GIVEN.items() if key in given}
    if given.get("direct", "0") == "1":
        found["direct"] = True
    sync = next((k for k in _SYNCS if given.get(k, "0") not in ("0", "none")), None)
    return found if sync is None else {**found, "sync": sync}


class Seen:
    """Runs already counted, identified by job, direction and milliseconds; one per file."""

    def __init__(self, memo: dict[str, Any]) -> None:
        self._seen: dict[tuple[str, str, int], set[str]] = memo.setdefault("fio", {})

    def again(self, job: str, operation: str, milliseconds: int, form: str) -> bool:
        """Whether another form gave this result already; notes it otherwise."""
        forms = self._seen.setdefault((job, operation, milliseconds), set())
        if len(self._seen) > 10_000:
            self._seen.clear()
        if forms and form not in forms:
            return True
        forms.add(form)
        return False
