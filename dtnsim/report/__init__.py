"""How answers are shown: text, JSON documents, HTML. No arithmetic of its own.

Begin with `decision`, the first screen (`holds`, `advice`, `how_long`, `costs` are its sentences), then
`text` and `table`, which is one table for terminal and page. `document` makes the JSON, ``documents.yaml`` says what
its keys mean, `schemas` is both as JSON Schema. A page is `whole` (a fleet's `fleet_page`), put together by `page`
from `charts`, `picture` and `timeline`, of the lines and marks of `traces`; `assets` has its frame and styles.
"""
