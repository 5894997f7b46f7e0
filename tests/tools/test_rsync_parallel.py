"""rsync behind xargs: a run an entry."""

import pytest

from dtnsim.tools._ssh import FAREWELL, LOGIN
from dtnsim.tools.rsync import PROTOCOL


def test_each_entry_logs_in(tool, job):
    """40 folders, 8 at once: five runs for the 1250 files of each."""
    given = job(files=10_000, payload_B=1e9, largest_B=1e5, directories=40)
    step = tool("rsync-parallel", jobs="8").plan(given).steps[-1]
    assert step.files.round_trips * 1250 == pytest.approx(5 * (LOGIN + FAREWELL + PROTOCOL))
    assert tool("rsync-parallel", jobs="8", entries="4").plan(given).workers == 4


def test_several_windows_are_wider_than_one(run):
    """An ssh channel of 2 MiB over 53 ms for each of them."""
    data = "{files: 8000, each: 10 MB, directories: 80}"
    one, eight = (run(f"{{name: rsync-parallel, jobs: {n}}}", data=data).throughput_Bps.p50 for n in (1, 8))
    assert 6 < eight / one < 8.1
