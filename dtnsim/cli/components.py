"""``dtnsim components``."""

from __future__ import annotations

from typing import Annotated

import typer

from dtnsim.cli import options


def command(
    what: Annotated[
        str | None, typer.Argument(metavar="[KIND|PART]", help="A kind, or a part like intel-535-480.")
    ] = None,
    json: options.Json = False,  # noqa: FBT002 - a flag
) -> None:
    """List the kinds of components and their parts; show one with every number, spread and source.

    \b
    Examples:
      dtnsim components
      dtnsim components ssd
      dtnsim components intel-535-480
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    from dtnsim.components.base import kinds
    from dtnsim.description import catalogue

    if what is None:
        document = catalogue.overview()
    elif what in kinds():
        document = {"schema": catalogue.SCHEMA, "kind": what, "parameters": catalogue.parameters(what)}
    else:
        document = catalogue.part(what)
    if json:
        options.emit(document)
        return
    from dtnsim.report import text

    out = text.console()
    if what is None:
        rows = text.table(("family", "left"), ("kind", "left"), ("what", "left"), ("parts", "left"))
        for kind in sorted(document["kinds"], key=lambda k: (k["family"], k["kind"])):
            rows.add_row(kind["family"], kind["kind"], text.plain(kind["summary"]), ", ".join(kind["parts"]))
    else:
        rows = text.table(("parameter", "left"), ("value", "left"), ("spread", "right"), ("source", "left"))
        for row in document["parameters"]:
            value = row.get("text", row.get("default"))
            spread = "" if row["spread"] is None else f"{row['spread']:.0%}"
            required = f"required ({row['unit']})" if row["unit"] else "required"
            rows.add_row(
                row["parameter"],
                text.plain(str(value) if value is not None else required),
                spread,
                text.plain(row["source"]),
            )
    out.print(rows)
