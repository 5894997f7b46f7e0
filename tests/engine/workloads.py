"""The shared workloads W1 and W2 that dtnsim is timed with next to SimGrid: same seed, same numbers.

50 hosts a side, each with a link and a disk, and one WAN between; flows cross source disk, source
link, WAN, destination link, destination disk. Units: bytes, bytes/s, seconds. Figures are rounded as
in the files that SimGrid read (0.1 B/s, 1 us), so that both ran on the same numbers.
"""

import math
import random
from bisect import bisect
from itertools import accumulate

GB_S = 1e9 / 8  # one Gb/s
HOSTS = 50
WAN = 100 * GB_S


def _raw_capacities():
    """{(kind, side, host): rate} before rounding, and in the order in which the numbers were drawn."""
    draw = random.Random(1).random
    rates = {}
    for side in "sd":
        for host in range(HOSTS):
            rates["link", side, host] = (1, 2.5, 10)[int(draw() * 3)] * GB_S
            rates["disk", side, host] = 0.5 * 40 ** draw() * GB_S
    return rates


def capacities():
    """Capacity of each station: the WAN, then link and disk of each source, then of each destination."""
    return [WAN] + [float(f"{rate:.1f}") for rate in _raw_capacities().values()]


def row(source, destination):
    """What a byte from one host to another visits: one byte's work at each station."""
    out, into = 1 + 2 * source, 1 + 2 * HOSTS + 2 * destination
    return dict.fromkeys((0, out, out + 1, into, into + 1), 1.0)


def rows():
    """All rows; the row from s to d is number 50 s + d."""
    return [row(s, d) for s in range(HOSTS) for d in range(HOSTS)]


def w1(n):
    """N flows that start together: lists of start, bytes, row number, cap."""
    draw = random.Random(1001).random
    starts, sizes, which, caps = [], [], [], []
    for _ in range(n):
        source, destination = int(draw() * HOSTS), int(draw() * HOSTS)
        cap = WAN / n * 0.2 * 100 ** draw()
        sizes.append(int(1e9 * 10 ** (2 * draw())))
        starts.append(0.0)
        which.append(source * HOSTS + destination)
        caps.append(float(f"{cap:.1f}"))
    return starts, sizes, which, caps


def w2(n, load=0.9):
    """Poisson arrivals at a part of the WAN's capacity, hosts chosen by what they can carry."""
    draw = random.Random(2001).random
    carry = {}
    for (_, side, host), rate in _raw_capacities().items():
        carry[side, host] = min(rate, carry.get((side, host), rate))
    up_to = {side: list(accumulate(carry[side, host] for host in range(HOSTS))) for side in "sd"}
    rate = load * WAN / (9e9 / math.log(10))
    now = 0.0
    starts, sizes, which, caps = [], [], [], []
    for _ in range(n):
        now -= math.log(1 - draw()) / rate
        source = bisect(up_to["s"], draw() * up_to["s"][-1])
        destination = bisect(up_to["d"], draw() * up_to["d"][-1])
        sizes.append(int(1e9 * 10 ** draw()))
        starts.append(float(f"{now:.6f}"))
        which.append(source * HOSTS + destination)
        caps.append(float(f"{0.5 * GB_S * 20 ** draw():.1f}"))
    return starts, sizes, which, caps
