"""Doubly linked lists of records: a row's free flows, a node's rows, the flows that are under way.

The address of the first record is kept at ``ends``, the last at ``ends + 1``. A record's field ``link`` has the
address of the next, ``link + 1`` that of the one before; -1 where there is none.
"""

# ruff: noqa: D103 - plain functions on numbers; see `layout`
from __future__ import annotations

from dtnsim.engine.layout import Integers


def append(q: Integers, ends: int, x: int, link: int) -> None:
    last = q[ends + 1]
    q[x + link + 1], q[x + link] = last, -1
    if last < 0:
        q[ends] = x
    else:
        q[last + link] = x
    q[ends + 1] = x


def unlink(q: Integers, ends: int, x: int, link: int) -> None:
    before, after = q[x + link + 1], q[x + link]
    if before < 0:
        q[ends] = after
    else:
        q[before + link] = after
    if after < 0:
        q[ends + 1] = before
    else:
        q[after + link + 1] = before
