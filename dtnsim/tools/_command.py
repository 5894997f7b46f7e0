"""Command lines as people type them, read by the options of the tool itself."""

import difflib
import re
import shlex
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, get_args

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from dtnsim.components.base import find_kind, kinds
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError, noted, refuse
from dtnsim.ground.quantity import unit_of
from dtnsim.tools._ssh import cipher_of
from dtnsim.tools.plan import Tool


@dataclass(frozen=True, slots=True)
class Manner:
    """How a program's command line differs from the options of its kind."""

    kind: str  #: The tool.
    #: Options that the program's name or a word of its line means.
    fixed: dict[str, Any] = field(default_factory=dict)
    says: dict[str, dict[str, Any]] = field(default_factory=dict)  #: What a flag without a value means, as options.
    quiet: frozenset[str] = frozenset()  #: Flags without a value that change no duration.
    skip: frozenset[str] = frozenset()  #: Flags with a value that change no duration.
    #: Flags that change one and are not modelled, said in the answer; with =, those that have a value.
    unmodelled: frozenset[str] = frozenset()
    k: str = "Ki"  #: What a k of a size is.
    rate: tuple[str, str] = ("B/s", "Ki")  #: Unit of a bare number where a rate is given, and what its k is.
    mega: frozenset[str] = frozenset()  #: Options whose bare number is in MiB.
    slash: bool = False  #: Flags as Windows has them: ``/MT:8``, in capital or small letters.
    pairs: bool = False  #: Whether options are words like ``bs=1M``.
    bundle: bool = False  #: Whether the first word is letters of options without a dash: ``tar cvf``.
    #: Words of the line (subcommands, transports) and the options that they mean.
    words: dict[str, dict[str, Any]] = field(default_factory=dict)


@lru_cache(maxsize=1)
def programs() -> dict[str, Manner]:
    """Program -> how its line is read (models/programs.yaml)."""
    table = yamlio.plain(library.root("models") / "programs.yaml")
    return {
        name: Manner(**{"kind": name, **{key: _typed(key, words) for key, words in row.items()}})
        for name, row in table.items()
    }


def _typed(key: str, words: Any) -> Any:
    """Words of a program's row as a set, whatever else as it is."""
    return frozenset(words.split()) if key in ("quiet", "skip", "unmodelled", "mega") else words


def parse(line: str, unknown: list[str] | None = None) -> dict[str, Any]:
    """The tool and its options as a path file has them, from a command line.

    Args:
        line: ``rsync -aW -e ssh data/ host:/data``; what is no option (files, hosts) does not matter.
        unknown: Takes options that are not known, which are left out then; None: they are refused.

    Examples:
        >>> parse("globus-url-copy -p 8 -fast -pp")
        {'name': 'gridftp', 'p': '8', 'fast': True, 'pp': True}
        >>> parse("scp -c aes128-gcm@openssh.com f host:")
        {'name': 'scp', 'cipher': 'aes-gcm'}
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SpecError(f"is not a command line: {error}", key="tool", value=line) from None
    if (stream := _stream(line)) is not None:
        return stream
    program, *rest = words or [""]
    program = program.rpartition("/")[2]
    known_here = programs()
    if program not in known_here and program not in kinds():
        program = program.lower()
    manner = known_here.get(program)
    if manner is None and kinds().get(program, "").startswith("dtnsim.tools."):  # its options as its kind has them
        manner = Manner(program)
    if manner is None:
        tools = (k for k, module in kinds().items() if module.startswith("dtnsim.tools."))
        available = sorted({*known_here, *tools, "smb", "nfs"})
        near = difflib.get_close_matches(program, available, n=3, cutoff=0.7)
        remedy = library.did_you_mean(near) if near else f"programs: {', '.join(available)}"
        names = ("-".join(words[:2]), program)
        remedy = next((hint for name in names if (hint := library.instead(name, "tool")) is not None), remedy)
        raise SpecError(f"{str(program)!r} has no model", key="tool", value=program, remedy=remedy)
    return Reader(program, manner, unknown).read(rest)


def _stream(line: str) -> dict[str, Any] | None:
    """``zfs send | mbuffer``, ``tar -cf - . | ssh HOST tar -x``: a stream through a pipe; None for other lines.

    What compresses in it is not modelled, and said.
    """
    programs = [part.split() for part in line.split("|")]
    packer = (programs[0] or [""])[0].rpartition("/")[2]
    if packer not in ("tar", "zfs", "dd") or len(programs) < 2:
        return None
    called = {word.strip("'\"()").rpartition("/")[2] for part in programs for word in part}
    carrier = next((name for name in ("ssh", "mbuffer", "nc", "ncat", "netcat", "socat") if name in called), None)
    if carrier is None:
        return None
    packed = sorted({word for each in called if (word := each.removeprefix("-I")) in _PACKERS})
    tool: dict[str, Any] = {"name": "tar-ssh" if carrier == "ssh" else "tar-nc", "packer": packer}
    if carrier == "mbuffer":
        tool["through"] = "mbuffer"
    if carrier == "ssh" and (cipher := re.search(r"\bssh\b[^|]*?-(?:c *|oCiphers=)([\w.@-]+)", line)):
        tool["cipher"] = cipher_of(cipher[1])
    if packed:
        tool["unmodelled"] = packed
    return tool


def tool_of(line: str) -> Tool:
    """The tool that a command line runs, with its options."""
    options = parse(line)
    return Tool.build({"kind": options.pop("name"), **options})


#: programs that compress a stream
_PACKERS: Final = frozenset(("gzip", "gunzip", "pigz", "lz4", "zstd", "xz", "bzip2", "pbzip2", "lzop", "lzma"))


class Reader:
    """Reads the words after a program's name."""

    def __init__(self, program: str, manner: Manner, unknown: list[str] | None = None) -> None:
        self.program, self.manner, self.unknown = program, manner, unknown
        self.fields = _fields(manner.kind)
        self.options: dict[str, Any] = {"name": manner.kind, **manner.fixed}

    def read(self, words: list[str]) -> dict[str, Any]:
        """All options of the line."""
        queue = list(words)
        wrong: list[SpecError] = []
        if self.manner.bundle and queue and queue[0].isalpha():  # tar cvf
            queue[0] = f"-{queue[0]}"
        while queue:
            with noted(wrong):
                self._word(queue.pop(0), queue)
        refuse(wrong)
        return self.options

    def _word(self, word: str, queue: list[str]) -> None:
        for sign, more in self.manner.words.items():
            if sign in word:
                self.options.update(more)
        if self.manner.slash and re.fullmatch(r"/[A-Za-z+]+(:.*)?", word):
            self._flag(self._slashed(word), queue)
        elif self.manner.pairs and re.fullmatch(r"[a-z]+=.*", word):
            self._flag(f"--{word}", queue)
        elif word == "pget":
            self.options["pget"] = "5"
        elif re.fullmatch(r"-{1,2}[A-Za-z0-9].*", word):
            self._flag(word, queue)

    def _slashed(self, word: str) -> str:
        """``/mt:8`` as ``--MT=8``, by the case that the tool's options have here."""
        name, colon, value = word[1:].partition(":")
        flags = {*self.fields, *self.manner.quiet, *self.manner.skip, *self.manner.says}
        name = next((k for k in flags if k.lower() == name.lower()), name)
        if name in self.manner.skip:
            return f"--{name}={value}"  # no word follows it
        return f"--{name}={value}" if colon else f"--{name}"

    def _flag(self, word: str, queue: list[str]) -> None:
        name, equals, value = word.lstrip("-").partition("=")
        if name in self.manner.says and not equals:
            self.options.update(self.manner.says[name])
        elif name in self.fields:
            self._option(name, value if equals else None, queue)
        elif name in self.manner.quiet:
            return
        elif {name, f"{name}="} & self.manner.unmodelled:
            self.options.setdefault("unmodelled", []).append(word)
            if f"{name}=" in self.manner.unmodelled and not equals and queue:
                queue.pop(0)
        elif name in self.manner.skip:
            setting = value if equals else queue.pop(0) if queue else ""
            if name == "o":
                self._ssh_option(setting)
        elif not word.startswith("--") and self._joined(name, value, queue):
            return
        elif self.unknown is not None:
            self.unknown.append(word)
        else:
            options = sorted({option.replace("_", "-") for option in self.fields})
            near = difflib.get_close_matches(name, [*self.fields, *self.manner.quiet, *self.manner.skip], n=1)
            remedy = f"did you mean {near[0]!r}?" if near else f"options: {', '.join(options)}"
            raise SpecError(f"{self.program} has no option {word!r}", key="tool", value=word, remedy=remedy)

    def _ssh_option(self, text: str) -> None:
        """``-o Ciphers=aes128-ctr``, of ssh_config(5), ``-o s3.connections=50``: those that change a duration."""
        key, _, value = text.replace(" ", "=", 1).partition("=")
        if key.endswith(".connections") and "connections" in self.fields:
            self.options["connections"] = value
        if key.lower() == "ciphers" and "cipher" in self.fields:
            self.options["cipher"] = cipher_of(value.partition(",")[0])
        elif key.lower() == "compression" and "compress" in self.fields:
            self.options["compress"] = value.lower() == "yes"

    def _joined(self, name: str, value: str, queue: list[str]) -> bool:
        """``-w256k``, ``-oCiphers=...``, or several letters in one word: ``-aW``."""
        first, rest = name[0], name[1:]
        if f"{first}=" in self.manner.unmodelled and rest:
            self.options.setdefault("unmodelled", []).append(f"-{name}")
            return True
        if first in self.manner.skip and rest:
            if first == "o":
                self._ssh_option(f"{rest}={value}" if value else rest)
            return True
        if rest and first in self.fields and not _is_flag(self.fields[first][1]):
            self._option(first, rest, queue)
            return True
        bundled = all(c in self.fields or c in self.manner.quiet or c in self.manner.says for c in name)
        if bundled and rest:
            for c in name:
                self._flag(f"-{c}", queue)
        return bundled and bool(rest)

    def _option(self, name: str, value: str | None, queue: list[str]) -> None:
        name, info = self.fields[name]
        if _is_flag(info):
            self.options[name] = value is None or value not in ("no", "false", "0")
            return
        if value is None:
            if not queue:
                raise SpecError("needs a value", key="tool", value=f"{self.program} -{name}")
            value = queue.pop(0)
        if name == "e" and (cipher := re.search(r"(?:-c *|Ciphers=)([\w.@-]+)", value)):
            self.options["ssh"] = {"cipher": cipher_of(cipher[1])}
        self.options[name] = self._text(name, info, value)

    def _text(self, name: str, info: FieldInfo, value: str) -> str:
        """A value in the words of path files."""
        unit = unit_of(info)
        dim = unit.dim if unit is not None else ""
        if dim == "B/s":
            bare, k = self.manner.rate
            return _sized(value, bare.lstrip("kKMGi"), k, bare)
        if dim == "B":
            return _sized(value, "B", self.manner.k, "MiB" if name in self.manner.mega else "B")
        if dim == "s" and re.fullmatch(r"[0-9.]+", value):  # -t, -T, --runtime: seconds where nothing else is said
            return f"{value} s"
        if name in ("c", "cipher", "Ciphers"):
            return cipher_of(value)
        if name == "cksum":
            return value.partition(":")[0]
        if name in ("e", "rsh"):
            return "ssh" if "ssh" in value else value
        return value


def rate_of(tool: str, text: str) -> str:
    """A rate with a suffix (``10G``) as the program of a tool means it, in the words of path files."""
    manner = next((m for m in programs().values() if m.kind == tool), Manner(tool))
    return _sized(text, manner.rate[0].lstrip("kKMGi"), manner.rate[1], manner.rate[0])


def _sized(value: str, unit: str, k: str, bare: str) -> str:
    """A number with the suffixes k, m and g of a tool."""
    match = re.fullmatch(r"([0-9.]+)\s*([kKmMgGtT]?)(i?[Bb]?)", value)
    if match is None:
        return value
    number, prefix, _ = match.groups()
    if not prefix:
        return f"{number} {bare}"
    letter = prefix.upper() if k == "Ki" or prefix.upper() != "K" else "k"
    return f"{number} {letter}{'i' if k == 'Ki' else ''}{unit}"


def _is_flag(info: FieldInfo) -> bool:
    return bool in (info.annotation, *get_args(info.annotation))


def _fields(kind: str) -> dict[str, tuple[str, FieldInfo]]:
    """Every name under which a path file or a command line may give an option."""
    fields: dict[str, tuple[str, FieldInfo]] = {}
    for name, info in find_kind(kind).model_fields.items():
        if name in ("part", "source", "price", "facts", "unmodelled", "client", "ssh", "rsync"):
            continue
        fields[name] = (name, info)
        choices = info.validation_alias
        for alias in choices.choices if isinstance(choices, AliasChoices) else ():
            fields[str(alias)] = (name, info)
        fields.setdefault(name.replace("_", "-"), (name, info))
    return fields
