"""The one fluid engine: weighted max-min shares of flows on stations, exactly, event by event. It knows no paths.

Begin with `max_min`: it puts shares right where something changed, on the flat numbers of `layout` (`nodes` from
stations and rows, `flow_lists` and `rate_updates` while flows come and go, `heaps` for who is next). These functions
run as plain Python or compiled by numba (`compiled_heaps`), with the same digits. `fluid` has a handle for each flow
and row (`flows` is what it is given), and `engine` is that as a SimPy resource.

What functions take has one name everywhere: ``capacities`` (K,) of stations [station's unit/s]; ``row``, demands of a
byte [station's unit/B]; ``size`` [B], infinite for what lasts until it is withdrawn; ``weight``, the share next to
others where a station holds both back (number of streams); ``cap``, the rate that a flow cannot pass [B/s].
"""
