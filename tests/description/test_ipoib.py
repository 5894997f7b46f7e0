"""TCP between hosts that have InfiniBand alone is IPoIB: answered, with the MTU of its mode, and said."""

from typing import Any

import pytest

from dtnsim import predict
from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import SpecError
from tests.each import rows
from tests.strategies import load

MOVE = {"from": "a:memory", "to": "b:memory", "tool": "iperf -P 4", "dataset": {"size": "100 GB"}}
WAN = {"bandwidth": "32 Gb/s", "rtt": "30 us", "medium": "InfiniBand"}


def path(host: dict[str, Any], **more: Any) -> PathSpec:
    return load({"hosts": {"a": host, "b": {"like": "a"}}, "wan": WAN, "transfer": MOVE | more})


@pytest.mark.parametrize(("host", "mtu"), rows("description/spoken", "ipoib"))
def test_tcp_over_infiniband_is_ip_over_it(host: dict[str, Any], mtu: float) -> None:
    """The port's data rate is that of the card, and the packet that of the mode."""
    made = path(host)
    (card,) = made.hosts["a"].nics.values()
    assert (card.protocol, card.mtu.value, card.rate.value) == ("ethernet", mtu, pytest.approx(4e9))
    assert any(f"TCP over InfiniBand is IPoIB, with mtu: {mtu} B" in note for note in made.notes)
    assert 0 < predict(made, samples=0).transfers[0].ceiling < 4e9


def test_verbs_and_cards_that_are_named_stay_infiniband() -> None:
    host = {"nic": "mellanox-cx3-qdr-ib"}
    for more in ({"nics": {"a": "nic", "b": "nic"}}, {"tool": "ib_write_bw"}):
        assert path(host, **more).hosts["a"].nics["nic"].protocol == "infiniband"
    beside = {"nics": {"eth": "10 Gb/s", "ib": "mellanox-cx3-qdr-ib"}}
    assert path(beside).hosts["a"].nics["ib"].protocol == "infiniband"
    with pytest.raises(SpecError, match="has no Ethernet NIC"):
        predict(path(host, tool="ib_write_bw", dataset={"files": 1, "size": "1 GB"}), samples=0)
