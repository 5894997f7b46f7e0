"""TCP and rate-based transport: closed forms, and the round model in time.

Closed forms (steady state)

    response      rate of a stream under random loss: Reno, PFTK, CUBIC, H-TCP, BBR v1 and v3
    window        socket buffers and windows
    droptail      sawtooth over a drop-tail buffer, bursts
    ramp          slow start and short transfers
    sharing       unequal round trips, BBR against loss-based
    ratebased     UDT and FASP
    path          all of these for one transfer: `path_goodput`
    advice        their inverses: loss that a target allows, streams that help, what to change first

In time (from a cold start, with replicas)

    outcome       `simulate`: mean, interval and limit of many transfers
    opening       the ramp of one connection, a rate each round trip, for simulations in time
    rounds        the transfers (`Cases`) and the three engines
    bbr, shared   BBR alone, and flows that compete
    linux         what the Linux sender does that no RFC fixes
    coefficients  every number that neither RFC nor kernel gives
"""

from dtnsim.physics.tcp.path import ALGORITHMS, LIMITS, path_goodput
from dtnsim.physics.tcp.ratebased import fasp, udt
from dtnsim.physics.tcp.response import bbr1, bbr3, cubic, htcp, mathis, pftk, reno

__all__ = [
    "ALGORITHMS", "LIMITS", "bbr1", "bbr3", "cubic", "fasp", "htcp", "mathis", "path_goodput", "pftk", "reno",
    "udt",
]  # fmt: skip
