"""Files in the memory of one host."""

from hypothesis import given
from hypothesis import strategies as st

from dtnsim.composition.residency import Residency


def read(memory: Residency, file: str, size: float) -> float:
    hits = memory.read(file, size)
    memory.ended(file)
    return hits


def test_a_file_that_fits_is_read_from_memory_the_second_time() -> None:
    memory = Residency(100.0)
    assert read(memory, "a", 60.0) == 0.0
    assert read(memory, "a", 60.0) == 60.0


def test_a_file_larger_than_memory_never_is() -> None:
    memory = Residency(100.0)
    assert [read(memory, "a", 120.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert memory.resident("a") == 100.0


def test_another_file_drives_it_out_and_used_again_it_stays() -> None:
    memory = Residency(100.0)
    read(memory, "a", 60.0)
    read(memory, "b", 70.0)
    assert memory.resident("a") == 30.0
    memory = Residency(100.0)
    read(memory, "a", 40.0)
    read(memory, "a", 40.0)  # on the active list now
    read(memory, "b", 50.0)
    read(memory, "c", 50.0)
    assert (memory.resident("a"), memory.resident("b"), memory.resident("c")) == (40.0, 10.0, 50.0)


def test_programs_take_memory_from_files_and_dirty_pages_stay() -> None:
    memory = Residency(100.0, lambda file: 45.0 if file == "w" else 0.0)
    memory.write("w", 50.0)
    memory.ended("w")
    memory.hold(80.0)
    assert memory.resident("w") == 45.0
    memory.hold(-80.0)
    assert read(memory, "w", 45.0) == 45.0


def test_what_is_under_way_is_no_hit_yet() -> None:
    memory = Residency(100.0)
    memory.read("a", 60.0)
    assert memory.read("a", 60.0) == 0.0
    memory.ended("a")
    assert memory.read("a", 60.0) == 60.0


@given(
    st.lists(st.tuples(st.sampled_from("rwh"), st.sampled_from("abcd"), st.floats(1.0, 90.0)), max_size=30),
    st.floats(10.0, 200.0),
)
def test_files_never_take_more_than_there_is(events: list[tuple[str, str, float]], room: float) -> None:
    memory = Residency(room)
    for what, file, size in events:
        if what == "h":
            memory.hold(size - memory.held)
        elif what == "r":
            assert 0 <= read(memory, file, size) <= size
        else:
            memory.write(file, size)
            memory.ended(file)
        assert memory.taken <= max(memory.room, 0.0) + 1e-6


def test_a_file_that_was_driven_out_is_new_when_it_comes_back() -> None:
    """It was on the active list; what reads it again begins on the inactive one, and a later file drives it out."""
    memory = Residency(100.0)
    for _ in range(2):
        read(memory, "a", 40.0)
    memory.hold(100.0)  # a program takes all
    memory.hold(-100.0)
    assert read(memory, "a", 40.0) == 0.0
    read(memory, "b", 50.0)
    read(memory, "c", 50.0)
    assert (memory.resident("a"), memory.resident("b"), memory.resident("c")) == (0.0, 50.0, 50.0)
