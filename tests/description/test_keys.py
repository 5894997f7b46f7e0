"""What a draw belongs to: the same part of the machine, whatever the order of keys or of use."""

import numpy as np
import pytest

from dtnsim.description import spec
from dtnsim.description.fitted import factor
from dtnsim.ground.draws import Correlation
from dtnsim.ground.quantity import Draw, Quantity, factor_spread, ideally, prior
from tests.each import rows
from tests.lab import load

GIVEN = rows("description/tables", "keys")

HOST, PATH = (GIVEN[name] for name in ("HOST", "PATH"))


def keys(path):
    return {h: path.hosts[h].volumes["/scratch"].filesystem for h in "ab"}


def test_clients_of_one_file_system_share_its_servers_and_nothing_else():
    path, draw = load(PATH), Draw(64)
    a, b = keys(path)["a"], keys(path)["b"]
    assert a.share.key == b.share.key == "system one.share"
    assert np.array_equal(draw(a.target_rate), draw(b.target_rate))
    assert not np.array_equal(draw(a.client_rate), draw(b.client_rate))
    assert not np.array_equal(draw(path.hosts["a"].cpu.clock), draw(path.hosts["b"].cpu.clock))
    assert path.hosts["a"].stack.send_byte.key == "a.stack.send_byte"
    assert path.wan[0].rtt.key == "wan.0.rtt"


def test_a_long_segment_between_hosts_with_jumbo_frames_is_not_the_internet():
    """As if it had said so itself; one host without them, or a segment's own 1500 B, leave all kinds."""

    def usual(mtus, **segment):
        hosts = {name: {**HOST, "nic": {**HOST["nic"], "mtu": mtu}} for name, mtu in zip("ab", mtus, strict=True)}
        path = load({**PATH, "hosts": hosts, "wan": {"bandwidth": "10 Gb/s", "rtt": "50 ms", **segment}})
        return path.wan[0].usual_loss.typical.value

    jumbo = usual(("9000 B", "9000 B"))
    assert jumbo == usual(("1500 B", "1500 B"), mtu="9000 B")
    others = {usual(("9000 B", "1500 B")), usual(("9000 B", "9000 B"), mtu="1500 B"), usual(("1500 B", "1500 B"))}
    assert len(others) == 1
    assert others.pop() > jumbo
    assert usual(("9000 B", "9000 B"), medium="internet") == usual(("1500 B", "1500 B"), medium="internet")


def test_tools_constants_are_those_of_the_tool():
    two = {**PATH, "transfers": [{**PATH["transfer"], "name": n} for n in "xy"]}
    del two["transfer"]
    tools = [t.tool for t in load(two).transfers]
    mine = [{k: getattr(t, k).key for k in type(t).model_fields if isinstance(getattr(t, k), Quantity)} for t in tools]
    assert mine[0] == mine[1]
    assert any(key.startswith("tool bbcp.") for key in mine[0].values())


def test_neither_order_of_use_nor_of_keys_changes_a_draw():
    one, two = Draw(32, 5), Draw(32, 5)
    p, q = (Quantity(10.0, "B/s", 0.3, "x", key=k) for k in ("host.p", "host.q"))
    first, second = one(p), one(q)
    assert np.array_equal(two(q), second)
    assert np.array_equal(two(p), first)
    assert not np.array_equal(first, second)
    assert not np.array_equal(Draw(32, 6)(p), first)
    # the grid: every one of 32 equal parts of the distribution once
    assert np.allclose(np.sort(np.log(first)), np.sort(np.log(second)))


def test_the_same_value_with_another_spread_keeps_its_scores():
    narrow, wide = Quantity(10.0, "B/s", 0.1, "x", key="k"), Quantity(99.0, "B/s", 1.0, "y", key="k")
    draw = Draw(64)
    assert np.corrcoef(np.log(draw(narrow)), np.log(draw(wide)))[0, 1] == pytest.approx(1.0)


def test_fitted_parameters_are_drawn_with_their_correlation():
    rho = np.array([[1.0, -0.8, 0.1], [-0.8, 1.0, 0.3], [0.1, 0.3, 1.0]])
    draw = Draw(4096, 1, Correlation(("a", "b", "c"), factor(rho)))
    drawn = np.log([draw(Quantity(1e6, "B/s", 0.2, "x", key=k)) for k in "cab"])
    assert np.corrcoef(drawn)[1, 2] == pytest.approx(-0.8, abs=0.03)
    assert np.corrcoef(drawn)[0, 1] == pytest.approx(0.1, abs=0.05)
    assert drawn.std(axis=1) == pytest.approx(np.sqrt(np.log(1.04)), rel=0.03)
    # each scores the same whether the others are asked for or not
    alone = Draw(4096, 1, Correlation(("a", "b", "c"), factor(rho)))
    assert np.allclose(np.log(alone(Quantity(1e6, "B/s", 0.2, "x", key="b"))), drawn[2])


def test_a_file_states_the_correlation_and_shared_hosts_share_the_estimate():
    path = spec.load("nasa/nuttscp-1of7-get")
    shown = {path.hosts[h].cpu.clock.key for h in ("c1", "c2")} | {
        path.hosts[h].stack.receive_byte.key for h in ("c1", "c2")
    }
    assert set(path.correlation.keys) & shown, "estimates of one host file are one draw"
    assert np.allclose(np.diag(path.correlation.factor @ path.correlation.factor.T), 1.0)


def test_what_nobody_states_is_ideal_at_the_median_and_drawn_from_what_is_typical():
    loss = ideally("0", prior("1e-6", factor_spread(10.0), "a study"))
    assert Draw()(loss) == 0.0
    drawn = Draw(2048)(loss)
    assert np.median(drawn) == pytest.approx(1e-6, rel=0.01)
    assert np.exp(np.log(drawn).std()) == pytest.approx(10.0, rel=0.02)
    assert np.median(Draw(64)(Quantity(0.0, "1", 0.5, "stated"))) == 0.0
