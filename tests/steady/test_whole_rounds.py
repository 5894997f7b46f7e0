"""Few files and many workers: predict counts whole rounds of files as simulate runs them."""

from __future__ import annotations

import pytest

from dtnsim.simulation import simulate
from dtnsim.steady.prediction import predict

PATH = "examples/dtn-100g-xfs"


def both(tool: str, dataset: str, samples: int = 0) -> tuple[float, float, float, float]:
    """Seconds of predict (p50, p10, p90) and of simulate."""
    changes = [f"transfer.tool={tool}", f"transfer.dataset={dataset}", "wan.loss=1e-6"]
    predicted = predict(PATH, overrides=changes, samples=samples).transfers[0].duration_s
    simulated = simulate(PATH, overrides=changes).runs[0].transfers[0].duration_s
    return predicted.p50, predicted.p10, predicted.p90, simulated


@pytest.mark.parametrize("files", [3, 5, 9])
@pytest.mark.parametrize(
    "tool", ["{name: gridftp, cc: 4, p: 1}", "{name: rclone, transfers: 4}", "{name: wdt, num_ports: 4}"]
)
def test_predict_takes_as_long_as_simulate(tool: str, files: int) -> None:
    predicted, _, _, simulated = both(tool, f"{{files: {files}, each: 20 GB}}")
    assert predicted == pytest.approx(simulated, rel=0.02)


def test_five_files_on_four_workers_take_two_rounds() -> None:
    """Not 1.25: each of the workers is held by its own connection, so that a file takes as long alone."""
    four, five = (both("{name: rclone, transfers: 4}", f"{{files: {n}, each: 20 GB}}")[0] for n in (4, 5))
    assert five == pytest.approx(2 * four, rel=0.03)


def test_unlike_files_in_turn() -> None:
    """Seven small ones fill the places that a large one leaves: Graham's order, by the largest file last."""
    dataset = "{sizes: [4 GB, 4 GB, 4 GB, 4 GB, 4 GB, 4 GB, 4 GB, 40 GB]}"
    predicted, low, high, simulated = both("{name: rclone, transfers: 4}", dataset, samples=64)
    assert low <= simulated <= high
    assert predicted == pytest.approx(simulated, rel=0.05)
