"""Where workers wait: rounds of files that are not full."""

from __future__ import annotations

import pytest

from tests.lab import answer, journey, machine


def test_a_round_that_is_not_full_is_counted_once():
    """Fifty files on four workers take as many rounds as fifty-two: thirteen."""
    host = machine()
    seconds = {
        files: answer(
            journey(
                host,
                host,
                tool={"name": "rclone", "backend": "sftp", "transfers": 4},
                dataset={"files": files, "each": "10 kB"},
                wan={"bandwidth": "1 Gb/s", "rtt": "50 ms"},
            )
        ).duration_s
        for files in (48, 50, 52)
    }
    assert seconds[48].p50 < seconds[50].p50
    assert seconds[50].p50 == pytest.approx(seconds[52].p50, rel=0.005)  # connections are shared out as before
