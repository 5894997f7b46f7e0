"""Where the fluid engine's state is: two flat arrays of numbers, one of floats and one of integers, and heaps.

The same functions (`flow_lists`, `rate_updates`, `max_min`, and a fleet's `traffic`) run as plain Python on lists and
compiled by numba on arrays; both give the same digits. Every record has an address: its floats are at
``f[address + field]``, its integers at ``q[address + field]``. The first numbers are the state of the whole; those from
`ENGINE_HEAD` on, and the fields of a flow from `ENGINE_FLOW` on, belong to what drives the engine.
"""

from __future__ import annotations

from typing import Any, Final

#: as plain Python has them; compiled they are arrays, and heaps a table of `compiled_heaps`
Floats = list[float]
Integers = list[int]
Entry = tuple[float, int, int]
Heaps = list[list[Entry]]
Turn = tuple[float, float, float, int, int]
Turns = list[Turn]
Table = Any

# -- the whole: floats, integers
TURN: Final = 0
LAST: Final = 1

N_NODES: Final = 0
FIRST_NODE: Final = 1
SETTLED: Final = 2
REPEATS: Final = 3
STAMPS: Final = 4
CREATED: Final = 5
SPARE_SLOT: Final = 6
STATIONS: Final = 7
ENGINE_HEAD: Final = 8
HEAD: Final = 40

# -- heaps by number; those of nodes (ends, lowest limits, highest limits) and of lanes follow
QUEUE: Final = 0
DIRTY: Final = 1
ENDED_NOW: Final = 2
NOTES: Final = 3
MOVED_NOW: Final = 4
TAKEN: Final = 5
UNLIMITED: Final = 6
ENGINE_HEAPS: Final = 7
FIRST_HEAP: Final = 9

# -- a node: stations that all rows cross alike; floats, integers
CAPACITY: Final = 0
GREATEST: Final = 1
SPARE: Final = 2
LOW: Final = 3
HIGH: Final = 4
LEVEL: Final = 5
CLOCK: Final = 6
READ: Final = 7
TOTAL: Final = 8
PEAK: Final = 9
DUE: Final = 10
NODE: Final = 21

COUNT: Final = 0
JOINED: Final = 1
WAITING: Final = 2
NOTED: Final = 3
FORCED: Final = 4
HEAPS: Final = 5
FIRST_HELD: Final = 6
LAST_HELD: Final = FIRST_HELD + 1
LOADS: Final = 8
N_LOADS: Final = 9
FEEDERS: Final = 10
N_FEEDERS: Final = 11
OWN: Final = 12
ROOM: Final = 13
MEMBERS: Final = 16
N_MEMBERS: Final = 17
THROUGH: Final = 18
N_THROUGH: Final = 19
NEXT_NODE: Final = 20

# -- what a node puts on another for a unit of its level: load; rows that make it up, the other, places in both lists
SLOT: Final = 4
USES: Final = 0
OTHER: Final = 1
IN_LOADS: Final = 2
IN_FEEDERS: Final = 3

# -- a row: floats, integers; its pairs are (demand, node)
WEIGHT: Final = 0
CAPPED_RATE: Final = 1
ROW: Final = 12

AT_NODE: Final = 0
PLACE: Final = 1
FREE: Final = 2
FIRST_FLOW: Final = 3
LAST_FLOW: Final = FIRST_FLOW + 1
N_CAPPED: Final = 5
NEXT_HELD: Final = 6
PREV_HELD: Final = NEXT_HELD + 1
PAIRS: Final = 8
N_PAIRS: Final = 9
SLOTS: Final = 10

# -- a flow: floats, integers
MARK: Final = 0
CAP: Final = 1
LIMIT: Final = 2
SHARE: Final = 3

ROW_OF: Final = 0
SIDE: Final = 1
NEXT: Final = 2
PREV: Final = NEXT + 1
NUMBER: Final = 4
STAMP: Final = 5
HELD_BY: Final = 6
ENGINE_FLOW: Final = 7
FLOW: Final = 12
#: ``SIDE`` of a flow that runs at its own cap, and of one that is not under way; ``HELD_BY``: the last node there
CAPPED: Final = -1
ABSENT: Final = -2

# -- a station: capacity and demand over that of the first of its node; node, whether it is down
STATION: Final = 2
RATIO: Final = 1
DOWN: Final = 1
