"""fpsync and parsyncfp: lists of files, an rsync each."""

import pytest

from dtnsim.tools._rsyncs import parts_of
from dtnsim.tools._ssh import FAREWELL, LOGIN
from dtnsim.tools.rsync import PROTOCOL


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


def test_several_windows_are_wider_than_one(run):
    """An ssh channel of 2 MiB over 53 ms for each job."""
    data = "{files: 80000, each: 1 MB}"
    rates = [run(f"{{name: fpsync, n: {n}}}", data=data).throughput_Bps.p50 for n in (1, 8)]
    assert 6 < rates[1] / rates[0] < 8.1
