"""``dtnsim discover``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dtnsim.cli import options


def command(
    folder: Annotated[
        str | None, typer.Option("--from", metavar="DIR", help="Outputs that collect.sh has left; else this machine.")
    ] = None,
    out: Annotated[str | None, typer.Option("-o", "--out", metavar="FILE", help="Write the host file here.")] = None,
    script: Annotated[bool, typer.Option("--script", help="Print collect.sh, for machines without Python.")] = False,  # noqa: FBT002 - a flag
    json: options.Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Describe this machine, or one whose outputs were collected, as a host file.

    Nothing is changed and no root is needed. Behind every line is where it is from; what was not found is a TODO. With
    -o a host file is written; without it a path with a trial write goes to standard output, for 'dtnsim predict -'.

    \b
    Examples:
      dtnsim discover -o here.yaml
      dtnsim discover | dtnsim predict -
      dtnsim discover --script > collect.sh
      dtnsim discover --from nas-outputs -o nas.yaml
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    from dtnsim.discovery import outputs
    from dtnsim.discovery.discover import discover
    from dtnsim.ground import output

    if script:
        sys.stdout.write(outputs.script())
        return
    options.writable(out, "--out")
    found = discover(folder)
    if out is not None:
        output.write(out, found.host(), "--out")
    if json:
        options.emit(
            {"schema": "dtnsim.host/1", "name": found.name, "host": found.host(), "todos": found.todos,
             "notes": list(found.notes)}
        )  # fmt: skip
    elif out is not None:
        sys.stdout.write(f"{out}: host {found.name}, {found.todos} to find out (grep TODO {out})\n")
    else:
        sys.stdout.write(found.path())
