"""``dtnsim init``."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from dtnsim.cli import options
from dtnsim.ground.errors import InputError

#: the schema that the modeline of a starter file names once it has been written beside it
SCHEMA: Final = "path.schema.json"


def command(
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="File to write; - for standard output.")] = "path.yaml",
    output_file: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The same, as other commands name it.")
    ] = None,
    kind: Annotated[
        str, typer.Option("--from", metavar="STARTER", help="nas-to-hpc, lan, cloud, fleet or memory-to-memory.")
    ] = "nas-to-hpc",
    cases: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option("--cases", help="Write a cases.yaml of measured figures, and a path.yaml where there is none."),
    ] = False,
    schema: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--schema", help="Also write path.schema.json beside it, for editors without network.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Write a commented path file to begin with.

    \b
    Examples:
      dtnsim init
      dtnsim init --from lan home.yaml
      dtnsim init --cases
      dtnsim init --from cloud - | dtnsim predict -
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    from dtnsim.description import listing
    from dtnsim.description import schema as schemas
    from dtnsim.ground import output

    file = file if output_file is None else output_file
    text = listing.starter(kind)
    if cases:
        _cases("cases.yaml" if file == "path.yaml" else file, text, force=force)
        return
    if file == "-":
        sys.stdout.write(text)
        return
    options.writable(file, "init")
    target = Path(file)
    if target.exists() and not force:
        raise InputError(f"init: {file} exists; write another name, or --force to write over it")
    if schema:
        beside = target.with_name(SCHEMA)
        output.write(beside, json_module.dumps(schemas.json_schema("path"), indent=1) + "\n", "init")
        text = text.replace(f"$schema={schemas.schema_id('path')}", f"$schema={SCHEMA}", 1)
    output.write(target, text, "init")
    then = "fleet" if "\nworkload:" in text else "predict"
    sys.stdout.write(f"wrote {file}\nchange what is not yours, then:  dtnsim {then} {file}\n")


def _cases(file: str, path: str, *, force: bool) -> None:
    """Writes a cases file, and beside it the path that it names, where there is none."""
    from importlib import resources

    from dtnsim.ground import output

    starter = resources.files("dtnsim.evidence").joinpath("starter_cases.yaml").read_text(encoding="utf-8")
    text = starter.format(file=file if file != "-" else "cases.yaml", path="path.yaml")
    if file == "-":
        sys.stdout.write(text)
        return
    options.writable(file, "init")
    target = Path(file)
    if target.exists() and not force:
        raise InputError(f"init: {file} exists; write another name, or --force to write over it")
    beside = target.with_name("path.yaml")
    if not beside.exists():
        output.write(beside, path, "init")
        sys.stdout.write(f"wrote {beside}\n")
    output.write(target, text, "init")
    sys.stdout.write(f"wrote {file}\nwrite your figures into it, then:  dtnsim validate {file}\n")
