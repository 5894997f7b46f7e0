"""Sequences that are worked out when they are first looked at."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

from dtnsim.ground.lazy import EachLater, Later


def test_it_is_made_once_and_only_when_it_is_looked_at() -> None:
    asked: list[str] = []

    def make() -> Iterator[int]:
        asked.append("made")
        yield from (1, 2, 3)

    later = Later(make)
    assert not asked
    assert (later[0], later[1:], len(later), list(later)) == (1, (2, 3), 3, [1, 2, 3])
    assert asked == ["made"]


def test_no_item_is_made_before_it_or_a_later_one_is_asked_for() -> None:
    made: list[int] = []

    def make() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            yield number

    later = Later(make)
    assert (later[1], made) == (1, [0, 1])
    assert (later[0], made) == (0, [0, 1])
    assert (next(iter(later)), made) == (0, [0, 1])
    assert (later[-1], len(made)) == (4, 5)


def test_it_is_equal_to_what_has_the_same_items() -> None:
    later = Later(lambda: "ab")
    assert later == ("a", "b")
    assert later != ("a",)
    assert hash(later) == hash(("a", "b"))


def test_in_another_process_it_is_a_tuple() -> None:
    assert pickle.loads(pickle.dumps(Later(lambda: range(2)))) == (0, 1)


def test_each_item_is_made_once_and_only_when_it_is_asked_for() -> None:
    asked: list[int] = []

    def make(number: int) -> int:
        asked.append(number)
        return 10 * number

    items = EachLater(4, make)
    assert len(items) == 4
    assert not asked
    assert (items[2], items[-1], items[2]) == (20, 30, 20)
    assert asked == [2, 3]
    assert (items[1:3], items) == ([10, 20], (0, 10, 20, 30))
    assert pickle.loads(pickle.dumps(items)) == (0, 10, 20, 30)
