"""Transfers with starts of their own: who meets whom, and what earlier ones leave to later ones."""

from typing import Any

import pytest

import dtnsim
from dtnsim.steady import epochs, timed
from tests.strategies import load


def _writers(*starts: str) -> dict[str, Any]:
    host = {
        "cpu": {"kind": "cpu", "cores": 8, "clock": "3 GHz"},
        "memory": {"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": "32 GiB"},
        "volumes": {"/d": {"filesystem": {"kind": "xfs"}, "array": {"kind": "ssd", "read": "400 MB/s",
                                                                    "write": "300 MB/s"}}},
    }  # fmt: skip
    host["vm"] = {"dirty_ratio": "40 %", "dirty_background_ratio": "10 %"}
    one = {"from": "a:memory", "to": "a:/d", "tool": {"name": "dd", "bs": "1 MiB"}, "dataset": {"size": "9 GB"}}
    return {
        "name": "writers",
        "hosts": {"a": host},
        "transfers": [{**one, "name": f"t{n}", "start": start} for n, start in enumerate(starts)],
    }


@pytest.mark.parametrize("starts", [("0 s", "3600 s"), ("0 s", "5 s"), ("7200 s", "0 s", "3600 s")])
def test_who_has_ended_before_others_begin_does_not_meet_them(starts: tuple[str, ...]) -> None:
    """The second dd has the page cache to itself, or finds what the first has left dirty, as in simulate."""
    spec = load(_writers(*starts))
    answer, run = dtnsim.predict(spec, samples=0), dtnsim.simulate(spec).runs[0]
    for here, there in zip(answer.transfers, run.transfers, strict=True):
        assert here.duration_s.p50 == pytest.approx(there.duration_s, rel=0.05)
    assert len({t.turn for t in answer.problem.transfers}) == len(starts)
    begins = [float(start.split()[0]) for start in starts]
    ends = max(b + t.duration_s.p50 for b, t in zip(begins, answer.transfers, strict=True))
    assert answer.duration_s.p50 == pytest.approx(ends - min(begins))


def test_those_that_overlap_share_and_those_after_them_do_not() -> None:
    spec = load(_writers("0 s", "1 s", "900 s", "20 s"))
    assert [t.turn for t in dtnsim.predict(spec, samples=0).problem.transfers] == [0, 0, 1, 0]


def test_those_that_all_overlap_are_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself, then all: nobody looks again whether those in one turn stay there."""
    solved = list[int]()
    whole = epochs.rates
    monkeypatch.setattr(epochs, "rates", lambda problem: (solved.append(len(problem.transfers)), whole(problem))[1])
    assert set(timed._by_time(load(_writers("0 s", "1 s", "2 s", "3 s")), {})) == {0}
    assert len(solved) == 1


def test_turns_that_leave_nothing_to_others_are_not_composed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nightly copies of two hosts to disks of their own; a second one to the same host finds its dirty pages."""
    path = _writers("0 s", "3600 s")
    path["hosts"]["b"] = path["hosts"]["a"]
    path["transfers"][1] |= {"from": "b:memory", "to": "b:/d"}
    apart, same = load(path), load(_writers("0 s", "60 s"))
    alone = timed.history(apart, {})
    assert timed.history(same, {}).dirty_B
    monkeypatch.setattr(timed, "_leaves_nothing", lambda _outlines: False)
    assert timed.history(apart, {}) == alone
    monkeypatch.setattr(timed, "_leave", None)  # whoever works out what is left
    with pytest.raises(TypeError):
        timed.history(apart, {})
    monkeypatch.undo()
    monkeypatch.setattr(timed, "_leave", None)
    assert timed.history(apart, {}) == alone


def test_some_in_the_middle_of_a_row_wait_for_the_same_one() -> None:
    """Two wait for the first and share its drive, the last waits for one of them: all as if in time."""
    path = _writers("0 s", "0 s", "0 s", "0 s")
    for name, before in (("t1", "t0"), ("t2", "t0"), ("t3", "t1")):
        path["transfers"][int(name[1])]["after"] = [before]
    answer, run = dtnsim.predict(load(path), samples=0), dtnsim.simulate(load(path)).runs[0]
    for here, there in zip(answer.transfers, run.transfers, strict=True):
        assert here.duration_s.p50 == pytest.approx(there.duration_s, rel=0.05), here.name


@pytest.mark.parametrize(
    ("second", "found"), [({"files": 10, "size": "2 GB"}, True), ({"files": 20, "size": "3 GB"}, False)]
)
def test_files_of_a_folder_are_in_memory_for_who_reads_the_same_ones(second: dict[str, Any], found: bool) -> None:
    path = _writers("0 s", "100 s")
    for transfer, data in zip(path["transfers"], ({"files": 10, "size": "2 GB"}, second), strict=True):
        transfer |= {"from": "a:/d/set", "to": "a:/dev/null", "tool": "tar", "dataset": data}
    first, then = (t.throughput_Bps.p50 for t in dtnsim.predict(load(path), samples=0).transfers)
    assert (then > 2 * first) is found
