"""Many rsyncs at once: fpsync, msrsync, parsyncfp and runs side by side."""

import pytest

from dtnsim.tools._ssh import FAREWELL, LOGIN
from dtnsim.tools.rsync import PROTOCOL, parts_of


def test_lists_by_number_and_by_size(job):
    """tools/fpsync: 2000 files or 4 GiB."""
    assert parts_of(job(files=100_000, payload_B=1e9), 2000, 2**32) == 50
    assert parts_of(job(files=100_000, payload_B=2.0**42), 2000, 2**32) == 1024
    assert parts_of(job(files=1, payload_B=1e15), 2000, 2**32) == 1


def test_every_list_logs_in_again(tool, job):
    given = job(files=100_000, payload_B=1e9, largest_B=1e4)
    step = tool("fpsync", n=10).plan(given).steps[-1]
    runs = 50 / 10
    assert step.files.round_trips * 100_000 / 10 == pytest.approx(runs * (LOGIN + FAREWELL + PROTOCOL))


def test_each_list_starts_an_rsync(tool, job):
    """100 lists, 10 at once: ten starts of 50 ms for the 10,000 files of a process."""
    step = tool("msrsync", p="10").plan(job(files=100_000, payload_B=1e9, rtt_s=0.0)).steps[-1]
    assert step.files.fixed.value * 10_000 == pytest.approx(10 * 0.05)


def test_each_entry_logs_in(tool, job):
    """40 folders, 8 at once: five runs for the 1250 files of each."""
    given = job(files=10_000, payload_B=1e9, largest_B=1e5, directories=40)
    step = tool("rsync-parallel", jobs="8").plan(given).steps[-1]
    assert step.files.round_trips * 1250 == pytest.approx(5 * (LOGIN + FAREWELL + PROTOCOL))
    assert tool("rsync-parallel", jobs="8", entries="4").plan(given).workers == 4
