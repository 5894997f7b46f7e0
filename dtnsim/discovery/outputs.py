"""What a machine's own commands say, collected here or in a folder from elsewhere, and the host file made of it.

Each line of that file says where it is from, or what is still to be found out.
"""

import html
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Final

from dtnsim.discovery import pasted
from dtnsim.ground.errors import InputError, LogError
from dtnsim.ground.yamlio import decoded
from dtnsim.logs import read_text
from dtnsim.logs.measurement import Measurement

#: longest that all commands together may take, and the largest output that is read
_PATIENCE_S: Final = 60.0
_LARGEST_B: Final = 20_000_000
_WHOLE: Final = re.compile(r"[0-9]{1,18}")
#: names that collect.sh gives
_COLLECTED: Final = re.compile(
    r"hostname|kernel|lscpu|lspci|lsblk|meminfo|mdstat|mounts|interrupts|numactl|dmidecode|zpool-(?:status|list)|zfs-get|"
    r"lfs-df|tc|bonding|irq|net|sysctl|ethtool(?:-S)?\..*"
)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./%-][A-Za-z0-9_./% -]*")
#: words that YAML takes for something else
_OTHER: Final = frozenset({"on", "off", "yes", "no", "true", "false", "null", "~", "y", "n"})


def digits(text: str) -> bool:
    """Whether a text is a whole number of a size that a computer prints."""
    return _WHOLE.fullmatch(text) is not None


def script() -> str:
    """The shell script that collects them, for machines without Python."""
    return (resources.files("dtnsim.discovery") / "collect.sh").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs by name, as `collect.sh` calls them."""

    texts: dict[str, str]  #: Name to text.
    where: str  #: What messages call the place.
    records: list[pasted.Record] = field(default_factory=list)  #: What programs say that ``collect.sh`` does not run.
    #: The same under the names that its programs have for it.
    told: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """Lines of one output with their numbers from 1; nothing where it was not collected."""
        return enumerate(self.texts.get(name, "").splitlines(), 1)

    def keyed(self, name: str) -> dict[str, tuple[str, str]]:
        """Of ``path:value`` or ``key = value`` lines: key to (value, where it stands)."""
        facts: dict[str, tuple[str, str]] = {}
        for number, line in self.lines(name):
            key, mark, value = line.partition(" = ") if " = " in line else line.partition(":")
            if mark:
                facts.setdefault(key.strip(), (value.strip(), f"{name}:{number}"))
        return self.told.get(name, {}) | facts

    def measured(self, name: str) -> list[Measurement]:
        """What the parser of that command reads from an output; nothing where it was not collected."""
        try:
            return read_text(self.texts[name])[0] if name in self.texts else []
        except LogError:  # empty, or no text
            return []


def read(place: str | Path) -> Outputs:
    """Outputs that `collect.sh` has left in a folder, and what else of other programs lies there or in one file."""
    place = Path(place)
    if not place.exists():
        raise InputError(f"--from: there is no folder or file {place}; make one with: sh collect.sh {place}")
    texts, other_texts = {}, []
    for file in sorted(place.iterdir()) if place.is_dir() else [place]:
        name = file.name.removesuffix(".txt").removesuffix(".json")
        if file.is_file() and file.stat().st_size <= _LARGEST_B:
            text = decoded(file.read_bytes(), "replace")
            if place.is_dir() and _COLLECTED.fullmatch(name):
                texts[name] = text
            else:
                other_texts.append(text)
    text = textwrap.dedent(html.unescape("\n".join(other_texts)))
    parts = pasted.split(text)
    texts = parts | texts
    records = pasted.records(text, texts)
    if not records and not {"lscpu", "meminfo", "lsblk", "net", "lspci", "mounts"} & texts.keys():
        raise InputError(
            f"--from: {place} holds no output of collect.sh, which 'dtnsim discover --script' prints, nor of lscpu, "
            "lsblk, lshw, inxi, hwinfo, storcli, systeminfo, Get-PhysicalDisk, system_profiler and others like them"
        )
    return Outputs(texts, str(place), records, pasted.facts(records))


@contextmanager
def removed(folder: Path) -> Iterator[Path]:
    """A folder that is gone afterwards: Ctrl-C, SIGTERM and SIGHUP stop what is done in it, and not its removal."""
    ending = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    ours = threading.current_thread() is threading.main_thread()
    before = {s: signal.getsignal(s) for s in ending if ours and signal.getsignal(s) != signal.SIG_IGN}  # as of nohup
    try:
        for number in before:
            signal.signal(number, _stop)
        folder.mkdir(exist_ok=True)
        yield folder
    finally:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        shutil.rmtree(folder, ignore_errors=True)
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(*_signal: object) -> None:
    raise KeyboardInterrupt


def ask(
    words: Sequence[str], seconds: float, folder: Path | None = None, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs a program, and all that it has begun ends with it; `OSError` where it cannot run, or is not done in time."""
    with begun(words, folder, subprocess.PIPE) as program:
        try:
            out, err = program.communicate(text, seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{words[0]} was stopped after {seconds:.0f} s") from None
    return subprocess.CompletedProcess(words, program.returncode, out, err)


@contextmanager
def begun(
    words: Sequence[str], folder: Path | None = None, stdin: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[str]]:
    """A program that runs beside; afterwards it has ended, with all that it has begun."""
    with subprocess.Popen(  # noqa: S603 - a list of words, no shell
        words, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        errors="replace", env={**os.environ, "LC_ALL": "C"}, start_new_session=True,
    ) as program:  # fmt: skip
        try:
            yield program
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)


def collect() -> Outputs:
    """Runs the script on this machine; what a command lacks or refuses is left out."""
    with removed(Path(tempfile.mkdtemp(prefix="dtnsim-"))) as folder:
        try:
            done = ask(["sh", "-s", str(folder)], _PATIENCE_S, text=script())
        except OSError as error:
            raise InputError(f"discover: this machine cannot be asked: {error}; use --from DIR") from None
        if done.returncode not in (0, 1):
            raise InputError(f"discover: this machine cannot be asked: {done.stderr.strip()[:200]}; use --from DIR")
        return replace(read(folder), where="this machine")


@dataclass(frozen=True, slots=True)
class Stated:
    """A value of the host file, with where it was read."""

    value: str | int  #: Text of the value, or a number.
    source: str  #: Where it is from; printed behind it.
    todo: str = ""  #: What to find out, where it is a guess.


Tree = dict[str, "Stated | Tree"]


def below(tree: Tree, key: str) -> Tree:
    """What is described below a key; nothing where that is one value, or is not there."""
    item = tree.get(key)
    return item if isinstance(item, dict) else {}


def text(tree: Tree, indent: int = 0) -> str:
    """The tree as YAML, a comment behind every line."""
    return "".join(f"{line}\n" for line in _lines(tree, indent))


def _lines(tree: Tree, indent: int) -> Iterator[str]:
    for key, item in tree.items():
        start = f"{'  ' * indent}{quoted(key)}:"
        if isinstance(item, Stated):
            note = f"TODO: {item.todo} ({item.source})" if item.todo else item.source
            value = str(item.value) if isinstance(item.value, int) else quoted(item.value)
            note = "".join(c if c.isprintable() else " " for c in note)
            yield f"{start} {value}" + (f"  # {note}" if note else "")
        elif item:
            yield start
            yield from _lines(item, indent + 1)


def quoted(value: str) -> str:
    """A scalar that YAML reads as this text."""
    if value[:1] + value[-1:] in ("{}", "[]"):
        return value  # a mapping or list that this package wrote
    plain = _PLAIN.fullmatch(value) and value.lower() not in _OTHER and not value.endswith(" ")
    return value if plain and not value.startswith(("-", "%")) else json.dumps(value)


def todos(tree: Tree) -> int:
    """How many values are guesses."""
    return sum(bool(i.todo) if isinstance(i, Stated) else todos(i) for i in tree.values())
