"""What a file says: path, hosts, data sets, events, overrides.

Begin with `spec`: it reads a path, has `hosts` written out (`drawn_hosts` where nobody says what they are, `boards`
and `fitted` put over them) and `host` built, shares transfers out (`transfer`, `shared`, `programs`, `templates`),
validates everything and gives every number its key (`keys`). `override` is ``--set``, `graph` what is wired to what;
`schema` is the same for editors, `listing` and `catalogue` the library for readers; a facility's months are in
`workload`, `events` and `calendar`.
"""
