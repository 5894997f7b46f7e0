"""``zpool iostat -vl``.

Rows printed in a forum (raidz1 of old drives), a guide to ZFS (one drive), an issue of Incus (NVMe) and notes on
OpenZFS 2 (a pool of SSDs); the last columns (trim, rebuild: all ``-``) are left out.
"""

from __future__ import annotations

import pytest

TOP = """\
              capacity     operations     bandwidth    total_wait     disk_wait    syncq_wait    asyncq_wait  scrub
pool        alloc   free   read  write   read  write   read  write   read  write   read  write   read  write   wait
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
"""
RAIDZ = (
    TOP
    + """\
teststore   1.34T   947G      0    239  2.84K  39.9M   30ms    7ms   30ms    3ms    1us    1us    4us    3ms   52ms
  raidz1-0  1.34T   947G      0    239  2.84K  39.9M   30ms    7ms   30ms    3ms    1us    1us    4us    3ms   52ms
"""
)
DRIVE = (
    TOP
    + """\
storage-temp  1.27T  7.83T      0    161      0   148M      -   95ms      -   12ms      -    1us      -   82ms      -
"""
)
NVME = (
    TOP
    + """\
default     1.18T  2.45T     41     16  4.61M   155K  200us   98us  193us   36us    1us    1us  138us   64us  516us
"""
)
SSDS = (
    TOP
    + """\
data        69.9G  6.92T      2     89  11.4K  2.05M  585us    1ms  559us  358us   21us   14us  155us    1ms  194us
"""
)


@pytest.mark.parametrize(
    ("text", "pool", "want"),
    [
        (RAIDZ, "teststore", {"total_wait read": 30e-3, "total_wait write": 7e-3, "disk_wait write": 3e-3}),
        (DRIVE, "storage-temp", {"total_wait write": 95e-3, "disk_wait write": 12e-3, "asyncq_wait write": 82e-3}),
        (NVME, "default", {"total_wait read": 200e-6, "disk_wait read": 193e-6, "asyncq_wait read": 138e-6}),
        (SSDS, "data", {"total_wait write": 1e-3, "disk_wait write": 358e-6, "syncq_wait read": 21e-6}),
    ],
)  # fmt: skip
def test_waits(log, text, pool, want):
    found = log(text)
    rows = [r for r in found.all("latency", pool=pool) if "device" not in r.conditions]
    got = {f"{r.conditions['of']} {r.conditions['operation']}": r.value for r in rows}
    assert {key: got[key] for key in want} == {key: pytest.approx(value) for key, value in want.items()}
    assert len(got) == (4 if text is DRIVE else 8)
    assert not found.unread


def test_the_rest_of_the_row_is_as_before(log):
    found = log(RAIDZ)
    assert found.value("throughput", operation="write", device="raidz1-0") == pytest.approx(39.9 * 2**20)
    assert len(log(RAIDZ.replace("total_wait", "x").replace("_wait", "x")).all("latency")) == 0


def test_reports_of_an_interval_count_on_under_one_heading(log):
    """``zpool iostat 1`` prints its heading once; only the first row covers the time since the import."""
    row = "data         100T   200T  1.20K     10  1.20G  1.20M\n"
    two = row + row.replace("data", "home")
    top = "\n".join(line[:58] for line in TOP.splitlines()) + "\n"
    for text, want in ((row * 3, [1, 2, 3]), (two * 2, [1, 1, 2, 2])):
        found = log(top + text)
        assert [r.conditions["report"] for r in found.all("iops", operation="read")] == want
