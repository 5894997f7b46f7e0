"""What people paste of a machine: outputs of any programs, in any order, in one file; pasted.yaml knows the lines."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dtnsim.ground import library, yamlio
from dtnsim.logs._numbers import BINARY, DECIMAL, decimal, grouped, size_bytes

#: no program's line is longer
_LONGEST: Final = 1000
_COUNTS: Final = {"single": 1, "dual": 2, "triple": 3, "quad": 4, "hexa": 6, "octa": 8, "deca": 10}
Patterns = dict[str, re.Pattern[str]]  #: patterns by name


@dataclass(slots=True)
class Record:
    """What a program says of one thing."""

    kind: str  #: cpu, thread, memory, module, nic, drive, group, volume, array, disk, letter or system.
    where: str  #: Program and line.
    said: dict[str, str] = field(default_factory=dict)  #: Name to value.

    def size(self) -> int:
        """Bytes; 0 where it says none."""
        with suppress(ValueError, OverflowError):
            for unit, power in (("B", 0), ("Ki", 10), ("Mi", 20), ("Gi", 30)):
                if unit in self.said:
                    return round(grouped(self.said[unit].strip()) * 2.0**power)
            for unit, table in (("GB", DECIMAL), ("GiB", BINARY)):
                if unit in self.said:
                    return round(size_bytes(self.said[unit], table) or 0.0)
        return 0

    def count(self, key: str) -> int:
        """A number that it says; 0 where it does not."""
        text = self.said.get(key, "")
        return int(text) if text.isdecimal() else 0


@lru_cache(maxsize=1)
def _table() -> yamlio.Mapping:
    return yamlio.load(Path(__file__).with_name("pasted.yaml"))


@lru_cache(maxsize=1)
def _patterns() -> tuple[Patterns, Patterns, dict[str, list[tuple[str, re.Pattern[str]]]]]:
    heads, sections = ({k: re.compile(v) for k, v in _table()[name].items()} for name in ("heads", "sections"))
    return heads, sections, {k: [(kind, re.compile(p)) for kind, p in rows] for k, rows in _table()["lines"].items()}


def name_pattern(name: str) -> re.Pattern[str]:
    """A pattern of names that many programs print."""
    return re.compile(_table()["known"][name])


def of_model(table: str, model: str) -> int:
    """What is known of processors of a name: ``channels`` of a socket, rate of memory that is ``soldered``; else 0."""
    return next((int(n) for words, n in _table()[table] if re.search(words, model)), 0)


def shipped(folder: str, device: str, silent: str) -> Iterator[str]:
    """Shipped parts whose every word stands in a device's name.

    Args:
        folder: Of the library.
        device: The name.
        silent: Pattern of words that need not: vendors, and what is said elsewhere.
    """
    words = set(re.findall(r"[a-z0-9]+", device.lower()))
    for kind, _, part in (name.partition("/") for name in library.names("parts")):
        wanted = {w for w in part.split("-") if not re.fullmatch(silent, w)}
        if kind == folder and wanted and wanted <= words:
            yield part


def split(text: str) -> dict[str, str]:
    """Outputs by program; each line stays where it stood in the file."""
    heads, _, _ = _patterns()
    lines = text.replace("\t", "        ").splitlines() if "dmidecode" not in text else text.splitlines()
    by_program: dict[str, list[str]] = {}
    name = "prompt"
    for index, line in enumerate(lines):
        began = next((n for n, head in heads.items() if head.match(line)), None)
        if began == "ethtool":
            began = f"ethtool.{line.partition('for ')[2].rstrip(':')}"
        if began is not None and not (name == "inxi" and began == "system_profiler"):  # both have 'Network:'
            name = began
        by_program.setdefault(name, [""] * len(lines))[index] = line
    outputs = {name: "\n".join(program_lines) for name, program_lines in by_program.items() if name != "prompt"}
    if begin := re.search(r'\{\s*"blockdevices"', text):
        try:
            outputs["lsblk"] = json.dumps(json.JSONDecoder().raw_decode(text, begin.start())[0])
        except ValueError:
            outputs.pop("lsblk", None)
    return outputs


def records(text: str, outputs: dict[str, str]) -> list[Record]:
    """What the lines of a pasted file say, in their order within each program."""
    _, sections, rows = _patterns()
    records: list[Record] = []
    for program, patterns in rows.items():
        lines = text if program == "anywhere" else outputs.get(program, "")
        last = Record("ignored", "")
        for number, line in _lines(program, lines, sections.get(program)):
            begun = False
            for kind, pattern in patterns:
                match = pattern.search(line[:_LONGEST]) if kind == "-" or not begun else None
                if match is None:
                    continue
                if kind != "-":
                    begun = True
                    last = Record(kind, f"{program}:{number}" if program != "anywhere" else f"line {number}")
                    records.append(last)
                for key, value in match.groupdict().items():
                    if value is not None:
                        had = last.said.setdefault(key, value.strip())
                        if key == "member" and value != had:
                            last.said[key] = f"{had} {value}"
    return [r for r in records if r.kind != "ignored" and not {"ignored"} & set(r.said)]


def _lines(program: str, text: str, heading: re.Pattern[str] | None) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, their section's heading before each; items of inxi are one line each."""
    section, began, item, item_begins = "", 0, "", name_pattern("item")
    for number, line in enumerate(text.splitlines(), 1):
        head = heading.match(line) if heading is not None else None
        if program != "inxi":
            section = head[1] if head is not None else section
            yield number, line if head is not None or heading is None else f"{section}:{line}"
            continue
        rest = line[head.end() :].strip() if head is not None else line.strip()
        if head is not None or item_begins.match(rest) or not rest:
            if item:
                yield began, item
            section = head[1] if head is not None else section
            began, item = number, f"{section}  {rest}" if rest else ""
        elif item:
            item += f" {rest}"
    if item:
        yield began, item


_BRANCH: Final = re.compile(r"([\s│|├└─`-]*)((?!(?:sr|loop|zram|fd)\d)[A-Za-z][\w.!-]*)(?=\s|$)")
_SIZE: Final = re.compile(
    r"(?<=\s)\d[\d.,]*[KMGTP]?(?=\s+[01](?:\s|$)|\s+[01]?\s*(?:disk|part|lvm|raid|crypt)|\s+/|\s*$)|"
    r"(?<=\s)\d[\d.,]*[KMGTP](?=\s)"
)
_TYPES: Final = re.compile(r"(?<=\s)(disk|part|lvm|raid\d+|crypt|mpath)(?=\s|$)")
_FILESYSTEMS: Final = re.compile(
    r"(?<=\s)(ext[234]|xfs|btrfs|zfs_member|ntfs|f2fs|vfat|swap|exfat|iso9660|crypto_LUKS)(?=\s)"
)


def tree(text: str) -> list[dict[str, Any]]:
    """Plain ``lsblk`` as its ``-J`` has it; a column that others follow is told by where its head stands."""
    top: list[dict[str, Any]] = []
    above: list[tuple[int, dict[str, Any]]] = []
    heads: dict[str, slice] = {}
    for line in text.splitlines():
        if line.startswith("NAME"):
            begins = [m.start() for m in re.finditer(r"\S+", line)]
            heads = {line[b:].split()[0]: slice(b, e) for b, e in zip(begins, [*begins[1:], None], strict=True)}
            continue
        branch = _BRANCH.match(line)
        if branch is None or "SIZE" not in heads:
            more = re.fullmatch(r"[\s│|]*(/\S*)\s*", line)
            if more is not None and above:
                above[-1][1]["mountpoints"].append(more[1])
            continue
        depth, size, kind, fs = len(branch[1]), _SIZE.search(line), _TYPES.search(line), _FILESYSTEMS.search(line)
        column = next((heads[h] for h in ("MOUNTPOINT", "MOUNTPOINTS") if h in heads), slice(0, 0))
        last = re.search(r"(?<=\s)/.*", line) if column.stop is None else re.match(r"/.*", line[column])
        named = ""
        if "MODEL" in heads:  # a size stands before its own head
            begin, end = line.rfind(" ", 0, heads["MODEL"].start) + 1, heads["MODEL"].stop
            named = line[begin : size.start() if size is not None and size.start() > begin else end]
        item = {
            "name": branch[2],
            "size": round(size_bytes(size[0]) or 0.0) if size is not None else 0,
            "type": kind[1] if kind is not None else "part" if depth else "disk",
            "model": named.strip(),
            "mountpoints": [last[0].strip()] if last is not None else [],
            "fstype": fs[1] if fs is not None and {"FSTYPE", "TYPE"} & heads.keys() else None,
            "children": [],
        }
        while above and above[-1][0] >= depth:
            above.pop()
        (above[-1][1]["children"] if above else top).append(item)
        above.append((depth, item))
    return top


def facts(records: Sequence[Record]) -> dict[str, dict[str, tuple[str, str]]]:
    """What the records say, under the names that ``collect.sh`` and the kernel have for it."""
    system = {key: (value, r.where) for r in reversed(records) if r.kind == "system" for key, value in r.said.items()}
    return {"lscpu": _cpu(records), "meminfo": _memory(records), "net": _nics(records), "system": system}


def _cpu(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    facts: dict[str, tuple[str, str]] = {}
    chips = [r for r in records if r.kind == "cpu"]
    for r in chips:
        alike = [c for c in chips if c.where.partition(":")[0] == r.where.partition(":")[0] and c.said.get("cores")]
        sockets = r.count("sockets") or len(alike) or ("words" in r.said and 1)
        word = r.said.get("words", "").lower()
        cores = r.count("cores") or _COUNTS.get(word, int(word) if word.isdecimal() else 0)
        total = r.count("total")
        cores = total // max(sockets, 1) if total else cores
        threads = r.count("threads") // cores if cores else 0
        threads = threads or ((2 if re.search(r"\b[MH]T\b|Enabled", r.said.get("type", "")) else 1) if cores else 0)
        mhz = r.count("boost") or r.count("MHz") or round(1e3 * decimal(r.said.get("GHz", "0")))
        values = {"Model name": r.said.get("model", r.said.get("family", "")), "Socket(s)": sockets, "CPU max MHz": mhz}
        for name, value in {**values, "Core(s) per socket": cores, "Thread(s) per core": threads}.items():
            if value and (name not in facts or (name == "Model name" and "Family" in facts[name][0])):
                facts[name] = str(value), r.where
    threads_said = [r for r in records if r.kind == "thread"]
    if threads_said and "Core(s) per socket" not in facts:
        facts |= _of_threads(threads_said)
    return facts


def _of_threads(listed: Sequence[Record]) -> dict[str, tuple[str, str]]:
    first = listed[0]
    sockets = len({r.said["socket"] for r in listed if "socket" in r.said}) or 1
    cores = first.count("cores") or len(listed)
    smt = first.count("threads") // cores if first.count("threads") else 1
    return {
        "Model name": (first.said.get("model", ""), first.where),
        "Socket(s)": (str(sockets), first.where),
        "Core(s) per socket": (str(cores), f"{first.where}: {len(listed)} of them"),
        "Thread(s) per core": (str(smt), first.where),
    }


def _memory(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    of_kind = [r for r in records if r.kind == "module" and r.size() > 0]
    modules = [r for r in of_kind if r.where.partition(":")[0] == of_kind[0].where.partition(":")[0]]
    facts = {f"module.{n}": (r.said.get("rate", "0"), r.where) for n, r in enumerate(modules)}
    if modules:
        facts["Installed"] = str(sum(r.size() for r in modules)), modules[0].where
    sizes = [r for r in records if r.kind == "memory" and r.size() > 0]
    if sizes:
        least = min(sizes, key=Record.size)  # what the kernel has of what is installed
        facts["MemTotal"] = f"{least.size() // 1024} kB", least.where
    return facts


def _nics(records: Sequence[Record]) -> dict[str, tuple[str, str]]:
    facts: dict[str, tuple[str, str]] = {}
    no_card, virtual = name_pattern("no_card"), name_pattern("virtual")
    cards = [r for r in records if r.kind == "nic" and not no_card.search(r.said.get("model", ""))]
    named = {r.said["bus"].removeprefix("0000:"): r.said["name"] for r in cards if {"bus", "name"} <= set(r.said)}
    names = {r.said["name"] for r in cards if "name" in r.said and not virtual.fullmatch(r.said["name"])}
    spare = {"eth": 0, "wlan": 0}
    for r in cards:
        bus = r.said.get("bus", "").removeprefix("0000:")
        name = r.said.get("name") or named.get(bus, "")
        if not name and not names:
            kind = "wlan" if name_pattern("wireless").search(r.said.get("model", "")) else "eth"
            name, spare[kind] = f"{kind}{spare[kind]}", spare[kind] + 1
        elif not name and len(names) == 1 and sum("name" not in c.said for c in cards) == 1:
            (name,) = names
        if not name or (names and name not in names):
            continue
        prefix = f"/sys/class/net/{name}"
        values = {"device": r.said.get("bus", ""), "model": r.said.get("model", ""), "mtu": r.said.get("mtu", "")}
        for key, source_key in (("speed", "Mbps"), ("most", "most")):
            if source_key in r.said:
                rate = size_bytes(r.said[source_key], DECIMAL) or 0.0
                values[key] = f"{rate / 1e6 if r.said[source_key][-1] in 'MG' else rate:g}"
        for key, value in values.items():
            if value or key == "device":
                facts.setdefault(f"{prefix}/{key}", (value, r.where))
    return facts
