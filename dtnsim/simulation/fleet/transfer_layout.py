"""A fleet's own records on the flat numbers of `dtnsim.engine.layout`: ways, places, lanes and transfers."""

from typing import Final

from dtnsim.engine.layout import *  # noqa: F403 - one set of names for those who use both
from dtnsim.engine.layout import ENGINE_FLOW, ENGINE_HEAD, ENGINE_HEAPS

# -- the whole, besides what the engine keeps there: floats, integers
NOW, UNTIL, FAULT = range(ENGINE_HEAD, ENGINE_HEAD + 3)

ARRIVAL, COUNT_ALL, FINISHED, EVENTS, PHASE, FIRST_LIVE, LAST_LIVE, HOUR = range(ENGINE_HEAD, ENGINE_HEAD + 8)
DOWN_COUNT, ORDER, TURNS, N_TURNS = range(ENGINE_HEAD + 8, ENGINE_HEAD + 12)
WAYS, N_WAYS, LANES, HOSTS, HELD, N_HELD, LIVE = range(ENGINE_HEAD + 12, ENGINE_HEAD + 19)

# -- heaps by number
RETRIES: Final = ENGINE_HEAPS
FREED: Final = ENGINE_HEAPS + 1

# -- a flow's fields besides those of the engine: floats, integers
SEEN_S: Final = 4
SEEN_B: Final = 5

TRANSFER, WAY_OF, LANE_OF, NEXT_LIVE, PREV_LIVE = range(ENGINE_FLOW, ENGINE_FLOW + 5)

# -- a way: floats, integers
MOVED: Final = 0
WAY_WEIGHT: Final = 1
WAY: Final = 12

WAY_ROW, WAY_FROM, WAY_TO, CROSSES, N_CROSSES, SIZES, N_SIZES, HOLDER = range(8)

# -- a place: an endpoint, a user, a class; floats, integers
FAIR_SHARE: Final = 0
PLACE_SIZE: Final = 8

ACTIVE, MOST, FIRST_WAITING, LAST_WAITING, MACHINES, N_MACHINES, BY_LOAD, NEXT_MACHINE = range(8)

# -- a lane: floats, integers
DOWN_SINCE, DOWN_FROM, DOWN_TO = range(3)
LANE: Final = 22

KIND, TURN_HEAP, LANE_HEAP, TABLE, N_GRAINS, IS_FREED, LINKS = range(4, 11)
#: at each of its places: the links to those that wait before and after it, and which lane it is
LINK: Final = 3
WAITER: Final = 2

# -- transfers: rows of the two tables that have a column each
READY, SIZE, DUE_BY, OWN_CAP, BEGUN, ENDED, LEFT, QUEUED_AT, FLOATS = range(9)

OF_LANE, GRAIN, STATUS, WAY_NUMBER, INTEGERS = range(5)

AHEAD, QUEUED, GOING, BACKING_OFF, DONE, FAILED = range(6)  #: what becomes of a transfer
BY_QUEUE, BY_DOWN, BY_BACK_OFF, OTHERS = range(4)  #: what holds a transfer besides stations and names, after those
#: how far an instant has come, and why a run comes back
AFRESH, STRUCK, DISPATCHING = range(3)
MORE, OVER, TICKED, FAILING, NARROW = range(5)
FOUR: Final = 4  #: places from which a transfer waits: both ends, user, class
