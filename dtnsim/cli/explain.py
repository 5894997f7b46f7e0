"""``dtnsim explain``."""

from __future__ import annotations

from dtnsim.cli import options


def command(
    path: options.Path,
    overrides: options.Set = None,
    calibration: options.Calibration = None,
    json: options.Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Show every demand and capacity with its formula, value and source; the terms recompute the answer.

    \b
    Examples:
      dtnsim explain venadi/gridftp-gpfs
      dtnsim explain venadi/gridftp-gpfs --json
    """  # noqa: D301 - \b is click's mark for text that must not be wrapped
    from dtnsim.report import document, text
    from dtnsim.steady.prediction import predict

    answer = predict(path, overrides=overrides or (), samples=0, calibration=calibration)
    if json:
        options.emit(document.explanation_document(answer))
    else:
        text.explanation(answer, text.console())
