"""Every law that answers, and no other: pure functions, SI in and SI out, arrays broadcast, one topic a file.

Begin with a short one, `nic` or `lustre`: each function has its equation, range, neglect and source. What calls the law
of a component is the file of the same stem in `dtnsim.components`, or one that its family shares; of the network it is
in `dtnsim.composition`: ``grep -rn nfs.service_time dtnsim`` finds it. `tcp` has the round model in time and closed
forms, `waiting` what queues and last rounds cost, `arrivals` how demand comes to a facility.

What steps of that model take has one name everywhere: the state ``s``, which they change in place, of the lanes ``p``;
what the step goes by, ``v``; the draws, ``dice``.
"""
