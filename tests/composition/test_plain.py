"""Which transfers are plain flows (plainness), and what they charge together (plain)."""

from typing import Any

import pytest

from dtnsim.components.base import find_kind, kinds
from dtnsim.composition.compose import compose
from dtnsim.composition.plain import plain
from dtnsim.ground.quantity import Draw
from dtnsim.tools.network_tests import Iperf3
from dtnsim.tools.plan import Job, Tool
from tests.each import rows
from tests.lab import journey, machine, volume
from tests.strategies import load

DATA = {"files": 1, "size": "10 GB"}
SSD = volume({"kind": "ssd", "read": "2 GB/s", "write": "1 GB/s"})


def one(**changes: Any) -> dict[str, Any]:
    return journey(**{"tool": "iperf3", "dataset": DATA, "wan": {"bandwidth": "10 Gb/s", "rtt": "10 ms"}, **changes})


@pytest.mark.parametrize(("changes", "why"), rows("composition/tables", "what_is_no_plain_flow"))
def test_what_is_no_plain_flow(changes: dict[str, Any], why: str) -> None:
    assert plain(load(one(**changes))) is None, why


def test_ends_that_are_no_memory_and_transfers_that_wait_are_not_plain() -> None:
    path = one()
    assert plain(load(path)) is not None
    disk = one(source=machine(volumes={"/d": SSD}), start="a:/d", tool="nuttcp")
    assert plain(load(disk)) is None
    again = {**path["transfer"], "name": "again", "after": ["first"]}
    chain = {k: v for k, v in path.items() if k != "transfer"} | {
        "transfers": [{**path["transfer"], "name": "first"}, again]
    }
    assert plain(load(chain)) is None
    assert plain(load({**path, "events": [{"at": "1 s", "station": "network.wan", "factor": 0.5}]})) is None


def test_flows_that_differ_in_numbers_alone_are_one_kind() -> None:
    path = one()
    flow = path.pop("transfer")
    rates = (None, "1 Gb/s", "2 Gb/s", "3 Gb/s")
    path["transfers"] = [
        {**flow, "name": f"f{n}", "dataset": {"files": 1, "size": f"{n + 1} GB"}, "start": f"{n} s",
         "tool": {"name": "iperf3", **({"b": rate} if rate else {})}}
        for n, rate in enumerate(rates)
    ]  # fmt: skip
    found = plain(load(path))
    assert found.kind.tolist() == [0, 1, 1, 1]
    assert found.target[1:] * 8 == pytest.approx([1e9, 2e9, 3e9])
    assert found.start.tolist() == [0, 1, 2, 3]
    shared = {s.name: s.capacity for s in compose(load(path), Draw()).stations if not s.private}
    assert {s.name: s.capacity for s in found.stations.values() if not s.private} == shared


TOOLS = [find_kind(kind) for kind, where in kinds().items() if where.startswith("dtnsim.tools.")]


@pytest.mark.parametrize("tool", [t for t in TOOLS if issubclass(t, Tool) and t.pace is not None], ids=lambda t: t.kind)
def test_a_plan_that_is_the_same_for_every_job(tool: type[Tool]) -> None:
    """What `Tool.pace` promises: the job moves nothing of the plan, the option the target rate alone."""
    jobs = [
        Job("one", 1, 1e9, 1e9, 0, 0.0, "memory", "memory", 8, apart=False, sizes_B=(1e9,), counts=(1,)),
        Job("other", 1, 5e12, 5e12, 0, 0.2, "memory", "memory", 128, apart=True, sizes_B=(5e12,), counts=(1,)),
    ]
    made = tool.model_validate({})
    assert made.plan(jobs[0]) == made.plan(jobs[1])
    if not tool.pace:
        return
    plans = [tool.model_validate({tool.pace: f"{rate} Gb/s"}).plan(jobs[0]) for rate in (1, 3)]
    uses = [plan.steps[0].net for plan in plans]
    assert uses[1].rate.value == pytest.approx(3 * uses[0].rate.value)
    assert uses[0].key("rate") == uses[1].key("rate") == made.plan(jobs[0]).steps[0].net.key("rate")
    assert plans[0].opening == plans[1].opening


def test_iperf3_sets_a_rate_for_each_stream() -> None:
    assert Iperf3.pace == "b"
