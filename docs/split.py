"""Long pages of the documentation in parts that are read in one sitting, and their place in the navigation."""

from __future__ import annotations

import re
from typing import Any, Final

#: words of a page
WORDS: Final = 2700
#: headings that a page is cut at: the coarsest first, finer ones where a part is too long; those that contents list
_LEVELS: Final = range(2, 6)
_LISTED: Final = 3


def split(name: str, text: str) -> dict[str, str]:
    """A page as itself, or as its contents and its parts: ``reference/tools.md``, ``reference/tools-1.md`` ..."""
    if len(text.split()) <= WORDS:
        return {name: text}
    first, *others = _pieces(text, _LEVELS.start)
    packed: list[list[str]] = []
    for piece in others:
        if packed and sum(len(p.split()) for p in (*packed[-1], piece)) <= WORDS:
            packed[-1].append(piece)
        else:
            packed.append([piece])
    title = text.partition("\n")[0].removeprefix("# ")
    parts, contents = {}, []
    for number, part in enumerate(packed, 1):
        whole = "".join(part)
        headings = [(len(marks), words) for marks, words in re.findall(r"^(##+) (.+)$", whole, re.MULTILINE)]
        ends = dict.fromkeys(
            words for level, words in (headings[0], headings[-1]) if level <= _LISTED or len(headings) == 1
        )
        label = " to ".join(ends) or headings[0][1]
        at = name.replace(".md", f"-{number}.md")
        parts[at] = f"# {title}: {label}\n\n{whole}"
        file = at.rpartition("/")[2]
        listed = dict.fromkeys(words for level, words in headings if level <= _LISTED)
        links = [f"[{words}]({file}#{_anchor(words)})" for words in listed] or [f"[{label}]({file})"]
        contents.append(f"- {', '.join(links)}\n")
    return {name: f"{first}\n{''.join(contents)}", **parts}


def _anchor(words: str) -> str:
    """What a heading is linked by, as Markdown's table of contents makes it; the site is built with links checked."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", words).strip().lower())


def _pieces(text: str, level: int) -> list[str]:
    """What is before the first heading of a level, and the sections; those that are too long cut at finer headings."""
    pieces = re.split(rf"(?m)^(?=#{{{level}}} )", text)
    if level == _LEVELS.stop - 1:
        return [part for piece in pieces for part in _items(piece)]
    return [p for piece in pieces for p in (_pieces(piece, level + 1) if len(piece.split()) > WORDS else [piece]) if p]


def _items(text: str) -> list[str]:
    """A section as it is; where it is a list that is too long, some items after the other, under a heading with a number."""
    head, *items = re.split(r"(?m)^(?=- )", text)
    if len(text.split()) <= WORDS or not items or not head.startswith("#"):
        return [text]
    heading, _, rest = head.partition("\n")
    parts = [rest]
    for item in items:
        if len(f"{heading} {parts[-1]} {item}".split()) > WORDS:
            parts.append("\n")
        parts[-1] += item
    return [f"{heading}{f' ({n})' if n > 1 else ''}\n{part.rstrip()}\n\n" for n, part in enumerate(parts, 1)]


def listed(nav: list[Any], pages: dict[str, str]) -> list[Any]:
    """The navigation, with the parts of a page below it."""
    items: list[Any] = []
    for entry in nav:
        ((title, page),) = entry.items()
        if isinstance(page, list):
            items.append({title: listed(page, pages)})
            continue
        below = [p for p in pages if re.fullmatch(rf"{re.escape(page.removesuffix('.md'))}-(\d+|of-[\w-]+)\.md", p)]
        items.append({title: [{"Contents": page}, *({_name(p, pages[p]): p} for p in below)]} if below else entry)
    return items


def _name(page: str, text: str) -> str:
    """What the navigation calls a part: what it has, or what it is of."""
    title = text.partition("\n")[0].removeprefix("# ").replace("`", "")
    return title.partition(": ")[2] if re.search(r"-\d+\.md$", page) else title.partition(":")[0]
