"""Which files come when: every byte once, batches that hide nothing, parts of files that threads share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dtnsim
from dtnsim.ground.records import Phase, Transfer
from dtnsim.simulation import chunks
from dtnsim.simulation.chunks import MAX_FILES, steps
from tests.simulation.slow import FAST, make

SIZES = st.lists(st.tuples(st.floats(0, 1e12), st.integers(1, 3 * MAX_FILES)), min_size=1, max_size=4)


def transfer(sizes: list[tuple[float, int]], workers: float = 1.0) -> Transfer:
    payload, files = sum(s * n for s, n in sizes), sum(n for _, n in sizes)
    return Transfer(
        "t", (Phase("move", ()),), workers, payload, files,
        sizes_B=tuple(s for s, _ in sizes), counts=tuple(n for _, n in sizes),
    )  # fmt: skip


@given(SIZES)
def test_every_file_and_byte_comes_once(sizes: list[tuple[float, int]]) -> None:
    given_to = transfer(sizes)
    taken = list(steps(given_to))
    assert sum(n for _, n in taken) == given_to.files
    assert sum(b for b, _ in taken) == pytest.approx(given_to.payload_B, rel=1e-9)
    assert all(n == 1 for _, n in taken) or given_to.files > MAX_FILES


def test_a_billion_equal_files_are_few_batches_small_at_both_ends() -> None:
    taken = [n for _, n in steps(transfer([(1e6, 10**9)]))]
    assert len(taken) < 10_000
    assert taken[0] == taken[-1] == 1
    assert max(taken) < 10**9 / 100


@pytest.mark.parametrize("workers", [1, 64])
def test_what_all_workers_have_under_way_is_a_small_part_of_what_is_left(workers: int) -> None:
    """Files and bytes: else the last to end would be waited for by all others."""
    sizes = [(10.0**k, 10 ** (9 - k) + 1) for k in range(1, 9)]
    given_to = transfer(sizes, float(workers))
    files, left = given_to.files, given_to.payload_B
    for size, count in steps(given_to):
        assert count == 1 or count * workers <= files / 16
        assert count == 1 or size * workers <= left / 16 * (1 + 1e-6)
        files, left = files - count, left - size
    assert files == 0


@pytest.mark.parametrize("sigma", [0, 2])
def test_batches_take_as_long_as_files_one_by_one(monkeypatch: pytest.MonkeyPatch, sigma: float) -> None:
    """As many workers as there are, and sizes of a heavy tail; equal files also as long as the steady answer says."""
    files = {"files": 6000, "median": "2 MiB", "sigma": sigma}
    path = make(FAST, transfer__dataset=files, transfer__tool={"name": "gridftp", "p": 2, "cc": 50})
    single = dtnsim.simulate(path).runs[0]
    monkeypatch.setattr(chunks, "MAX_FILES", 100)
    batched = dtnsim.simulate(path).runs[0]
    assert batched.end_s == pytest.approx(single.end_s, rel=0.03 if sigma else 0.01)
    if not sigma:
        assert single.end_s == pytest.approx(dtnsim.predict(path, samples=0).duration_s.p50, rel=0.02)


@given(st.integers(1, 3), st.integers(4, 64), st.floats(1, 1e12))
def test_threads_share_files_when_there_are_fewer(files: int, threads: int, size: float) -> None:
    taken = list(steps(transfer([(size, files)], float(threads))))
    assert sum(n for _, n in taken) == files
    assert sum(b for b, _ in taken) == pytest.approx(size * files, rel=1e-9)
    assert len(taken) >= threads
    assert min(b for b, _ in taken) > 0


def test_seekers_of_one_file_nearly_reach_the_asymptote() -> None:
    """Five of bonnie++'s threads overlap their waiting: below the bound of N S / (S + Z) and 1 / S, but near it."""
    seeks = dtnsim.simulate("venadi/bonnie-seeks").runs[0].transfers[0]
    bound = dtnsim.predict("venadi/bonnie-seeks", samples=0).throughput_Bps.p50
    assert 0.85 * bound < seeks.throughput_Bps <= bound
    # the part of the file that is taken last ends within a part of the others
    assert seeks.file_s.tolist() == [pytest.approx(seeks.duration_s, rel=1 / 32)]
