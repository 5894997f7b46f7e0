"""What to change: scenarios of a path, variants side by side, tools, parts, and plans of what to set and what to buy.

Begin with `plan`: `explore` tries what is free (`tuning`) and searches what can be bought (`search`, by `rating`,
`bounds` and `dominance`), of the kinds of change in `actions`; `fitting` knows what fits, `catalog` and `offers` what
it costs, `whynot` what is out and why, `growth` when it is due, `messages` says it. Many scenarios are `sweep`
(`design` says which, `groups` and `swept` compose them at once), variants `compare`, tools `tool_choice`, parts
`select_parts`.

What functions take has one name everywhere: the ``path``, or its ``spec``, and the ``folder`` where it lies, as parts
of your own stand in ``parts/`` beside it; the name of a ``host``; the ``hosts`` that may be changed, as they are yours,
and ``foreign`` ones; the ``goal`` that was asked for, ``target_Bps`` where it is a rate [B/s], and how likely it has to
be met, ``confidence`` or ``sure``; ``request``, all that was asked for; kinds of change that may be tried, ``allow``;
of a set of changes, the ``most`` at once, its ``budget`` and its ``max_watts`` [W]; the key of a ``place`` and the part
that is there, the ``old`` one, for each place the ``choices`` that can be bought, the ``family`` of the offers, the
``rates`` between currencies, like ``EUR/USD=1.08``; ``samples``, how many draws are behind an answer, and the ``seed``
of these; the ``design`` of a sweep; the path to ``start`` from, the ``rater`` of it, and what is put over it: as
``key=value`` the ``overrides``, of ``settings`` and of ``options`` that are bought; settings that help, ``won``; a
``stage`` of a plan and its ``stages``, the first of which buys nothing: ``tuned``, the best without a purchase, the
``best`` of all, and ``top``, the cheapest that meets the goal as surely as asked, or else the surest, and the
``currency`` of them all; ``each``, which gives what is worked out one after another and says how far it is.
"""
