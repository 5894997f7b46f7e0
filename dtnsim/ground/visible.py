"""Text that a terminal shows and does not obey: names, keys and logs may hold anything."""

from __future__ import annotations

import re
from typing import Final

#: C0, DEL, C1, direction marks and overrides, line separators, halves of pairs
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")


def visible(text: str) -> str:
    """The text with escapes for what a terminal would obey and not show: control and direction characters."""
    return text if text.isprintable() else _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
