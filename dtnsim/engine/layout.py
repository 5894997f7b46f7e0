"""Where the fluid engine's state is: two flat arrays of numbers, one of floats and one of integers, and heaps.

The same functions (`flow_lists`, `rate_updates`, `max_min`, and a fleet's `traffic`) run as plain Python on lists and
compiled by numba on arrays; both give the same digits. Every record has an address: its floats are at
``f[address + field]``, its integers at ``q[address + field]``. The first numbers are the state of the whole; those from
`ENGINE_HEAD` on, and the fields of a flow from `ENGINE_FLOW` on, belong to what drives the engine. In a list LAST
follows FIRST, and PREV follows NEXT: `flow_lists` counts on that.

What those functions take has one name everywhere: the numbers ``f`` and ``q``, the heaps ``h``, the
tables ``t`` (floats) and ``u`` (integers) of a fleet's transfers; addresses of a flow ``x``, a row
``r``, a node ``n``; the number ``k`` of a heap, a place ``j`` in it, an entry ``e`` there, or its parts ``a``, ``b``
and ``c``; the time ``now`` [s].
"""

from typing import Any, Final

#: as plain Python has them; compiled they are arrays, and heaps a table of `compiled_heaps`
Floats = list[float]
Integers = list[int]
Entry = tuple[float, int, int]
Heaps = list[list[Entry]]
Table = Any

# -- the whole: floats, integers
TURN: Final = 0
LAST: Final = 1

N_NODES, FIRST_NODE, SETTLED, REPEATS, STAMPS, CREATED, SPARE_SLOT, STATIONS, ENGINE_HEAD = range(9)
HEAD: Final = 40

# -- heaps by number; those of nodes (ends, lowest limits, highest limits) and of lanes follow
QUEUE, DIRTY, ENDED_NOW, NOTES, MOVED_NOW, TAKEN, UNLIMITED, ENGINE_HEAPS = range(8)
FIRST_HEAP: Final = 9

# -- a node: stations that all rows cross alike; floats, integers
CAPACITY, GREATEST, SPARE, LOW, HIGH, LEVEL, CLOCK, READ, TOTAL, PEAK, DUE = range(11)
NODE: Final = 21

COUNT, JOINED, WAITING, NOTED, FORCED, HEAPS, FIRST_HELD, LAST_HELD, LOADS, N_LOADS, FEEDERS, N_FEEDERS, OWN = range(13)
ROOM: Final = 13
MEMBERS, N_MEMBERS, THROUGH, N_THROUGH, NEXT_NODE = range(16, 21)

# -- what a node puts on another for a unit of its level: load; rows that make it up, the other, places in both lists
SLOT: Final = 4
USES, OTHER, IN_LOADS, IN_FEEDERS = range(4)

# -- a row: floats, integers; its pairs are (demand, node)
WEIGHT: Final = 0
CAPPED_RATE: Final = 1
ROW: Final = 12

AT_NODE, PLACE, FREE, FIRST_FLOW, LAST_FLOW, N_CAPPED, NEXT_HELD, PREV_HELD, PAIRS, N_PAIRS, SLOTS = range(11)

# -- a flow: floats, integers
MARK, CAP, LIMIT, SHARE = range(4)

ROW_OF, SIDE, NEXT, PREV, NUMBER, STAMP, HELD_BY, ENGINE_FLOW = range(8)
FLOW: Final = 12
#: ``SIDE`` of a flow that runs at its own cap, and of one that is not under way; ``HELD_BY``: the last node there
CAPPED: Final = -1
ABSENT: Final = -2

# -- a station: capacity and demand over that of the first of its node; node, whether it is down
STATION: Final = 2
RATIO: Final = 1
DOWN: Final = 1
