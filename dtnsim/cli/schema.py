"""``dtnsim schema``."""

from __future__ import annotations

from typing import Annotated

import typer

from dtnsim.cli import options


def command(
    what: Annotated[str, typer.Argument(metavar="[path|host|dataset|KIND]", help="What to describe.")] = "path",
    json: options.Json = True,  # noqa: ARG001, FBT002 - the schema is JSON with or without the flag
) -> None:
    """Print the JSON Schema of path files, host files, data sets or one kind of component, for editors.

    \b
    Examples:
      dtnsim schema > path.schema.json
      dtnsim schema ssd
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    from dtnsim.description import schema as schemas

    options.emit(schemas.json_schema(what))
