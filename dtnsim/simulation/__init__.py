"""A path in time on the fluid engine: files, workers, caches, events, other people's transfers, replicas.

Begin with `runs`: `scenario` works out what a run needs before time begins, `run_path` is the event loop, in which
`transfer_processes` move what `chunks` hands out, through `opening` windows and the page caches of `cache`, `memory`
and `store`; `environment` changes stations as things happen, `record` keeps what was, `results` hands it out. `plain`
has very many flows without a process each, `fleet` a facility for a year.

What functions take has one name everywhere: the ``problem`` that a path is, one ``transfer`` of it, and which
``scenario`` of its drawn values, or those values themselves, ``draw``; the ``old`` path, as it is at the start; the
``key`` of the path file, for errors; the ``calibration``, fitted parameters to use; the ``scene``, all that may happen,
and the ``world`` where it does; the fluid ``engine``, which shares the stations out, with the ``capacity`` of each at
the start [unit/s], and ``row``, which makes its rows of demands; the ``jobs`` of a run, each ``job`` a transfer, and
the ``leg`` of one, the phase that goes through a store, with the ``payload`` that will pass it [B]; such a store, the
``cache``; what is drawn of the run by its ``seed``; how many ``files`` each transfer has (N,); the ``width`` of a bin
to begin with [s]; in how many ``parts`` of the whole stretches are told; ``until``, when it ends at the latest [s], or
its ``limits``, which also say who hears how far it is; of replicas, the ``task`` that they have in common, and how many
``processes`` make them (None: as many as pay; or an executor) or the address of a Dask ``scheduler`` whose workers do;
the ``columns`` of plain flows. Of a fleet: its ``workload`` and ``stations``, its ``work``, the transfers, the ``ends``
that these have, from and to, ``host:/path``, the ``template`` of each among the path's, and the ``sort`` of what it
moves; the ``lanes`` where they wait, in an ``order``, ``fifo``, ``fair`` or ``deadline``; the ``ways``, all by number;
the ``mark`` of what a file is of (its signature); its numbers, the floats ``f`` and the integers ``q``.
"""

from dtnsim.simulation.runs import simulate

__all__ = ["simulate"]
