"""Which files come when: every byte once, batches that hide nothing, parts of files that threads share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dtnsim
from dtnsim.records import Phase, Transfer
from dtnsim.simulation.jobs import MAX_FILES, steps

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
    assert seeks.file_s.tolist() == [pytest.approx(seeks.duration_s)]
