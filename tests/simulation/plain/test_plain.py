"""Plain flows as columns (columns, course, answer, words): the same as each by a process of its own on SimPy."""

import pickle
from random import Random
from typing import Any

import numpy as np
import pytest

from dtnsim.description.spec import PathSpec
from dtnsim.ground.errors import ModelError
from dtnsim.ground.lazy import LazyItems
from dtnsim.report import simulation as report
from dtnsim.simulation import simulate
from dtnsim.simulation.plain import flow_events
from dtnsim.simulation.results import Run, Simulation
from tests.lab import machine
from tests.strategies import load

LINKS = {"l1": ("h0", "r"), "l2": ("h1", "r"), "core": ("r", "q"), "l3": ("q", "h2"), "l4": ("q", "h3")}


def mesh(seed: int, wan: dict[str, Any], *, count: int = 16, linked: bool = False) -> PathSpec:
    """Flows of unlike tools and beginnings between unlike hosts, over one WAN or links that they share."""
    random = Random(seed)
    tools = [
        lambda: {"name": "iperf3"}, lambda: {"name": "iperf3", "P": 4}, lambda: {"name": "nuttcp", "N": 2},
        lambda: {"name": "iperf3", "b": f"{random.randint(100, 3000)} Mb/s"}, lambda: {"name": "netperf"},
        lambda: {"name": "nuttcp", "R": f"{random.randint(100, 3000)} Mb/s"},
        lambda: {"name": "iperf3", "u": "true", "b": "500 Mb/s"},
    ]  # fmt: skip
    tcp = {"rmem_max": "256 MiB", "wmem_max": "256 MiB"}
    hosts = {
        f"h{n}": machine(tcp=tcp, nic={"kind": "nic", "rate": f"{rate} Gb/s", "mtu": "9000 B"})
        for n, rate in enumerate((10, 25, 1, 10))
    }
    transfers = []
    for n in range(count):
        ends = [random.randrange(2), 2 + random.randrange(2)]
        if random.random() < 0.2:
            ends.reverse()
        one = {
            "name": f"t{n}", "from": f"h{ends[0]}:memory", "to": f"h{ends[1]}:memory", "tool": random.choice(tools)(),
            "dataset": {"files": 1, "size": f"{random.randint(1, 20_000)} MB"},
        }  # fmt: skip
        transfers.append({**one, "start": f"{20 * random.random():.3f} s"} if random.random() < 0.5 else one)
    path: dict[str, Any] = {"name": "mesh", "hosts": hosts, "transfers": transfers}
    if linked:
        path["links"] = {name: {**wan, "between": list(ends)} for name, ends in LINKS.items()}
    else:
        path["wan"] = wan
    return load(path)


def by_processes(given: PathSpec, monkeypatch: pytest.MonkeyPatch, **how: Any) -> Simulation:
    with monkeypatch.context() as patch:
        patch.setattr("dtnsim.simulation.runs.plain", lambda _given: None)
        return simulate(given, **how)


WANS = [
    ({"bandwidth": "20 Gb/s", "rtt": "20 ms", "buffer": "30 MB"}, False),  # connections open up
    ({"bandwidth": "20 Gb/s", "rtt": "20 ms", "buffer": "30 MB", "loss": "1e-5"}, True),  # and overshoot loss
    ({"bandwidth": "5 Gb/s", "rtt": "0.05 ms"}, False),  # open at once, and share
]


@pytest.mark.parametrize(("number", "wan", "linked"), [(n, *wan) for n, wan in enumerate(WANS)])
def test_columns_end_as_processes_do(
    number: int, wan: dict[str, Any], linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = mesh(number, wan, linked=linked)
    ours, theirs = simulate(given), by_processes(given, monkeypatch)
    (run,), (other,) = ours.runs, theirs.runs
    assert isinstance(run.transfers, LazyItems), "they are not plain"
    assert (ours.warnings, ours.complete, run.complete) == (theirs.warnings, True, True)
    assert sorted(run.stations) == sorted(other.stations)
    for f, (t, u) in enumerate(zip(run.transfers, other.transfers, strict=True)):
        assert t.finished_s == pytest.approx(u.finished_s, rel=1e-9)
        assert (t.name, t.started_s, t.files, t.payload_B) == (u.name, u.started_s, u.files, u.payload_B)
        assert (t.moving_s, t.waiting_s) == pytest.approx((u.moving_s, u.waiting_s), rel=1e-9, abs=1e-9)
        assert t.file_s == pytest.approx(u.file_s)
        assert [h.station for h in t.held] == [h.station for h in u.held]
        assert [h.end_s for h in t.held] == pytest.approx([h.end_s for h in u.held], rel=1e-9)
        assert ours.why[f] == theirs.why[f]
    place = {name: k for k, name in enumerate(run.stations)}
    order = [place[name] for name in other.stations]
    for name in ("edge_s", "rate_Bps", "medium_Bps", "cached_B"):
        mine, its = getattr(run.series, name), getattr(other.series, name)
        # an edge lies to a rounding where the other's does: as much of the fastest rate may fall into the next bin
        np.testing.assert_allclose(mine, its, rtol=1e-9, atol=max(1e-10 * its.max(), 1e-6))
    for name in ("utilization", "flows"):
        mine = getattr(run.series, name)[:, order]
        np.testing.assert_allclose(mine, getattr(other.series, name), rtol=1e-9, atol=1e-9)


def test_a_run_can_end_before_all_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    given = mesh(7, WANS[0][0])
    whole = simulate(given).runs[0]
    ours, theirs = simulate(given, until=8.0).runs[0], by_processes(given, monkeypatch, until=8.0).runs[0]
    assert not ours.complete
    assert (ours.end_s, ours.interrupted) == (theirs.end_s, False) == (8.0, False)
    for t, u in zip(ours.transfers, theirs.transfers, strict=True):
        assert t.payload_B == pytest.approx(u.payload_B, rel=1e-9, abs=1.0)
        assert (t.files, t.started_s, t.finished_s) == pytest.approx((u.files, u.started_s, u.finished_s), nan_ok=True)
        assert [h.station for h in t.held] == [h.station for h in u.held]
    assert {t.files for t in ours.transfers} == {0, 1}
    assert [t.finished_s for t in ours.transfers if t.files] == pytest.approx(
        [u.finished_s for t, u in zip(ours.transfers, whole.transfers, strict=True) if t.files], rel=1e-12
    )


def test_a_run_can_be_stopped_and_is_given_up_after_too_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_events, "_TELL_EVERY", 10)
    given = mesh(1, WANS[2][0])
    told: list[float] = []

    def stop(now: float, share: float) -> bool:
        told.append(share)
        return now > 0

    stopped = simulate(given, progress=stop)
    assert stopped.interrupted
    assert not stopped.complete
    assert 0 < told[-1] < 1
    with pytest.raises(ModelError, match="given up after 25 events"):
        simulate(given, max_events=25)
    assert simulate(given, max_events=1000).complete


def records(run: Run) -> list[Any]:
    return [(t.name, t.finished_s, tuple(t.held)) for t in run.transfers]


def test_equal_runs_give_equal_bytes_and_can_be_sent_elsewhere() -> None:
    given = mesh(2, WANS[2][0], count=6)
    one, other = simulate(given), simulate(given)
    assert report.document(one) == report.document(other)
    sent = pickle.loads(pickle.dumps(one.runs[0]))
    assert records(sent) == records(one.runs[0])
    assert np.array_equal(sent.series.rate_Bps, one.runs[0].series.rate_Bps)
    assert tuple(sent.stations) == tuple(one.runs[0].stations)


def test_the_first_of_many_runs_is_that_of_one() -> None:
    given = mesh(3, WANS[0][0], count=8)
    alone, first = simulate(given), simulate(given, replicas=2)
    ends = [[t.finished_s for t in s.runs[0].transfers] for s in (alone, first)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)
