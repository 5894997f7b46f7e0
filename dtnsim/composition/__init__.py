"""From a path to stations and demands: what each transfer charges along the graph of its path.

Begin with `compose`: it takes each transfer as `resolved_transfer` has it (ends, plan, route; `like` ones once),
charges its volumes (`storage`, `remote_servers`, `volumes`, what caches hold: `residency`, `files`) and its `network`
(`endpoint` at both ends, the `route` between, what connections allow: `transport`, `tcp`, among each other:
`sharing`), and says where its workers wait (`waits`). `plain` composes very many flows from memory to memory as
columns; `relief` is what would help.
"""
