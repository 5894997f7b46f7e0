"""``dtnsim schema``."""

from typing import Annotated

from typer import Argument, Option

from dtnsim.cli import options


def command(
    what: Annotated[str, Argument(metavar="[path|host|dataset|KIND|DOCUMENT]", help="What to describe.")] = "path",
    json: Annotated[bool, Option("--json", hidden=True)] = True,  # noqa: ARG001 - a schema is JSON anyway
) -> None:
    """Print the JSON Schema of path files, host files, data sets, one kind of component, or what --json prints.

    Documents are named as their "schema" key names them: prediction for dtnsim.prediction/1.

    \b
    Examples:
      dtnsim schema > path.schema.json
      dtnsim schema ssd
      dtnsim schema prediction
    """
    from dtnsim.description import schema as schemas
    from dtnsim.report import schemas as documents

    options.emit(documents.json_schema(what) if what in documents.names() else schemas.json_schema(what))
