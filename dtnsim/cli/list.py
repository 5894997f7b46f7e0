"""``dtnsim list``."""

from typing import Annotated

from typer import Argument

from dtnsim.cli import options


def command(
    room: Annotated[
        str | None, Argument(metavar="[WHAT]", help="hosts, paths, datasets, parts, tools, workloads or starters.")
    ] = None,
    json: options.Json = False,
) -> None:
    """List what is shipped: hosts, paths, data sets, parts, tools, workloads, starter files.

    \b
    Examples:
      dtnsim list
      dtnsim list hosts
      dtnsim list tools
    """
    from dtnsim.description import listing

    document = listing.rooms() if room is None else listing.listing(room)
    if json:
        options.emit(document)
        return
    from dtnsim.report.table import Table, console

    counted = [">"] if room is None else []
    bought = ("year", "price") if room == "hosts" else ()
    heads = [f">{key}" for key in bought]
    keys = ("count",) if room is None else bought
    rows = [(i["name"], *(str(i[key] or "-") for key in keys), i["what"]) for i in document["items"]]
    console().print(Table(room or "dtnsim list ...", *counted, *heads, "what", rows=rows))
