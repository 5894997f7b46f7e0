"""The one exception tree of dtnsim.

    DtnsimError                 anything dtnsim refuses or cannot do        exit code 1
    ├── InputError              what the user gave cannot be used           exit code 2
    │   ├── SpecError           a path, host or part file: file, line, key, value, remedy
    │   ├── UnitError           a number without its unit, or with a wrong one
    │   └── LogError            a benchmark log that cannot be read
    └── ModelError              a model was asked for what it cannot answer

Every message names what was given and what to write instead; no traceback reaches a user.
Packages that a prediction does not need each belong to an extra, and their absence is one line that names it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

_NAMED = 200  #: characters of a file's or a key's name that are worth a place in a message

MISSING: Final = "is missing"  #: what is said of a key that nobody wrote

_SAID = 800  #: characters of a sentence
_LINES = 20  #: most findings of one file that are printed


def short(text: str, most: int = _NAMED) -> str:
    """The text, without its middle where it is too long for a message."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"


#: C0, DEL, C1, direction marks and overrides, line separators, halves of pairs
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")


def visible(text: str) -> str:
    """The text with escapes for what a terminal would obey and not show: control and direction characters."""
    if text.isprintable():
        return text
    return _UNSEEN.sub(lambda m: f"\\x{ord(m[0]):02x}" if m[0] < "\u0100" else f"\\u{ord(m[0]):04x}", text)


class DtnsimError(Exception):
    """Base of every error dtnsim raises on purpose."""

    exit_code = 1

    def __str__(self) -> str:
        """What is wrong, with escapes for what a terminal would obey: the text may quote a file of anybody's."""
        return visible(super().__str__())

    @property
    def lines(self) -> tuple[str, ...]:
        """What is printed, a finding a line."""
        return (str(self),)


class InputError(DtnsimError):
    """What the user gave cannot be used; the message says what to give instead."""

    exit_code = 2


class UnitError(InputError):
    """A number without its unit, with an unknown unit, or with a unit of another dimension."""


class LogError(InputError):
    """A benchmark log that cannot be read."""


class ModelError(DtnsimError):
    """A model was asked for something outside what it can answer."""


@contextmanager
def noted(errors: list[SpecError], under: str = "") -> Iterator[None]:
    """Notes in ``errors`` what is refused, below the key ``under``, and goes on to the next; `refuse` raises it."""
    try:
        yield
    except SpecError as error:
        if under and not (error.key or "").startswith((under.partition(".")[0] + ".", "--")):
            error.key = ".".join(filter(None, (under, error.key)))
        errors += error.findings


def refuse(errors: Sequence[SpecError]) -> None:
    """Raises the first of what was noted, followed by the others; nothing where nothing was."""
    if errors:
        raise errors[0].followed_by(errors[1:])


class SpecError(InputError):
    """A path, host or part file that cannot be used.

    Attributes carry where it went wrong, so that the command line prints one clear line:
    ``file:line: key: message (got value); remedy``. ``further`` are findings of the same file, a line each.
    """

    further: tuple[SpecError, ...] = ()

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        value: object = None,
        remedy: str | None = None,
    ) -> None:
        self.message, self.file, self.line = message, file, line
        self.key, self.value, self.remedy = key, value, remedy
        super().__init__(self.own_line)

    @property
    def findings(self) -> tuple[SpecError, ...]:
        """This one, and the further ones."""
        return (self, *self.further)

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each finding, of many for the first of them: events that were generated lack a key each."""
        lines = tuple(finding.own_line for finding in self.findings)
        return lines if len(lines) <= _LINES else (*lines[:_LINES], f"{len(lines) - _LINES} more are like these")

    def followed_by(self, errors: Iterable[SpecError]) -> SpecError:
        """This one with what else was found, each once."""
        seen = {e.place: e for e in errors}
        seen.pop(self.place, None)
        self.further = tuple(seen.values())
        return self

    @property
    def place(self) -> tuple[object, ...]:
        """Where it is, and what it says: equal for one finding that was met twice."""
        return self.file, self.line, self.key, self.message, str(self.value)

    @property
    def missing(self) -> bool:
        """Whether it says that a key is missing."""
        return self.message == MISSING

    def __str__(self) -> str:
        return "\n".join(map(visible, self.lines))

    @property
    def own_line(self) -> str:
        """This finding alone."""
        where = self.file or ""
        option, _, named = where.partition(" ")
        key = self.key
        if option.startswith("--") and key and (named.startswith(key) or named.split(".")[-1] == key.split(".")[-1]):
            key = None  # --set KEY has named it
        if where and self.line:
            where += f":{self.line}"
        parts = [short(p) for p in (where, key) if p]
        text = ": ".join([*parts, short(self.message, _SAID)])
        shown = repr(self.value)
        quoted = isinstance(self.value, str) and shown in self.message  # a number may stand in it as part of another
        if self.value is not None and not quoted:
            text += f" (got {shown if len(shown) <= 80 else shown[:77] + '...'})"
        if self.remedy:
            text += f"; {short(self.remedy, _SAID)}"
        return text


#: package -> extra of dtn-pathsim that installs it
EXTRAS: Final = {
    "dask": "cluster",
    "distributed": "cluster",
    "kaleido": "report",
    "llvmlite": "fast",
    "numba": "fast",
    "pandas": "report",
    "plotext": "report",
    "plotly": "report",
    "pyarrow": "report",
    "zstandard": "zstd",
}
#: libraries that answers depend on, and those of extras that may change how fast they come
LIBRARIES: Final = ("numpy", "scipy", "networkx", "simpy", "pydantic", "PyYAML", "numba")


def versions() -> dict[str, str | None]:
    """The version of each of `LIBRARIES`; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    installed: dict[str, str | None] = dict.fromkeys(LIBRARIES)
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


def hint(package: str) -> str:
    """How to install what ``package`` comes with."""
    return f"pip install 'dtn-pathsim[{EXTRAS[package.partition('.')[0]]}]'"


def need(module: str, feature: str, *, instead: str = "") -> Any:
    """Imports a module of an extra; `InputError` where it is not installed.

    Args:
        module: The module, like ``pyarrow.parquet``.
        feature: What needs it, as the message begins: ``--out FILE.parquet``.
        instead: What goes without it, as the message ends.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        also = f", or {instead}" if instead else ""
        raise InputError(f"{feature} needs {package}: {hint(package)}{also}") from None


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A ``pandas.DataFrame`` of rows; what they nest is in columns of its own, with dots in their names."""
    return need("pandas", "to_frame()").json_normalize(list(rows))
