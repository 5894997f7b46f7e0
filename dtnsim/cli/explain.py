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
    from dtnsim.composition.ways import ways
    from dtnsim.description import spec
    from dtnsim.report import document, explanation, text
    from dtnsim.steady.prediction import predict

    given = spec.load(path, overrides or (), calibration)
    answer = predict(given, samples=0)
    found = ways(given)
    if json:
        options.emit(document.explanation_document(answer, found))
    else:
        explanation.explanation(answer, text.console(), found)
