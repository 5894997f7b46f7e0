"""qperf 0.4.9 to 0.4.11.

Runs printed on GitHub: notes of a Raspberry Pi (``-v``), of a cluster (``-vu``, sizes), of a 100 Gb/s card
(``-vvs``), of ECS nodes (bits), a laptop's repeated runs, and Arch's wiki on InfiniBand.
"""

from __future__ import annotations

import pytest

PI = """\
ubuntu@3BPlus:~$ qperf -v 172.30.1.14 tcp_bw udp_bw tcp_lat udp_lat
tcp_bw:
    bw              =  4.19 MB/sec
    msg_rate        =  63.7 /sec
    send_cost       =   244 sec/GB
    recv_cost       =   122 sec/GB
    send_cpus_used  =   114 % cpus
    recv_cpus_used  =    51 % cpus
udp_bw:
    send_bw         =  55.7 MB/sec
    recv_bw         =  2.23 MB/sec
    msg_rate        =    68 /sec
tcp_lat:
    latency        =  7.39 ms
"""
SIZES = """\
[root@telecom-k8s-phy01 kbuser]# qperf 10.96.0.1  -oo msg_size:1:256K:*64 -vu tcp_bw tcp_lat
tcp_bw:
    bw        =  1.13 MB/sec
    msg_size  =     1 bytes
tcp_bw:
    bw        =  1.71 GB/sec
    msg_size  =     4 KiB (4,096)
tcp_lat:
    latency   =  13 us
    msg_size  =   1 bytes
"""
MLX = """\
# qperf $ip -vvs -t 10 tcp_bw tcp_lat
tcp_bw:
    bw          =     2.82 GB/sec
    msg_rate    =     43.1 K/sec
    send_bytes  =     28.2 GB
    send_msgs   =  430,972 \n\
    recv_bytes  =     28.2 GB
    recv_msgs   =  430,972 \n\
tcp_lat:
    latency         =     16.9 us
    msg_rate        =       59 K/sec
    loc_send_bytes  =      295 KB
"""
BITS = """\
# qperf -vvs -t 60 --use_bits_per_sec tokyo tcp_bw tcp_lat
tcp_bw:
    bw          =      968 Mb/sec
    msg_rate    =     1.85 K/sec
    send_bytes  =     7.26 GB
    send_msgs   =  110,808
tcp_lat:
    latency         =    1.65 ms
"""
ARCH = "tcp_bw:\n    bw  =  701 MB/sec\ntcp_lat:\n    latency  =  19.8 us\n"
LAPTOP = "tcp_bw:\n    bw  =  2.59 GB/sec\n    bw  =  2.66 GB/sec\n    bw  =  2.63 GB/sec\n"


@pytest.mark.parametrize(
    ("text", "rate", "latency"),
    [
        (PI, 4.19e6, 7.39e-3),
        (MLX, 2.82e9, 16.9e-6),
        (BITS, 968e6 / 8, 1.65e-3),
        (ARCH, 701e6, 19.8e-6),
    ],
)
def test_rates_are_decimal(log, text, rate, latency):
    found = log(text)
    assert found.value("throughput", of="tcp_bw") == pytest.approx(rate)
    assert found.value("latency", one_way=True) == pytest.approx(latency)
    assert not found.unread


@pytest.mark.parametrize(("text", "sent"), [(MLX, 28.2e9), (BITS, 7.26e9)])
def test_bytes_over_time_are_the_rate(log, text, sent):
    found = log(text).one("throughput")
    assert found.value * found.conditions["duration_s"] == pytest.approx(sent, rel=2e-3)


def test_sizes_roles_and_cores(log):
    assert [r.conditions["block_B"] for r in log(SIZES).all("throughput")] == [1, 4096]
    assert log(SIZES).one("latency").conditions["block_B"] == 1
    found = log(PI)
    assert found.value("throughput", of="udp_bw", role="receiver") == pytest.approx(2.23e6)
    assert found.value("cpu_share", of="tcp_bw", role="sender") == pytest.approx(1.14)
    known = found.one("throughput", of="tcp_bw").conditions
    assert (known["host"], known["protocol"]) == ("3BPlus", "tcp")
    assert [r.value for r in log(MLX).all("rate", duration_s=10)] == [43.1e3, 59e3]


def test_repeated_runs_are_apart(log):
    assert [r.value for r in log(LAPTOP).all("throughput")] == [2.59e9, 2.66e9, 2.63e9]


def test_the_server_is_no_option(log):
    body = "tcp_lat:\n    latency  =  7.39 ms\n"
    for command in (
        "-v 10.0.0.1 tcp_lat",
        "-vvs -t 60 --use_bits_per_sec 10.0.0.1 tcp_lat",
        "10.0.0.1 -oo a:1 tcp_lat",
    ):
        assert log(f"$ qperf {command}\n{body}").one("latency").conditions["target"] == "10.0.0.1"
