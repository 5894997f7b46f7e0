"""One test over many names: to check hundreds of parts takes a moment, a test of its own for each far longer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def of_each(things: Iterable[Any]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Checks all of some names or functions in one test; those that fail are named with what was found."""
    every = list(things)

    def decorate(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            failed = {}
            for thing in every:
                try:
                    check(thing)
                except AssertionError as error:
                    failed[getattr(thing, "__name__", thing)] = str(error)
            assert every
            assert failed == {}

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return decorate
