"""Arrays as people say them in a line: how many drives, of which kind, in which level."""

from __future__ import annotations

import re

from dtnsim.ground import library


def told(text: str) -> tuple[str | None, str | None, str] | None:
    """(level, number, drives) of ``RAID6 of 12 4TB disks``; None where a line tells neither level nor number.

    The words are those of ``layouts`` in models/spoken.yaml; a number of 1 is none.
    """
    known = library.spoken()["layouts"]
    level, left = _first(known["level"], text)
    number, left = _first(known["number"], left.strip())
    if number is not None:
        number = str(known["numbers"].get(number.lower(), number)).replace(" ", "")
    if level is None and number in (None, "1"):
        return None
    drives = " ".join(re.sub(known["between"], " ", left, flags=re.IGNORECASE).split())
    meant = next((part for sizes, part in known["sizes"] if re.search(sizes, drives, re.IGNORECASE)), drives)
    return level, number, meant


def _first(patterns: list[str], text: str) -> tuple[str | None, str]:
    """What the first of some patterns finds, and the text without it."""
    for pattern in patterns:
        if (found := re.search(pattern, text, re.IGNORECASE)) is not None:
            said = next((group for group in found.groups() if group), found[0]).strip()
            return said, f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}".strip()
    return None, text
