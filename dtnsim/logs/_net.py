"""What the parsers of network and transfer tools share: unit words, durations, command options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from dtnsim.logs._numbers import BINARY, DECIMAL, decimal, number, size_bytes
from dtnsim.logs.base import Conditions, Context
from dtnsim.logs.measurement import Condition

_CLOCK: Final = re.compile(r"(?:(?:(\d+)[-:d ]\s?)?(\d+):)?(\d+):(\d+(?:[.,]\d+)?)")
_PARTS: Final = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|us|µs|w|d|h|m|s)")
_PART_S: Final = {
    "w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6,
}  # fmt: skip
_BITS: Final = {**DECIMAL, "m": 1e6, "g": 1e9, "t": 1e12}
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


def of_histogram(counts: Mapping[str, object]) -> tuple[int, dict[str | None, float]]:
    """(packets, mean, median, least, greatest) of a histogram, delay -> packets; nothing of an empty one."""
    pairs = [(number(delay), number(count)) for delay, count in counts.items()]
    found = sorted((delay, count) for delay, count in pairs if delay is not None and count is not None and count > 0)
    packets = sum(count for _, count in found)
    if not packets:
        return 0, {}
    middle, seen = found[-1][0], 0.0
    for delay, count in found:
        seen += count
        if seen >= packets / 2:
            middle = delay
            break
    mean = sum(delay * count for delay, count in found) / packets
    return int(packets), {None: mean, "median": middle, "min": found[0][0], "max": found[-1][0]}


class Given(NamedTuple):
    """A command line as it was read: what it says of the run, values of all options, words that are no options."""

    known: Conditions
    values: dict[str, str]
    rest: list[str]


class Options:
    """What options of a command mean: a table ``name kind : options``, a line each.

    ``-P 4``, ``-P4``, ``--parallel 4``, ``--parallel=4`` and bundles such as ``-uR`` are understood; options that are
    not named are skipped (their values end up in what is left). Kinds of conditions: ``text``, ``count``, ``size`` [B],
    ``bits`` (a decimal rate in bit/s) [B/s]; without a value ``true`` and ``=word``. ``value`` and ``flag`` (without
    one) are no conditions.
    """

    def __init__(self, table: str) -> None:
        rows = [line.split() for line in filter(str.strip, table.splitlines())]
        self._kinds = {name: kind for name, kind, *_ in rows}
        self._names = {option: (name, kind in ("true", "flag") or kind[0] == "=")
                       for name, kind, _, *own in rows for option in own}  # fmt: skip

    def read(self, args: Iterable[str] | None) -> Given:
        """Reads the arguments of a command; None gives nothing."""
        values: dict[str, str] = {}
        rest: list[str] = []
        queue = list(args or ())
        while queue:
            word = queue.pop(0)
            name, _, value = word.partition("=")
            if not word.startswith("-") or word == "-":
                rest.append(word)
            elif name in self._names:
                self._take(name, value, queue, values)
            elif not word.startswith("--"):
                for at, letter in enumerate(word[1:], start=2):  # letters up to the first that takes a value
                    if self._take("-" + letter, word[at:], queue, values):
                        break
        pairs = {name: _said(self._kinds[name], value) for name, value in values.items()}
        return Given({name: said for name, said in pairs.items() if said is not None}, values, rest)

    def _take(self, option: str, value: str, queue: list[str], values: dict[str, str]) -> bool:
        """Whether a bundle of letters ends with this option."""
        name, alone = self._names.get(option, ("", False))
        if alone:
            values[name] = ""
        elif name and (value or queue):
            values[name] = value or queue.pop(0)
        return not alone


def _said(kind: str, value: str) -> Condition:
    """The condition that an option's value is; None for none."""
    if kind == "text":
        return value
    if kind == "count":
        return positive_int(value)
    if kind == "size":
        return size_bytes(value) or None
    if kind == "bits":
        return (size_bytes(value.partition("/")[0], _BITS) or 0.0) / 8 or None
    return True if kind == "true" else kind[1:] if kind[0] == "=" else None


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


def ends_of_copy(paths: Sequence[str]) -> Conditions:
    """Source, target and direction of a copy from its arguments, of which the first and last may be ``host:path``."""
    if len(paths) < 2:
        return {}
    found: Conditions = {"source": paths[0], "target": paths[-1]}
    remote = [_REMOTE.match(path) is not None for path in (paths[0], paths[-1])]
    if remote[0] != remote[1]:
        found["direction"] = "receive" if remote[0] else "send"
    return found
