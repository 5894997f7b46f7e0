"""``dtnsim tools``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from dtnsim.cli import options
from dtnsim.ground.errors import InputError


def command(
    path: Annotated[str | None, Argument(metavar="[PATH]", help="A path file, or the name of a shipped path.")] = None,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    table: Annotated[str | None, Option(metavar="FILE", help="CSV of runs; the columns are named below.")] = None,
    out: Annotated[str | None, Option("-o", "--out", metavar="FILE", help="Where --table writes.")] = None,
    have: Annotated[
        str | None, Option(metavar="TOOLS", help="Only these kinds, as far as they are there: rsync,rclone,globus.")
    ] = None,
    explain: Annotated[
        str | None, Option(metavar="TOOL", help="The whole prediction of one row: 'yours', 'rclone', ...")
    ] = None,
    samples: Annotated[int, Option(help="Draws behind p10 and p90.", min=0, max=100_000)] = 256,
    seed: options.Seed = 1,
    json: options.Json = False,
) -> None:
    """Which tool, with which options? Transfer tools compared on one path, or predicted for a table of runs.

    The path's own tool stands beside every tool that can serve its ends, each with the options that are best there, and
    beside many small files sent as one archive. --set of a row (--json has it) gives the same in predict.

    \b
    Examples:
      dtnsim tools examples/small-files-40ms
      dtnsim tools examples/small-files-40ms --have rsync,rclone --explain rsync
      dtnsim tools examples/small-files-40ms --dataset sizes.txt    # find DIR -type f -printf '%s\\n' > sizes.txt
      dtnsim tools --table runs.csv -o predicted.csv

    \b
    A table needs the columns tool_key (a tool with a command line, rsyncd, guc3 for a third-party globus-url-copy, or
    one with its protocol, like rclone-http), rate_bps, rtt_s, files and total_bytes. It may have version, direction
    (put, get), options (as typed), env, buffer_bytes, loss, mtu, cc, tcp_rmem_max, tcp_wmem_max,
    dataset and rerun_nothing_changed. All columns come back, with predicted_wall_s, p10_s, p90_s and held_by beside
    them; those of a row that cannot be used are empty, a line on stderr says why, and the exit code is 2.
    """
    if (path is None) == (table is None):
        raise InputError("give a path or --table FILE; try: dtnsim tools examples/small-files-40ms")
    if table is not None:
        from dtnsim.cli import _tools_table

        options.writable(out, "--out")
        _tools_table.command(table, out, samples, seed, json=json)
        return
    from dtnsim.cli import _tools_advice

    _tools_advice.command(str(path), list(overrides or ()), dataset, samples, seed, have, explain, json=json)
