"""``ethtool -S``: counters as drivers name them.

Printed on GitHub: mlx5 (a card that drops 60 % of its packets), bnxt (a patch of the kernel), bnx2x, igb (an article on
receiving packets), an EtherCAT port with errors.
"""

from __future__ import annotations

import pytest

MLX5 = """\
NIC statistics:
     rx_cache_reuse: 9369255040
     ch_poll: 151091830
     rx_out_of_buffer: 990473555
     rx_steer_missed_packets: 1962570491
     rx_vport_unicast_packets: 38460159194
     rx_vport_unicast_bytes: 2461450188460
     rx_packets_phy: 97052087562
     rx_bytes_phy: 6211329423080
     rx_discards_phy: 58591428329
     tx_discards_phy: 0
"""
BNXT = """\
$ ethtool -S eth0
NIC statistics:
     [0]: rx_ucast_packets: 1418
     [0]: rx_mcast_packets: 178
     [0]: rx_discards: 0
     [0]: rx_ucast_bytes: 1141815
     [0]: tx_ucast_packets: 1734
"""
BNX2X = """\
[root@app-k8s-node-1 ~]# ethtool -S ens4f1
NIC statistics:
     [0]: rx_bytes: 79656136793
     [0]: rx_ucast_packets: 105342422
     [0]: tx_bytes: 2150215884532
"""
IGB = """\
$ sudo ethtool -S eth0
NIC statistics:
     rx_packets: 597028087
     tx_packets: 5924278060
     rx_bytes: 112643393747
     tx_bytes: 990080156714
     ....
"""
ETHERCAT = """\
NIC statistics:
     rx_packets: 347640758
     rx_errors: 152415
     tx_errors: 0
"""


@pytest.mark.parametrize(
    ("text", "name", "count", "queue", "counters"),
    [
        (MLX5, "rx_discards_phy", 58591428329, None, 10),
        (BNXT, "rx_ucast_bytes", 1141815, 0, 5),
        (BNX2X, "tx_bytes", 2150215884532, 0, 3),
        (IGB, "tx_bytes", 990080156714, None, 4),
        (ETHERCAT, "rx_errors", 152415, None, 3),
    ],
)
def test_counters(log, text, name, count, queue, counters):
    found = log(text)
    assert found.value("count", of=name) == count
    assert found.one("count", of=name).conditions.get("queue") == queue
    assert len(found.found) == counters
    assert not found.unread


def test_interfaces_and_hosts(log):
    known = log(BNX2X).one("count", of="tx_bytes").conditions
    assert (known["interface"], known["host"]) == ("ens4f1", "app-k8s-node-1")
