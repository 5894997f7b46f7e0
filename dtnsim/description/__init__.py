"""What a file says: path, hosts, data sets, events, overrides.

Begin with `spec`: it reads a path, has `hosts` written out (`drawn_hosts` where nobody says what they are, `boards`
and `fitted` put over them) and `host` built, shares transfers out (`transfer`, `shared`, `programs`, `templates`),
validates everything and gives every number its key (`keys`). `override` is ``--set``, `graph` what is wired to what;
`schema` is the same for editors, `listing` and `catalogue` the library for readers; a facility's months are in
`workload`, `events` and `calendar`.

What functions take has one name everywhere: ``raw``, the mapping of a path file, which those who read short forms
change, ``beside``, the folder that files named in it are relative to, ``overrides`` as texts of ``--set`` and ``text``,
one of them as it was given, for messages; ``host``, the mapping of a host, its ``name``, and ``where``, its key (or
place and key, for an error); ``built``, hosts as they were built with other overrides; ``notes``, which takes what was
read otherwise than it is written; ``graph``, that of a path, with ``source`` and ``destination``, nodes of it;
``hosts`` by their names in the path, ``wan``, segments in series, ``links``, segments by name, and all ``transfers``;
``tool``, that of one, ``location``, file and line that say it, ``year``, of a host, ``spec``, what is written, and
``node``, of a JSON Schema.
"""
