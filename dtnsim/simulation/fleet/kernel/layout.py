"""Where a fleet's state is: two flat arrays of numbers, one of floats and one of integers, and heaps.

The same functions (`sides`, `shares`, `traffic`) run as plain Python on lists and compiled by numba on arrays, so that
both give the same digits. Every record has an address: its floats are at ``f[address + field]``, its integers at
``q[address + field]``. The first numbers are the state of the whole.
"""

from __future__ import annotations

from typing import Any, Final

#: as plain Python has them; compiled they are arrays, and heaps a table of `memory`
Floats = list[float]
Integers = list[int]
Entry = tuple[float, int, int]
Heaps = list[list[Entry]]
Turn = tuple[float, float, float, int, int]
Turns = list[Turn]
Table = Any

# -- what the compiled functions are asked for, and with how many integers (`entry`)
RUN: Final = 0
BOOK_ALL: Final = 1
GIVE_BACK: Final = 2
GIVEN: Final = 11

# -- the whole: floats, integers
NOW: Final = 0
UNTIL: Final = 1
FAULT: Final = 2
TURN: Final = 3
LAST: Final = 4
HEAD: Final = 40

ARRIVAL: Final = 0
COUNT_ALL: Final = 1
FINISHED: Final = 2
EVENTS: Final = 3
PHASE: Final = 4
SPARE_SLOT: Final = 5
FIRST_LIVE: Final = 6
LAST_LIVE: Final = FIRST_LIVE + 1
CREATED: Final = 8
SETTLED: Final = 9
REPEATS: Final = 10
STAMPS: Final = 11
HOUR: Final = 12
DOWN_COUNT: Final = 13
ORDER: Final = 14
NODES: Final = 15
N_NODES: Final = 16
ROWS: Final = 17
N_ROWS: Final = 18
STATIONS: Final = 19
WAYS: Final = 20
N_WAYS: Final = 21
LANES: Final = 22
HOSTS: Final = 23
HELD: Final = 24
N_HELD: Final = 25
N_STATIONS: Final = 26
LANE_HEAPS: Final = 27
LIVE: Final = 28

# -- heaps by number; those of nodes (ends, lowest limits, highest limits) and of lanes follow
QUEUE: Final = 0
DIRTY: Final = 1
RETRIES: Final = 2
ENDED_NOW: Final = 3
FREED: Final = 4
NOTES: Final = 5
FRESH: Final = 6
TAKEN: Final = 7
FIRST_HEAP: Final = 8

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
NODE: Final = 20

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
SEEN_S: Final = 4
SEEN_B: Final = 5
FLOW: Final = 12

ROW_OF: Final = 0
SIDE: Final = 1
NEXT: Final = 2
PREV: Final = NEXT + 1
NUMBER: Final = 4
TRANSFER: Final = 5
WAY_OF: Final = 6
LANE_OF: Final = 7
NEXT_LIVE: Final = 8
PREV_LIVE: Final = NEXT_LIVE + 1
STAMP: Final = 10
#: ``SIDE`` of a flow that runs at its own cap, and of one that is not under way
CAPPED: Final = -1
ABSENT: Final = -2

# -- a station: capacity and demand over that of the first of its node; node, whether it is down
STATION: Final = 2
RATIO: Final = 1
DOWN: Final = 1

# -- a way: floats, integers
MOVED: Final = 0
WAY_WEIGHT: Final = 1
WAY: Final = 12

WAY_ROW: Final = 0
WAY_FROM: Final = 1
WAY_TO: Final = 2
CROSSES: Final = 3
N_CROSSES: Final = 4
SIZES: Final = 5
N_SIZES: Final = 6
HOLDER: Final = 7

# -- a place: an endpoint, a user, a class; floats, integers
FAIR_SHARE: Final = 0
PLACE_SIZE: Final = 8

ACTIVE: Final = 0
MOST: Final = 1
FIRST_WAITING: Final = 2
LAST_WAITING: Final = 3
MACHINES: Final = 4
N_MACHINES: Final = 5
BY_LOAD: Final = 6
NEXT_MACHINE: Final = 7

# -- a lane: floats, integers
DOWN_SINCE: Final = 0
DOWN_FROM: Final = 1
DOWN_TO: Final = 2
LANE: Final = 18

PLACES: Final = 0
KIND: Final = 4
PRIORITY: Final = 5
LANE_HEAP: Final = 6
TABLE: Final = 7
N_GRAINS: Final = 8
IS_FREED: Final = 9
LINKS: Final = 10

# -- transfers: rows of the two tables that have a column each
READY: Final = 0
SIZE: Final = 1
DUE_BY: Final = 2
OWN_CAP: Final = 3
BEGUN: Final = 4
ENDED: Final = 5
LEFT: Final = 6
QUEUED_AT: Final = 7
FLOATS: Final = 8

OF_LANE: Final = 0
GRAIN: Final = 1
STATUS: Final = 2
WAY_NUMBER: Final = 3
INTEGERS: Final = 4

#: what becomes of a transfer
AHEAD: Final = 0
QUEUED: Final = 1
GOING: Final = 2
BACKING_OFF: Final = 3
DONE: Final = 4
FAILED: Final = 5
#: what holds a transfer besides stations and names, after those
BY_QUEUE: Final = 0
BY_DOWN: Final = 1
BY_BACK_OFF: Final = 2
OTHERS: Final = 3
#: how far an instant has come, and why a run comes back
AFRESH: Final = 0
STRUCK: Final = 1
DISPATCHING: Final = 2
MORE: Final = 0
OVER: Final = 1
TICKED: Final = 2
FAILING: Final = 3
NARROW: Final = 4
#: places from which a transfer waits: both ends, user, class
FOUR: Final = 4
