"""Records do not change, a prediction answers for its transfers; sequences are worked out when they are looked at."""

import dataclasses
import pickle
from collections.abc import Iterator

import pytest

from dtnsim.ground import records
from dtnsim.ground.grouping import by_key
from dtnsim.ground.lazy import Lazy, LazyItems
from dtnsim.ground.records import Bottleneck, Prediction, Problem, Rung, Transfer, TransferPrediction
from dtnsim.ground.uncertainty import Interval


def one(name: str, duration: Interval) -> TransferPrediction:
    at = Bottleneck(f"{name}.disk", "disk", name, "hdd", "it is full")
    rate = Interval(1.0, 2.0, 3.0)
    return TransferPrediction(name, rate, 3.5, duration, at, 1, 10.0, (Rung(f"{name}.disk", 2.0, "it is full"),))


PREDICTION = Prediction(
    "t",
    Interval(2.0, 4.0, 6.0),
    Interval(4.0, 5.0, 10.0),
    7.0,
    (one("x", Interval(3.0, 5.0, 10.0)), one("y", Interval(4.0, 4.5, 8.0))),
    (),
    (),
    Problem("t", (), ()),
)


def test_the_first_transfer_speaks_for_the_path() -> None:
    assert PREDICTION.bottleneck.host == "x"
    assert PREDICTION.ladder == PREDICTION.transfers[0].ladder


def test_documents_of_records() -> None:
    assert Interval(1.0, 2.0, 3.0).as_dict() == {"p10": 1.0, "p50": 2.0, "p90": 3.0}
    assert PREDICTION.bottleneck.as_dict() == {
        "station": "x.disk", "component": "disk", "host": "x", "kind": "hdd", "reason": "it is full", "remedy": "",
        "work": [],
    }  # fmt: skip


def test_records_do_not_change() -> None:
    for cls in vars(records).values():
        if dataclasses.is_dataclass(cls) and cls.__module__ == records.__name__:
            assert cls.__dataclass_params__.frozen, cls  # type: ignore[attr-defined]  # of every dataclass
    with pytest.raises(dataclasses.FrozenInstanceError):
        PREDICTION.name = "other"  # type: ignore[misc]  # that is the test


def test_a_transfer_alone_weighs_one_and_starts_at_once() -> None:
    made = Transfer("t", (), 1, 1.0, 1)
    assert (made.weight, made.start_s) == (1.0, 0.0)


def test_it_is_made_once_and_only_when_it_is_looked_at() -> None:
    asked: list[str] = []

    def make() -> Iterator[int]:
        asked.append("made")
        yield from (1, 2, 3)

    later = Lazy(make)
    assert not asked
    assert (later[0], later[1:], len(later), list(later)) == (1, (2, 3), 3, [1, 2, 3])
    assert asked == ["made"]


def test_no_item_is_made_before_it_or_a_later_one_is_asked_for() -> None:
    made: list[int] = []

    def make() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            yield number

    later = Lazy(make)
    assert (later[1], made) == (1, [0, 1])
    assert (later[0], made) == (0, [0, 1])
    assert (next(iter(later)), made) == (0, [0, 1])
    assert (later[-1], len(made)) == (4, 5)


def test_it_is_equal_to_what_has_the_same_items() -> None:
    later = Lazy(lambda: "ab")
    assert later == ("a", "b")
    assert later != ("a",)
    assert hash(later) == hash(("a", "b"))


def test_in_another_process_it_is_a_tuple() -> None:
    assert pickle.loads(pickle.dumps(Lazy(lambda: range(2)))) == (0, 1)


def test_each_item_is_made_once_and_only_when_it_is_asked_for() -> None:
    asked: list[int] = []

    def make(number: int) -> int:
        asked.append(number)
        return 10 * number

    items = LazyItems(4, make)
    assert len(items) == 4
    assert not asked
    assert (items[2], items[-1], items[2]) == (20, 30, 20)
    assert asked == [2, 3]
    assert (items[1:3], items) == ([10, 20], (0, 10, 20, 30))
    assert pickle.loads(pickle.dumps(items)) == (0, 10, 20, 30)


def test_values_are_grouped_in_the_order_in_which_they_come() -> None:
    assert list(by_key([("b", 1), ("a", 2), ("b", 3)]).items()) == [("b", [1, 3]), ("a", [2])]
