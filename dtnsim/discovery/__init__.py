"""What a machine says of itself, as a host file.

Begin with `discover`: it takes `outputs` of the machine's own commands (collect.sh), or of other programs as people
paste them (`pasted`), and has the host made of them, by `hardware` (processor, memory, kernel), `cards`, `drives` and
`mounts`. `measuring` runs tests politely, and `as_measured` puts what their logs say in the place of what was found.
`finding_out` says which test or command tells an uncertain number (benchmarks.yaml).
"""
