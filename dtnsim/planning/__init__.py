"""What to change: scenarios of a path, variants side by side, tools, parts, and plans of what to set and what to buy.

Begin with `plan`: `explore` tries what is free (`tuning`) and searches what can be bought (`search`, by `rating`,
`bounds` and `dominance`), of the kinds of change in `actions`; `fitting` knows what fits, `catalog` and `offers` what
it costs, `whynot` what is out and why, `growth` when it is due, `messages` says it. Many scenarios are `sweep`
(`design` says which, `groups` and `swept` compose them at once), variants `compare`, tools `tool_choice`, parts
`select_parts`.
"""
