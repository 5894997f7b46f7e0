"""Published runs of BBR v2 and v3 beside one loss-based flow: calibration/tcp-truth/bbr-pairs.csv and its NOTES."""

from pathlib import Path

import numpy as np
import pytest

from dtnsim.cli import _table, _tcp_table

TABLE = Path(__file__).parents[3] / "calibration" / "tcp-truth" / "bbr-pairs.csv"


def errors(**wanted: str) -> np.ndarray:
    """Share of the link that BBR's flows have, modelled less measured, of the rows with these values."""
    rows = _table.read(str(TABLE), _tcp_table.NEEDED, "")[1]
    some = [row for row in rows if all(row[key] == value for key, value in wanted.items())]

    def share(row: dict[str, str], name: str) -> float:
        own, other = (float(row[key.format(name)]) for key in ("{}goodput_bps", "{}flow2_goodput_bps"))
        return own / (own + other)

    answered = _tcp_table.answer(some, str(TABLE), seed=1)
    return np.array([share(row, "predicted_") - share(row, "") for row in answered])


@pytest.mark.parametrize(("cc", "most"), [("bbr2", 0.12), ("bbr3", 0.06)])
def test_beside_cubic_over_one_bandwidth_delay_product(cc: str, most: float) -> None:
    """v2 has a quarter of 10 Mb/s over 40 ms, v3 half of it: measured twice on one testbed."""
    found = errors(cc=cc, streams="1", flow2_cc="cubic", rate_bps="9907530", buffer_bdp="1")
    assert len(found) == 1
    assert abs(found[0]) < most


@pytest.mark.long
@pytest.mark.parametrize(("half", "count", "mean", "bias"), [("kept", 47, 0.08, 0.07), ("worked", 42, 0.15, 0.14)])
def test_all_buffers(half: str, count: int, mean: float, bias: float) -> None:
    found = errors(half=half)
    assert len(found) == count
    assert np.abs(found).mean() < mean
    assert abs(found.mean()) < bias
