"""A fleet's own records on the flat numbers of `dtnsim.engine.layout`: ways, places, lanes and transfers."""

from __future__ import annotations

from typing import Final

from dtnsim.engine.layout import *  # noqa: F403 - one set of names for those who use both
from dtnsim.engine.layout import ENGINE_FLOW, ENGINE_HEAD, ENGINE_HEAPS

# -- the whole, besides what the engine keeps there: floats, integers
NOW: Final = ENGINE_HEAD
UNTIL: Final = ENGINE_HEAD + 1
FAULT: Final = ENGINE_HEAD + 2

ARRIVAL: Final = ENGINE_HEAD
COUNT_ALL: Final = ENGINE_HEAD + 1
FINISHED: Final = ENGINE_HEAD + 2
EVENTS: Final = ENGINE_HEAD + 3
PHASE: Final = ENGINE_HEAD + 4
FIRST_LIVE: Final = ENGINE_HEAD + 5
LAST_LIVE: Final = FIRST_LIVE + 1
HOUR: Final = ENGINE_HEAD + 7
DOWN_COUNT: Final = ENGINE_HEAD + 8
ORDER: Final = ENGINE_HEAD + 9
WAYS: Final = ENGINE_HEAD + 12
N_WAYS: Final = ENGINE_HEAD + 13
LANES: Final = ENGINE_HEAD + 14
HOSTS: Final = ENGINE_HEAD + 15
HELD: Final = ENGINE_HEAD + 16
N_HELD: Final = ENGINE_HEAD + 17
LIVE: Final = ENGINE_HEAD + 18

# -- heaps by number
RETRIES: Final = ENGINE_HEAPS
FREED: Final = ENGINE_HEAPS + 1

# -- a flow's fields besides those of the engine: floats, integers
SEEN_S: Final = 4
SEEN_B: Final = 5

TRANSFER: Final = ENGINE_FLOW
WAY_OF: Final = ENGINE_FLOW + 1
LANE_OF: Final = ENGINE_FLOW + 2
NEXT_LIVE: Final = ENGINE_FLOW + 3
PREV_LIVE: Final = NEXT_LIVE + 1

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
