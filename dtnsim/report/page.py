"""One self-contained HTML page: figures drawn by plotly.js, a table behind each of them, nothing from elsewhere.

Texts of others (names, paths, logs) are escaped here and nowhere else: sections hand over plain text.
"""

import datetime as dt
import gzip
import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from string import Template
from typing import Any, Final

from dtnsim import __version__
from dtnsim.report.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as plotly's JSON has it."""

    title: str  #: Its caption.
    says: str  #: What it shows, in words, for those who do not see it.
    traces: list[dict[str, Any]]  #: Plotly traces.
    layout: dict[str, Any]  #: Plotly layout, without colours of paper and ink (the page has them).
    table: Table  #: The numbers behind it.

    @property
    def plotly(self) -> dict[str, Any]:
        """What plotly draws."""
        return {"data": self.traces, "layout": {**LAYOUT, **self.layout}}


#: what all figures share
LAYOUT: Final[Mapping[str, Any]] = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": "system-ui, sans-serif", "size": 13},
    "margin": {"l": 10, "r": 16, "t": 16, "b": 10},
    "hoverlabel": {"font": {"size": 13}, "namelength": -1, "align": "left"},
    "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
}


@dataclass(slots=True)
class Page:
    """A page under way: sections are added, and it is written out whole."""

    title: str
    data: dict[str, Any] = field(default_factory=dict)  #: What scripts of the page read beside the figures.
    _parts: list[str] = field(default_factory=list)
    _figures: list[dict[str, Any]] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """A section begins."""
        self._parts.append(f"<h2>{escaped(text)}</h2>")

    def text(self, text: str, kind: str = "") -> None:
        """A paragraph."""
        self._parts.append(f'<p class="{kind}">{escaped(text)}</p>' if kind else f"<p>{escaped(text)}</p>")

    def items(self, texts: Sequence[str], kind: str = "") -> None:
        """A list."""
        inner = "".join(f"<li>{escaped(t)}</li>" for t in texts)
        self._parts.append(f'<ul class="{kind}">{inner}</ul>' if kind else f"<ul>{inner}</ul>")

    def verbatim(self, text: str, label: str) -> None:
        """A file or a command, as it is typed."""
        self._parts.append(f'<pre tabindex="0" aria-label="{escaped(label)}">{escaped(text)}</pre>')

    def table(self, table: Table, caption: str, *, folded: bool = False) -> None:
        """A table, or one that unfolds.

        Args:
            table: The table.
            caption: What it shows.
            folded: Whether it unfolds.
        """
        shown = table.html(caption)
        self._parts.append(f"<details><summary>{escaped(caption)}</summary>{shown}</details>" if folded else shown)

    def figure(self, figure: Figure | None) -> None:
        """A figure with its caption, and its numbers as a table that unfolds; nothing for None."""
        if figure is None:
            return
        number, caption = len(self._figures), escaped(figure.title)
        self._figures.append(figure.plotly)
        height = int(figure.layout.get("height", 360))
        self._parts.append(
            f'<figure><figcaption>{caption}</figcaption><div class="plot" role="img" '
            f'style="height:{height}px" data-figure="{number}" aria-label="{escaped(figure.says)}"></div>'
            f"<details><summary>The numbers: {caption}</summary>{figure.table.html(figure.title)}</details></figure>"
        )

    @contextmanager
    def on_screen(self) -> Iterator[None]:
        """What is added meanwhile is not printed: a proposal has room for what decides."""
        self._parts.append('<div class="screen">')
        yield
        self._parts.append("</div>")

    def raw(self, markup: str) -> None:
        """Markup made by this package, its texts escaped already."""
        self._parts.append(markup)

    def html(self) -> str:
        """The whole page; it needs nothing from elsewhere, loads nothing, and no form of it goes out."""
        return Template(asset("page.html")).substitute(
            title=escaped(self.title),
            style=asset("picture.css") + asset("page.css"),
            parts="\n".join(self._parts),
            footer=f"dtnsim {__version__}, {today().isoformat()}",
            data=script_json({"figures": self._figures, **self.data}),
            plotly=asset("plotly-cartesian.min.js"),
            script=asset("page.js"),
        )


def escaped(text: object) -> str:
    """Text of others, safe as HTML text and in quoted attributes."""
    return html.escape(str(text), quote=True)


def label(text: object) -> str:
    """Text of others, safe where plotly draws it: plotly takes ``<b>`` and ``<a>`` for markup."""
    return html.escape(str(text), quote=False)


def script_json(document: object) -> str:
    """JSON that no text in it can end or leave."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def asset(name: str) -> str:
    """A file of this package's assets; large ones are packed."""
    folder = resources.files("dtnsim.report") / "assets"
    packed = folder / f"{name}.gz"
    raw = gzip.decompress(packed.read_bytes()) if packed.is_file() else (folder / name).read_bytes()
    return raw.decode("utf-8")


def today() -> dt.date:
    """The date of a page: SOURCE_DATE_EPOCH where it is set, so that pages can be made again."""
    stamp = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = dt.datetime.now(tz=dt.UTC)
    return (dt.datetime.fromtimestamp(int(stamp), tz=dt.UTC) if stamp.isdigit() else now).date()
