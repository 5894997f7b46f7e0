import pytest

from dtnsim.ground.errors import SpecError


def test_defaults_of_the_manual(tool, job):
    """doc-fdt-ddcopy.md: -P 4, -bs 512K."""
    plan = tool("fdt").plan(job())
    assert (plan.steps[0].net.streams, plan.steps[0].read.block_B, plan.weight) == (4, 524288, 4)


def test_files_follow_each_other_without_waiting(run):
    data = "{files: 1000, each: 1 kB}"
    near, far = (run("{name: fdt}", rtt=t, data=data).duration_s.p50 for t in ("1 ms", "100 ms"))
    assert far - near < 3.0  # slow start of the connections only, no round trips for each of 1000 files


def test_window_limit_and_blocking_mode(tool, job):
    net = tool("fdt", ss="8 MiB", limit="100 MB/s", P="32", bio="true").plan(job()).steps[0].net
    assert (net.window.value, net.rate.value, net.sender.copies) == (8 * 2**20, 1e8, 32)
    assert tool("fdt", P="32").plan(job(cores=6)).steps[0].net.sender.copies == 6


def test_rejects(tool):
    with pytest.raises(SpecError, match=r"^P: "):
        tool("fdt", P="-4")
