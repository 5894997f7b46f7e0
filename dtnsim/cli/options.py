"""Options that several commands share."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

Path = Annotated[
    str, typer.Argument(metavar="PATH", help="A path file, or the name of a shipped path like venadi/gridftp-gpfs.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override any key: --set wan.rtt=20ms. May be given many times."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Seed = Annotated[int, typer.Option(help="Seed of the draws; the same seed gives the same bytes.", min=0)]
Calibration = Annotated[
    str | None, typer.Option(metavar="FILE", help="Fitted parameters to use ('dtnsim calibrate' makes them).")
]


def emit(document: Any) -> None:
    """Writes one JSON document."""
    sys.stdout.write(json.dumps(document, indent=1, allow_nan=False) + "\n")
