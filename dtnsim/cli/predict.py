"""``dtnsim predict``."""

from __future__ import annotations

from typing import Annotated

import typer

from dtnsim.cli import options


def command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Path files, or names like venadi/gridftp-gpfs.")
    ],
    overrides: options.Set = None,
    samples: Annotated[int, typer.Option(help="Draws behind p10 and p90.", min=0, max=1_000_000)] = 256,
    seed: options.Seed = 1,
    calibration: options.Calibration = None,
    stations: Annotated[int, typer.Option(help="How many of the busiest stations to show.", min=1)] = 12,
    json: options.Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Predict the throughput of a path, what holds it back and what binds next.

    \b
    Examples:
      dtnsim predict venadi/gridftp-gpfs
      dtnsim predict my-path.yaml --set wan.rtt=50ms --set transfer.tool.p=16
      dtnsim predict my-path.yaml --set hosts.venadi.nic=connectx-5-100g --json
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    from dtnsim.report.document import prediction_document
    from dtnsim.steady.prediction import predict

    answers = [
        predict(p, overrides=overrides or (), samples=samples, seed=seed, calibration=calibration) for p in paths
    ]
    if json:
        documents = [prediction_document(a) for a in answers]
        options.emit(
            documents[0] if len(documents) == 1 else {"schema": "dtnsim.predictions/1", "predictions": documents}
        )
        return
    from dtnsim.report import text

    out = text.console()
    for number, answer in enumerate(answers):
        if number:
            out.print()
        text.prediction(answer, out, busiest=stations)
