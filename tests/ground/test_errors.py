"""One tree of errors: exit codes, and one line that says where, what and what instead."""

import inspect

import pytest

from dtnsim.ground import errors
from dtnsim.ground.errors import MISSING, DtnsimError, InputError, LogError, ModelError, SpecError, UnitError
from tests.each import cases, rows


def test_exit_codes() -> None:
    """2 for what the user gave, 1 for the rest."""
    assert {cls.exit_code for cls in (InputError, SpecError, UnitError, LogError)} == {2}
    assert {cls.exit_code for cls in (DtnsimError, ModelError)} == {1}


def test_everything_hangs_on_one_tree() -> None:
    own = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if cls.__module__ == errors.__name__]
    assert len(own) > 2
    assert all(issubclass(cls, DtnsimError) for cls in own)


PLACE = {"file": "p.yaml", "line": 3, "key": "wan.rtt", "value": "10 Gb", "remedy": "write 3 ms"}


@cases("error, text", {
    "where, what, value and remedy": (
        SpecError("is a size", **PLACE), "p.yaml:3: wan.rtt: is a size (got '10 Gb'); write 3 ms"),
    "what is quoted is not obeyed": (InputError("found \x1b[31m\u202e"), "found \\x1b[31m\\u202e"),
    "a number is said": (SpecError("is not 1 to 12", value=2), "is not 1 to 12 (got 2)"),
    "once": (SpecError("'20' has no unit", value="20"), "'20' has no unit"),
})  # fmt: skip
def test_a_line_says_it_all(error: DtnsimError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(("given", "text"), rows("ground/tables", "what_is_not_known_is_left_out"))
def test_what_is_not_known_is_left_out(given: dict[str, object], text: str) -> None:
    assert str(SpecError("is wrong", **given)) == text  # type: ignore[arg-type]  # by name


def test_long_values_are_cut() -> None:
    text = str(SpecError("is wrong", value="x" * 5000))
    assert len(text) < 120
    assert text.endswith("...)")


def test_names_of_any_length_leave_a_message_that_is_read() -> None:
    error = SpecError("there is no host " + "x" * 9000, file="f" * 9000, key="k" * 9000, remedy="hosts: " + "y" * 9000)
    assert len(str(error)) < 2200
    assert str(error).startswith("fff")
    assert "there is no host" in str(error)


def test_of_very_many_findings_the_first_are_printed() -> None:
    first, *others = (SpecError(MISSING, file="events.yaml", line=n, key=f"events.{n}.at") for n in range(200))
    lines = first.followed_by(others).lines
    assert lines[19].startswith("events.yaml:19: events.19.at: ")
    assert lines[20:] == ("180 more are like these",)
