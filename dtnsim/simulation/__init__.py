"""A path in time on the fluid engine: files, workers, caches, events, other people's transfers, replicas.

Begin with `runs`: `scenario` works out what a run needs before time begins, `run_path` is the event loop, in which
`transfer_processes` move what `chunks` hands out, through `opening` windows and the page caches of `cache`, `memory`
and `store`; `environment` changes stations as things happen, `record` keeps what was, `results` hands it out. `plain`
has very many flows without a process each, `fleet` a facility for a year.
"""

from __future__ import annotations

from dtnsim.simulation.runs import simulate

__all__ = ["simulate"]
