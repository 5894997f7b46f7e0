"""Laws by their course, drawn at random: each of courses.yaml stays in its bounds and goes with its arguments."""

import importlib
import inspect
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.each import tables, worked_out

COURSES = [
    (law, course)
    for law, courses in tables("physics/courses").items()
    for course in (courses if isinstance(courses, list) else [courses])
    if law != "ranges"
]
ENDS, GOES = ("least", "most", "above", "below", "is"), ("up", "down", "more", "less")


def some(said: Any) -> st.SearchStrategy[Any]:
    """Values of an argument."""
    match said:
        case {"whole": [low, high]}:
            return st.integers(int(low), int(high))
        case {"one of": several}:
            return st.sampled_from(several)
        case [low, high]:
            return st.floats(low, high)
    return st.just(said)


@pytest.mark.parametrize(("name", "course"), COURSES, ids=[law for law, _ in COURSES])
@given(data=st.data())
def test_a_law_goes_its_course(name: str, course: dict[str, Any], data: st.DataObject) -> None:
    module, _, law = name.rpartition(".")
    laws = {**vars(importlib.import_module(f"dtnsim.physics.{module}")), "min": min, "max": max}
    of, own = worked_out(course["of"], laws), inspect.signature(laws[law]).parameters
    sums = " ".join(said for said in of.values() if isinstance(said, str))
    assert {*course} & {*ENDS, *GOES} == {*course} - {"of", "within"} != set()
    assert not [key for key in of if key not in own and key not in sums]
    drawn = {key: data.draw(some(said), label=key) for key, said in of.items() if not isinstance(said, str)}

    def made(**changed: Any) -> dict[str, Any]:
        given_ = drawn | changed
        return given_ | {key: worked_out(said, laws | given_) for key, said in of.items() if isinstance(said, str)}

    def found(**changed: Any) -> float:
        return float(laws[law](**{key: value for key, value in made(**changed).items() if key in own}))

    here, rounding = found(), float(course.get("within", 0))
    ends = {key: worked_out(course[key], laws | made()) for key in ENDS if key in course}
    assert here * (1 + rounding) >= ends.get("least", here)
    assert here <= ends.get("most", here) * (1 + rounding)
    assert "above" not in ends or here > ends["above"]
    assert "below" not in ends or here < ends["below"]
    assert here == pytest.approx(ends.get("is", here), rel=rounding or 1e-9)
    for key in (*course.get("up", ()), *course.get("down", ())):
        low, high = sorted((drawn[key], data.draw(some(of[key]), label=f"other {key}")))
        less, more = (found(**{key: value}) for value in ((low, high) if key in course.get("up", ()) else (high, low)))
        assert less <= more * (1 + rounding), key
    for key in (*course.get("more", ()), *course.get("less", ())):
        whole = isinstance(drawn[key], int)
        much = drawn[key] + 1 if whole else drawn[key] * data.draw(st.floats(1.01, 2.0), label=f"times {key}")
        assert found(**{key: much}) > here if key in course.get("more", ()) else found(**{key: much}) < here, key
