"""Records do not change; a prediction answers for its transfers."""

from __future__ import annotations

import dataclasses

import pytest

from dtnsim.ground import records
from dtnsim.ground.records import Bottleneck, Interval, Prediction, Problem, Rung, Transfer, TransferPrediction


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
