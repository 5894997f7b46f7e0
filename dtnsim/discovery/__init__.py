"""What a machine says of itself, as a host file.

Begin with `discover`: it takes `outputs` of the machine's own commands (collect.sh), or of other programs as people
paste them (`pasted`), and has the host made of them, by `hardware` (processor, memory, kernel), `cards`, `drives` and
`mounts`. `measuring` runs tests politely, and `as_measured` puts what their logs say in the place of what was found.
`finding_out` says which test or command tells an uncertain number (benchmarks.yaml).

What functions take has one name everywhere: ``outputs``, what a machine says of itself; ``discovered``, its host as
`discover` has it, or as measured; the raw ``logs`` of tests; ``mount``, the volume that they were on; ``peer``, name or
address of another host, on which ``iperf3 -s`` runs; ``words``, a program with its arguments, which no shell reads, and
the ``folder`` where it runs.
"""
