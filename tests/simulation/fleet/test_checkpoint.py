"""Who runs a replica, and after which others, changes nothing of it; a run that is broken off goes on as it would."""

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dtnsim.description import spec
from dtnsim.ground import yamlio
from dtnsim.ground.errors import InputError
from dtnsim.simulation.fleet import checkpoint, compiled, run
from dtnsim.simulation.fleet.run import fleet
from tests.each import tables
from tests.simulation.fleet.test_compiled import same
from tests.simulation.fleet.test_event_loop import scene
from tests.simulation.fleet.test_fleet import MIXED, path
from tests.simulation.fleet.yard import course, ended


def halves(given_, cut, file, first=False, second=False):
    """A run in one piece, and one that is kept after some events and goes on elsewhere."""
    whole, part, rest = (course(**given_, fast=fast) for fast in (False, first, second))
    ended(whole)
    if not part.run(cut):
        checkpoint.save(part, file, "this")
        assert checkpoint.load(rest, file, "this")
        ended(rest)
        same(rest, whole)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 120))
def test_a_run_goes_on_from_the_middle_to_the_same_bytes(seed, cut, tmp_path):
    halves(scene(seed), cut, tmp_path / "kept.0")


@pytest.mark.long
@pytest.mark.skipif(not compiled.compiles(), reason="numba is not installed")
@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_plain_and_compiled_runs_go_on_from_each_other(first, second, tmp_path):
    for seed in range(5):
        halves(scene(seed), 40, tmp_path / "kept.0", first, second)


def test_what_waits_for_room_among_the_flows_waits_for_it_after_a_break_too(tmp_path):
    halves({"capacity": [1.0], "ready": [0.0] * 300, "size": [1.0] * 300, "until": 1e4}, 1, tmp_path / "kept.0")


def test_only_whole_files_of_the_same_fleet_are_gone_on_from(tmp_path):
    file, made = tmp_path / "kept.0", course(**scene(1))
    assert not checkpoint.load(made, file, "this")
    made.run(20)
    checkpoint.save(made, file, "this")
    with pytest.raises(InputError, match="another path, workload or seed"):
        checkpoint.load(made, file, "that")
    file.write_bytes(file.read_bytes()[:500])
    assert not checkpoint.load(made, file, "this")
    checkpoint.save(made, file, "this")
    whole = bytearray(file.read_bytes())
    for at in [*range(0, len(whole), 1 + len(whole) // 200), *range(120), *range(len(whole) - 120, len(whole))]:
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with contextlib.suppress(InputError):  # in no other words
            checkpoint.load(course(**scene(1)), file, "this")
    with pytest.raises(InputError, match="cannot be written"):
        checkpoint.save(made, tmp_path / "no" / "kept.0", "this")


def test_ctrl_c_within_a_replica_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_LOOK", 200)
    given = path(MIXED, span="20 d")
    whole = fleet(given, replicas=1)
    file, within = tmp_path / "kept.jsonl", tmp_path / "kept.jsonl.0"
    part = fleet(given, replicas=1, checkpoint=file, progress=lambda now, share, done: done > 300)
    assert part.runs[0].total.done < whole.runs[0].total.done
    assert within.exists()
    rest = fleet(given, replicas=1, checkpoint=file)
    assert repr(rest.runs) == repr(whole.runs)
    assert not within.exists()


REPLICAS = 5
NUMBERS = range(1, REPLICAS)


@pytest.fixture(scope="module")
def yard():
    return spec.resolve(yamlio.loads(tables("simulation/fleet/tables")["a yard"], "yard.yaml"))


@pytest.fixture(scope="module")
def alone(yard):
    """What one worker answers."""
    task = run.Task(yard, 3, REPLICAS)
    return {number: repr(run.replica(task, number)) for number in NUMBERS}


@settings(max_examples=5)
@given(st.permutations(NUMBERS), st.lists(st.integers(0, 7), min_size=len(NUMBERS), max_size=len(NUMBERS)))
def test_replicas_are_the_same_on_one_worker_and_on_up_to_four(yard, alone, order, dealt):
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
