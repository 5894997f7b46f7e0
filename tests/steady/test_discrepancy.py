"""The spread beyond that of the parameters: laws, noise, caps; and what is not stated."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dtnsim.description import spec
from dtnsim.ground import library, yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Draw
from dtnsim.physics import _arrays
from dtnsim.steady import discrepancy, solve
from dtnsim.steady.discrepancy import Discrepancy, Law, Noise
from dtnsim.steady.meetings import Meeting
from dtnsim.steady.prediction import predict
from dtnsim.steady.regime import Holders, Regime, setting
from dtnsim.steady.scenarios import capped, carriers, composed_and_drawn, interval
from dtnsim.steady.timed import composer
from tests.each import rows
from tests.lab import answer, journey
from tests.strategies import load, written

LEVELS = (np.arange(200_000) + 0.5) / 200_000
WIRE = Regime("wire", "test")


@pytest.mark.parametrize(
    ("quantile", "published"),
    [(discrepancy.t4_quantile, [2.1318, 2.7764, 4.6041]), (discrepancy.t2_quantile, [2.9200, 4.3027, 9.9248])],
)
def test_quantiles_of_student_t_with_four_and_two_degrees(quantile: Any, published: list[float]) -> None:
    """Published tables, at 95, 97.5 and 99.5 %."""
    found = quantile(np.array([0.5, 0.95, 0.975, 0.995, 0.025]))
    assert found == pytest.approx([0.0, *published, -published[1]], abs=2e-4)


def test_a_law_has_its_mode_and_its_two_scales() -> None:
    law = Law(0.1, 0.4, 0.2)
    at = law.ppf(LEVELS)
    assert np.mean(at < 0.1) == pytest.approx(0.4 / 0.6, abs=1e-4)  # two-piece: sides go with their scales
    slow, fast = 0.1 - at[at < 0.1], at[at > 0.1] - 0.1
    # half of either side lies within the third quartile of the t
    assert np.median(slow) == pytest.approx(0.4 * 0.8165, rel=1e-3)
    assert np.median(fast) == pytest.approx(0.2 * 0.8165, rel=1e-3)
    assert np.all(np.diff(at) > 0)
    assert np.all(Law().ppf(LEVELS[:9]) == 0.0)


def test_group_goes_before_kind_and_kind_before_the_default() -> None:
    laws = Discrepancy(Law(0, 3, 3), {"production/core/ssh": Law(0, 1, 1), "production/core": Law(0, 2, 2)})
    assert [laws.law(Regime(*r)).below for r in (("core", "ssh"), ("core", "test"), ("disk", "ssh"))] == [1, 2, 3]


def factors(laws: Discrepancy, draw: Draw, *regimes: Regime, mean: bool = False) -> Any:
    """Factors of transfers beside each other, all of whose stations are of one kind each."""
    transfers = [{"name": f"t{n}", "from": "a:memory", "to": "b:memory", "tool": "iperf3"} for n in range(len(regimes))]
    problem = composer(load(journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers)), Draw()).problem()
    m = solve.matrices(problem)
    held, rate = [Holders(r, {}, {}) for r in regimes], solve.solve(m).rate
    given = (m, rate, rate, np.arange(draw.samples))
    return laws.factors(draw, held, replace(problem, connections={}), given, mean=mean)


def test_noise_of_a_random_day_is_that_of_runs_and_of_days() -> None:
    laws = Discrepancy(noises={"wire": Noise(0.03, 0.04)})
    one = np.log(factors(laws, Draw(4096), WIRE)[:, 0])
    assert one.std() == pytest.approx(0.05, rel=0.03)  # a t has part of its variance beyond the outermost scenario
    alone = np.log(factors(laws, Draw(4096), WIRE._replace(dedicated=True))[:, 0])
    assert alone.std() == pytest.approx(0.03, rel=0.03)
    assert np.all(factors(laws, Draw(64), WIRE, mean=True) == 1.0)


def test_model_error_and_noise_add_up_and_are_drawn_apart() -> None:
    laws = Discrepancy(laws={"production/wire": Law(0, 0.1, 0.1)}, noises={"wire": Noise(0.2, 0)})
    draw = Draw(8192)
    both = np.log(factors(laws, draw, WIRE)[:, 0])
    error, noise = 0.1 * discrepancy.t2_quantile(LEVELS), 0.2 * discrepancy.UNIT * discrepancy.t4_quantile(LEVELS)
    apart = error + np.random.default_rng(1).permutation(noise)
    assert np.quantile(both, (0.1, 0.9)) == pytest.approx(np.quantile(apart, (0.1, 0.9)), rel=0.05)
    assert set(draw.scores) == {"discrepancy production/wire/test", "discrepancy test", "repeat wire"}


def test_transfers_of_one_kind_share_what_the_model_has_wrong_and_others_a_part() -> None:
    from scipy.stats import kendalltau  # half a second, which collecting need not take

    laws = Discrepancy(Law(0, 0.3, 0.3))
    core = WIRE._replace(kind="core")
    found = factors(laws, Draw(4096), WIRE, WIRE, core, core._replace(tool="ssh"), mean=True)
    assert np.array_equal(found[:, 0], found[:, 1])
    # Kendall's tau of a Clayton copula with parameter 1 is 1 / 3 (Nelsen 2006, ex. 5.4)
    assert kendalltau(found[:, 0], found[:, 2])[0] == pytest.approx(1 / 3, abs=0.04)
    assert abs(kendalltau(found[:, 0], found[:, 3])[0]) < 0.05
    one, other = (np.argsort(np.argsort(found[:, f])) / 4096 for f in (0, 2))
    assert np.mean(other[one > 0.95] > 0.5) > 0.9  # fast sides go together,
    assert np.mean(other[one < 0.05] < 0.5) < 0.8  # slow ones in part


def test_each_station_is_off_by_its_own_error() -> None:
    """Of a path that uses all of a link, 80 % of its memory: that holds it where its error is worse than that."""
    given = load(journey(wan={"bandwidth": "10 Gb/s", "rtt": "1 ms", "loss": 0, "background": {"share": 0}}))
    problem = composer(given, Draw()).problem()
    m = solve.matrices(problem)
    names, rate = [s.name for s in problem.stations], solve.solve(m).rate
    memory, link = names.index("a.memory"), names.index("network.wan")
    m.capacity[0, [memory, link]] = m.loads(rate)[0, [memory, link]] / np.array([0.8, 1.0])
    exact, off = Regime("wire", "test"), Regime("bus", "test")
    usual = replace(m, capacity=m.capacity.copy())  # where memory is far from full, which scenarios do not ask
    usual.capacity[0, memory] *= 100
    meeting = Meeting(problem, usual, solve.solve(usual), (0,), (0,))
    laws = Discrepancy(Law(), {"production/bus": Law(0, 0.3, 0.3)})
    draw, given = Draw(512), (m, rate, rate, np.arange(512))
    alone = np.exp(Law(0, 0.3, 0.3).ppf((np.arange(512) + 0.5) / 512))
    for of in (None, meeting):
        held = [Holders(exact, {names[memory]: off}, {}, of)]
        found = laws.factors(draw, held, replace(problem, connections={}), given, mean=True)[:, 0]
        assert np.sort(found) == pytest.approx(np.minimum(1.0, alone / 0.8))


@pytest.mark.parametrize(("path", "key", "values"), rows("steady/tables", "faster_parts"))
def test_no_quantile_falls_with_a_faster_part(path: str | dict[str, Any], key: str, values: list[str]) -> None:
    """p10 as well: what then holds the transfer held it before, with the same error, to a thousandth."""
    given = load({"name": "one", **path}) if isinstance(path, dict) else spec.load(path)
    key = key.format(given.transfers[0].to.partition(":")[0])
    found = [predict(given.changed([f"{key}={value}"]), samples=256).throughput_Bps for value in values]
    for one, other in pairwise(found):
        assert np.all(np.array([other.p10, other.p50, other.p90]) >= np.array([one.p10, one.p50, one.p90]) * (1 - 1e-3))


@pytest.mark.parametrize(("kind", "held"), [("window", "hosts.b.tcp.rmem_max=24 MiB"), ("loss", "wan.loss=2e-6")])
def test_no_quantile_falls_where_a_faster_link_leaves_a_connection_to_another_limit(kind: str, held: str) -> None:
    """Windows or loss are far less certain than links: their error is there before they alone hold the connection."""
    network = {"bandwidth": "10 Gb/s", "rtt": "20 ms", "mtu": "9000 B", "loss": 0, "background": {"share": 0}}
    given, laws = load(journey(wan=network)), Discrepancy(Law(), {f"isolated/{kind}": Law(-0.3, 0.1, 0.1)})
    found, limits = [], []
    for rate in (2, 4, 5, 6, 8, 12, 20):
        path = given.changed([held, f"wan.bandwidth={rate} Gb/s"])
        drawn = composed_and_drawn(path, 256, 1, mean=False)[1]
        limits += [str(np.ravel(c.limit)[0]) for c in drawn.problem.connections.values()]
        found.append(np.quantile(drawn.rates(laws, mean=True), (0.1, 0.5, 0.9)))
    assert {"link", kind} <= set(limits)
    for one, other in pairwise(found):
        assert np.all(other >= one * 0.99)


def test_no_scenario_moves_more_than_the_wires_carry() -> None:
    """Two transfers on one 10 Gb/s segment: asked for ten times as much, they get the wire between them."""
    transfers = [{"name": n, "from": "a:memory", "to": "b:memory", "tool": "iperf3"} for n in "xy"]
    given = load(journey(wan={"bandwidth": "10 Gb/s"}, transfers=transfers))
    problem = composer(given, Draw()).problem()
    m = solve.matrices(problem)
    rates = solve.solve(m).rate
    kinds, told = [s.kind for s in problem.stations], ["target"] * len(problem.stations)
    guessed = replace(m, capacity=m.capacity * np.array([[1.0], [1.1]]))
    uneven = np.array([[1.6, 0.2]])
    for there, of_kinds, factor, left in (
        (m, kinds, 10, 1),
        (m, kinds, 0.5, 0.5),
        (m, kinds, uneven, uneven),
        (m, ["core"] * len(kinds), 10, 10),
        (m, told, 10, 1),  # what a tool is told to keep, it keeps
        (guessed, told, 10, 10),
    ):
        wires = carriers(there, of_kinds, rates, m.total.demand)
        assert capped(rates * factor, wires) == pytest.approx(rates * left)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_p90_is_never_above_the_narrowest_wire(seed: int) -> None:
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": "10 ms"})
    found = predict(load(path), seed=seed)
    wire = answer(path).throughput_Bps.p50
    assert found.throughput_Bps.p90 <= wire * (1 + 1e-9)
    assert found.throughput_Bps.p10 < 0.95 * wire
    assert found.drawn is not None
    assert found.drawn.total_Bps.max() < 1.25e9


def test_the_mean_is_better_known_than_one_run() -> None:
    given = load(journey(wan={"bandwidth": "10 Gb/s"}))
    run, mean = (predict(given, samples=1024, mean=m).throughput_Bps for m in (False, True))
    assert mean.p10 > run.p10
    assert mean.p50 == pytest.approx(run.p50, rel=0.03)  # luck has no direction


def stated(**wan: Any) -> dict[str, Any]:
    return journey(wan={"bandwidth": "10 Gb/s", "rtt": "30 ms", **wan}, tool={"name": "gridftp", "p": 4},
                   dataset={"files": 1, "size": "1 TB"})  # fmt: skip


def test_stating_what_a_path_is_like_narrows_the_answer_step_by_step() -> None:
    steps = [stated(), stated(loss={"value": "1e-8", "spread": 0.3})]
    steps.append(stated(loss={"value": "1e-8", "spread": 0.3}, background={"share": {"value": "5 %", "spread": 0.3}}))
    steps.append({**steps[-1], "wan": {**steps[-1]["wan"], "buffer": "60 MB"}})
    for host in ("a", "b"):
        steps.append({**steps[-1], "hosts": dict(steps[-1]["hosts"])})
        steps[-1]["hosts"][host] = {**steps[-1]["hosts"][host], "tcp": {"rmem_max": "256 MB", "wmem_max": "256 MB"}}
    widths = []
    for path in steps:
        given = load(path)
        drawn = composed_and_drawn(given, 1024, 1, mean=False)[1].parameters[:, 0]
        low, high = np.quantile(drawn, (0.1, 0.9))
        widths.append(math.log(high / low))
    assert all(b <= a * 1.02 for a, b in pairwise(widths)), widths
    assert widths[-1] < 0.2 * widths[0]
    whole = [predict(load(p), samples=512).throughput_Bps for p in (steps[0], steps[-1])]
    assert whole[1].p90 / whole[1].p10 < whole[0].p90 / whole[0].p10
    assert whole[0].p10 < 0.9 * whole[0].p50  # where little is stated nothing is certain


def test_the_answer_says_what_is_not_stated() -> None:
    # buffers that are tuned, so that loss and others decide
    host = {"tcp": {"rmem_max": "1 GB", "wmem_max": "1 GB"}}
    path = stated(mtu="1500 B")  # with the jumbo frames of its hosts it would not be the Internet
    path["hosts"] = {h: {**v, **host} for h, v in path["hosts"].items()}
    found = answer(path, samples=256)
    assert set(found.unstated) & {"wan.medium", "wan.loss", "wan.0.loss"}  # the kind of network, which loss goes by
    assert found.throughput_Bps.p50 < 0.9 * found.ceiling
    quiet = stated(loss="0", background={"share": {"value": "0 %", "spread": 0}}, buffer="1 GB")
    quiet["hosts"] = path["hosts"]
    assert not answer(quiet, samples=256).unstated


@pytest.mark.parametrize("device", ["unknown", {"kind": "unknown"}])
def test_unknown_drives_and_cards_are_wide_and_a_benchmark_narrows_them(device: Any) -> None:
    host = {
        "cpu": {"kind": "cpu", "cores": 16, "clock": "3 GHz"},
        "memory": {"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": "64 GiB"},
        "nic": {"rate": "100 Gb/s"},
        "volumes": {"/data": {"filesystem": {"kind": "xfs"}, "array": device}},
    }
    path = journey(host, host, wan={"bandwidth": "100 Gb/s"}, start="a:/data", to="b:memory", tool="gridftp")
    found = [answer(path, samples=512)]
    found.append(answer(path, "hosts.a.volumes./data.array={kind: unknown, read: 800 MB/s}", samples=512))
    wide, known = (f.throughput_Bps for f in found)
    assert wide.p90 / wide.p10 > 4
    assert known.p90 / known.p10 < 0.5 * wide.p90 / wide.p10
    assert found[1].ceiling == pytest.approx(found[0].ceiling)


def test_an_interval_has_the_quantiles_of_its_scenarios() -> None:
    drawn = np.linspace(1.0, 2.0, 101)
    assert [*interval(drawn).as_dict().values()] == pytest.approx([1.0 + level for level in _arrays.LEVELS], abs=0.011)
    assert interval(drawn, 0.5).p10 == pytest.approx(1.25, abs=0.011)
    assert interval(drawn[:1]).as_dict() == {"p10": drawn[0], "p50": drawn[0], "p90": drawn[0]}


def test_a_file_that_is_no_discrepancy_is_refused(tmp_path: Any) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("schema: dtnsim.cases/1\n")
    with pytest.raises(SpecError, match="discrepancy"):
        discrepancy.load(file)
    law = "{location: 0, below: 0.2, above: 0.1}"
    text = f"default: {law}\nkinds: {{wire: {law}}}\nrepeat: {{wire: {{same_day: 0.1, another_day: 0}}}}\n"
    read = discrepancy.read(yamlio.loads(text, "d"))
    assert read.law(WIRE) == Law(0, 0.2, 0.1)
    assert read.noise(WIRE).random_day == pytest.approx(0.1)


@pytest.mark.parametrize("name", ["venadi/dd-zfs-nosync", "nasa/nuttscp-2of7-get", "uci/rm-local-t530",
                                  "uci/perfsonar", "esnet/lbl-anl-globus", "venadi/scp"])  # fmt: skip
def test_no_answer_is_certain(name: str) -> None:
    found = predict(name)
    assert found.throughput_Bps.p10 < found.throughput_Bps.p50 <= found.throughput_Bps.p90


@pytest.mark.parametrize(
    ("wan", "says"),
    [({}, "production"), ({"loss": "0"}, "production"), ({"loss": "0", "background": {"share": 0}}, "isolated"),
     ({"loss": "0", "background": {"share": "20 %"}}, "production")],
)  # fmt: skip
def test_a_path_is_isolated_where_its_network_is_stated_whole(wan: dict[str, Any], says: str) -> None:
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": "1 ms", **wan})
    assert setting(load(path)) == says
    assert setting(load({**path, "setting": "isolated"})) == "isolated"
    assert setting(load({**path, "setting": "production"})) == "production"


def test_a_trace_of_other_traffic_moves_little_and_the_answer_says_what_either_setting_would_give() -> None:
    wan = {"bandwidth": "100 Gb/s", "rtt": "100 ms", "loss": "0"}
    shares = ("0", "0.1 %", "5 %", "30 %")
    answers = [predict(load(journey(wan={**wan, "background": {"share": share}}))) for share in shares]
    medians = [p.throughput_Bps.p50 for p in answers]
    assert medians[1] == pytest.approx(medians[0], rel=0.01)
    assert medians == sorted(medians, reverse=True)
    said = [next((a.value, a.low, a.high) for a in p.assumed if a.key == "setting") for p in answers]
    both = ("between the two", "isolated", "production")
    assert said == [("isolated", "production", "production"), both, both, both]


def test_hosts_that_were_calibrated_are_a_setting_of_their_own(tmp_path: Path) -> None:
    assert setting(spec.load("venadi/scp")) == "measured"
    assert setting(spec.load("venadi/scp", calibration="none")) == "production"
    assert setting(spec.load("venadi/scp", {"setting": "isolated"})) == "isolated"
    elsewhere = spec.load("examples/dtn-100g-xfs", calibration="venadi")
    assert setting(elsewhere) == "production", "another host's tests say nothing of these"
    assert "no host here" in elsewhere.notes[0]
    fitted = library.calibration("venadi").read_text().replace("unexplained: []", "unexplained: [2 runs agree]")
    contradicted = written(tmp_path / "f.yaml", fitted)
    assert setting(spec.load("venadi/scp", calibration=contradicted)) == "production"


def test_an_isolated_path_is_known_better_and_stays_at_the_ceiling() -> None:
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": "1 ms", "loss": "0", "background": {"share": 0}})
    lab, field = (predict(load({**path, "setting": s})) for s in ("isolated", "production"))
    assert lab.ceiling == field.ceiling
    assert lab.throughput_Bps.p50 > 0.98 * lab.ceiling
    assert lab.throughput_Bps.p10 > field.throughput_Bps.p10
