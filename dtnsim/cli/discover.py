"""``dtnsim discover``."""

import sys
from typing import Annotated

from typer import Option

from dtnsim.cli import options


def command(
    folder: Annotated[
        str | None,
        Option("--from", metavar="PATH", help="What collect.sh has left, or pasted outputs; else this machine."),
    ] = None,
    out: Annotated[str | None, options.Written("-o", "--out", help="Write the host file here.")] = None,
    script: Annotated[bool, Option("--script", help="Print collect.sh, for machines without Python.")] = False,
    json: options.Json = False,
) -> None:
    """Describe this machine, or one whose outputs were collected, as a host file.

    Nothing is changed and no root is needed. Behind every line is where it is from; what was not found is a TODO,
    and drawn from all that it may be. With
    -o a host file is written; without it a path with a trial write goes to standard output, for 'dtnsim predict -'.

    \b
    Examples:
      dtnsim discover -o here.yaml
      dtnsim discover | dtnsim predict -
      dtnsim discover --script > collect.sh
      dtnsim discover --from nas-outputs -o nas.yaml
      dtnsim discover --from pasted.txt -o server.yaml   (lshw, inxi, storcli, systeminfo, ...)
    """
    from dtnsim.discovery import outputs
    from dtnsim.discovery.discover import discover
    from dtnsim.ground import output

    if script:
        sys.stdout.write(outputs.script())
        return
    discovered = discover(folder)
    if out is not None:
        output.write(out, discovered.host(), "--out")
    if json:
        options.emit(
            {"schema": "dtnsim.host/1", "name": discovered.name, "host": discovered.host(), "todos": discovered.todos,
             "notes": list(discovered.notes)}
        )  # fmt: skip
    elif out is not None:
        sys.stdout.write(f"{out}: host {discovered.name}, {discovered.todos} to find out (grep TODO {out})\n")
    else:
        sys.stdout.write(discovered.path())
