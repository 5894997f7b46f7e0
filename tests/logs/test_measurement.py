"""A measurement carries its unit, its place and what it holds for; that of the shipped logs as well."""

import math
from pathlib import Path

import pytest

from dtnsim.ground import library
from dtnsim.logs import read_logs
from dtnsim.logs.measurement import Measurement

LOGS = sorted(library.root("calibration").glob("venadi/logs/*.txt"))


def test_a_figure_without_more_is_complete_and_holds_unconditionally() -> None:
    figure = Measurement("dd", "throughput", 1e9, "B/s")
    assert figure.status == "complete"
    assert dict(figure.conditions) == {}
    with pytest.raises(AttributeError):
        figure.value = 2e9  # type: ignore[misc]  # that is the test


def test_conditions_that_figures_share_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        Measurement("a", "rtt", 1.0, "s").conditions["host"] = "b"  # type: ignore[index]  # that is the test


@pytest.mark.parametrize("file", LOGS, ids=lambda p: p.name)
def test_figures_of_the_shipped_logs_keep_the_rules(file: Path) -> None:
    """SI units, values that are numbers, and a line of the file that holds what was printed."""
    figures, gaps = read_logs(file)
    lines = file.read_text(errors="replace").splitlines()
    assert figures or gaps
    for figure in figures:
        assert figure.unit in {"B/s", "B", "s", "1/s", "1"}, figure
        assert figure.value >= 0 or (figure.status == "failed" and math.isnan(figure.value))
        assert figure.line is not None
        assert 1 <= figure.line <= len(lines)
    for gap in gaps:
        assert gap.why
