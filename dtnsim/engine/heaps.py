"""Heaps of (float, integer, integer) by number, and that of whose turn it is; compiled: `compiled_heaps`."""

# ruff: noqa: D103 - plain functions on numbers; see `layout`
from heapq import heapify, heappop, heappush

from dtnsim.engine.layout import Entry, Heaps, Turn, Turns


def push(h: Heaps, k: int, a: float, b: int, c: int) -> None:
    heappush(h[k], (a, b, c))


def pop(h: Heaps, k: int) -> Entry:
    return heappop(h[k])


def size(h: Heaps, k: int) -> int:
    return len(h[k])


def entry(h: Heaps, k: int, j: int) -> Entry:
    return h[k][j]


def write(h: Heaps, k: int, j: int, e: Entry) -> None:
    h[k][j] = e


def put(h: Heaps, k: int, a: float, b: int, c: int) -> None:
    """Appends, in no order."""
    h[k].append((a, b, c))


def cut(h: Heaps, k: int, n: int) -> None:
    """Keeps the first so many."""
    del h[k][n:]


def order(h: Heaps, k: int) -> None:
    """Makes a heap of what is in no order."""
    heapify(h[k])


def add_turn(turns: Turns, e: Turn) -> None:
    heappush(turns, e)


def first_turn(turns: Turns) -> Turn:
    return turns[0]


def drop_turn(turns: Turns) -> None:
    heappop(turns)


def turns_left(turns: Turns) -> int:
    return len(turns)


def lists(count: int) -> Heaps:
    return [[] for _ in range(count)]
