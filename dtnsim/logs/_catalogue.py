"""Which parsers care for a line (an index over words and shapes), those of one host of a log, which comes nearest."""

import importlib
import pkgutil
import re
import sys
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final, NamedTuple

from dtnsim.logs._commands import PREFIX, UNUSUAL, CommandReader, cleaned, without_codes
from dtnsim.logs._declared import LinesParser, beginnings, compiled
from dtnsim.logs.base import Context, Evidence, LineParser, Parser

#: shapes of lines that tools print once an interval, packet or percent, and sum up at the end
_INTERVALS: Final = re.compile(
    rb"^\[ *(?:SUM)?\](?:\[[TR]X-[CS]\])? *-+ *sec .*/sec(?!.*(?:sender|receiver))"
    rb"|^ *bytes from .* time=|^ *MB / +sec = +Mbps|^bbcp: .*% done;|^Jobs:  \(f=\)"
)
#: shapes of lines from which `dtnsim.logs._commands` may take something: quotes, tags, entities, stars, a time stamp
#: (whose year is gone from the shape), a host before a colon
_DECORATED: Final = re.compile(rb"^[>(|]|[<&]|\*\*|^--T::|^[^ ]{0,80}: ?")
_BLANKS: Final = bytes(byte if byte >= 128 or chr(byte).isalpha() or byte in b"${" else 32 for byte in range(256))


class Targets(NamedTuple):
    """Who cares for lines of a shape."""

    parsers: tuple[int, ...]
    command: bool
    document: bool
    interval: bool = False  # one of a stretch of lines of which the middle may be passed over
    prefixed: bool = False  # a log collector's stamp comes before it
    ts: bool = False  # and behind that no host and program, though it looks like it
    idle: bool = False  # nobody cares, unless a parser is open
    plain: bool = False  # nothing to clean off, no host before it, no command: handed over as it is
    #: plain, unless the line itself begins with the plus of ``set -x`` (``10240+0 records in`` does not)
    plus: bool = False
    rows: int = -1  # of plain interval lines: the parser that takes many at once
    rule: bool = False  # a line of dashes for which only such a parser cares


NOBODY: Final = Targets((), command=False, document=False, idle=True)
_PREFIX: Final = re.compile(PREFIX.encode())
#: marks of prompts, which are in a line's first two words, and of decoration, behind which a command may come
_MARKS: Final = re.compile(
    rb"^[^ ]{0,80} {0,9}[^ ]{0,80}[$#>%+@|(:]|[<&]|\*\*|\$|"
    + b"|".join(b"^[^ ]{0,80} {0,9}" + sign.encode() for sign in UNUSUAL[1:-1])
)
_LETTERS: Final = re.compile(rb"[A-Za-z]+")
#: shapes that are remembered, and what each takes beside its length [B]
_CACHE: Final = 16 << 20
_ENTRY: Final = 200
#: what may come before a command that has no prompt
_BEFORE: Final = frozenset(b"sudo time Command command Running running Executing executing".split())


class Catalogue:
    """All parsers of the package and the word index to find those that care for a line."""

    def __init__(self, types: Iterable[type[Any]]) -> None:
        types = list(types)
        self.lines: list[type[LineParser]] = [t for t in types if issubclass(t, LineParser)]
        self._rows = [index for index, kind in enumerate(self.lines) if kind.rows is not LineParser.rows]
        self.documents: list[type[Parser]] = [t for t in types if t.forms]
        self.long = frozenset(key for t in self.documents for form in t.forms for key in form.long)
        #: every tool and what its figures are good for
        self.evidence: dict[str, Evidence] = dict(sorted((t.tool, t.evidence) for t in types if hasattr(t, "evidence")))
        self.of_a_line = frozenset(t.tool for t in types if t.of_a_line)
        self.commands = frozenset(c for t in types for c in t.commands)
        self._words: dict[bytes, list[tuple[int, tuple[bytes, ...]]]] = {}
        for index, kind in enumerate(self.lines):
            for word in kind.words.split():
                pieces = tuple(piece.encode() for piece in kind.beside.get(word, ()))
                self._words.setdefault(word.encode(), []).append((index, pieces))
        plain = (re.sub(r"[\d.]", "", name) for name in self.commands)  # as in a shape: ``s5cmd`` is ``scmd``
        self._tools = frozenset(word.encode() for name in plain for word in re.findall(r"[A-Za-z]+", name))
        self._keys = frozenset(self._words) | self._tools | {b"$", b"{"}
        self._shapes = [(index, re.compile(kind.shape.encode())) for index, kind in enumerate(self.lines) if kind.shape]

    def targets(self, shape: bytes) -> Targets:
        """Who cares for lines of this shape."""
        if (stamp := _PREFIX.match(shape)) is None:
            return self._targets(shape)
        targets = self._targets(shape[stamp.end() :])
        if ts := targets.idle and stamp["ts"] is not None and not stamp[0].endswith(b"]: "):
            targets = self._targets(shape[stamp.end("ts") :])  # two words and a colon may be the line's own
        return targets._replace(prefixed=True, ts=ts and not targets.idle, plain=False, plus=False)

    def _targets(self, shape: bytes) -> Targets:
        indices: set[int] = set()
        command = document = False
        words = shape.translate(_BLANKS).split()
        if not self._keys.isdisjoint(words):
            for word in set(words):  # of a long line in one piece, JSON say, many are alike
                entries = self._words.get(word, ())
                indices.update(index for index, pieces in entries if not pieces or any(map(shape.__contains__, pieces)))
            command = b"$" in words or (not self._tools.isdisjoint(words) and self._may_be_command(shape))
            document = b"{" in words
        start = shape.removeprefix(b"# ")  # commented out
        indices.update(index for index, pattern in self._shapes if pattern.search(start))
        if b"@" in shape or shape[:1] == b"#" or b"]#" in shape:
            command = True
        plus = shape[:1] == b"+" and not command and not document
        command = command or plus
        if shape[:1] in (b"<", b"[") or b"<table" in shape:
            starts = shape.startswith((b"<?xml", b"<topology", b"<Results>", b"[{")) or shape == b"["
            document = document or starts or b"<table" in shape
        if not indices and not command and not document:
            return NOBODY
        interval = _INTERVALS.match(shape) is not None
        command = command and not interval
        bare = _DECORATED.search(shape) is None
        plain = bare and not (command or document)
        who = tuple(sorted(indices))
        rows = next((index for index in self._rows if interval and plain and index in indices), -1)
        plus = plus and bare and bool(who)
        rule = plain and len(who) == 1 and who[0] in self._rows and not shape.strip(b"- ")
        return Targets(who, command, document, interval=interval, plain=plain, plus=plus, rows=rows, rule=rule)

    def _may_be_command(self, shape: bytes) -> bool:
        """Whether a line that names a tool may be a command: a prompt, or the tool (or a path) to begin with."""
        if _MARKS.search(shape) is not None:
            return True
        first = shape.split(maxsplit=1)[0]
        names = _LETTERS.findall(first)
        return first[:1] == b"/" or not self._tools.isdisjoint(names) or not _BEFORE.isdisjoint(names)


class Shapes(dict[bytes, Targets]):
    """Who cares for lines of a shape: looked up once a shape."""

    def __init__(self, parsers: Catalogue) -> None:
        super().__init__()
        self._all = parsers
        self._alike: dict[Targets, Targets] = {}
        self._held = 0  # of the cache [B]

    def __missing__(self, shape: bytes) -> Targets:
        targets = self._all.targets(shape)
        targets = self._alike.setdefault(targets, targets)  # so that rows of several widths are known by identity
        self._held += len(shape) + _ENTRY
        if self._held > _CACHE:
            self.clear()
            self._held = len(shape) + _ENTRY
        self[shape] = targets
        return targets


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """Imports every parser module of the package once."""
    import dtnsim.logs as package

    names = {module.name for module in pkgutil.iter_modules(package.__path__)} - {"base", "measurement"}
    modules = [importlib.import_module(f"dtnsim.logs.{name}") for name in sorted(names) if name[0] != "_"]
    classes = [(kind, module) for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    parsers = [kind for kind, module in classes if issubclass(kind, Parser) and kind.__module__ == module.__name__]
    return Catalogue(kind for kind in parsers if not getattr(kind, "__abstractmethods__", None))


class Host:
    """Parsers of one host of a pdsh log (or of the whole file)."""

    def __init__(self, parsers: Catalogue, file: str | None, memo: dict[str, Any]) -> None:
        self.ctx = Context(file=file, memo=memo)
        self.parsers = [kind(self.ctx) for kind in parsers.lines]
        alike = dict(zip(parsers.lines, self.parsers, strict=True))
        readers = [alike[kind] if issubclass(kind, LineParser) else kind(self.ctx) for kind in parsers.documents]
        self.forms = [(reader, form) for reader in readers for form in reader.forms]
        self.commands = CommandReader(parsers.commands)
        self.open: dict[int, LineParser] = {}

    def mark(self, index: int) -> None:
        if self.parsers[index].open:
            self.open[index] = self.parsers[index]
        else:
            self.open.pop(index, None)


#: lines that are compared, and their length
_LINES: Final = 2000
_LONGEST: Final = 500
#: characters of a line, blanks left out, and letters of a pattern, below which they have nothing in common
_LEAST: Final = 8
_NAMED: Final = 4


class Nearest(NamedTuple):
    """A line that is as a tool prints it up to some place."""

    tool: str
    line: int
    text: str  # up to there
    rest: str  # from there on

    def __str__(self) -> str:
        """``hdparm comes nearest: the line is as it prints it up to 'Timing cached reads: 5 MB in', not ' ages'``."""
        return f"{self.tool} comes nearest: the line is as it prints it up to {self.text!r}, not {self.rest[:40]!r}"


def nearest(source: str | Path) -> Nearest | None:
    """The line of a file (of an archive the first member's) that agrees longest with what a tool prints; or None."""
    from dtnsim.logs._source import logs

    best, shapes, parsers = None, Shapes(catalogue()), catalogue().lines
    logs_of_file = logs(source, str(source))  # is held: its blocks are of a file that it closes
    _, blocks = next(logs_of_file)
    for number, raw in enumerate(without_codes(next(blocks)).split(b"\n")[:_LINES], 1):
        text = cleaned(raw)[:_LONGEST]
        for index in shapes[raw.translate(None, b"0123456789.")].parsers:
            patterns = _patterns(parsers[index])
            if any(pattern.search(text) for pattern in patterns):
                continue  # a line that is read, of which no figure came
            agreed = max((_agreed(pattern.pattern, text) for pattern in patterns), key=_size, default="")
            if _size(agreed) >= max(_LEAST, 0 if best is None else _size(best.text) + 1):
                best = Nearest(parsers[index].tool, number, agreed, text[text.index(agreed) + len(agreed) :])
    return best


def _size(text: str) -> int:
    return len("".join(text.split()))


@lru_cache(maxsize=128)
def _patterns(parser: type[LineParser]) -> tuple[re.Pattern[str], ...]:
    """The patterns of a parser's lines: those that are declared, and those of its module that its methods name."""
    kinds = [kind.pattern for kind in parser.kinds] if issubclass(parser, LinesParser) else []
    methods = (attr for attr in vars(parser).values() if isinstance(attr, FunctionType))
    names = dict.fromkeys(name for method in methods for name in method.__code__.co_names)
    constants = (getattr(sys.modules[parser.__module__], name, None) for name in names)
    named = (*constants, getattr(parser, "line", None))
    lines = (attr for attr in named if isinstance(attr, re.Pattern) and len(attr.groupindex) > 1)
    return (*kinds, *lines)


def _agreed(pattern: str, text: str) -> str:
    """The longest part of a line that a beginning of the pattern matches."""
    parts = [part for part in beginnings(pattern, 0) if sum(map(str.isalpha, part)) >= _NAMED]
    # the longest comes first; what a beginning matches, a shorter one matches, too
    at = bisect_left(parts, 1, key=lambda part: compiled(part).search(text) is not None)
    match = compiled(parts[at]).search(text) if at < len(parts) else None
    return "" if match is None else match[0]
