"""`workers`: who runs a replica, and after which others, changes nothing of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.description import spec
from dtnsim.ground import yamlio
from dtnsim.simulation.fleet import run
from dtnsim.simulation.fleet.run import fleet

YARD = """
name: a yard
hosts: {a: example-dtn-100g, b: example-dtn-100g}
wan: {bandwidth: 10 Gb/s, rtt: 20 ms}
workload:
  span: 1 d
  classes:
    u: {from: "a:/xfs", to: "b:/xfs", tool: scp, size: {median: 20 GB, sigma: 1}, rate: 60 /day}
  failures: [{links: wan, mtbf: 12 h, mttr: 1 h}]
"""
REPLICAS = 8
NUMBERS = range(1, REPLICAS)


@pytest.fixture(scope="module")
def yard():
    return spec.resolve(yamlio.loads(YARD, "yard.yaml"))


@pytest.fixture(scope="module")
def alone(yard):
    """What one worker answers."""
    task = run.Task(yard, 3, REPLICAS)
    return {number: repr(run.replica(task, number)) for number in NUMBERS}


@settings(max_examples=5, deadline=None)
@given(st.permutations(NUMBERS), st.lists(st.integers(0, 7), min_size=len(NUMBERS), max_size=len(NUMBERS)))
def test_replicas_are_the_same_on_one_worker_and_on_up_to_eight(yard, alone, order, dealt):
    found = {}
    for worker in set(dealt):
        mine = [number for number, to in zip(order, dealt, strict=True) if to == worker]
        task = run.Task(yard, 3, REPLICAS)  # composed anew, as each process does
        found |= {number: repr(run.replica(task, number)) for number in mine}
    assert found == alone
    assert len(set(found.values())) == len(NUMBERS)


@pytest.mark.long
def test_a_seed_gives_the_same_answer_on_one_process_and_on_eight(yard):
    one, eight = (fleet(yard, replicas=9, seed=3, processes=count) for count in (1, 8))
    assert repr(one.runs) == repr(eight.runs)
