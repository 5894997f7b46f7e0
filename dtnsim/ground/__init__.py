"""What everything rests on: errors, units, quantities, YAML, the library of parts, the small records.

Begin with `quantity` (a number with unit, spread and source, and how it is drawn), `term` (a number with its formula)
and `ledger` (the row that components charge); `records` and `pages` are what rooms hand to each other. `units` alone
reads texts with units, `yamlio` files with their lines, `library` finds what files name. `pool` spreads work over
processes and machines.

What functions take has one name everywhere: the ``key`` with its ``value`` in a ``file``, and the ``line`` there that
says it; whether numbers ``inherit`` the file's ``source``; the ``option`` that named a file, for messages; a number's
``median`` and ``spread``, its relative standard deviation, and whether it is a ``share``; of work, ``shared``, what all
``pieces`` have in common, which travels once a worker, and ``scheduler``, the address of Dask's, like
``tcp://login1:8786``.
"""
