"""From a path to stations and demands: what each transfer charges along the graph of its path.

Begin with `compose`: it takes each transfer as `resolved_transfer` has it (ends, plan, route; `like` ones once),
charges its volumes (`storage`, `remote_servers`, `volumes`, what caches hold: `residency`, `files`) and its `network`
(`endpoint` at both ends, the `route` between, what connections allow: `transport`, `tcp`, how long bytes take over
them: `completion`, among each other: `sharing`), and says where its workers wait (`waits`). `plain` composes very many
flows from memory to memory as columns; `relief` is what would help.

What functions take has one name everywhere: ``spec``, what the path file says of the path, or of a transfer if it is
one of the file; ``storage``, the accesses of the path, and its ``network``; the transfer as a ``leg``, a ``step`` of
its plan, its ``end`` with host and volume, the ``use`` of that; the ``row`` that takes the demands; the ``route``
between two hosts, how the tool uses it, which is ``net``, the packets on it as its ``frame``, the ``nics`` at its ends,
its ``streams``, connections side by side, with ``cc``, their congestion control, and what they move between two
``openings``; ``draw``, the values of the parameters; ``stations`` by name, in the ``ledger``, which takes warnings too.
"""
