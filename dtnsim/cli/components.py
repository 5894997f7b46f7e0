"""``dtnsim components``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from dtnsim.cli import options
from dtnsim.ground import units
from dtnsim.ground.errors import InputError

if TYPE_CHECKING:
    from dtnsim.planning.select_parts import Selection
    from dtnsim.report.table import Out


def command(
    what: Annotated[str | None, Argument(metavar="[KIND|PART]", help="A kind, or a part like intel-535-480.")] = None,
    sort: Annotated[
        str | None, Option(metavar="KEY", help="Sort a kind's parts: --sort read, or -read for the largest first.")
    ] = None,
    where: Annotated[
        list[str] | None,
        Option(metavar="'KEY < VALUE'", help="Only parts that meet it: 'price < 500 EUR'. May be given many times."),
    ] = None,
    rate: Annotated[
        list[str] | None, Option(metavar="EUR/USD=1.08", help="Exchange rate, where prices mix currencies.")
    ] = None,
    json: options.Json = False,
) -> None:
    """List the kinds of components; the parts of a kind; one part with every number, spread and source.

    Parts of your own, in parts/KIND/ of this folder or of ~/.config/dtnsim, come first.

    \b
    Examples:
      dtnsim components
      dtnsim components ssd --sort -read --where 'price < 500 EUR' --where 'year >= 2018'
      dtnsim components hdd --where 'capacity > 16 TB' --format csv
      dtnsim components intel-535-480
    """
    from dtnsim.components.base import kinds
    from dtnsim.description import catalogue
    from dtnsim.report.table import console

    filtered = bool(sort or where)
    if what not in kinds() and (kind := (what or "").removesuffix("s")) in kinds():
        what = kind  # nics
    if filtered and what not in kinds():
        raise InputError("--sort and --where need a kind; write 'dtnsim components ssd --sort read'")
    chosen = None
    if what is None:
        document = catalogue.overview()
    elif what in kinds():
        from dtnsim.planning.select_parts import select

        chosen = select(what, sort, where or (), rate or ())
        document = {"schema": catalogue.SCHEMA, "kind": what, "parts": chosen.rows, "units": chosen.units}
        document |= {"notes": list(chosen.notes)} | ({} if filtered else {"parameters": catalogue.parameters(what)})
    else:
        document = catalogue.part(what, "kind or part")
    if json:
        if chosen is not None and options.csv_wanted():  # which has no other place for units
            heads = {key: f"{key} [{unit}]" for key, unit in chosen.units.items() if unit not in ("", "1", "USD")}
            document["parts"] = [{heads.get(key, key): value for key, value in row.items()} for row in chosen.rows]
        options.emit(document)
        return
    out = console()
    if what is None:
        _kinds(document, out)
        return
    if chosen is not None and (filtered or chosen.rows):
        _parts(chosen, out)
    if "parameters" in document:
        _parameters(document["parameters"], out)


def _kinds(document: dict[str, Any], out: Out) -> None:
    from dtnsim.report.table import Table

    rows = sorted((k["family"], k["kind"], k["summary"], ", ".join(k["parts"])) for k in document["kinds"])
    out.print(Table("family", "kind", "what", "parts", rows=rows))


def _parameters(parameters: list[dict[str, Any]], out: Out) -> None:
    from dtnsim.report.table import Table

    rows = Table("parameter", "value", ">spread", "source")
    for row in parameters:
        value = row.get("text", row.get("default"))
        spread = "" if row["spread"] is None else f"{row['spread']:.0%}"
        required = f"required ({row['unit']})" if row["unit"] else "required"
        shown = str(value) if value is not None else "" if row.get("optional") else required
        rows.add_row(row["parameter"], shown, spread, row["source"])
    out.print(rows)


def _parts(chosen: Selection, out: Out) -> None:
    from dtnsim.report.table import Table

    if chosen.rows:
        heads = (("" if c == "part" else ">") + _HEADS.get(c, c) for c in chosen.columns)
        cells = (
            [_cell(row, c, chosen.units[c], line=c in chosen.lines) for c in chosen.columns] for row in chosen.rows
        )
        out.print(Table(*heads, rows=cells))
    else:
        out.print("No part meets that.")
    for note in chosen.notes:
        out.print(note)


_HEADS = {"power_idle": "idle", "power_busy": "watts"}


def _cell(row: dict[str, Any], key: str, dim: str, *, line: bool) -> str:
    """A value as people write it."""
    value = row[key]
    if value is None:
        return "-"
    if key == "price":
        spread, date = row["price_spread"], row["price_date"]
        return f"{value:,.0f} {row['currency']} +-{spread:.0%}" + (f" ({date})" if date else "")
    if isinstance(value, bool) or not dim:
        return str(value)
    return units.show(value, dim, line=line)
