"""A facility in time: the transfers of a year, its queues, its faults, and what follows from them.

Begin with `run`: `build` puts a `facility` together, each kind of transfer composed once (`job_classes`), and draws
when transfers come (`arrivals`, or a `trace`) and what breaks (`faults`, `degraded`, `corruption`); `event_loop` runs
it on flat numbers (`state`, `transfer_layout`, `traffic`, plain or `compiled`); `answers` and `promises` are what
follows.
"""
