"""dcp and dsync of mpiFileUtils.

Issues 658 (dcp 0.12) and 425 (dsync 0.10), DAOS' guide in its editions of 2021 and 2026, and
Near Node Flash's data mover (a comment in its source).
"""

from __future__ import annotations

import pytest

MIB = 2.0**20
ISSUE_658 = """\
[2025-10-29T16:51:08] Data: 65.783 GiB (70634049927 bytes)
[2025-10-29T16:51:08] Rate: 8.415 MiB/s (70634049927 bytes in 8004.996 seconds)
[2025-10-29T16:51:08] Started: Oct-29-2025,14:37:43
[2025-10-29T16:51:08] Completed: Oct-29-2025,16:51:08
[2025-10-29T16:51:08] Seconds: 8005.003
[2025-10-29T16:51:08] Items: 226505
[2025-10-29T16:51:08]   Directories: 19478
[2025-10-29T16:51:08]   Files: 200806
[2025-10-29T16:51:08]   Links: 6221
[2025-10-29T16:51:08] Data: 65.783 GiB (70634049927 bytes)
[2025-10-29T16:51:08] Rate: 8.415 MiB/s (70634049927 bytes in 8005.003 seconds)
"""
ISSUE_425 = """\
[2020-11-13T13:29:39] Started: Nov-13-2020,13:28:07
[2020-11-13T13:29:39] Completed: Nov-13-2020,13:29:39
[2020-11-13T13:29:39] Seconds: 92.411
[2020-11-13T13:29:39] Items: 30039
[2020-11-13T13:29:39]   Directories: 13
[2020-11-13T13:29:39]   Files: 30026
[2020-11-13T13:29:39]   Links: 0
[2020-11-13T13:29:39] Data: 1.206 TB (1325900635063 bytes)
[2020-11-13T13:29:39] Rate: 312.349 MB/s (30266497975 bytes in 92.411 seconds)
"""
DAOS_2021 = """\
$ mpirun -hostfile /path/to/hostfile -np 16 dcp --bufsize 64MB --chunksize 128MB daos://$POOL/$CONT2/ /tmp/copy

[2021-04-30T01:26:14] Walked 34246 items in 2.650 seconds (12923.056 items/sec)
[2021-04-30T01:26:14] Items: 34246
[2021-04-30T01:26:14]   Directories: 905
[2021-04-30T01:26:14]   Files: 33341
[2021-04-30T01:26:14]   Links: 0
[2021-04-30T01:26:14] Data: 150.127 GiB (4.611 MiB per file)
[2021-04-30T01:26:19] Copying data.
[2021-04-30T01:26:29] Copied 3.819 GiB (3%) in 10.213 secs (382.922 MiB/s) 391 secs left ...
[2021-04-30T01:32:02] Copied 150.127 GiB (100%) in 343.861 secs (447.070 MiB/s) done
[2021-04-30T01:32:02] Copy data: 150.127 GiB (161197834240 bytes)
[2021-04-30T01:32:02] Copy rate: 447.069 MiB/s (161197834240 bytes in 343.862 seconds)
[2021-04-30T01:32:17] Updated 34246 items in 14.956 seconds (2289.772 items/sec)
[2021-04-30T01:32:17] Started: Apr-30-2021,01:26:14
[2021-04-30T01:32:17] Completed: Apr-30-2021,01:32:17
[2021-04-30T01:32:17] Seconds: 363.327
[2021-04-30T01:32:17] Items: 34246
[2021-04-30T01:32:17]   Directories: 905
[2021-04-30T01:32:17]   Files: 33341
[2021-04-30T01:32:17]   Links: 0
[2021-04-30T01:32:17] Data: 150.127 GiB (161197834240 bytes)
[2021-04-30T01:32:17] Rate: 423.118 MiB/s (161197834240 bytes in 363.327 seconds)
"""
DAOS_2026 = """\
[2026-03-20T18:01:27] Copied 363.957 MiB (1%) in 15.000 secs (24.264 MiB/s) 1684 secs left ...
[2026-03-20T18:19:46] Copied 810.250 MiB (2%) in 1114.103 secs (744.721 KiB/s) 55564 secs left ...
[2026-03-20T18:19:46] Copied 40.254 GiB (100%) in 1114.103 secs (36.999 MiB/s) done
[2026-03-20T18:19:46] Copy rate: 36.999 MiB/s (43222794240 bytes in 1114.103 seconds)
[2026-03-20T18:19:53] Seconds: 1129.781
[2026-03-20T18:19:53] Items: 67790
[2026-03-20T18:19:53]   Directories: 1108
[2026-03-20T18:19:53]   Files: 66682
[2026-03-20T18:19:53]   Links: 0
[2026-03-20T18:19:53] Data: 40.254 GiB (43222794240 bytes)
[2026-03-20T18:19:53] Rate: 36.485 MiB/s (43222794240 bytes in 1129.781 seconds)
"""
NEAR = """\
Copied 18.626 GiB (100%) in 171.434 secs (111.259 MiB/s) done
Copy data: 18.626 GiB (20000000000 bytes)
Copy rate: 111.258 MiB/s (20000000000 bytes in 171.434 seconds)
Updated 2 items in 0.003 seconds (742.669 items/sec)
Seconds: 171.458
Items: 2
  Directories: 1
  Files: 1
  Links: 0
Data: 18.626 GiB (20000000000 bytes)
Rate: 111.243 MiB/s (20000000000 bytes in 171.458 seconds)
"""


@pytest.mark.parametrize(
    ("text", "size", "seconds", "rate", "files"),
    [
        (DAOS_2021, 161197834240, 363.327, 423.118, 33341),
        (DAOS_2026, 43222794240, 1129.781, 36.485, 66682),
        (NEAR, 20000000000, 171.458, 111.243, 1),
        (ISSUE_658, 70634049927, 8005.003, 8.415, 200806),
        (ISSUE_425, 30266497975, 92.411, 312.349, 30026),  # MB/s of 0.10 is 2^20 B/s, too
    ],
)
def test_the_whole_run_is_the_headline_of_dcp(log, text, size, seconds, rate, files):
    found = log(text)
    whole = found.one("throughput", of=None, interval=None)
    assert whole.value == size / seconds == pytest.approx(rate * MIB, rel=1e-4)
    assert (whole.conditions["files"], whole.conditions["bytes"]) == (files, size)
    assert found.value("duration") == seconds
    assert not found.unread


def test_copying_alone_progress_and_ranks_of_dcp(log):
    assert log(ISSUE_658).value("throughput", of="data") == 70634049927 / 8004.996
    begun, done = log(DAOS_2021).all("throughput", interval=True)
    assert (begun.value, done.value) == (382.922 * MIB, 447.070 * MIB)
    assert begun.conditions["bytes"] == 3.819 * 2**30 == pytest.approx(begun.value * 10.213, rel=1e-3)
    assert log(DAOS_2021).one("throughput", of=None, interval=None).conditions["tasks"] == 16
    assert log(DAOS_2026).all("throughput", interval=True)[1].value == 744.721 * 1024
    run = "$ srun -n 40 dcp --progress 60 /a /b\n"
    run += "[2021-01-21T16:02:51] Copied 9.412 GiB (26%) in 60.010 secs (160.602 MiB/s) 170 secs left ...\n"
    found = log(run + ISSUE_425)
    progress = found.one("throughput", interval=True)
    assert progress.value == 160.602 * MIB == pytest.approx(progress.conditions["bytes"] / 60.01, rel=1e-4)
    assert found.one("throughput", interval=None).conditions["tasks"] == 40
    wrong = log(ISSUE_425.replace("312.349", "412.349"))
    assert "give 3.275e+08" in wrong.unread[0].why
