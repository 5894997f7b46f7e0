"""lfs df, lfs getstripe, LNet selftest.

``lfs df``: a Vagrant cluster, SDSC's Expanse, EXAScaler on Azure (1K-blocks), six targets on EC2; ``getstripe``:
notes of a checkpoint, a driver's test (GekkoFS), the Lustre manual (two mirrors), a composite file with data on the
MDT. LNet selftest: the Lustre manual's example, the only one found; ``MiB/s`` and ``--mbs`` are made from it.
"""

from __future__ import annotations

import pytest

MIB, GIB, TIB, PIB = 2.0**20, 2.0**30, 2.0**40, 2.0**50
VAGRANT = """\
    # lfs df -h
    UUID                       bytes        Used   Available Use% Mounted on
    users-MDT0000_UUID        815.8M        3.1M      810.6M   1% /users[MDT:0]
    users-OST0000_UUID          2.6G      660.0M        2.0G  25% /users[OST:0]
    users-OST0001_UUID          2.6G        3.0M        2.6G   1% /users[OST:1]

    filesystem_summary:         5.2G      663.0M        4.6G  13% /users
"""
EXPANSE = """\
UUID                       bytes        Used   Available Use% Mounted on
expanse-MDT0003_UUID       29.7T        1.6T       28.1T   6% /expanse/lustre/scratch[MDT:3]
expanse-OST0000_UUID      143.5T       32.3T      111.2T  23% /expanse/lustre/scratch[OST:0]
...
expanse-OST0047_UUID      144.2T       33.1T      111.1T  23% /expanse/lustre/scratch[OST:71]

filesystem_summary:         9.8P        2.3P        7.5P  24% /expanse/lustre/scratch
"""
AZURE = """\
UUID                   1K-blocks        Used   Available Use% Mounted on
exacloud-OST0016_UUID   529449792        1272   524063428   1% /mnt/exacloud[OST:22]
exacloud-OST0017_UUID   529449792        1264   524063436   1% /mnt/exacloud[OST:23]

filesystem_summary:  12706795008       30348 12577522452   1% /mnt/exacloud
"""


@pytest.mark.parametrize(
    ("text", "total", "used", "free", "mount", "rows"),
    [
        (VAGRANT, 5.2 * GIB, 663 * MIB, 4.6 * GIB, "/users", 4),
        (EXPANSE, 9.8 * PIB, 2.3 * PIB, 7.5 * PIB, "/expanse/lustre/scratch", 4),
        (AZURE, 12706795008 * 1024, 30348 * 1024, 12577522452 * 1024, "/mnt/exacloud", 3),
    ],
)
def test_lfs_df(log, text, total, used, free, mount, rows):
    found = log(text)
    for view, size in (("total", total), ("used", used), ("free", free)):
        assert found.value("capacity", view=view, device=None) == pytest.approx(size)
    assert found.one("capacity", view="total", device=None).conditions["target"] == mount
    assert len(found.found) == 3 * rows
    assert not found.unread


def test_targets_and_inodes_of_lfs_df(log):
    assert log(EXPANSE).value("capacity", view="used", device="expanse-OST0047") == pytest.approx(33.1 * TIB)
    assert not log(AZURE.replace("1K-blocks", "Inodes   ")).found


CHECKPOINT = """\
./sod_hdf5_chk_0000
lmm_stripe_count:   4
lmm_stripe_size:    1048576
lmm_pattern:        1
lmm_layout_gen:     0
lmm_stripe_offset:  5
\tobdidx\t\t objid\t\t objid\t\t group
\t     5\t     157834736\t    0x9685df0\t   0xac0000400
"""
GEKKOFS = """\
/mnt/lustret4/test/tacke/stripe4/file1
lmm_stripe_count:   4
lmm_stripe_size:    1048576
lmm_pattern:        1
lmm_stripe_offset:  3
"""
MANUAL = """\
client# lfs getstripe /mnt/testfs/file1
/mnt/testfs/file1
  lcm_layout_gen:    2
  lcm_mirror_count:  2
  lcm_entry_count:   2
    lcme_id:             65537
    lcme_mirror_id:      1
    lcme_flags:          init
    lcme_extent.e_start: 0
    lcme_extent.e_end:   EOF
      lmm_stripe_count:  2
      lmm_stripe_size:   4194304
      lmm_pattern:       raid0
      lmm_stripe_offset: 1
      lmm_pool:          flash
"""
DOM = """\
    lcme_id:             1
    lcme_extent.e_start: 0
    lcme_extent.e_end:   1048576
      lmm_stripe_count:  0
      lmm_stripe_size:   1048576
      lmm_pattern:       mdt

    lcme_id:             2
    lcme_extent.e_start: 1048576
    lcme_extent.e_end:   EOF
      lmm_stripe_count:  -1
      lmm_stripe_size:   4194304
"""


@pytest.mark.parametrize(
    ("text", "count", "size", "file"),
    [
        (CHECKPOINT, 4, 1048576, "./sod_hdf5_chk_0000"),
        (GEKKOFS, 4, 1048576, "/mnt/lustret4/test/tacke/stripe4/file1"),
        (MANUAL, 2, 4194304, None),
    ],
)
def test_getstripe(log, text, count, size, file):
    found = log(text)
    assert found.value("count", of="stripes") == count
    assert found.value("bytes", of="stripe size") == size
    assert found.one("count").conditions.get("target") == file


def test_components_of_a_layout(log):
    found = log(DOM)
    assert [r.value for r in found.all("bytes")] == [1048576, 4194304]
    assert found.value("bytes", component=2, extent_B=1048576) == 4194304
    assert not found.all("count")  # none, and all that there are
    assert log(MANUAL).one("count").conditions["component"] == 65537


LST = """\
$ lst run bulkperf
$ lst stat clients
[LNet Rates of clients]
[W] Avg: 1108 RPC/s Min: 1060 RPC/s Max: 1155 RPC/s
[R] Avg: 2215 RPC/s Min: 2121 RPC/s Max: 2310 RPC/s
[LNet Bandwidth of clients]
[W] Avg: 16.60 MB/s Min: 16.10 MB/s Max: 17.1 MB/s
[R] Avg: 40.49 MB/s Min: 40.30 MB/s Max: 40.68 MB/s

"""


@pytest.mark.parametrize(
    ("text", "unit"),
    [(LST, MIB), (LST.replace("MB/s", "MiB/s"), MIB), (LST.replace("lst stat", "lst stat --mbs"), 1e6)],
)
def test_lnet_selftest(log, text, unit):
    found = log(text)
    assert found.value("throughput", direction="receive", statistic=None) == pytest.approx(40.49 * unit)
    assert found.value("throughput", direction="send", statistic="max") == pytest.approx(17.1 * unit)
    assert found.value("rate", direction="send", statistic="min") == 1060
    assert found.one("rate", direction="receive", statistic=None).conditions["of"] == "clients"
    assert len(found.found) == 12
    assert not found.unread


def test_reports_of_lnet_selftest(log):
    again = LST + LST.partition("clients\n")[2]
    assert [r.conditions["report"] for r in log(again).all("rate", direction="send", statistic=None)] == [1, 2]
