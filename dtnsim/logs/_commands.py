"""Shell prompts: which command a piece of a terminal capture belongs to.

Recognised prompts: ``$ cmd``, ``531 $ cmd``, ``# cmd`` (only before a known command, for ``#`` also
starts comments), ``[user@host dir]$ cmd``, ``user@host:dir> cmd``, ``host:dir user$ cmd`` (macOS),
``host# cmd``, ``+ cmd`` (set -x), and a bare line that can only be a command (``dd if=...``).
A prompt may take two lines (``... user@host:dir`` then ``89 $ cmd``). Lines ended by a
backslash are joined. Nothing is guessed: a line that is not surely a command is none.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

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
UNUSUAL: Final = "[\u276f\u279c\u00bb\u203a\u03bb\u2192\u25b6\u21d2\u2771]"
_SIGN: Final = re.compile(f"[$#>%]|{UNUSUAL}")
_PROMPTS: Final = (
    re.compile(
        rf"^\s*(?:\([^()]*\) ?)?\[?(?P<user>[\w.-]+)@(?P<host>{_HOST})(?:[\s:~/][^$#%<>]*)?"
        r"[$#%>] *(?P<cmd>\S.*)"
    ),
    re.compile(rf"^(?P<host>{_HOST}):\S* (?P<user>[\w.-]+)[$#%] +(?P<cmd>\S.*)"),
    re.compile(r"^(?:ba|z|k)?sh-[\d.]+[$#] +(?P<cmd>\S.*)"),
    re.compile(r"^\s*(?:\d+ )?(?P<mark>\$) +(?P<cmd>\S.*)"),
    re.compile(r"^\s*(?:\d+ )?(?P<mark>[#>%]) *(?P<cmd>\S.*)"),
    re.compile(r"^(?P<mark>\++) +(?P<cmd>\S.*)"),
    re.compile(
        rf"^\s*+(?:(?:(?P<user>[\w.-]++)@)?(?P<host>{_HOST})?[ :])?+(?:[~/]\S*+ )?(?P<mark>{UNUSUAL}) ++"
        rf"(?:(?:[~/]\S*+|\S++(?= ++git:\()) ++)?(?:git:\(\S++ ++)?(?:[\u2717\u2718\u2713\u00b1] ++)?(?P<cmd>\S.*)"
    ),
    re.compile(rf"^(?P<host>{_HOST})(?P<mark>[#>%]|:[~/]\S*[$#%>]) *(?P<cmd>\S.*)"),
)
_HEAD: Final = re.compile(rf"(?:^|\s)\[?(?P<user>[\w.-]+)@(?P<host>{_HOST}):(?P<cwd>[~/]\S*)?\s*$")
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
        for at, word in enumerate(words):
            if word.rsplit("/", 1)[-1] in programs:
                return words[at + 1 :]
    return None


@dataclass(frozen=True, slots=True)
class Command:
    """One shell command as it was typed.

    Attributes:
        text: The command without its prompt.
        host: Host name in the prompt, if it names one.
        user: User name in the prompt, if it names one.
        line: Line in the log, from 1.
    """

    text: str
    line: int
    host: str | None = None
    user: str | None = None

    def args(self, *programs: str) -> list[str] | None:
        """Arguments of the first of ``programs`` that this command line runs; None if it runs none.

        Sees through sudo, time, numactl, mpirun, pipelines and lists of commands.
        """
        return _args(self.text, programs)


class CommandReader:
    """Finds commands line by line; keeps half of a two-line prompt and unfinished continuations."""

    def __init__(self, known: frozenset[str]) -> None:
        self.known = known | COMMON
        self.tools = known
        self._head: tuple[str, str, int] | None = None
        self._part: Command | None = None

    @property
    def open(self) -> bool:
        """Whether the next line continues a command."""
        return self._part is not None

    def feed(self, text: str, line: int) -> Command | None:
        """Takes one line; returns the command it completes, if any."""
        if self._part is not None:
            part, self._part = self._part, None
            return self._joined(Command(part.text + " " + text.strip(), part.line, part.host, part.user))
        found = self._find(text, line)
        if found is not None:
            return self._joined(found)
        head = _HEAD.search(text) if "@" in text else None
        if head is not None:
            self._head = (head["host"], head["user"], line)
        return None

    def _joined(self, command: Command) -> Command | None:
        if command.text.endswith("\\") and len(command.text) < 10_000:
            self._part = Command(command.text[:-1].rstrip(), command.line, command.host, command.user)
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
            strict = mark is not None and (mark in "#>%" or not mark.isascii())
            if mark != "$" and not self._is_known(cmd, strict=strict):
                continue
            host, user = groups.get("host"), groups.get("user")
            if host is None and self._head is not None and line - self._head[2] <= 1:
                host, user = self._head[:2]
            self._head = None
            return Command(cmd.strip(), line, host, user)
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
