"""Messages that wait, counted on real tools over an emulated round trip: measure and emulator of calibration/tools.

Needs root, /dev/net/tun and network namespaces; elsewhere the points are skipped. What is compared is the difference
between two round-trip times, best of a few runs, so that the speed of the machine does not matter.
"""

import os
from typing import Any

import pytest

from dtnsim.evidence import tool_runs
from tests.scripts import LAB, script

pytestmark = pytest.mark.long

NEAR_S, FAR_S = 0.005, 0.03
FILES = 12


@pytest.fixture(scope="module")
def lab() -> Any:
    module = script(LAB / "measure.py")
    reason = module.emulator.why_not()
    if reason:
        pytest.skip(reason)
    return module


def waits(rows: list[dict[str, str]]) -> float:
    """Messages that wait, from the best run at either round-trip time."""
    best = {r: min(float(row["wall_s"]) for row in rows if float(row["rtt_s"]) == r) for r in (NEAR_S, FAR_S)}
    return (best[FAR_S] - best[NEAR_S]) / (FAR_S - NEAR_S)


@pytest.mark.parametrize("tool", ["curl", "sftp"])
def test_messages_that_wait_are_as_many_as_predicted(lab, tool):
    if not lab.available(tool):
        pytest.skip(f"{tool} or its server is not installed")
    files = FILES if tool == "curl" else 2
    rows = lab.measure([tool], [NEAR_S, FAR_S], files=files, size_B=10_000, repeats=2 if tool == "curl" else 1)
    near, far = ({**rows[0], "rtt_s": str(rtt)} for rtt in (NEAR_S, FAR_S))
    predicted = tool_runs.answer(tool_runs.run_of(far), 0).p50_s - tool_runs.answer(tool_runs.run_of(near), 0).p50_s
    counted = waits(rows)
    if counted > 1.3 * predicted / (FAR_S - NEAR_S) and os.getloadavg()[0] > (os.cpu_count() or 1):
        pytest.skip("the machine is too busy for its times to mean anything")
    assert counted == pytest.approx(predicted / (FAR_S - NEAR_S), rel=0.3, abs=2)


def test_a_rate_and_a_delay_are_what_they_say(lab):
    """One file of 250 kB at 20 Mb/s takes 0.1 s and its round trips, not less."""
    rows = lab.measure(["curl"], [0.02], files=1, size_B=250_000, rate_bps=20e6)
    assert float(rows[0]["wall_s"]) > 0.1 + 2 * 0.02
