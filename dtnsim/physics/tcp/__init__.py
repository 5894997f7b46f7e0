"""TCP and rate-based transport: the round model in time, and closed forms of the steady state.

Begin with `outcome` (many transfers by the round model, from a cold start, with mean, interval and limit) and `path`,
the closed form of one transfer over one bottleneck, by whose ratios draws of the parameters move the answer. In time:
`rounds` has the transfers and the engines, `rate_over_time` a transfer as a step function of time (what `predict` and
`simulate` go by), `bbr` and `shared` BBR alone and flows that compete, `loss` how packets are lost, `advice` one thing
changed at a time. Closed: `response`, `window`, `droptail`, `ratebased` (UDT, FASP). Numbers: `linux` has what the
sender does that no RFC fixes, `controls` the congestion controls by name, `coefficients` all that neither RFC nor
kernel gives.
"""
