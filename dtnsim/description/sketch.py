"""A path file from a line of text: a small grammar over the names of the library, in which every guess is marked.

``R740, ConnectX-5, 8 NVMe md RAID0 -> NAS of 12 disks raidz2 10G, 25 ms`` names two ends and what lies between them.
What fits a number with a unit, a RAID level, a file system, a kind of network or a tool is taken as that; what is left
is looked up among hosts and parts. What nobody says is left out, and drawn where the file is read.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from dtnsim.components.base import DRIVES, find_kind, kinds
from dtnsim.components.network_kinds import MEDIA
from dtnsim.components.tuning import Role
from dtnsim.description.dataset import many
from dtnsim.description.spoken_paths import filesystem_kind
from dtnsim.ground import library, units
from dtnsim.ground.errors import SpecError
from dtnsim.ground.library import words

#: RAID level of several drives where none is stated, and of disks that are too few for it
_LEVELS: Final = {"disk": "raid6", "ssd": "raid0", "nvme": "raid0"}
_OF_FEW: Final = {2: "raid1", 3: "raid5"}
_NUMBER: Final = r"(\d+(?:\.\d+)?(?:e-?\d+)?)"
_MANY: Final = "thousand|million|billion|mio|k|m"  #: what people say for many files
_COUNT: Final = rf"(?<![\w.,-])(\d[\d,]*(?:\.\d+)?)\s*({_MANY})?\s*"
_SIZE: Final = rf"{_NUMBER}\s*([kmgtp]i?b)\b"
_DRIVE: Final = r"(nvme|ssd|hdd|disk|drive)s?\b(?:\s+(?:ssd|drive)s?\b)?"
_DIGITS: Final = 3  #: least digits that name a part alone: 7443, and not the 30 of ampere-altra-m128-30
#: a sentence: what is said before, one end, the other
_FROM_TO: Final = re.compile(r"(.*?)\bfrom\b(.+?)\bto\b(.+)", re.IGNORECASE | re.DOTALL)
_EXAMPLE: Final = "'R740, ConnectX-5, 8 NVMe RAID0 -> NAS of 12 disks raidz2 10G, 25 ms'"


def _word_pattern(words_: str) -> str:
    """A pattern of words that are no parts of names: ``dtn``, and not that of nersc-dtn."""
    return rf"(?<![\w.-])({words_})(?![\w-])"


def _either(names: Iterable[str]) -> str:
    """A pattern of any of some names, the longest first."""
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


@dataclass(slots=True)
class _End:
    """What is said of one end."""

    host: dict[str, str] = field(default_factory=dict)  #: Keys of the host, as they are written.
    guesses: dict[str, str] = field(default_factory=dict)  #: Why a key has what it has, where it is a guess.
    rate_Gbps: float | None = None  #: Rate of its card [Gb/s]; None where nobody says.
    drives: tuple[int, str, str] | None = None  #: (number, kind, part or nothing) of its drives.
    level: str = ""  #: RAID level as it is written.
    filesystem: str = ""
    memory: bool = False


def _rate(times: str | None, number: str, unit: str) -> float:
    """A rate [Gb/s], told as people do: ``10g``, ``2x100G``; of bytes where they are written so: ``MB/s``."""
    return int(times or 1) * _gbps(f"{number} {unit[0].upper()}{'B' if unit[1:] == 'B/s' else 'b'}/s")


def _bytes(number: str, unit: str) -> str:
    """A size as path files have it: ``30 kb`` is 30 kB."""
    prefix = unit[0].upper() if unit[0] not in "kK" or len(unit) == 3 else "k"
    return f"{number} {prefix}{unit[1:-1].lower()}B"


def _shown(rate_Gbps: float) -> str:
    """A rate in the unit that people say."""
    return f"{rate_Gbps:g} Gb/s" if rate_Gbps >= 1 else f"{rate_Gbps * 1000:g} Mb/s"


def _gbps(text: str) -> float:
    return units.parse(text, "B/s") * 8e-9


class Sketch:
    """Reads a line of text as a path: ``A -> B`` or ``from A to B``, and what is known of each and of the network."""

    def __init__(self, text: str) -> None:
        parts = re.split(r"\s*(?:->|=>|→)\s*", text.strip())
        if len(parts) == 1 and (match := _FROM_TO.fullmatch(parts[0])):
            parts = [f"{match[1]} , {match[2]}", match[3]]
        if len(parts) != 2 or not all(parts):
            raise SpecError("needs two ends", key="--from-text", value=text, remedy=f"write {_EXAMPLE}")
        self.text = " ".join(text.split())
        self.wan: dict[str, str] = {}
        self.tool, self.files, self.size, self.each = "", "", "", ""
        self.share = ""
        #: what no rule and no name fits
        self.unread: list[str] = []
        self._words: Any = library.spoken()["sentences"]
        self.ends = (_End(), _End())
        for end, clause in zip(self.ends, parts, strict=True):
            self._read(end, clause)
        bucket = any(map(_is_bucket, self.ends))
        if self.share and self.tool in ("", "robocopy") and not bucket:  # cp is what copies onto a mount
            self.tool, self.unread = self.tool or self.share, [word for word in self.unread if word != "cp"]
        elif self.share:
            self.unread.append(self.share)
        if self.tool == "aws-s3" and not bucket:
            self.ends[1].filesystem, self.ends[1].guesses["filesystem"] = "s3", "where the tool copies to"

    # -- reading ---------------------------------------------------------------------------------------

    def _read(self, end: _End, clause: str) -> None:
        clause = re.sub(r"\([^)]*\)", " ", clause)  # how much memory a model has, and the like
        clause = re.sub(r"(?<![\w.,-])(\d{1,3}),(\d{1,2})(?=\s*[%A-Za-z])", r"\1.\2", clause)  # 3,5 ms

        def take(pattern: str, use: Callable[[re.Match[str]], None]) -> None:
            nonlocal clause
            for match in re.finditer(pattern, clause, re.IGNORECASE):
                use(match)
            clause = re.sub(pattern, " , ", clause, flags=re.IGNORECASE)

        take(rf"(?<![\w.]){_NUMBER}\s*(ms|us)\b(?:\s*rtt)?", lambda m: self.wan.update(rtt=f"{m[1]} {m[2]}"))
        take(rf"\bloss\s*(?:of\s*)?{_NUMBER}\s*(%?)", lambda m: self.wan.update(loss=f"{m[1]} {m[2]}".strip()))
        take(r"\bmtu\s*(\d{3,5})\b", lambda m: self.wan.update(mtu=f"{m[1]} B"))
        self._amounts(end, take)
        level = r"\b(raid-?z[123]?|raid-?(?:0|1|5|6|10))\b"
        take(level, lambda m: setattr(end, "level", m[1].lower().replace("-", "")))
        tools = self._words["tools"]
        take(_word_pattern(_either(tools)), lambda m: setattr(self, "tool", tools[m[1].lower()]))
        take(_word_pattern("(?:aws|amazon) s3"), lambda _: setattr(end, "filesystem", "s3"))
        take(_word_pattern(_either(library.spoken()["personal"])), lambda m: end.host.update(kind=m[1].lower()))
        take(_word_pattern(self._words["radio"]), lambda m: end.host.update(nic=m[1].lower()))
        take(_word_pattern(self._words["shares"]), lambda m: setattr(self, "share", m[1].lower()))
        systems = {n for n in kinds() if find_kind(n).family == "filesystem"}.union(library.spoken()["filesystems"])
        systems -= set(self._words["not_here"])
        take(_word_pattern(_either(systems)), lambda m: setattr(end, "filesystem", m[1].lower()))
        take(_word_pattern("|".join(MEDIA)), lambda m: self.wan.update(medium=m[1].lower()))
        take(_word_pattern("|".join(get_args(Role))), lambda m: end.host.update(role=m[1].lower()))
        take(_word_pattern(r"(?:19|20)\d\d"), lambda m: end.host.update(year=m[1]))
        take(_word_pattern("memory|ram"), lambda _: setattr(end, "memory", True))
        for name in (piece.strip(" .") for piece in re.split(r"[,;]", clause)):
            self._name(end, name)

    def _amounts(self, end: _End, take: Callable[[str, Callable[[re.Match[str]], None]], None]) -> None:
        """Takes files and bytes, rates, and drives, whose sizes are none of the data."""
        take(rf"{_COUNT}(?:(?<=\s)|x\s*){_SIZE}\s*files?\b", lambda m: self._counted(m, each=_bytes(m[3], m[4])))
        not_total = r"(?!\s*(?:in )?(?:total|all|sum))"
        take(rf"{_COUNT}files?\s+of\s+{_SIZE}{not_total}", lambda m: self._counted(m, each=_bytes(m[3], m[4])))
        take(rf"{_COUNT}files?\b", self._counted)
        one = rf"(?<![\w.-]){_SIZE}\s*(?:files?\b|(?:each|per file)\b)"
        take(one, lambda m: setattr(self, "each", _bytes(m[1], m[2])))
        rate = rf"(?:(\d+)\s*x\s*)?{_NUMBER}\s*([gm](?:be|b/s|bit/s|bps|bit)?)(?![\w/])"
        way = "wan|link|network|path|line|circuit|upload|upstream|uplink"
        take(
            rf"\b(?:{way}|over|across|through)\s+(?:(?:an?|the|our)\s+)?{rate}(?:\s+(?:{way})\b)?|{rate}\s+(?:{way})\b",
            lambda m: self.wan.update(bandwidth=_shown(_rate(*(m.groups()[:3] if m[2] else m.groups()[3:])))),
        )
        take(rf"(?<![\w.-]){rate}", lambda m: self._card(end, m))
        drives = rf"(?<![\w.-])(?:(\d+)(?:\s*x\s*|\s+))?{_SIZE}\s*{_DRIVE}"
        take(drives, lambda m: self._drives(end, m[1], m[4], m[2] + m[3]))
        take(rf"(?<![\w.-])(\d+)\s*x\s*{_NUMBER}\s*(ti?b)\b", lambda m: self._drives(end, m[1], "disk", m[2] + m[3]))
        take(rf"(?<![\w.-]){_SIZE}", lambda m: setattr(self, "size", _bytes(m[1], m[2])))
        take(rf"(?<![\w.-])(\d+)\s*(?:x\s*)?{_DRIVE}", lambda m: self._drives(end, m[1], m[2]))
        if end.drives is None:
            one = r"(?<![\w.-])(usb(?:[- ]?[c\d][\d.]*)?\s+)?(nvme|ssd|hdd|disk|drive)(?![\w-])"
            take(one, lambda m: self._drives(end, None, m[2], "USB" if m[1] else ""))

    def _counted(self, match: re.Match[str], each: str = "") -> None:
        self.files, self.each = str(many(match[1], match[2] or "")), each or self.each

    @staticmethod
    def _card(end: _End, match: re.Match[str]) -> None:
        """A card, or as many as are bonded: 2x100G."""
        end.rate_Gbps = _rate(*match.groups())
        if match[1]:
            end.host["nic"] = f"{match[1]} x {_rate(None, match[2], match[3]):g} Gb/s"

    @staticmethod
    def _drives(end: _End, number: str | None, word: str, size: str = "") -> None:
        kind = {"hdd": "disk", "drive": "disk"}.get(word.lower(), word.lower())
        end.drives = (int(number or 1), kind, f"{size} {kind}" if size else "")

    def _name(self, end: _End, piece: str) -> None:
        """A machine, a part or a tool, and what is said beside it; of words that together are none each alone."""
        left = [word for word in piece.split() if word.lower() not in self._words["empty"]]
        if not left:
            return
        matched = self._take_known(end, " ".join(left))
        if matched is None and len(left) == 1:
            self.unread += left
            return
        for word in left:
            if matched is None or words(word) - matched:
                self._name(end, word)

    def _take_known(self, end: _End, name: str) -> frozenset[str] | None:
        """Takes a name where the library has it; the words that it has, None where there is none."""
        kind: Any = find_kind(name.lower()) if name.lower() in kinds() else None
        if kind is not None and kind.family == "tool" and kind.tool_class != "local":  # there are two hosts
            self.tool = name.lower()
            return words(name)
        hosts = [host for host in library.shipped_meant("hosts", name) if not host.startswith("example-")]
        if hosts and "machine" not in end.host:
            end.host["machine"] = hosts[0]
            if len(hosts) > 1:
                end.guesses["machine"] = f"one of {', '.join(hosts)}"
            return words(hosts[0])
        if name.isdigit() and len(name) < _DIGITS:
            return None
        query = words(name)
        parts = [n for n in library.names("parts") if query and query <= words(n.partition("/")[2])]
        for family, key in (("nic", "nic"), ("cpu", "cpu"), ("ssd", "drive"), ("hdd", "drive")):
            candidates = [n.partition("/")[2] for n in parts if n.startswith(f"{family}/")]
            if candidates:
                self._part(end, key, candidates)
                return query
        return None

    @staticmethod
    def _part(end: _End, key: str, candidates: list[str]) -> None:
        """Takes a part; of several that with the rate that is said, else the first."""
        rate = f"{end.rate_Gbps:g}g" if end.rate_Gbps is not None else ""
        candidates = [n for n in candidates if key == "nic" and rate and rate in n.split("-")] or candidates
        if len(candidates) > 1:
            end.guesses[key] = f"one of {', '.join(candidates)}"
        if key == "drive":
            number, kind, _ = end.drives or (1, "disk", "")
            end.drives = (number, kind, candidates[0])
        else:
            end.host[key] = candidates[0]

    # -- writing ---------------------------------------------------------------------------------------

    def written(self) -> str:
        """The path file."""
        lines = [
            "# yaml-language-server: $schema=https://dtnsim.github.io/dtnsim/schema/path.schema.json",
            f"# From: {self.text}",
            "# Lines with 'guess' are such: change them. What is not here is drawn from what such paths have.",
            *([f"# not understood, and not in the file: {', '.join(self.unread)}"] if self.unread else []),
            "hosts:",
        ]
        for name, end in zip(("source", "destination"), self.ends, strict=True):
            body = list(self._host(end))
            lines += [f"  {name}:", *body] if body else [f"  {name}: unknown"]
        rate = self._narrowest()
        wan = {"bandwidth": _shown(rate or 10.0), **self.wan}
        why = "the slower card" if rate else "nobody says a rate"
        guess = "" if "bandwidth" in self.wan else f"   # guess: {why}; the narrowest link between the two"
        lines += ["wan:", *(f"  {key}: {value}{guess if key == 'bandwidth' else ''}" for key, value in wan.items())]
        lines += ["transfer:", *(f"  {line}" for line in self._transfer())]
        return "\n".join(lines) + "\n"

    def _narrowest(self) -> float:
        """Rate of the slowest card of which it is known, 0 where of none [Gb/s]."""
        rates = [e.rate_Gbps for e in self.ends if e.rate_Gbps is not None]
        for end in self.ends:
            host: dict[str, Any] = _machine(end)
            cards = [end.host["nic"]] if "nic" in end.host else [host.get("nic"), *host.get("nics", {}).values()]
            for card in cards if end.rate_Gbps is None else ():
                if isinstance(card, str) and not library.shipped_meant("parts/nic", card):
                    continue  # a radio, whose rate is drawn
                raw: Any = library.read("parts", card) if isinstance(card, str) else card or {}
                rates += [_gbps(raw["rate"])] if isinstance(raw.get("rate"), str) else []
        return min(rates, default=0.0)

    def _host(self, end: _End) -> list[str]:
        keys = {key: end.host[key] for key in ("machine", "kind", "year", "role", "cpu", "nic") if key in end.host}
        if "nic" not in keys and end.rate_Gbps is not None:
            keys["nic"] = f"{{rate: {_shown(end.rate_Gbps)}}}"
        lines = [
            f"    {k}: {v}" + (f"   # guess: {end.guesses[k]}" if k in end.guesses else "") for k, v in keys.items()
        ]
        if end.drives is None and not end.filesystem:
            return lines
        array, why = self._array(end)
        zfs = end.filesystem or ("zfs" if "raidz" in array else "xfs")
        guess = "" if end.filesystem else "   # guess"
        guess += f"   # guess: {end.guesses['filesystem']}" if "filesystem" in end.guesses else ""
        lines = [] if _is_bucket(end) else lines  # which is no machine
        lines += ["    volumes:", "      /data:", f"        filesystem: {zfs}{guess}"]
        lines += [f"        array: {array}" + (f"   # guess: {why}" if why else "")] if end.drives else []
        return lines

    @staticmethod
    def _volume(end: _End) -> str:
        """The volume that is described, else the machine's own, else one that is drawn."""
        volumes = () if end.drives or end.filesystem else _machine(end).get("volumes", ())
        return next(iter(volumes), "/data")

    @staticmethod
    def _array(end: _End) -> tuple[str, str]:
        """The drives, and what of them is a guess."""
        number, kind, part = end.drives or (1, "disk", "")
        guesses = [end.guesses["drive"]] if "drive" in end.guesses else []
        part = part or DRIVES[kind]
        if number == 1:
            return part, "; ".join(guesses)
        if not end.level:
            guesses.append("level")
        level = end.level or (_OF_FEW.get(number) if kind == "disk" else None) or _LEVELS[kind]
        count = re.sub(r"\D", "", level) or "1"
        family = "raidz" if "z" in level else "raid"
        return f"{{kind: {family}, level: {count}, disks: {number}, of: {part}}}", "; ".join(guesses)

    def _transfer(self) -> list[str]:
        tool = self.tool or ("aws-s3" if any(map(_is_bucket, self.ends)) else "rsync")
        nothing = getattr(find_kind(tool), "tool_class", "").endswith("test")
        ends = ["memory" if end.memory or nothing else self._volume(end) for end in self.ends]
        files, size = self.files, self.size or ("" if self.each else "1 TB")
        if self.each and self.size and not files:
            files = f"{max(units.parse(self.size, 'B') / units.parse(self.each, 'B'), 1):.0f}"
        guessed = [name for name, text in (("size", self.size or self.each), ("number of files", files)) if not text]
        amount = f"each: {self.each}" if self.each and (self.files or not self.size) else f"size: {size}"
        data = f"dataset: {{files: {files or 1000}, {amount}}}" + (
            f"   # guess: {' and '.join(guessed)}" if guessed else ""
        )
        return [
            f"from: source:{ends[0]}",
            f"to: destination:{ends[1]}",
            f"tool: {tool}" + ("" if self.tool else "   # guess; 'dtnsim tools FILE' compares it with others"),
            *([] if nothing else [data]),
        ]


def _is_bucket(end: _End) -> bool:
    """Whether an end is an object store."""
    named = library.spoken()["filesystems"].get(end.filesystem, end.filesystem)
    return getattr(filesystem_kind(named), "kind", "") == "s3"


def _machine(end: _End) -> Any:
    """Host file of an end; empty where the end names no machine."""
    return library.read("hosts", end.host["machine"]) if "machine" in end.host else {}
