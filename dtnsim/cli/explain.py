"""``dtnsim explain``."""

from dtnsim.cli import options


def command(
    path: options.Path,
    overrides: options.Set = None,
    dataset: options.Dataset = None,
    line: options.Line = None,
    calibration: options.Calibration = None,
    json: options.Json = False,
) -> None:
    """Show every demand and capacity with its formula, value and source, and the steps from the ceiling to the median.

    \b
    Examples:
      dtnsim explain venadi/gridftp-gpfs
      dtnsim explain venadi/gridftp-gpfs --json
    """
    from dtnsim.cli._watch import Watch
    from dtnsim.composition.resolved_transfer import ways
    from dtnsim.description import spec
    from dtnsim.report import document, text
    from dtnsim.steady.breakdown import steps
    from dtnsim.steady.prediction import SAMPLES, predict

    path_spec = options.changed(spec.load(path, overrides or (), calibration), dataset, line)
    with Watch("predicting"):
        answer, routes, way = predict(path_spec), ways(path_spec), steps(path_spec, SAMPLES)
    if json:
        options.emit(document.explanation_document(answer, routes, way))
    else:
        text.explanation(answer, text.console(), routes, way)
