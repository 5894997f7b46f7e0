"""What the samples of network and transfer tools in the shared log collection say (see test_index.py).

Values follow from the figures INDEX.csv quotes, put into SI here with the tool's own unit words:
``Mbit`` is 1e6 bit, ``Gbit`` 1e9 bit, ``MiB`` 2^20 B.
"""

from __future__ import annotations

from typing import Any

KBIT, MBIT, GBIT = 1e3 / 8, 1e6 / 8, 1e9 / 8
KIB, MIB = 2**10, 2**20


def rate(value: float, **more: Any) -> dict[str, Any]:
    """A throughput [B/s]; keywords that are no fields of an expectation are conditions."""
    return _figure("throughput", value, "B/s", more)


def share(value: float, **more: Any) -> dict[str, Any]:
    """A loss or a CPU share."""
    return _figure(more.pop("quantity", "loss"), value, "1", more)


def count(quantity: str, value: float, **more: Any) -> dict[str, Any]:
    """A count."""
    return _figure(quantity, value, "1", more)


def rtt(milliseconds: float, **more: Any) -> dict[str, Any]:
    """A round-trip time given in ms."""
    return _figure("rtt", milliseconds * 1e-3, "s", more)


def mtu(value: int) -> dict[str, Any]:
    """A path MTU."""
    return _figure("mtu", value, "B", {})


def _figure(quantity: str, value: float, unit: str, more: dict[str, Any]) -> dict[str, Any]:
    figure: dict[str, Any] = {"quantity": quantity, "value": value, "unit": unit}
    for key in ("rel", "status", "n"):
        if key in more:
            figure[key] = more.pop(key)
    figure["where"] = {"interval": None, **more}
    return figure


EXPECTED: dict[str, list[dict[str, Any]]] = {
    "iperf3/venadi_bwctl_40g.txt": [
        rate(37353 * MBIT, role="sender", n=1, target="128.55.199.18"),
        rate(37333 * MBIT, role="receiver", n=1),
    ],
    "iperf3/pulpo_10g_V.txt": [
        rate(9.89 * GBIT, role="sender", n=1, host="pulpo-admin", block_B=131072.0),
        rate(9.89 * GBIT, role="receiver", n=1),
        share(0.269, quantity="cpu_share", role="sender"),
        share(0.105, quantity="cpu_share", role="receiver"),
    ],
    "iperf3/pulpo_40g_V.txt": [rate(24.5 * GBIT, role="sender", n=1), count("retransmits", 22, n=1)],
    "iperf3/iperf3py_3011.json": [
        rate(935992000 / 8, role="sender", n=1, streams=1),
        rate(934268000 / 8, role="receiver", n=1),
        count("retransmits", 0, n=1),
    ],
    "iperf3/moler_multi_udp_client.txt": [
        rate(2113 * KBIT, role="sender", stream=None, n=1, protocol="udp", streams=2),
        rate(2084 * KBIT, role="receiver", stream=None, n=1),
        share(0.0, role="receiver", stream=None, packets=36, n=1),
    ],
    "iperf3/moler_multi_tcp.txt": [
        rate(22.3 * GBIT, role="sender", stream=None, n=1, streams=3),
        rate(22.2 * GBIT, role="receiver", stream=None, n=1, streams=3),
    ],
    "iperf2/moler_basic_client.txt": [rate(222 * MBIT, direction="send", n=1, duration_s=10.0)],
    "iperf2/moler_multiple_connections.txt": [rate(266 * MBIT, stream=None, streams=20, n=1)],
    "iperf2/moler_bidirectional_udp_client.txt": [
        rate(5000 * KBIT, direction="send", role="sender", n=1),
        rate(5000 * KBIT, direction="receive", role="receiver", n=1),
        share(0.0, packets=2552, direction="receive", n=1),
    ],
    "iperf2/moler_multiple_connections_udp_server.txt": [
        rate(3596 * KBIT, stream=None, streams=3, n=1),
        share(0.0, stream=None, packets=1532, n=1),
    ],
    "iperf2/own_218_enhanced.txt": [
        rate(24.9 * GBIT, stream=None, streams=2, n=1),
        count("retransmits", 41, stream=None, n=1),
    ],
    "iperf2/own_218_csv.txt": [rate(10727149755 / 8, bytes=4037410876.0, n=1)],
    "nuttcp/gsfc_slides.txt": [
        rate(19805.8537 * MBIT, label="TX", n=1),
        rate(19808.7300 * MBIT, label="RX", n=1),
        rate(10273.4125 * MBIT, label="Get", direction="receive", n=1),
        rate(10311.2700 * MBIT, label="Put", direction="send", n=1),
        rate(17324.4416 * MBIT, n=1),
        rate(10129.7218 * MBIT, n=1),
        share(0.99, quantity="cpu_share", role="receiver", label="Put from /dev/zero to RAID50", n=1),
        rate(14267.6685 * MBIT, aggregate=True, n=1),
        rate(17824.8581 * MBIT, aggregate=True, n=1),
    ],
    "nuttcp/pulpo_10g_i1.txt": [
        rate(9894.3578 * MBIT, n=1, direction="receive", target="venadi.ucsc.edu"),
        count("retransmits", 301, n=1),
        rtt(0.18, n=1),
    ],
    "nuttcp/pscheduler_tcp_cwnd.txt": [
        rate(1842.3790 * MBIT, n=1, cwnd_B=237 * 1024),
        count("retransmits", 90, n=1),
        rtt(0.5, n=1),
    ],
    "nuttcp/pscheduler_udp.txt": [rate(211.4462 * MBIT, n=1), share(1485 / 259593, packets=259593, n=1)],
    "nuttcp/own_612_fparse.txt": [rate(9999.2637 * MBIT, bytes=3578.8750 * MIB, n=1)],
    "pscheduler/throughput_1.json": [rate(4438908000.0 / 8, n=1), count("retransmits", 0, n=1)],
    "pscheduler/throughput_2.json": [rate(49554301.592704 / 8, n=1), share(0.0, packets=42779, n=1)],
    "pscheduler/throughput_3.json": [rate(7309196000.0 / 8, streams=2, n=1), count("retransmits", 33, n=1)],
    "pscheduler/trace.json": [rtt(62.7, hop=8, last=True, n=1), count("hops", 8, n=1)],
    "pscheduler/rtt.json": [rtt(53.889, statistic=None, n=1), share(0.0, packets=5, n=1)],
    "scp/venadi.txt": [rate(182.2 * MIB, n=1, duration_s=562.0, direction="receive", file_B=100.0 * 2**30)],
    "scp/moler_scp.txt": [rate(0.1 * KIB, file_B=104.0, n=2)],
    "scp/moler_sftp_put.txt": [rate(377.2 * KIB, n=1, direction="send"), rate(17.2 * KIB, n=1)],
    "bbcp/venadi_100g.txt": [rate(446.1 * MIB, status="partial", average="running", n=1)],
    "bbcp/venadi_50g.txt": [rate(994.4 * MIB, status="partial", average="running", n=1)],
    "bbcp/readme_2014_form.txt": [rate(84571.9 * KIB, status="partial", n=1, streams=10)],
    "globus-url-copy/venadi_edison.txt": [
        rate(108.32 * MIB, bytes=106992500736, streams=8, n=1),
        rate(234.12 * MIB, interval=True, n=1),
    ],
    "globus-url-copy/venadi_gpfs.txt": [
        rate(1486.77 * MIB, bytes=49888100352, n=1),
        rate(1780.96 * MIB, interval=True, n=1),
    ],
    "globus-url-copy/venadi_login_error.txt": [],
    "globus-url-copy/jasmin_zero_null.txt": [
        rate(929.52 * MIB, ended="timer", n=1),
        rate(1024.49 * MIB, interval=True, n=1),
    ],
    "globus/cli_task_show.txt": [rate(2714391, bytes=819556855.0, duration_s=302.0, n=1)],
    "globus/sdk_task_succeeded.json": [],
    "globus/sdk_task_active.json": [],
    "rsync/uci_all.txt": [
        rate(40423950.30, wire=True, n=1),
        rate(14192187.12, wire=True, n=1),
        rate(10860651.01, wire=True, direction="send", n=1),
        rate(1018.72, wire=True, n=1),
        rate(210396648463 / 5207.5, wire=None, derived="total size / time", n=1),
    ],
    "rsync/own_progress2_cr.txt": [rate(211.48 * MIB, bytes=188743680.0, n=1)],
    "rsync/own_stats_P.txt": [rate(377580170.00, wire=True, file_B=188743680.0, n=1)],
    "ascp/uci_lightpath.txt": [
        rate(242449494 * KIB / 6388, derived="bytes / time", n=1),
        rate(280778 * KBIT, duration_s=5078.0, bytes=174068615.0 * KIB, n=1),
        rate(437191 * KBIT, duration_s=3408.0, n=1),
    ],
    "ascp/ena_measuring.txt": [
        rate(94969 * KBIT, duration_s=21.0, n=1),
        rate(112e6 / 8, interval=True, average="interval", n=1),
    ],
    "traceroute/uci_four_paths.txt": [
        rtt(89.376, interval=True, hop=11, probe=1, n=1),
        count("hops", 11, reached=False, status="partial", n=1),
        rtt(89.565, interval=True, hop=12, probe=1, n=1),
        count("hops", 8, reached=True, n=1),
        rtt(10.264, interval=True, hop=8, probe=1, n=1),
        rtt(10.191, interval=True, hop=7, probe=1, n=1),
        count("hops", 7, reached=True, n=1),
    ],
    "traceroute/jc_centos-7.7_traceroute.txt": [rtt(4.024, interval=True, hop=1, probe=1, n=1, target="www.cnn.com")],
    "traceroute/jc_freebsd12_traceroute.txt": [
        rtt(3.263, interval=True, hop=1, probe=1, n=1),
        rtt(23.228, hop=9, reached=True, statistic=None, n=1),
    ],
    "traceroute/jc_generic_traceroute-n-ipv6.txt": [
        count("hops", 12, reached=True, n=1),
        rtt(8.086, interval=True, hop=12, probe=1, n=1),
    ],
    "tracepath/venadi.txt": [
        rtt(3.122, reached=True, hop=6, target="perfsonar.nersc.gov", n=1),
        rtt(3.021, reached=True, hop=6, target="dtn03.nersc.gov", n=1),
        {**mtu(9000), "n": 2},
        count("hops", 6, n=2),
    ],
    "tracepath/jc_centos-7.7_tracepath.txt": [{**mtu(1500), "n": 1}],
    "tracepath/jc_centos-7.7_tracepath6.txt": [mtu(1480), count("hops", 2), rtt(463.514, reached=True, n=1)],
    "ping/pkb.txt": [share(0.0, packets=100, n=1), rtt(0.352, statistic=None, n=1)],
    "ping/jc_centos-7.7_ping-ip-O-D.txt": [share(0.0, packets=20, n=1), rtt(0.048, statistic=None, n=1)],
    "ping/jc_centos-7.7_ping6-hostname-O-p.txt": [share(0.0, packets=20), rtt(37.455, statistic=None, n=1)],
    "ping/jc_freebsd12_ping-hostname.txt": [share(0.0, packets=3, n=1), rtt(33.831, statistic=None, n=1)],
    "ping/jc_osx-10.14.6_ping-ip-unreachable.txt": [share(1.0, packets=8, n=1)],
    "ping/jc_alpine-linux-3.13_ping-ip.txt": [share(0.0, packets=1), rtt(1.637, statistic=None, n=1)],
    "mtr/own_report.txt": [share(0.0, hop=1, last=True, n=1), rtt(0.1, statistic=None, n=1)],
    "mtr/own_json.json": [share(0.0, hop=1, last=True, n=1), rtt(0.056, statistic=None, n=1)],
    "wdt/readme_sender.txt": [rate(588.816 * MIB, bytes=1658999858, files=1887, n=1)],
    "rclone/own_rclone_P.txt": [rate(60.120 * MIB, duration_s=3.1, bytes=180.0 * MIB, n=1)],
    "rclone/own_rclone_v.txt": [rate(60.372 * MIB, bytes=180.0 * MIB, n=1)],
    "rclone/own_rclone_json.txt": [rate(60.301 * MIB, bytes=180.0 * MIB, n=1)],
    "ifstat/uci_ifstat.txt": [
        rate(76166.84 * KIB, interval=True, device="eth0", direction="send", sample=1, n=1),
        rate(57636.07 * KIB, interval=True, device="eth0", direction="send", sample=7, table=1, n=1),
        rate(76618.05 * KIB, interval=True, device="eth0", direction="send", sample=3, table=1, n=1),
        rate(164234.4 * KIB, interval=True, device="eth0", direction="send", sample=4, table=2, n=1),
        rate(186878.9 * KIB, interval=True, device="eth0", direction="send", sample=8, table=2, n=1),
        rate(202256.2 * KIB, interval=True, device="ib0", direction="receive", sample=1, table=2, n=1),
    ],
}

ABSENT: dict[str, list[str]] = {
    "globus-url-copy/venadi_login_error.txt": ["throughput"],
    "globus/sdk_task_succeeded.json": ["throughput", "failure"],
    "globus/sdk_task_active.json": ["throughput"],
    "ping/jc_osx-10.14.6_ping-ip-unreachable.txt": ["rtt"],
    "tracepath/jc_centos-7.7_tracepath.txt": ["hops"],
}
