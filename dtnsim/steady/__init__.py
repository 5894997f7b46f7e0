"""Rates in the long run: max-min shares, what binds and why, intervals.

Begin with `prediction`: it draws `scenarios` (what the model has wrong: `discrepancy`), and `solve` finds the
rates of all of them at once (`matrices`, `shares`; what workers allow: `ceilings`). Unlike transfers are laid out in
time by `epochs` (`stages`, `pools`, `occupancy`, `ordering`, `meetings`, `timed`). Why: `reasons`, `ladder`,
`relieved`, `breakdown`, `usual`; how sure: `goals`, `assumed`, `known`, `why_wide`.

What functions take has one name everywhere: the ``path``, as its ``composer`` composes it: the ``problem``, drawn or
``nominal``, at its medians, with the stations and TCP's connections by station; the same as arrays, ``m``; the number
``f`` of a transfer, which is ``t``, what binds it then, its ``cause``, its rate with a change, ``rate_of`` [B/s]; what
was drawn, ``draw``, in so many ``samples`` by a ``seed``, the scenarios ``drawn`` of it, and what can hold each
transfer in them, ``holding``; ``mean``, whether one run's luck is left out; ``whole_Bps``, the rate of all transfers
together at the medians [B/s]; ``members``, numbers of transfers among all of a path. Of rates: the ``capacity`` of
stations (S, K), the ``weight`` of transfers, in proportion to which rates rise, (F, S) or (F, 1), and their
``ceiling``, which none can pass by itself, (S, F); which transfers or columns are ``active`` (S, F), the numbers of
``scenarios`` (S,), the part ``near`` by which rates may still move (``Rates`` of `solve`), and whether it is asked what
binds them, ``bound``: where it is not, each has -1.
"""
