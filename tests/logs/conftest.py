"""What the tests of the log parsers share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dtnsim.logs import read_logs, read_text
from dtnsim.logs.measurement import Measurement, Unread

DATA = Path(__file__).parent / "data"


class Log:
    """Records of one log, to be asked for figures."""

    def __init__(self, found: list[Measurement], unread: list[Unread]) -> None:
        self.found, self.unread = found, unread

    def all(self, quantity: str, **where: Any) -> list[Measurement]:
        """Records of a quantity whose conditions (or status, tool, version) are as given."""
        own = {key: where.pop(key) for key in ("status", "tool", "version", "line") if key in where}
        return [
            record
            for record in self.found
            if record.quantity == quantity
            and all(record.conditions.get(key) == value for key, value in where.items())
            and all(getattr(record, key) == value for key, value in own.items())
        ]

    def one(self, quantity: str, **where: Any) -> Measurement:
        """The one record of a quantity under these conditions."""
        hits = self.all(quantity, **where)
        assert len(hits) == 1, (quantity, where, [(r.quantity, r.value, dict(r.conditions)) for r in self.found][:30])
        return hits[0]

    def value(self, quantity: str, **where: Any) -> float:
        """The value of that one record."""
        return self.one(quantity, **where).value


@pytest.fixture
def log() -> Callable[[str], Log]:
    """Reads a log given as text, or as the name of a file under ``data``."""

    def read(source: str) -> Log:
        if "\n" not in source and len(source) < 200 and (DATA / source).is_file():
            return Log(*read_logs(DATA / source))
        return Log(*read_text(source))

    return read
