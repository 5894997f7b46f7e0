"""Records inside what archives and message brokers export: lists, OpenSearch hits, messages with their envelope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

#: keys under which an export keeps the record itself: OpenSearch, MONIT at CERN, STOMP
_ENVELOPES: Final = ("_source", "data", "payload", "body")
_DEEP: Final = 6
_NANOSECONDS: Final = re.compile(r"(\.\d{6})\d+")


def records(data: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Objects of an export, each before what it wraps."""
    if depth > _DEEP:
        return
    if isinstance(data, list):
        for item in data:
            yield from records(item, depth + 1)
    elif isinstance(data, dict):
        hits = data.get("hits")
        if isinstance(hits, dict | list):
            yield from records(hits, depth + 1)
            return
        yield data
        for key in _ENVELOPES:
            if isinstance(data.get(key), dict | list):
                yield from records(data[key], depth + 1)


def first(data: Any) -> dict[str, Any]:
    """The innermost object of an export's first record: what a parser looks at to recognise it."""
    found: dict[str, Any] = {}
    for _ in range(_DEEP):
        if isinstance(data, list):
            data = data[0] if data else None
        if not isinstance(data, dict):
            break
        found = {**found, **data}
        hits = data.get("hits")
        inside = [data[key] for key in _ENVELOPES if isinstance(data.get(key), dict | list)]
        data = hits if isinstance(hits, dict | list) else inside[0] if inside else None
    return found


def stamp(when_s: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601 in UTC; None for what is no time of an archive."""
    if when_s is None or not 0.0 < when_s < 1e11:
        return None
    return f"{datetime.fromtimestamp(when_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def seconds(found: object) -> float | None:
    """A time as an archive writes it in [s] since 1970: ISO 8601 with a blank or a ``T``, or a number of s or ms."""
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found) / (1000.0 if found > 1e11 else 1.0)
    if not isinstance(found, str):
        return None
    text = found.strip()
    if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdigit() and len(text) < 24:
        return seconds(float(text))
    try:
        when = datetime.fromisoformat(_NANOSECONDS.sub(r"\1", text[:40]))
    except ValueError:
        return None
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
