"""TCP and rate-based transport: the round model in time, and closed forms of the steady state.

In time (from a cold start, with replicas)

    outcome       `simulate`: mean, interval and limit of many transfers
    rate_over_time one transfer as a step function of time: what `predict` and `simulate` go by
    advice        one thing changed at a time: streams, loss, MTU, settings
    rounds        the transfers (`Cases`) and the three engines
    bbr, shared   BBR alone, and flows that compete
    loss          random, in bursts, from retransmits

Closed forms (steady state: the ratio by which draws of the parameters move the answer)

    path          goodput of one transfer and its limit: `path_goodput`
    response      window of a stream under random loss, length of slow start; each control has its rate
    window        socket buffers and windows, what a sender is ahead
    droptail      sawtooth over a drop-tail buffer, bursts
    ratebased     UDT and FASP

Constants

    linux         what the Linux sender does that no RFC fixes
    controls      congestion controls by name: growth, cut, response, what each was judged by
    coefficients  every number that neither RFC nor kernel gives
"""
