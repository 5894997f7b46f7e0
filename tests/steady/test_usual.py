"""What holds a path in most of its draws is said, with what it is at its best."""

from dtnsim.report.decision import decide
from dtnsim.steady.prediction import predict
from tests.lab import answer, journey, machine
from tests.report.test_advice import CASES


def test_losses_that_are_drawn_hold_a_long_path(tmp_path) -> None:
    """The card named the mount's read-ahead, which held one draw in five, and advised requests that gain nothing."""
    (tmp_path / "path.yaml").write_text(CASES["connections of a mount that waits for its window"]["path"])
    sets = ["hosts.filer.tcp.wmem_max=64MiB", "hosts.ws.tcp.rmem_max=62MiB"]
    p = predict(tmp_path / "path.yaml", overrides=sets, samples=128)
    found = p.assumed.usual[0]
    assert found.share > 0.5
    assert found.holder.reason.startswith("loss-limited")
    card = decide(p)
    assert card.held.startswith("lost packets from filer to ws slow TCP down")
    assert "% of runs; at its best, the NFS mount of ws" in card.held
    whole = predict(tmp_path / "path.yaml", overrides=[*sets, "wan.loss=0"], samples=128)
    more = whole.throughput_Bps.p50 / p.throughput_Bps.p50
    assert f"--set wan.loss=0): {more:.2g} times" in " ".join(card.others)
    # without losses the draws have another holder
    assert not decide(whole).held.startswith("lost packets")


def test_where_one_thing_holds_every_draw_nothing_more_is_said() -> None:
    host = machine(cpu={"kind": "cpu", "cores": 16, "clock": "3 GHz"}, stack={"kind": "stack"})
    p = answer(journey(host, host, wan={"bandwidth": "1 Tb/s"}, tool={"name": "gridftp"}), samples=64)
    assert p.assumed.usual[0] is None
    assert " of runs" not in decide(p).held
