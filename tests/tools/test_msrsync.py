"""msrsync: lists of 1000 files or 1 GiB, an rsync each, within a host."""

import pytest

from dtnsim.ground.errors import SpecError


def test_processes_over_lists(tool, job):
    assert tool("msrsync", p="8").plan(job(files=100_000, payload_B=1e9, rtt_s=0.0)).workers == 8
    assert tool("msrsync", p="8").plan(job(files=3000, payload_B=1e6, rtt_s=0.0)).workers == 3
    with pytest.raises(SpecError, match="msrsync copies within one host"):
        tool("msrsync").plan(job())


def test_each_list_starts_an_rsync(tool, job):
    """100 lists, 10 at once: ten starts of 50 ms for the 10,000 files of a process."""
    step = tool("msrsync", p="10").plan(job(files=100_000, payload_B=1e9, rtt_s=0.0)).steps[-1]
    assert step.files.fixed.value * 10_000 == pytest.approx(10 * 0.05)
