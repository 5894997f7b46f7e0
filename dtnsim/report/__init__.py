"""How answers are shown: text, JSON documents, HTML. No arithmetic of its own.

Begin with `decision`, the first screen (`holds`, `advice`, `how_long`, `costs` are its sentences), then
`text` and `table`, which is one table for terminal and page. `document` makes the JSON, ``documents.yaml`` says what
its keys mean, `schemas` is both as JSON Schema. A page is `whole` (a fleet's `fleet_page`), put together by `page`
from `charts`, `picture` and `timeline`, of the lines and marks of `traces`; `assets` has its frame and styles.

What functions take has one name everywhere: the ``path``; its answer, ``p``, with what is ``wanted`` of it, goals; the
``ways`` of its transfers through the graph, and the ``steps`` from the ceiling to the median; the time of day of the
``start``; the ``samples`` behind an interval, and the ``seed`` of the draws; where it goes, ``out``. Of figures and
tables: the ``title`` above, the ``name`` in the legend, ``x``, where, and ``y``, how much, in a ``unit``, and
``hover``, the label of a point, bar or cell; none if empty.
"""
