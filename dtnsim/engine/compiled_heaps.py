"""`heaps` compiled: each in memory of its own, of which the table ``h`` has address, length and room.

Numba's own lists count references at each access, which would take more than half of the time of a fleet.
"""

# ruff: noqa: D103 - plain functions on numbers; see `layout`
from typing import Any

import numba  # loaded only where it is installed and used
from numba import extending

from dtnsim.engine.layout import Entry, Table

types: Any = numba.types
carray: Any = vars(numba)["carray"]
_realloc = types.ExternalFunction("realloc", types.int64(types.int64, types.int64))
_free = types.ExternalFunction("free", types.void(types.int64))


def _pointer(kind: Any) -> Any:
    """What makes a pointer of an address."""

    def pointer(_: Any, address: Any) -> Any:
        def code(context: Any, builder: Any, _: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(kind))

        return kind(address), code

    return extending.intrinsic(pointer)


floats_at: Any = _pointer(types.CPointer(types.float64))
integers_at: Any = _pointer(types.CPointer(types.int64))


def _before(x: Table, y: Table, i: int, j: int) -> bool:
    """Whether one entry comes before another."""
    if x[i] != x[j]:
        return bool(x[i] < x[j])
    if y[i + 1] != y[j + 1]:
        return bool(y[i + 1] < y[j + 1])
    return bool(y[i + 2] < y[j + 2])


def _swap(x: Table, y: Table, i: int, j: int) -> None:
    x[i], x[j] = x[j], x[i]
    y[i + 1], y[j + 1] = y[j + 1], y[i + 1]
    y[i + 2], y[j + 2] = y[j + 2], y[i + 2]


def put(h: Table, k: int, a: float, b: int, c: int) -> None:
    """Appends, in no order."""
    n = h[3 * k + 1]
    if n == h[3 * k + 2]:
        h[3 * k + 2] = 2 * n + 8
        h[3 * k] = _realloc(h[3 * k], 24 * h[3 * k + 2])
    x, y = carray(floats_at(h[3 * k]), (3 * n + 3,)), carray(integers_at(h[3 * k]), (3 * n + 3,))
    x[3 * n], y[3 * n + 1], y[3 * n + 2] = a, b, c
    h[3 * k + 1] = n + 1


def push(h: Table, k: int, a: float, b: int, c: int) -> None:
    put(h, k, a, b, c)
    n = 3 * h[3 * k + 1]
    x, y = carray(floats_at(h[3 * k]), (n,)), carray(integers_at(h[3 * k]), (n,))
    j = n // 3 - 1
    while j > 0:
        up = (j - 1) // 2
        if not _before(x, y, 3 * j, 3 * up):
            break
        _swap(x, y, 3 * j, 3 * up)
        j = up


def _sink(x: Table, y: Table, j: int, n: int) -> None:
    """Brings an entry down to where it belongs."""
    while True:
        down = 2 * j + 1
        if down >= n:
            break
        if down + 1 < n and _before(x, y, 3 * down + 3, 3 * down):
            down += 1
        if not _before(x, y, 3 * down, 3 * j):
            break
        _swap(x, y, 3 * j, 3 * down)
        j = down


def pop(h: Table, k: int) -> Entry:
    n = h[3 * k + 1] - 1
    x, y = carray(floats_at(h[3 * k]), (3 * n + 3,)), carray(integers_at(h[3 * k]), (3 * n + 3,))
    first = (x[0], y[1], y[2])
    _swap(x, y, 0, 3 * n)
    h[3 * k + 1] = n
    _sink(x, y, 0, n)
    return first


def size(h: Table, k: int) -> int:
    return int(h[3 * k + 1])


def entry(h: Table, k: int, j: int) -> Entry:
    x, y = carray(floats_at(h[3 * k]), (3 * j + 3,)), carray(integers_at(h[3 * k]), (3 * j + 3,))
    return (x[3 * j], y[3 * j + 1], y[3 * j + 2])


def write(h: Table, k: int, j: int, e: Entry) -> None:
    x, y = carray(floats_at(h[3 * k]), (3 * j + 3,)), carray(integers_at(h[3 * k]), (3 * j + 3,))
    x[3 * j], y[3 * j + 1], y[3 * j + 2] = e[0], e[1], e[2]


def cut(h: Table, k: int, n: int) -> None:
    """Keeps the first so many."""
    h[3 * k + 1] = n


def order(h: Table, k: int) -> None:
    """Makes a heap of what is in no order."""
    n = h[3 * k + 1]
    if n == 0:
        return
    x, y = carray(floats_at(h[3 * k]), (3 * n,)), carray(integers_at(h[3 * k]), (3 * n,))
    for j in range(n // 2 - 1, -1, -1):
        _sink(x, y, j, n)


def give_back(h: Table) -> None:
    """Frees all memory of the heaps."""
    for k in range(len(h) // 3):
        _free(h[3 * k])
        h[3 * k] = h[3 * k + 1] = h[3 * k + 2] = 0
