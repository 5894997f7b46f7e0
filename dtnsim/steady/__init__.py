"""Rates in the long run: max-min shares, what binds and why, intervals.

Begin with `prediction`: it draws `scenarios` (what the model has wrong: `discrepancy`), and `solve` finds the
rates of all of them at once (`matrices`, `shares`; what workers allow: `ceilings`). Unlike transfers are laid out in
time by `epochs` (`stages`, `pools`, `occupancy`, `ordering`, `meetings`, `timed`). Why: `reasons`, `ladder`,
`relieved`, `breakdown`, `usual`; how sure: `goals`, `assumed`, `known`, `why_wide`.
"""
