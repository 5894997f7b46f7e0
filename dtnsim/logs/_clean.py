"""Takes decoration off a line of a log: ANSI codes, pdsh prefixes, quotes, HTML, Markdown."""

from __future__ import annotations

import html
import re
from typing import Final

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
#: what collectors put before every line: Jenkins, CRI, log4j and Python logging, syslog and journal, ``ts`` of
#: moreutils, mpirun --tag-output, docker compose, terraform's provisioners. It matches a line as well as its shape
#: (without digits and dots).
PREFIX: Final = (
    r"^(?:[\w.\[\]\"-]{1,80}+ \((?:local|remote)-exec\): ?|"
    rf"\[{_DATE}\] ?|{_DATE} (?:std(?:out|err) [FP] |\[?(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR)\]?:? )?"
    r"|\[\d*:\d*:[\d.]*\] |\[\d*,\d*\]<std(?:out|err)>:|[\w.-]*[_-]\d* +\| (?! *\d* kB \|)"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ++\d*+ ?\d*+:\d*+:\d*+ (?:[\w.-]+ [\w./-]+(?:\[\d*\])?: )?)"
)
_PREFIX: Final = re.compile(PREFIX)
_QUOTE: Final = re.compile(r"^(?:> ?)+(?=\s*\S)|^\((?:out|err)\) ?|^\|\| ")
_STAMP: Final = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d) (?=\S| )")
_ADDRESS: Final = re.compile(r"^(\d{1,3}(?:\.\d{1,3}){3}): ?")
#: pdsh host names have a digit; names of interfaces, disks, fio jobs, tools and iperf3's titles (``-T``)
#: have, too: they are recognised by themselves or by what follows
_HOSTNAME: Final = re.compile(
    r"^(?!(?:eth|en[opsx]|ib|bond|md|sd|hd|vd|xvd|dm-|nvme|loop|lo|wl|job|cpu|tun|tap|br)\d)"
    r"(?!(?:iperf|ping|traceroute|tracepath)\d: |(?:IOR|mdtest|fio|sysbench|elbencho|iozone)-?\d)"
    r"(?!(?:[Ss]tream|[Tt]est|[Rr]un|[Tt]itle)-?\d+: )"
    r"(?!\S+:  (?:\[|Connecting|- - -|iperf|Test |Starting|CPU|snd_|rcv_|$))"
    r"([A-Za-z][A-Za-z-]*\d[A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*): "
    r"(?!\(g|\(f|flags|ios=|Laying|No space|error)"
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
    return "<" in text or "&" in text or "**" in text or text[:1] in (">", "(", "|") or text[:2] == "20"


def without_prefix(text: str) -> str:
    """The line without what a log collector put before it."""
    return _PREFIX.sub("", text, count=1)


def clean(text: str) -> str:
    """One line without quote marks, time stamps of a CI log, HTML tags and entities, bold stars."""
    if text.startswith((">", "(", "|")):
        text = _QUOTE.sub("", text)
    if text[:2] == "20":
        text = _STAMP.sub("", text)
    if "<" in text:
        text = _TAGS.sub("", text)
    if "&" in text and ";" in text:
        text = html.unescape(text).replace("\xa0", " ")
    if "**" in text:
        text = text.replace("**", "")
    return text


def decode(raw: bytes) -> str:
    """UTF-8, or Latin-1 where it is not; never fails."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
