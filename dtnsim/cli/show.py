"""``dtnsim show``."""

from typing import Annotated

from typer import Argument

from dtnsim.cli import options


def command(
    name: Annotated[str, Argument(metavar="NAME", help="What 'dtnsim list' names; hosts/NAME where ambiguous.")],
    json: options.Json = False,
) -> None:
    """Show a host, path, data set, part, kind or tool: every line with its source; 'keys': all keys of a path file.

    \b
    Examples:
      dtnsim show keys
      dtnsim show venadi
      dtnsim show examples/dtn-100g-xfs
      dtnsim show connectx-5-100g
      dtnsim show gridftp
    """
    from dtnsim.description import listing

    documents = listing.describe_all(name)
    if json:
        options.emit(documents[0] if len(documents) == 1 else documents)
        return
    from dtnsim.report.table import Table, console

    out = console()
    for document in documents:
        title = f"{document['room'].removesuffix('s')} {document['name']}"
        out.print(f"  ({document['file']})" if document["file"] else "", title=title)
        heads = "key", "value", "source"
        out.print(Table(*heads, rows=([line[head] for head in heads] for line in document["lines"])))
