"""Very many plain flows in time, without a process each, their records made when they are asked for.

Begin with `flow_events`, which moves them on the fluid engine; `columns` has what holds each, as arrays (composed in
`dtnsim.composition.plain`), and `answer` what is handed out.
"""
