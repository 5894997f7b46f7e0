"""What happens in time: events, other people's transfers, and times that come again."""

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dtnsim.components.base import validate
from dtnsim.description import calendar
from dtnsim.description.calendar import Cron
from dtnsim.description.events import Event, Others
from dtnsim.ground.errors import SpecError
from dtnsim.ground.yamlio import loads
from tests.each import rows


def event(text: str) -> Event:
    return validate(Event, loads(text, "e.yaml"))


def others(text: str) -> Others:
    return validate(Others, loads(text, "o.yaml"))


def test_a_station_loses_its_capacity_for_a_while_or_keys_of_the_path_change() -> None:
    found = event("{at: 10 s, station: 'network.*', factor: 0.5, until: 1 h}")
    assert (found.at.value, found.factor, found.until and found.until.value) == (10.0, 0.5, 3600.0)
    assert event("{at: 10 s, station: network.wan}").factor == 0.0  # named without a factor it is down
    assert event("{at: 1 h, set: {wan.loss: 1e-4}}").change == {"wan.loss": "1e-4"}


@pytest.mark.parametrize(("text", "says"), rows("description/refused", "events"))
def test_events_that_are_refused(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        event(text)


@pytest.mark.parametrize(("text", "says"), rows("description/refused", "other people's transfers"))
def test_others_that_are_refused(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        others(text)


def test_others_have_sizes_of_their_own() -> None:
    found: Any = others("{stations: [network.wan], rate: 0.1 /s, size: 5 GB, cap: 1 Gb/s}")
    assert (found.size.value, found.cap.value, found.sigma) == (5e9, 1.25e8, 1.5)


MONDAY = dt.datetime(2024, 1, 1)


@pytest.mark.parametrize(("text", "first"), rows("description/tables", "cron"))
def test_cron(text, first):
    times = Cron(text).times(MONDAY, 300 * calendar.DAY_S)
    assert [f"{MONDAY + dt.timedelta(seconds=t):%Y-%m-%d %H:%M}" for t in times[: len(first)]] == first


def test_cron_from_the_middle_of_a_day():
    times = Cron("0 6,18 * * *").times(dt.datetime(2024, 1, 1, 12), calendar.DAY_S)
    assert (times / 3600).tolist() == [6, 18]


@pytest.mark.parametrize(("name", "texts", "says"), rows("description/tables", "what_is_no_time"))
def test_what_is_no_time(name, texts, says):
    read = getattr(calendar, name)
    for text in texts:
        with pytest.raises(ValueError, match=says):
            read(text)


@given(st.integers(0, 23), st.integers(0, 59))
def test_clock(hour, minute):
    assert calendar.clock(f"{hour:02d}:{minute:02d}") == hour * 3600 + minute * 60


def test_weekdays_dates_and_weeks():
    assert calendar.weekdays("mon-fri") == {0, 1, 2, 3, 4}
    assert calendar.weekdays("sat-mon") == {5, 6, 0}
    assert calendar.weekdays("Sun") == {6}
    assert calendar.date("2026-01-05T08:00+02:00") == dt.datetime(2026, 1, 5, 6)
    week = calendar.of_week(np.array([0.0, 86400.0]), dt.datetime(2026, 1, 11, 6))
    assert week.tolist() == [6.25 * 86400, 0.25 * 86400]
