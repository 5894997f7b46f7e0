"""Takes decoration off a line of a log (codes, prefixes, quotes, HTML, Markdown), and finds shell commands in it.

Recognised prompts: ``$ cmd``, ``531 $ cmd``, ``# cmd`` (only before a known command, for ``#`` also starts comments),
``[user@host dir]$ cmd``, ``user@host:dir> cmd``, ``host:dir user$ cmd`` (macOS), ``host# cmd``, ``host:~ # cmd``, ``PS
C:/> cmd``, ``+ cmd`` (set -x), and a bare line that can only be a command (``dd if=...``). A prompt may take two lines
(``... user@host:dir`` then ``89 $ cmd``). Lines ended by a backslash are joined. Nothing is guessed: a line that is not
surely a command is none. `Options` says what a command's options mean.
"""

import html
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from dtnsim.logs._numbers import DECIMAL, positive_int, size_bytes
from dtnsim.logs.measurement import Condition, Conditions

#: commands people type between benchmarks; they end the reach of the command before them
COMMON: Final = frozenset({
    "cat", "rm", "sync", "echo", "time", "sudo", "cd", "ls", "mkdir", "mount", "umount", "cp", "mv", "tar",
    "gzip", "gunzip", "zcat", "for", "while", "do", "done", "ssh", "mpirun", "mpiexec", "srun", "numactl",
    "taskset", "export", "module", "df", "du", "free", "date", "uname", "hostname", "ifconfig", "ip", "sysctl",
    "modprobe", "systemctl", "service", "apt", "yum", "dnf", "zfs", "zpool", "mkfs", "fdisk", "parted", "lsblk",
    "lspci", "lscpu", "dmesg", "uptime", "touch", "chmod", "chown", "grep", "awk", "sed", "head", "tail", "tee",
    "watch", "which", "vim", "vi", "nano", "make", "git", "wget", "curl", "python", "python3", "exit", "su",
    "pdsh", "clush", "nice", "ionice", "timeout", "/usr/bin/time", "/bin/time", "cmp", "diff", "md5sum",
    "sha1sum", "openssl", "ln", "pwd", "set", "source",
})  # fmt: skip

_HOST = r"[A-Za-z0-9][\w.-]*"
#: signs of prompts that shells' themes have: arrows, angle quotes, lambda
UNUSUAL: Final = "[\u276f\u279c\u00bb\u203a\u03bb\u2192\u25b6\u21d2\u2771\u27a4\u26a1\u2234]"
_BOX: Final = "[\u2500-\u257f]{1,5} ?"  #: lines that join the two lines of a prompt
_SIGN: Final = re.compile(f"[$#>%]|{UNUSUAL}")
_PROMPTS: Final = (
    re.compile(
        rf"^\s*(?:\([^()]*\) ?)?(?:\[(?:\d+:)?)?[\w.-]+@(?P<host>{_HOST})(?:[\s:~/][^$#%<>]*)?"
        r"[$#%>] *(?P<cmd>\S.*)"
    ),
    re.compile(rf"^(?P<host>{_HOST}):\S* [\w.-]+[$#%] +(?P<cmd>\S.*)"),
    re.compile(r"^(?:ba|z|k)?sh-[\d.]+[$#] +(?P<cmd>\S.*)"),
    re.compile(rf"^\s*(?:\d+ |{_BOX})?(?P<mark>\$) +(?P<cmd>\S.*)"),
    re.compile(r"^\s*(?:\d+ )?(?P<mark>[#>%]) *(?P<cmd>\S.*)"),
    re.compile(r"^(?P<mark>\++) +(?P<cmd>\S.*)"),
    re.compile(
        rf"^\s*+(?:{_BOX})?(?:(?:[\w.-]++@)?(?P<host>{_HOST})?[ :])?+(?:[~/]\S*+ )?(?P<mark>{UNUSUAL}) ++"
        rf"(?:(?:[~/]\S*+|\S++(?= ++git:\()) ++)?(?:git:\(\S++ ++)?(?:[\u2717\u2718\u2713\u00b1] ++)?(?P<cmd>\S.*)"
    ),
    re.compile(rf"^(?P<host>{_HOST})(?P<mark>[#>%]|:[~/]\S* ?[$#%>]) *(?P<cmd>\S.*)"),
    re.compile(r"^PS (?:[A-Z]:\\|/)[^<>|]{0,200}(?P<mark>>) *(?P<cmd>\S.*)"),
)
_HEAD: Final = re.compile(rf"(?:^|\s)\[?[\w.-]+@(?P<host>{_HOST}):(?:[~/]\S*)?\s*$")
_BARE: Final = re.compile(
    r"^\s*+(?:(?:[Cc]ommand(?: line)?|[Rr]unning|[Ee]xecuting) ?: *)?"
    r"(?P<cmd>(?:sudo |time |/(?:[^\s/]*+/)++)*(?P<prog>[a-z][\w+-]*+)\s++"
    r"(?:-{1,2}[A-Za-z]|[a-z]\w*+=|/\S|\(|[^\s:]++:[^\s/]*+/).*)"
)
_SPLIT: Final = re.compile(r"&&|\|\||[;|&()]")


@lru_cache(maxsize=512)
def _args(text: str, programs: tuple[str, ...]) -> list[str] | None:
    for part in _SPLIT.split(text):
        if not any(program in part for program in programs):
            continue
        try:
            words = shlex.split(part)
        except ValueError:  # an open quote: take the words as they are
            words = part.split()
        for index, word in enumerate(words):
            if word.rsplit("/", 1)[-1] in programs:
                return words[index + 1 :]
    return None


@dataclass(frozen=True, slots=True)
class Command:
    """One shell command as it was typed."""

    text: str  #: The command without its prompt.
    line: int  #: Line in the log, from 1.
    host: str | None = None  #: Host name in the prompt, if it names one.

    def args(self, *programs: str) -> list[str] | None:
        """Arguments of the first of ``programs`` that this command line runs; None if it runs none.

        Sees through sudo, time, numactl, mpirun, pipelines and lists of commands.
        """
        return _args(self.text, programs)


class CommandReader:
    """Finds commands line by line; keeps half of a two-line prompt and unfinished continuations."""

    def __init__(self, tools: frozenset[str]) -> None:
        self.known = tools | COMMON
        self.tools = tools
        self._head: tuple[str, int] | None = None
        self._part: Command | None = None

    @property
    def open(self) -> bool:
        """Whether the next line continues a command."""
        return self._part is not None

    def feed(self, text: str, line: int) -> Command | None:
        """Takes one line; returns the command it completes, if any."""
        if self._part is not None:
            part, self._part = self._part, None
            return self._joined(Command(part.text + " " + text.strip(), part.line, part.host))
        command = self._find(text, line)
        if command is not None:
            return self._joined(command)
        head = _HEAD.search(text) if "@" in text else None
        if head is not None:
            self._head = head["host"], line
        return None

    def _joined(self, command: Command) -> Command | None:
        if command.text.endswith("\\") and len(command.text) < 10_000:
            self._part = Command(command.text[:-1].rstrip(), command.line, command.host)
            return None
        return command

    def _find(self, text: str, line: int) -> Command | None:
        if len(text) > 4000:
            return None
        start = text[:120]
        if start[:1] != "+" and _SIGN.search(start) is None:
            return self._bare(text, line)
        for pattern in _PROMPTS:
            match = pattern.match(text)
            if match is None:
                continue
            groups = match.groupdict()
            mark, cmd = groups.get("mark"), match["cmd"]
            strict = mark is not None and (mark in "#>%" or " " in mark or not mark.isascii())
            if mark != "$" and not self._is_known(cmd, strict=strict):
                continue
            host = groups.get("host")
            if host is None and self._head is not None and line - self._head[1] <= 1:
                host = self._head[0]
            self._head = None
            return Command(cmd.strip(), line, host)
        return self._bare(text, line)

    def _bare(self, text: str, line: int) -> Command | None:
        bare = _BARE.match(text)
        if bare is not None and bare["prog"] in self.tools:
            return Command(bare["cmd"].strip(), line)
        return None

    def _is_known(self, cmd: str, *, strict: bool) -> bool:
        first = re.split(r"[\s;|&()]", cmd.lstrip("( "), maxsplit=1)[0]
        if first.rsplit("/", 1)[-1] in self.known:
            return True
        return not strict and bool(re.match(r"[./~]?[\w./+-]+(=\S+)?$", first))


#: prefix letter -> factor of rates in bits
_BITS_OF: Final = {**DECIMAL, "m": 1e6, "g": 1e9, "t": 1e12}
_REMOTE: Final = re.compile(r"(?:rsync://|scp://|[^/\s]+:)")


class CommandLine(NamedTuple):
    """A command line as it was read: what it says of the run, values of all options, words that are no options."""

    known: Conditions
    values: dict[str, str]
    rest: list[str]


class Options:
    """What options of a command mean: the table of a tool in ``tables.yaml``.

    ``-P 4``, ``-P4``, ``--parallel 4``, ``--parallel=4`` and bundles such as ``-uR`` are understood; options that are
    not named are skipped (their values end up in what is left).
    """

    def __init__(self, tool: str) -> None:
        self._kinds: dict[str, str] = {}
        self._defaults: Conditions = {}
        self._names: dict[str, tuple[str, bool]] = {}
        for name, kind, _, *spellings in map(str.split, table("options", tool).splitlines()):
            self._kinds[name], mark, default = kind.partition("=") if kind[0] != "=" else (kind, "", "")
            if mark:
                self._defaults[name] = int(default)
            self._names |= dict.fromkeys(spellings, (name, kind in ("true", "flag") or kind[0] == "="))

    def read(self, args: Iterable[str]) -> CommandLine:
        """Reads the arguments of a command."""
        values: dict[str, str] = {}
        rest: list[str] = []
        queue = list(args)
        while queue:
            word = queue.pop(0)
            name, _, value = word.partition("=")
            if not word.startswith("-") or word == "-":
                rest.append(word)
            elif name in self._names:
                self._take(name, value, queue, values)
            elif not word.startswith("--"):
                for index, letter in enumerate(word[1:], start=2):  # letters up to the first that takes a value
                    if self._take("-" + letter, word[index:], queue, values):
                        break
        pairs = {name: _condition(self._kinds[name], value) for name, value in values.items()}
        conditions = {name: condition for name, condition in pairs.items() if condition is not None}
        for name, default in self._defaults.items():
            conditions.setdefault(name, default)
        return CommandLine(conditions, values, rest)

    def _take(self, option: str, value: str, queue: list[str], values: dict[str, str]) -> bool:
        """Whether a bundle of letters ends with this option."""
        name, alone = self._names.get(option, ("", False))
        if alone:
            values[name] = ""
        elif name and (value or queue):
            values[name] = value or queue.pop(0)
        return not alone


@lru_cache(maxsize=64)
def _options(tool: str) -> Options:
    return Options(tool)


def parse_arguments(tool: str, args: Iterable[str] | None) -> CommandLine:
    """What the arguments of a tool's command say; nothing of None."""
    return CommandLine({}, {}, []) if args is None else _options(tool).read(args)


@lru_cache(maxsize=1)
def _tables() -> Any:
    import yaml

    text = Path(__file__).with_name("tables.yaml").read_text(encoding="utf-8")
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (both are safe)


@lru_cache(maxsize=32)
def meanings(tool: str) -> dict[str, str]:
    """What words that a tool prints are to us."""
    return {str(word): str(meant) for word, meant in _tables()["meanings"][tool].items()}


def table(kind: str, name: str) -> str:
    """The rows of a table of ``tables.yaml``."""
    return str(_tables()[kind][name])


def _condition(kind: str, value: str) -> Condition:
    """The condition that an option's value is; None for none."""
    if kind[0] == "k":  # a bare number counts thousands
        kind, value = kind[1:], value + "k" * value.replace(".", "", 1).isdigit()
    if kind == "text":
        return value
    if kind == "count":
        return positive_int(value)
    if kind == "size":
        return size_bytes(value) or None
    if kind == "bits":
        return (size_bytes(value.partition("/")[0], _BITS_OF) or 0.0) / 8 or None
    return True if kind == "true" else kind[1:] if kind[0] == "=" else None


def ends_of_copy(paths: Sequence[str]) -> Conditions:
    """Source, target and direction of a copy from its arguments, of which the first and last may be ``host:path``."""
    if len(paths) < 2:
        return {}
    conditions: Conditions = {"source": paths[0], "target": paths[-1]}
    remote = [_REMOTE.match(path) is not None for path in (paths[0], paths[-1])]
    if remote[0] != remote[1]:
        conditions["direction"] = "receive" if remote[0] else "send"
    return conditions


#: CSI and OSC sequences, charset switches, and single-character escapes
ANSI: Final = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[@-Z=>78c])|[\x00\x07\x0e\x0f]"
)

_TAGS: Final = re.compile(
    r"</?(?:a|b|i|u|p|br|tt|em|pre|code|strong|span|div|font|li|ul|ol|td|tr|th|table|tbody|body|html|h[1-6]|kbd|samp)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
#: no-break spaces of a web page; between digits they group
_NO_BREAK: Final = re.compile(rb"(?<![0-9])\xc2\xa0|\xc2\xa0(?![0-9])")
_DATE: Final = r"\d*+-\d*+-\d*+[T ]\d*+:\d*+:\d*+(?:[.,]\d*+)?(?:Z|[+-]\d*+:?\d*+)?"
#: what collectors put before every line: Jenkins, CRI, log4j and Python logging, syslog and journal (of all formats),
#: ``ts`` of moreutils, mpirun --tag-output, docker compose, kubectl --prefix, terraform's provisioners. It matches a
#: line as well as its shape (without digits and dots).
PREFIX: Final = (
    r"^(?:[\w.\[\]\"-]{1,80}+ \((?:local|remote)-exec\): ?|"
    rf"\[{_DATE}\] ?|(?:\[pod/[\w./-]{{1,300}}+\] )?{_DATE} (?:std(?:out|err) [FP] |\[?(?:DEBUG|INFO|NOTICE"
    r"|WARN(?:ING)?|ERROR)\]?:? |[\w.-]+ [\w./-]+\[\d*\]: )?|\[pod/[\w./-]{1,300}+\] "
    r"|\[ *[\d.]*\] [\w.-]+ [\w./-]+\[\d*\]: |\[\d*:\d*:[\d.]*\] |\[\d*,\d*\]<std(?:out|err)>:"
    r"|[\w.-]{0,200}[_-]\d* +\| (?! *\d* kB \|)"
    r"|(?P<ts>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ++\d*+ ?\d*+:\d*+:\d*+ )"
    r"(?:[\w.-]+ [\w./-]+(?:\[\d*\])?: )?)"
)
_PREFIX: Final = re.compile(PREFIX)
_STAMPED: Final = re.compile(PREFIX.encode())
#: a stamp of syslog or the journal that names host, program and process
_LOGGED: Final = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]*) [\w./-]+\[\d+\]: $")
_QUOTE: Final = re.compile(r"^(?:> ?)+(?=\s*\S)|^\((?:out|err)\) ?|^\|\| ")
_ADDRESS: Final = re.compile(r"^(\d{1,3}(?:\.\d{1,3}){3}): ?")
#: pdsh host names have a digit; names of interfaces, disks, fio jobs, tools and iperf3's titles (``-T``)
#: have, too: they are recognised by themselves or by what follows
_HOSTNAME: Final = re.compile(
    r"^(?!(?:eth|en[opsx]|ib|bond|md|sd|hd|vd|xvd|dm-|nvme|loop|lo|wl|job|cpu|tun|tap|br)\d)"
    r"(?!(?:iperf|ping|traceroute|tracepath)\d: |(?:IOR|mdtest|fio|sysbench|elbencho|iozone)-?\d)"
    r"(?!(?:[Ss]tream|[Tt]est|[Rr]un|[Tt]itle)-?\d+: )"
    r"(?!\S+:  (?:\[|Connecting|- - -|iperf|Test |Starting|CPU|snd_|rcv_|$))"
    r"([A-Za-z][A-Za-z-]*\d[A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*): (?!\(g|\(f|flags|ios=|Laying|No space|error)"
)


def host_of(text: str) -> tuple[str | None, str]:
    """Splits a pdsh-like ``host: `` prefix off: (host or None, rest)."""
    match = _ADDRESS.match(text) or _HOSTNAME.match(text)
    if match is None:
        return None, text
    return match[1], text[match.end() :]


def without_codes(block: bytes) -> bytes:
    """Lines without terminal codes; a line that is overwritten ends in a carriage return, no other does."""
    if b"\x1b" in block or b"\x00" in block or b"\x07" in block:
        block = ANSI.sub(b"", block)
    if b"\xc2\xa0" in block:
        block = _NO_BREAK.sub(b" ", block)
    if b"\r" in block:
        while b"\r\r" in block:
            block = block.replace(b"\r\r", b"\r")
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\r\n")
    return block


def needs_cleaning(text: str) -> bool:
    """Whether `clean` could change the line (cheap)."""
    return "<" in text or "&" in text or "**" in text or text[:1] in (">", "(", "|")


def without_prefix(text: str, *, ts: bool = False) -> str:
    """The line without what a log collector put before it; with ``ts`` what looks like a host and a program stays."""
    match = _PREFIX.match(text)
    return text if match is None else text[match.end("ts" if ts else 0) :]


def logged_by(text: str) -> str | None:
    """The host that a stamp before the line names; None where none is, or it might be two words of the line's own."""
    match = _PREFIX.match(text)
    host = _LOGGED.search(match[0]) if match is not None else None
    return host[1] if host is not None else None


def unstamped(raw: bytes) -> bytes:
    """The same of a line that is not decoded, which may be commented out instead."""
    return _STAMPED.sub(b"", raw.removeprefix(b"# "), count=1)


def clean(text: str) -> str:
    """One line without quote marks, HTML tags and entities, bold stars."""
    if text.startswith((">", "(", "|")):
        text = _QUOTE.sub("", text)
    if "<" in text:
        text = _TAGS.sub("", text)
    if "&" in text and ";" in text:
        text = html.unescape(text).replace("\xa0", " ")
    if "**" in text:
        text = text.replace("**", "")
    return text


def cleaned(raw: bytes) -> str:
    """A line as parsers have it, but for a host before it."""
    return clean(without_prefix(decode(raw.removesuffix(b"\r"))))


def decode(raw: bytes) -> str:
    """UTF-8, or Latin-1 where it is not; never fails."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
