"""Where workers wait: rounds of files that are not full."""

from __future__ import annotations

import pytest

from tests.lab import answer, journey, machine, rate, volume


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


def test_what_a_worker_waits_for_passes_while_the_medium_works() -> None:
    """Files of 10 MB with a pause each onto a slow drive: the drive has all of the time, not what the pauses leave."""

    def to(write: str) -> float:
        fast = {"kind": "ssd", "read": "9 GB/s", "write": "9 GB/s", "link": "16 GB/s"}
        ends = (machine(volumes={"/d": volume({**fast, "write": w})}) for w in ("9 GB/s", write))
        wan = {"bandwidth": "10 Gb/s", "rtt": "20 ms"}
        path = journey(*ends, start="a:/d", to="b:/d", tool="scp", dataset={"files": 2000, "size": "20 GB"}, wan=wan)
        return rate(path)

    assert to("100 MB/s") == pytest.approx(100e6, rel=0.02)
    assert to("9 GB/s") < 10e6 / 40e-3  # two round trips for each file
    assert to("200 MB/s") == pytest.approx(min(200e6, to("9 GB/s")), rel=0.02)
