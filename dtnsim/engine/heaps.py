"""Heaps of (float, integer, integer) by number; compiled: `compiled_heaps`."""

# ruff: noqa: D103 - plain functions on numbers; see `layout`
from heapq import heapify, heappop, heappush

from dtnsim.engine.layout import Entry, Heaps


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


def lists(count: int) -> Heaps:
    return [[] for _ in range(count)]
