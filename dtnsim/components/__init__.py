"""The kinds of components, one a file: parameters, and how an access becomes stations and demands.

Begin with `device` (drives, arrays, layers) or `filesystem` and one kind of each (`ssd`, `raid`; `xfs`, `nfs`,
`lustre`); what asks them is `access`, what they charge is a row of `dtnsim.ground.ledger`. `base` finds kinds by the
names of their files, `model` says what is wrong in a file. A host is put together in `cores`, `wiring` and `buses`;
shared file systems have `servers`, those that stripe files are `parallel`, mounts of one server `remote`.
"""
