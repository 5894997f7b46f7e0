"""A sequence that is worked out when it is first looked at: nobody pays for what nobody reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class Later(Sequence[T_co]):
    """What ``make`` gives, once it is asked for.

    Args:
        make: Gives the items; called once at most.
    """

    def __init__(self, make: Callable[[], Iterable[T_co]]) -> None:
        self._make = make
        self._made: tuple[T_co, ...] | None = None

    def _known(self) -> tuple[T_co, ...]:
        if self._made is None:
            self._made = tuple(self._make())
        return self._made

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        """One item, or several."""
        return self._known()[index]

    def __len__(self) -> int:
        """How many there are."""
        return len(self._known())

    def __eq__(self, other: object) -> bool:
        """Whether the items are the same."""
        return isinstance(other, Sequence) and self._known() == tuple(other)

    def __hash__(self) -> int:
        """Of the items."""
        return hash(self._known())

    def __reduce__(self) -> tuple[type[tuple[T_co, ...]], tuple[tuple[T_co, ...]]]:
        """In another process it is a plain one."""
        return tuple, (self._known(),)
