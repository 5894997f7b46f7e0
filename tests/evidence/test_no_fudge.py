"""No case has a private fudge factor: every number that a prediction draws on says where it comes from."""

from __future__ import annotations

from collections import defaultdict

import pytest

from dtnsim.composition.compose import compose
from dtnsim.description import spec
from dtnsim.evidence import cases
from dtnsim.ground.quantity import Draw, Quantity, Value


class Everything(Draw):
    """A nominal draw that notes every quantity it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Quantity] = set()

    def __call__(self, quantity: Quantity) -> Value:
        self.seen.add(quantity)
        return super().__call__(quantity)


@pytest.fixture(scope="module")
def users() -> dict[Quantity, set[str]]:
    """Each quantity, and the paths that draw on it."""
    found: dict[Quantity, set[str]] = defaultdict(set)
    paths = {case.path: case for case in reversed(cases.load_all())}
    for case in paths.values():
        draw = Everything()
        compose(spec.load(case.path, case.overrides), draw)
        for quantity in draw.seen:
            found[quantity].add(f"{case.site}/{case.path.stem}")
    return found


def test_every_number_has_a_source(users: dict[Quantity, set[str]]) -> None:
    bare = {str(q): sorted(names)[:3] for q, names in users.items() if not q.source.strip()}
    assert not bare


def test_a_number_of_one_path_alone_has_a_reason(users: dict[Quantity, set[str]]) -> None:
    # such a number could be a fudge: it is from a document or a datasheet, or assumed for a reason that is told
    alone = {q: next(iter(names)) for q, names in users.items() if len(names) == 1}
    assert alone, "paths have lengths and sizes of their own"
    untold = {
        f"{q} ({name})": q.source for q, name in alone.items() if q.source.removeprefix("assumed").strip(": .") == ""
    }
    assert not untold
