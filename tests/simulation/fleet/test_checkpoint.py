"""A run that is broken off goes on to the same bytes: `saved` in mid-run, `workers` for the replicas."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dtnsim.ground.errors import InputError
from dtnsim.simulation.fleet import checkpoint, compiled, run
from dtnsim.simulation.fleet.run import fleet

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

from test_compiled import same  # noqa: E402
from test_event_loop import scene  # noqa: E402
from test_fleet import MIXED, path  # noqa: E402
from yard import course, ended  # noqa: E402


def halves(seed, cut, file, first=False, second=False):
    """A run in one piece, and one that is kept after some events and goes on elsewhere."""
    whole, part, rest = (course(**scene(seed), fast=fast) for fast in (False, first, second))
    ended(whole)
    if not part.run(cut):
        checkpoint.save(part, file, "this")
        assert checkpoint.load(rest, file, "this")
        ended(rest)
        same(rest, whole)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 120))
def test_a_run_goes_on_from_the_middle_to_the_same_bytes(seed, cut, tmp_path):
    halves(seed, cut, tmp_path / "kept.0")


@pytest.mark.long
@pytest.mark.skipif(not compiled.compiles(), reason="numba is not installed")
@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_plain_and_compiled_runs_go_on_from_each_other(first, second, tmp_path):
    for seed in range(5):
        halves(seed, 40, tmp_path / "kept.0", first, second)


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
    file = tmp_path / "kept.jsonl"
    part = fleet(given, replicas=1, checkpoint=file, progress=lambda now, share, done: done > 300)
    assert not part.complete
    assert part.runs[0].total.done < whole.runs[0].total.done
    assert (tmp_path / "kept.jsonl.0").exists()
    rest = fleet(given, replicas=1, checkpoint=file)
    assert repr(rest.runs) == repr(whole.runs)
    assert not (tmp_path / "kept.jsonl.0").exists()
