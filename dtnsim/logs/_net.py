"""What the parsers of network and transfer tools share: unit words, durations, command options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from dtnsim.logs.base import BINARY, DECIMAL, Conditions, Context, decimal, size_bytes

_CLOCK: Final = re.compile(r"(?:(?:(\d+)[-:d ]\s?)?(\d+):)?(\d+):(\d+(?:[.,]\d+)?)")
_PARTS: Final = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|us|µs|w|d|h|m|s)")
_PART_S: Final = {
    "w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6,
}  # fmt: skip
_REMOTE: Final = re.compile(r"(?:rsync://|scp://|[^/\s]+:)")
_ISO: Final = re.compile(
    r"P(?:(?P<w>\d+(?:\.\d+)?)W)?(?:(?P<d>\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)


def bits_rate(figure: str, prefix: str) -> float:
    """A rate in bits with a decimal prefix (``9.41`` ``G``) in [B/s]."""
    return decimal(figure) * DECIMAL[prefix] / 8


def binary_size(figure: str, prefix: str) -> float:
    """A size whose letter means a power of 1024 (``182.2`` ``M``) in [B]."""
    return decimal(figure) * BINARY[prefix]


def clock_s(text: str) -> float | None:
    """``09:22``, ``1:24:37`` or ``2-03:04:05`` in [s]; None if it is none of these."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = match.groups()
    return int(days or 0) * 86400.0 + int(hours or 0) * 3600.0 + int(minutes) * 60.0 + decimal(seconds)


def parts_s(text: str) -> float | None:
    """``3.1s``, ``1m2.5s`` or ``1h2m3s`` in [s]; None if it is none of these."""
    found = _PARTS.findall(text)
    if not found or "".join(n + u for n, u in found) != text.strip():
        return None
    return sum(float(n) * _PART_S[u] for n, u in found)


def iso_s(text: object) -> float | None:
    """An ISO 8601 duration such as ``PT0.0627S`` or ``P1DT2H`` in [s]; None if it is none."""
    match = _ISO.fullmatch(text) if isinstance(text, str) and len(text) > 2 else None
    if match is None or text in ("PT", "P"):
        return None
    scale = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
    return sum(float(value) * scale[key] for key, value in match.groupdict().items() if value)


def options(args: Iterable[str] | None, spec: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Reads command options: (name -> value, what is left).

    Args:
        args: Arguments of the command; None gives nothing.
        spec: Option -> name; a name that ends in ``!`` takes no value. ``-P 4``, ``-P4``,
            ``--parallel 4``, ``--parallel=4`` and bundles such as ``-uR`` are understood. Options
            that are not named are skipped (their values end up in what is left).
    """
    found: dict[str, str] = {}
    rest: list[str] = []
    queue = list(args or ())
    while queue:
        word = queue.pop(0)
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        name, _, value = word.partition("=")
        if name in spec:
            _take(spec[name], value, queue, found)
        elif not word.startswith("--"):
            _bundle(word, spec, queue, found)
    return found, rest


def _take(name: str, value: str, queue: list[str], found: dict[str, str]) -> None:
    if name.endswith("!"):
        found[name[:-1]] = ""
    elif value or queue:
        found[name] = value or queue.pop(0)


def _bundle(word: str, spec: Mapping[str, str], queue: list[str], found: dict[str, str]) -> None:
    """``-P4`` or ``-uR``: letters up to the first that takes a value."""
    for at, letter in enumerate(word[1:], start=1):
        name = spec.get("-" + letter)
        if name is None:
            return
        if not name.endswith("!"):
            _take(name, word[at + 1 :], queue, found)
            return
        found[name[:-1]] = ""


def host_of(ctx: Context) -> Conditions:
    """The host a line belongs to, for figures that are settled when another prompt may have come.

    A host that is not known is kept as None, so that a record does not take the next prompt's.
    """
    return {"host": ctx.host or (ctx.command.host if ctx.command is not None else None)}


def positive_int(text: str | None) -> int | None:
    """A count from a command line, or None."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 6:
        return None
    return int(text) or None


def ends_of(ctx: Context) -> Conditions:
    """The ends that a pScheduler command names, as the data went: with ``--reverse`` the other way round."""
    args = ctx.args("pscheduler") or []
    found: Conditions = {}
    for at, arg in enumerate(args):
        name, _, value = arg.partition("=")
        key = {"--source": "source", "-s": "source", "--dest": "target", "-d": "target"}.get(name)
        if key is not None:
            found[key] = value or (args[at + 1] if at + 1 < len(args) else "")
        elif name in ("--reverse", "-R"):
            found["reverse"] = True
    return turned(found)


def turned(known: Conditions) -> Conditions:
    """The ends as the data went: with ``--reverse`` the test's destination sends to its source."""
    if known.get("reverse"):
        ends = {"source": known.get("target"), "target": known.get("source")}
        known |= {key: end for key, end in ends.items() if end is not None}
    return known


def ends_of_copy(paths: Sequence[str], given: Mapping[str, str] = MappingProxyType({})) -> Conditions:
    """Source, target and direction of a copy from ``host:path`` arguments; window and block in B from its options."""
    found: Conditions = {f"{name}_B": size_bytes(given[name]) for name in ("window", "block") if name in given}
    if len(paths) > 1:
        found["source"], found["target"] = paths
        remote = [_REMOTE.match(path) is not None for path in paths]
        if remote[0] != remote[1]:
            found["direction"] = "receive" if remote[0] else "send"
    return found
