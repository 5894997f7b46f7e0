"""How the compiled functions are entered: with integers and addresses alone, so that calling them takes no numba."""

# ruff: noqa: D103 - plain functions on numbers; see `layout`
from __future__ import annotations

from dtnsim.simulation.fleet.kernel.books import book_all
from dtnsim.simulation.fleet.kernel.layout import BOOK_ALL, FLOATS, GIVE_BACK, INTEGERS, NOW
from dtnsim.simulation.fleet.kernel.memory import carray, floats_at, give_back, integers_at
from dtnsim.simulation.fleet.kernel.traffic import run


def enter(
    what: int, f_at: int, room: int, q_at: int, h_at: int, heaps: int, turns_at: int, t_at: int, u_at: int,
    transfers: int, most: int,
) -> int:  # fmt: skip
    h, turns = carray(integers_at(h_at), (heaps,)), carray(integers_at(turns_at), (3,))
    if what == GIVE_BACK:
        give_back(h)
        give_back(turns)
        return 0
    f, q = carray(floats_at(f_at), (room,)), carray(integers_at(q_at), (room,))
    if what == BOOK_ALL:
        book_all(f, q, f[NOW])
        return 0
    t = carray(floats_at(t_at), (FLOATS, transfers))
    u = carray(integers_at(u_at), (INTEGERS, transfers))
    return run(f, q, h, turns, t, u, most)
