"""Lazy sequences, made when they are read, and the pictures of answers in notebooks.

Answers are records and know nothing of pictures: the report room draws them, and is loaded when somebody asks. It is
above this room, so it is named here and not imported.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)
_DRAWN_BY: Final = "dtnsim.report.notebook"


class _Unmade(Sequence[T_co]):
    """Equal to what has the same items; in another process it is a plain tuple."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type[tuple[T_co, ...]], tuple[tuple[T_co, ...]]]:
        return tuple, (tuple(self),)


class Lazy(_Unmade[T_co]):
    """What ``make`` gives, called once at most, each item once it or a later one is asked for."""

    def __init__(self, make: Callable[[], Iterable[T_co]]) -> None:
        self._make = make
        self._rest: Iterator[T_co] | None = None
        self._made: list[T_co] = []

    def _items(self, most: int | None = None) -> list[T_co]:
        """The first ``most`` items, or all."""
        if self._rest is None:
            self._rest = iter(self._make())
        self._made += islice(self._rest, None if most is None else max(most - len(self._made), 0))
        return self._made

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        if isinstance(index, slice):
            begin, end, step = index.start or 0, index.stop, index.step or 1
            first = end is not None and min(begin, end) >= 0 < step
            return tuple(self._items(end if first else None)[index])
        return self._items(index + 1 if index >= 0 else None)[index]

    def __len__(self) -> int:
        return len(self._items())


class LazyItems(_Unmade[T_co]):
    """So many items, each made from its number when it is asked for, once at most."""

    def __init__(self, count: int, make: Callable[[int], T_co]) -> None:
        self._count, self._make = count, make
        self._made: dict[int, T_co] = {}

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        every = range(self._count)[index]
        if not isinstance(every, int):
            return [self[n] for n in every]
        if every not in self._made:
            self._made[every] = self._make(every)
        return self._made[every]

    def __len__(self) -> int:
        return self._count


class Pictured:
    """An answer that can be shown."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(importlib.import_module(_DRAWN_BY).html(self))

    def to_frame(self) -> Any:
        """The answer as a ``pandas.DataFrame``; `InputError` where pandas is not installed."""
        return importlib.import_module(_DRAWN_BY).frame(self)

    def figure(self) -> Any:
        """The answer as a ``plotly.graph_objects.Figure``; `InputError` where plotly is not installed."""
        return importlib.import_module(_DRAWN_BY).figure(self)


class Shown(Pictured):
    """An answer about one path."""

    __slots__ = ()

    given: Any

    @property
    def graph(self) -> Any:
        """The path as a networkx graph: see `dtnsim.description.graph`; None where no path is known."""
        return self.given.graph if self.given is not None else None
