"""Headline figures of the disk, file system and inventory samples, from the index's own words.

Values are written as the tool printed them times the unit that FORMATS.md found for it; tolerances
are half the last printed digit where the parser computes from bytes and seconds.
"""

from __future__ import annotations

from typing import Any

Ki, Mi, Gi, Ti = 2.0**10, 2.0**20, 2.0**30, 2.0**40

EXPECTED: dict[str, list[dict[str, Any]]] = {}
ABSENT: dict[str, list[str]] = {}


def _rate(value: float, operation: str | None = None, rel: float = 1e-3, **more: Any) -> dict[str, Any]:
    where = dict(more.pop("where", {}))
    if operation is not None:
        where["operation"] = operation
    return {"quantity": "throughput", "value": value, "unit": "B/s", "rel": rel, "where": where, **more}


def _q(quantity: str, value: float, unit: str, rel: float = 1e-3, **where: Any) -> dict[str, Any]:
    return {"quantity": quantity, "value": value, "unit": unit, "rel": rel, "where": where}


# ---- dd: decimal; the printed rate has two or three digits
EXPECTED["dd/venadi_gnu_old.txt"] = [
    _rate(3.1e9, "write", 0.02, where={"sync": "none", "target": "/home/dong/10GB", "block_B": Mi}),
    _q("duration", 3.46705, "s", target="/home/dong/10GB", sync="none"),
    _rate(4.8e9, "write", 0.02, where={"sync": "none", "target": "/bigdata/dong/10GB"}),
    _rate(116e6, "write", 0.005, where={"sync": "fdatasync", "target": "/home/dong/10GB"}),
    _rate(4.2e9, "write", 0.02, where={"sync": "fdatasync", "target": "/bigdata/dong/10GB"}),
    _rate(69.3e6, "write", 0.005, where={"sync": "dsync"}),
    _rate(142e6, "write", 0.005, where={"sync": "dsync"}),
    _rate(14.6e6, "write", 0.005, where={"source": "/dev/urandom", "host": "cori12"}),
    _q("duration", 7342.39, "s", source="/dev/urandom"),
]
EXPECTED["dd/uci_nfs.txt"] = [
    _rate(16.8e9, rel=0.005, where={"target": "/dev/null", "host": "stunted"}),
    _rate(121e6, "write", 0.005, where={"host": "compute-1-13"}),
    _rate(79.8e6, "write", 0.005, where={"host": "compute-3-5"}),
]
EXPECTED["dd/gsfc_slide.txt"] = [
    _rate(2.7e9, "read", 0.02),
    _q("duration", 25.8791, "s", operation="read"),
    _rate(2.6e9, "write", 0.02),
    _q("duration", 26.8676, "s", operation="write"),
]
EXPECTED["dd/vps_scaleway_gnu_new.txt"] = [
    _rate(128e6, rel=0.004, n=1), _rate(171.6e6, rel=0.004), _rate(170.5e6, rel=0.004),
    _rate(174.9e6, rel=0.002, n=1), _rate(172.2e6, rel=0.002),
]  # fmt: skip
EXPECTED["dd/vps_ovh_gnu_new.txt"] = [_rate(v * 1e6, rel=0.001, n=1) for v in (451, 569.3, 571, 580.4, 578.6)]
EXPECTED["dd/macos_bsd.txt"] = [_rate(15623188.0, rel=1e-6)]
EXPECTED["dd/german_locale.txt"] = [_rate(175e6, rel=0.003), _q("duration", 0.0059948, "s", 1e-9)]

# ---- bonnie++: K is 1024
EXPECTED["bonnie++/venadi_197_table.html"] = [
    _rate(1476574 * Ki, "write", 1e-9, where={"file_B": 252 * Gi, "machine": "venadi"}),
    _rate(1133554 * Ki, "rewrite", 1e-9),
    _rate(3530242 * Ki, "read", 1e-9),
    _q("iops", 4029, "1/s", operation="seek"),
]
EXPECTED["bonnie++/pkb_196.csv"] = [
    _rate(72853 * Ki, "write", 1e-9), _rate(47358 * Ki, "rewrite", 1e-9), _rate(156821 * Ki, "read", 1e-9),
    _q("iops", 537.7, "1/s", operation="seek"), {**_rate(0, "write_per_char"), "n": 0},
]  # fmt: skip
EXPECTED["bonnie++/own_200a.txt"] = [_rate(562 * Mi, "write", 1e-9), _rate(902 * Mi, "read", 1e-9)]
EXPECTED["bonnie++/own_200a.csv"] = [_rate(575580 * Ki, "write", 1e-9), _rate(923743 * Ki, "read", 1e-9)]
EXPECTED["bonnie++/unas_103.txt"] = [
    _rate(24433 * Ki, "write", 1e-9), _rate(19861 * Ki, "rewrite", 1e-9), _rate(140359 * Ki, "read", 1e-9),
    _q("iops", 515.3, "1/s", operation="seek"),
]  # fmt: skip

# ---- iozone: kB is 1024
EXPECTED["iozone/venadi_auto_8g.txt"] = [
    _rate(v * Ki, op, 1e-9, where={"record_B": rec * Ki, "file_B": 8 * Gi})
    for rec, op, v in (
        (2048, "write", 6950542), (2048, "rewrite", 7381517), (2048, "read", 9553419), (2048, "reread", 9589962),
        (4, "write", 850821), (4, "read", 2400110), (16384, "write", 4651332),
    )
]  # fmt: skip
EXPECTED["iozone/iozone2csv_434.txt"] = [
    _rate(v * Ki, op, 1e-9, where={"record_B": rec * Ki, "file_B": 2 * Gi})
    for rec, op, v in (
        (512, "write", 5218171), (512, "rewrite", 7689088), (512, "read", 7640260), (512, "reread", 7592271),
        (4096, "write", 4339063), (4096, "read", 6555321),
    )
]  # fmt: skip
EXPECTED["iozone/srp_465_directio.txt"] = [
    _rate(v * Ki, op, 1e-9, where={"record_B": 4 * Ki, "file_B": 64 * Ki, "direct": True})
    for op, v in (("write", 1865), ("rewrite", 1802), ("read", 18212), ("reread", 42241))
]
EXPECTED["iozone/excel_R.txt"] = [
    _rate(581273 * Ki, "write", 1e-9, where={"record_B": 4 * Ki, "file_B": 64 * Ki}),
    _rate(4501111 * Ki, "read", 1e-9, where={"record_B": 4 * Ki, "file_B": 4096 * Ki}),
    _rate(4801789 * Ki, "freread", 1e-9, where={"record_B": 4096 * Ki, "file_B": 4096 * Ki}),
]
EXPECTED["iozone/nfs_rdma_t12.txt"] = [
    _rate(4732581.09 * Ki, "write", 1e-9, where={"threads": 12}),
    _rate(4646810.21 * Ki, "write", 1e-9, where={"view": "parent"}),
    _rate(4837741.94 * Ki, "rewrite", 1e-9),
]

# ---- fio: 2.x KB is KiB
EXPECTED["fio/vps_scaleway-vc1s_randread_2210.txt"] = [
    _q("iops", 66741, "1/s", 1e-9),
    *[_rate(v * Ki, "read", 1e-5) for v in (266966, 267647, 266694, 267408, 265176)],
]
EXPECTED["fio/vps_vultr-25gbssd_randread_2210.txt"] = [
    _rate(v * Ki, "read", 1e-5) for v in (242655, 239715, 248507, 244394, 246651)
]
EXPECTED["fio/lkp_338_read.json"] = [
    _rate(3453133943.0, "read", 1e-12, where={"block_B": 128 * Ki}, n=1),
    _q("iops", 26343.3, "1/s", 1e-5),
]
EXPECTED["fio/lkp_319_mmap.json"] = [_rate(120135948816.0, "read", 1e-12, where={"engine": "mmap"}, n=1)]
EXPECTED["fio/pkb_214.json"] = [
    _rate(68118 * Ki, "write", 1e-12, where={"job": "sequential_write"}),
    _rate(129836 * Ki, "read", 1e-12, where={"job": "sequential_read"}),
]
EXPECTED["fio/own_text_seqwrite.txt"] = [
    _rate(253 * Mi, "write", 1e-9, n=1), _rate(266e6, "write", 0.004), _q("duration", 1.010, "s"),
]  # fmt: skip
EXPECTED["fio/own_normal_terse_json_mixed.txt"] = [
    _rate(168 * Mi, "read", 0.003, n=1), _rate(177 * Mi, "write", 0.003, n=1),
]  # fmt: skip

# ---- parallel file systems
EXPECTED["ior/birmingham_33_easy_write.txt"] = [
    _rate(9096.16 * Mi, "write", 1e-9, where={"record_B": 2 * Mi, "tasks": 80, "tasks_per_node": 8, "api": "POSIX"}),
    _rate(9538.01e6, "write", 1e-6),
    _rate(9137.51 * Mi, "write", 1e-9, where={"view": "stonewall"}),
]
EXPECTED["ior/clemson_32_easy_write.txt"] = [_rate(13617.28 * Mi, "write", 1e-9), _rate(14278.75e6, "write", 1e-6)]
EXPECTED["ior/cern_31_hard_write.txt"] = [
    _rate(829.16 * Mi, "write", 1e-9, where={"record_B": 47008.0, "tasks": 64, "tasks_per_node": 1}),
]  # fmt: skip
EXPECTED["ior/birmingham_33_hard_read.txt"] = [_rate(481.89 * Mi, "read", 1e-9, where={"record_B": 47008.0})]
EXPECTED["mdtest/birmingham_33_easy_write.txt"] = [
    _q("rate", 103110.418, "1/s", 1e-9, operation="file_create", statistic="max"),
    _q("rate", 106730.984, "1/s", 1e-9, operation="file_create", view="stonewall"),
]
EXPECTED["mdtest/clemson_193_easy_write.txt"] = [_q("rate", 58111.869, "1/s", 1e-9, operation="file_create")]
EXPECTED["mdtest/birmingham_33_hard_delete.txt"] = [
    _q("rate", 11723.285, "1/s", 1e-9, operation="file_remove", statistic="max"),
    {**_q("rate", 1108.208, "1/s", 1e-9), "n": 0},
]
EXPECTED["elbencho/losf_run0.txt"] = [
    _rate(52 * Mi, "write", 1e-9, where={"file_B": Ki, "files": 1048576}),
    _q("rate", 53757, "1/s", 1e-9, operation="write", file_B=Ki),
]
EXPECTED["elbencho/losf_sweep.csv"] = [
    _rate(0.436e9 / 8, rel=1e-9, where={"dataset": "1048576x1KiB"}),
    _rate(0.903e9 / 8, rel=1e-9, where={"dataset": "1048576x2KiB"}),
]
EXPECTED["gpfsperf/cbench_fixture_full.txt"] = [_rate(5089216.97e3, "write", 1e-9)]
# the survey divides KiB by seconds * 1024 (its source), so its "MB/s" are MiB/s
EXPECTED["obdfilter-survey/readme_line.txt"] = [
    _rate(613.54 * Mi, "write", 1e-9, where={"threads": 8, "osts": 8}),
    _rate(64.0 * Mi, "write", 1e-9, where={"statistic": "min"}),
    _rate(82.0 * Mi, "write", 1e-9, where={"statistic": "max"}),
]

# ---- single host
EXPECTED["hdparm/unas.txt"] = [_rate(146.42 * Mi, "read", 1e-9, where={"device": "/dev/md0"})]
EXPECTED["sysbench/vps_scaleway_randrd.txt"] = [
    _rate(33.835 * Mi, "read", 1e-9), _q("iops", 8661.72, "1/s", 1e-9, operation="read"),
]  # fmt: skip
EXPECTED["sysbench/vps_linode_randrw.txt"] = [
    _rate(v * Mi, "mixed", 1e-9, n=1) for v in (4.8646, 4.7953, 5.886, 5.4929, 6.6062)
]
EXPECTED["time/uci_cp_tar_rm.txt"] = [
    *[_q("duration", v, "s", 1e-9, operation="cp")
      for v in (21.738, 15.555, 20.281, 38.703, 29.057, 18.132, 289.462, 688.6)],
    *[_q("duration", v, "s", 1e-9, operation="tar") for v in (8.426, 164.627, 1.536, 157.309)],
    *[_q("duration", v, "s", 1e-9, operation="rm") for v in (0.767, 47.090)],
]  # fmt: skip

# ---- inventory and counters
EXPECTED["mdstat/venadi_raid1.txt"] = [
    _q("capacity", 233248768 * Ki, "B", 1e-12, array="md126", level="raid1", raid_devices=2, working=2),
    _q("capacity", 1049536 * Ki, "B", 1e-12, array="md127"),
]
EXPECTED["mdstat/node_exporter.txt"] = [
    _q("capacity", 5853468288 * Ki, "B", 1e-12, array="md3", level="raid6", chunk_B=64 * Ki),
    {**_rate(259783 * Ki, "recovery", 1e-12, where={"array": "md6"}), "status": "partial"},
    {**_rate(259783 * Ki, "resync", 1e-12, where={"array": "md8"}), "status": "partial"},
    _q("capacity", 7932 * Ki, "B", 1e-12, array="md219", state="inactive"),
    _q("capacity", 314159265 * Ki, "B", 1e-12, level="raid0", array="md10"),
]
for _name in ("zpool/jc_zpool-iostat.txt", "zpool/jc_zpool-iostat-v.txt"):
    EXPECTED[_name] = [
        _rate(349 * Ki, "read", 1e-9, where={"pool": "zhgstera6"}),
        _rate(448 * Ki, "write", 1e-9, where={"pool": "zhgstera6"}),
        _q("capacity", 2.89 * Ti, "B", 1e-9, view="allocated"),
    ]
EXPECTED["zpool/jc_zpool-status-v.txt"] = [_q("health", 1, "1", pool="zhgstera6", state="ONLINE")]
EXPECTED["zpool/jc_zpool-status-v3.txt"] = [_q("health", 0, "1", pool="tank", state="UNAVAIL")]
EXPECTED["ethtool/jc_ethtool--default1.txt"] = [_q("link_rate", 1e9 / 8, "B/s", interface="enp0s3", duplex="full")]
EXPECTED["ethtool/jc_ethtool--default2.txt"] = [_q("link_rate", 40e9 / 8, "B/s", interface="enp1s0", duplex="full")]
EXPECTED["ethtool/jc_ethtool--module-info.txt"] = [_q("symbol_rate", 10.3e9, "1/s", identifier="0x03 (SFP)")]
EXPECTED["ethtool/node_exporter_S.txt"] = [
    _q("count", 961500, "1", of="tx_packets"), _q("count", 1260062, "1", of="rx_packets"),
]  # fmt: skip
EXPECTED["ethtool/venadi_bonding.txt"] = [
    {**_q("link_rate", 10e9 / 8, "B/s", hash_policy="layer3+4"), "n": 4},
    {**_q("count", 4, "1", of="members"), "status": "complete"},
    _q("mtu", 9000, "B"),
]
EXPECTED["lspci/pciutils_cap-pcie-2.txt"] = [_q("transfer_rate", 2.5e9, "1/s", view="status", lanes=4)]
EXPECTED["lspci/pciutils_cap-exp-dev2.txt"] = [
    _q("transfer_rate", 8e9, "1/s", view="capability", lanes=1),
    _q("transfer_rate", 5e9, "1/s", view="status", lanes=1, speed_is="downgraded", width_is="ok"),
]
EXPECTED["lspci/pciutils_cap-exp-lnkcap2.txt"] = [_q("transfer_rate", 8e9, "1/s", view="status", lanes=4)]
EXPECTED["lsblk/own_J.json"] = [_q("capacity", 256 * Gi, "B", device="vda"), _q("capacity", 0, "B", device="zram0")]
EXPECTED["lsblk/own_J_b_O.json"] = [_q("capacity", 274877906944, "B", 1e-12, device="vda", rotational=True)]
EXPECTED["lsblk/jc_centos7_allcols.txt"] = [_q("capacity", 20 * Gi, "B", device="sda", type="disk")]
EXPECTED["smartctl/pysmart_sata_hdd.txt"] = [
    _q("capacity", 12000138625024, "B", 1e-12), _q("rotation_rate", 120, "1/s"),
    _q("link_rate", 6e9 / 8, "B/s", view="status"),
]  # fmt: skip
EXPECTED["smartctl/pysmart_sas_ssd_x.txt"] = [_q("capacity", 7681501126656, "B", 1e-12)]
EXPECTED["smartctl/exporter_P4510.json"] = [_q("capacity", 8001563222016, "B", 1e-12)]
EXPECTED["lstopo/24em64t-2n6c2t-pci.xml"] = [_q("link_rate", 4e9, "B/s"), _q("link_rate", 0.1e9, "B/s")]
EXPECTED["lstopo/96em64t-4n4d3ca2co-pci.xml"] = [_q("count", 4, "1", of="numa_nodes")]
EXPECTED["numactl/own_1node.txt"] = [_q("count", 1, "1", of="numa_nodes")]
EXPECTED["numactl/aurora.txt"] = [
    _q("count", 4, "1", of="numa_nodes"), _q("count", 0, "1", of="cpus", node=2),
    _q("capacity", 65536 * Mi, "B", 1e-12, node=3, view="total"),
]  # fmt: skip
EXPECTED["iostat/sysstat_iostat-x.txt"] = [_rate(222.14 * Ki, "read", 1e-9, where={"device": "sda", "report": 1})]
EXPECTED["iostat/sysstat_iostat-mz.txt"] = [_rate(0.22 * Mi, "read", 1e-9, where={"device": "sda"})]
EXPECTED["iostat/sysstat_iostat-pretty.txt"] = [_rate(222.14 * Ki, "read", 1e-9, where={"device": "sda"})]
EXPECTED["iostat/jc_centos7_x.txt"] = [
    _rate(5.27 * Ki, "read", 1e-9, where={"device": "sda"}), _rate(1.10 * Ki, "write", 1e-9, where={"device": "sda"}),
    _q("utilization", 0.0001, "1", device="sda"),
]  # fmt: skip
EXPECTED["sar/pkb_sar_u.txt"] = [
    _q("cpu_share", share, "1", state=state, cpu="all")
    for state, share in (("user", 0.8196), ("steal", 0.1799), ("idle", 0.0004))
]
EXPECTED["mpstat/jc_centos7_A.txt"] = [_q("cpu_share", 0.9940, "1", state="idle", cpu="all")]
EXPECTED["mpstat/lkp_1.json"] = [
    _q("cpu_share", 0.0633, "1", state="user", cpu="all"), _q("cpu_share", 0.8608, "1", state="idle", cpu="all"),
]  # fmt: skip
