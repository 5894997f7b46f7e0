"""mdstat, bonding, MTU, zpool, lspci, ethtool, lsblk, smartctl, numactl, lstopo; jc as a second opinion."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
KIB, MIB, GIB, TIB = 2.0**10, 2.0**20, 2.0**30, 2.0**40


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


ZPOOL = (
    "              capacity     operations     bandwidth \npool        alloc   free   read  write   read  write\n"
    "----------  -----  -----  -----  -----  -----  -----\ntank        1.50T  2.25T    100     20  10.5M   448K\n"
    "  raidz1    1.50T  2.25T    100     20  10.5M   448K\n    sda         -      -     50     10  5.25M   224K\n"
    "----------  -----  -----  -----  -----  -----  -----\ntank        1.50T  2.25T    300      0  31.5M      0\n"
)


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
