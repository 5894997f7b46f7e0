"""mdstat, bonding, MTU, zpool, lspci, ethtool, lsblk, smartctl, numactl, lstopo; jc as a second opinion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
KIB, MIB, GIB, TIB = 2.0**10, 2.0**20, 2.0**30, 2.0**40


def test_mdstat_blocks_are_kib(log):
    found = log("mdstat/venadi.txt")
    # two SSDs of 240 GB in a mirror: 238.8 GB if blocks are KiB, 119.4 GB if they were sectors
    assert found.value("capacity", array="md126") == 233248768 * KIB
    assert 200e9 < found.value("capacity", array="md126") < 240e9
    assert found.one("capacity", array="md127").conditions["level"] == "raid1"


def test_mdstat_states(log):
    text = (
        "Personalities : [raid6] [raid5]\nmd6 : active raid5 sdb2[2](F) sdc[1](S) sda2[0] sdd[3]\n"
        "      195310144 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/2] [U_U]\n"
        "      [=>...................]  recovery =  8.5% (16775552/195310144) finish=17.0min speed=100000K/sec\n\n"
        "md7 : active (auto-read-only) raid0 sde[0] sdf[1]\n      1048576 blocks 512k chunks\n      resync=PENDING\n\n"
        "unused devices: <none>\n"
    )
    found = log(text)
    array = found.one("capacity", array="md6").conditions
    assert (array["failed"], array["spares"], array["raid_devices"], array["working"]) == (1, 1, 3, 2)
    assert array["chunk_B"] == 64 * KIB
    assert found.one("throughput", operation="recovery").value == 100000 * KIB
    assert found.value("progress") == pytest.approx(0.085)
    assert found.one("capacity", array="md7").conditions["mode"] == "auto-read-only"


def test_bonding_and_mtu(log):
    found = log("bonding/venadi.txt")
    rates = found.all("link_rate")
    assert [r.value for r in rates] == [10e9 / 8] * 4
    assert {r.conditions["interface"] for r in rates} == {"eth4", "eth5", "eth6", "eth7"}
    assert rates[0].conditions["hash_policy"] == "layer3+4"
    assert rates[0].conditions["bond"] == "bond0"
    assert found.one("count", of="members").conditions["working"] == 4
    assert found.value("mtu", interface="bond0.205") == 9000
    assert log("ifconfig/ip_addr.txt").value("mtu", interface="lo") == 65536


def test_a_member_without_link_has_no_rate(log):
    text = (
        "Ethernet Channel Bonding Driver: v5.10\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\n"
        "Slave Interface: a\nMII Status: up\nSpeed: 25000 Mbps\n\nSlave Interface: b\nMII Status: down\n"
        "Speed: Unknown\n"
    )
    found = log(text)
    assert found.value("link_rate") == 25e9 / 8
    assert found.one("count").conditions["working"] == 1


ZPOOL = (
    "              capacity     operations     bandwidth \npool        alloc   free   read  write   read  write\n"
    "----------  -----  -----  -----  -----  -----  -----\ntank        1.50T  2.25T    100     20  10.5M   448K\n"
    "  raidz1    1.50T  2.25T    100     20  10.5M   448K\n    sda         -      -     50     10  5.25M   224K\n"
    "----------  -----  -----  -----  -----  -----  -----\ntank        1.50T  2.25T    300      0  31.5M      0\n"
)


def test_zpool_iostat_letters_are_1024(log):
    found = log(ZPOOL)
    first = [r for r in found.all("throughput", pool="tank", operation="read") if "device" not in r.conditions]
    assert [r.value for r in first] == [10.5 * MIB, 31.5 * MIB]
    assert found.value("throughput", device="sda", operation="write") == 224 * KIB
    assert {r.value for r in found.all("capacity", view="free")} == {2.25 * TIB}


def test_zpool_status(log):
    text = (
        "  pool: tank\n state: DEGRADED\n  scan: resilvered 1.20T in 0 days 05:10:20 with 0 errors on Mo"
        "n Jan  1 00:00:00 2020\n"
        "config:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        DEGRADED     0     0     0\n"
        "\t  raidz1-0  DEGRADED     0     0     0\n\t    sda     ONLINE       0     0     0\n"
        "\t    sdb     FAULTED      3 1.20K     0  too many errors\n\nerrors: No known data errors\n"
    )
    found = log(text)
    assert found.value("health", device="sdb") == 0
    assert found.one("health", device="sdb").conditions["write_errors"] == pytest.approx(1.2 * KIB)
    assert found.value("health", device="sda") == 1
    assert found.value("duration", operation="resilver") == 5 * 3600 + 10 * 60 + 20
    assert found.one("health", device=None, pool="tank").conditions["state"] == "DEGRADED"


LSPCI = """\
81:00.0 Ethernet controller: Mellanox Technologies MT27700 Family [ConnectX-4]
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		DevCap:	MaxPayload 512 bytes, PhantFunc 0, Latency L0s unlimited, L1 unlimited
		DevCtl:	CorrErr+ NonFatalErr+ FatalErr+ UnsupReq+
			MaxPayload 256 bytes, MaxReadReq 4096 bytes
		LnkCap:	Port #0, Speed {speed}GT/s, Width x16, ASPM not supported
		LnkSta:	Speed {speed}GT/s (ok), Width x8 (downgraded)
"""


@pytest.mark.parametrize(("speed", "gbit"), [("2.5", 16.0), ("5", 32.0), ("8", 63.0), ("16", 126.0), ("32", 252.1)])
def test_lspci_raw_rate_of_an_x8_link(log, speed, gbit):
    # raw rates of the PCIe generations x8 as in the reference's table, section 5 (gen1 16.0, gen2 32.0, gen3 63.0)
    found = log(LSPCI.format(speed=speed))
    status = found.one("link_rate", view="status")
    assert status.value * 8 / 1e9 == pytest.approx(gbit, rel=1e-3)
    assert status.conditions["lanes"] == 8
    assert status.conditions["width_is"] == "downgraded"
    assert status.conditions["slot"] == "81:00.0"
    assert found.value("link_rate", view="capability") == pytest.approx(2 * status.value)
    assert found.value("max_payload", view="status") == 256
    assert found.value("max_read_request") == 4096


def test_ethtool(log):
    text = (
        "# ethtool eth2\nSettings for eth2:\n\tSupported ports: [ FIBRE ]\n\tSpeed: 100000Mb/s\n\tDuplex: Full\n"
        "\tLink detected: yes\nSettings for eth3:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: no\n"
    )
    found = log(text)
    assert found.value("link_rate") == 100e9 / 8
    assert found.one("link_rate").conditions == {"interface": "eth2", "duplex": "full"}
    assert found.value("link_up", interface="eth3") == 0
    host = log("ethtool/host.txt")
    assert {r.value for r in host.all("link_up", interface="lo")} == {1}
    assert host.one("count", of="rx_drops").conditions["interface"] == "eth0"
    assert not host.all("link_rate")


def test_lsblk_text_json_and_bytes_agree(log):
    text, columns, exact = log("lsblk/default.txt"), log("lsblk/columns_b.txt"), log("lsblk/b.json")
    size = exact.value("capacity", device="vda")
    assert columns.value("capacity", device="vda") == size
    assert text.value("capacity", device="vda") == pytest.approx(size, rel=0.005)
    assert exact.one("capacity", device="vda").conditions["rotational"] is True


def test_lsblk_tree_and_decimal_comma(log):
    text = (
        "NAME        MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINT\nsda           8:0    0   3,7T  0 disk  \n"
        "├─sda1        8:1    0   512M  0 part  /boot\n└─md0         9:0    0   1,8T  0 raid1 /data\n"
    )
    found = log(text)
    assert found.value("capacity", device="sda") == 3.7 * TIB
    assert found.value("capacity", device="sda1") == 512 * MIB
    assert found.one("capacity", device="md0").conditions["type"] == "raid1"


@pytest.mark.parametrize("digits", ["7,681,501,126,656", "7 681 501 126 656", "7.681.501.126.656", "7681501126656",
                                    "7\u202f681\u202f501\u202f126\u202f656", "7'681'501'126'656"])  # fmt: skip
def test_smartctl_digit_groups(log, digits):
    text = (
        f"smartctl 7.3 2022-02-28 r5338\n=== START ===\nProduct:              X1\n"
        f"User Capacity:        {digits} bytes [7,68 TB]\n"
    )
    record = log(text).one("capacity")
    assert record.value == 7681501126656
    assert record.version == "7.3"
    assert record.conditions["model"] == "X1"


def test_smartctl_nvme_text(log):
    text = (
        "smartctl 7.2 2020-12-30 r5155\nModel Number:                       SAMSUNG 970\n"
        "Total NVM Capacity:                 1,000,204,886,016 [1.00 TB]\n\n"
        "SMART overall-health self-assessment test result: PASSED\n"
        "Data Units Read:                    2,000 [1.02 GB]\nPower On Hours:                     1,234\n"
    )
    found = log(text)
    assert found.value("capacity") == 1000204886016
    assert found.value("bytes", operation="read") == 2000 * 512000  # smartctl's own bracket: 1.02 GB
    assert found.value("health") == 1
    assert found.value("power_on") == 1234 * 3600


def test_smartctl_json(log):
    document = {
        "smartctl": {"version": [7, 3]}, "device": {"name": "/dev/sda", "protocol": "ATA"}, "model_name": "X",
        "user_capacity": {"blocks": 23437770752, "bytes": 12000138625024}, "rotation_rate": 7200,
        "interface_speed": {"current": {"units_per_second": 60, "bits_per_unit": 100000000}},
        "smart_status": {"passed": False},
    }  # fmt: skip
    found = log(json.dumps(document, indent=1) + "\n")
    assert found.value("capacity") == 12000138625024
    assert found.value("rotation_rate") == 120
    assert found.value("link_rate", view="status") == 6e9 / 8
    assert found.value("health") == 0


def test_numactl(log):
    text = (
        "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 3\nnode 0 size: 1024 MB\nnode 0 free: 512 MB\nnode 1 cpus:\n"
        "node 1 size: 65536 MB\nnode distances:\nnode   0   1 \n  0:  10  21 \n  1:  21  10 \n"
    )
    found = log(text)
    assert found.value("count", of="cpus", node=0) == 4
    assert found.value("count", of="cpus", node=1) == 0
    assert found.value("capacity", node=1) == 64 * GIB
    assert found.value("distance", node=0, to=1) == 21
    own = log("numactl/host.txt")
    assert own.value("count", of="numa_nodes") == len(own.all("capacity", view="total"))


def test_lstopo(log):
    found = log("lstopo/host.xml")
    assert found.value("count", of="hardware_threads") == 2
    assert found.value("capacity", of="memory") > 1e9
    text = (
        '<topology>\n <object type="PCIDev" pci_busid="0000:01:00.0" pci_link_speed="15.753846">\n'
        " </object>\n</topology>\n"
    )
    assert log(text).value("link_rate") == pytest.approx(126.03e9 / 8, rel=1e-3)  # gen3 x16, section 5: 126.0 Gb/s


@pytest.mark.parametrize(("name", "parser"), [("lsblk/default.txt", "lsblk"), ("lsblk/columns_b.txt", "lsblk")])
def test_jc_reads_the_same_devices(log, name, parser):
    jc = pytest.importorskip("jc")
    devices = jc.parse(parser, (DATA / name).read_text(), quiet=True)
    mine = {r.conditions["device"]: r.printed for r in log(name).all("capacity")}
    assert mine == {d["name"]: str(d["size"]) for d in devices if d.get("size") is not None}


def test_jc_reads_the_same_speed(log):
    jc = pytest.importorskip("jc")
    text = "Settings for enp0s3:\n\tSupported ports: [ TP ]\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"
    assert jc.parse("ethtool", text, quiet=True)["speed_bps"] == log(text).value("link_rate") * 8


def test_jc_reads_the_same_pool(log):
    jc = pytest.importorskip("jc")
    first = ZPOOL[: ZPOOL.rindex("tank")]
    rows = jc.parse("zpool_iostat", first, quiet=True)
    mine = [r for r in log(first).all("throughput", operation="write") if "device" not in r.conditions]
    assert (rows[0]["bw_write"], rows[0]["bw_write_unit"]) == (448, "K")
    assert mine[0].value == 448 * KIB


def test_lsblk_pairs_and_raw(log):
    pairs = 'NAME="sda" MAJ:MIN="8:0" RM="0" SIZE="1.8T" RO="0" TYPE="disk"\n'
    assert log(pairs).value("capacity", device="sda") == 1.8 * TIB
    raw = "NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINTS\nnvme0n1 259:0 0 1.8T 0 disk\nnvme0n1p1 259:1 0 512M 0 part /boot\n"
    assert log(raw).value("capacity", device="nvme0n1p1") == 512 * MIB


def test_smartctl_of_windows_and_sas_counters(log):
    text = (
        "smartctl pre-7.4 2023-03-21 r5470 [x86_64-w64-mingw32-w10-22H2] (CircleCI)\n"
        "Total NVM Capacity:                 1,000,204,886,016 [1.00 TB]\n"
        "Namespace 1 Size/Capacity:          1,000,204,886,016 [1.00 TB]\n"
        "Namespace 1 Utilization:            471,137,140,736 [471 GB]\n"
    )
    found = log(text)
    assert found.one("capacity", view="total").version == "7.4"
    assert found.value("capacity", view="used") == 471137140736
    sas = "smartctl 7.1 2019\nread:          0        8         0         8      60614      16772.475           0\n"
    assert log(sas).value("bytes", operation="read") == pytest.approx(16772.475e9)
