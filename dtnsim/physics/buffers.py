"""Stages in series with finite buffers and variable service: why a line runs below its slowest stage.

A stage that is for a moment faster than the next fills the buffer and blocks; one that is slower lets
the next run dry. What is lost that way can not be made up. Equal stages lose most: their buffer is as
often full as empty.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

_MAX_EXPONENT: Final = 700.0  # exp(700) is the last that float64 holds; beyond it the term is 0 anyway
_ENDLESS: Final = 1e9  # a stage this many times faster than the slowest takes no time; keeps inf out
_MAX_ITERATIONS: Final = 200
_TOLERANCE: Final = 1e-7


def buffer_slots(buffer_B: ArrayLike, quantum_B: ArrayLike) -> FloatArray:
    """Slots a buffer offers between two stages: buffer bytes over bytes of one service.

    B = buffer / quantum

    A quantum is the amount over which a stage's speed varies independently: a block of the tool, a
    stripe, a write-back run. Several blocks served alike are one quantum.

    Args:
        buffer_B: Bytes the buffer holds (socket buffer, page cache allowance, ring of blocks) [B].
        quantum_B: Bytes of one service [B].

    Returns:
        Slots [1], fractions allowed.

    Valid: both positive.
    Neglects: quanta of different size on both sides (take the larger).
    Source: definition.
    """
    return as_float(buffer_B) / as_float(quantum_B)


def aggregate_scv(scv: ArrayLike, services: ArrayLike) -> FloatArray:
    """Squared coefficient of variation of the sum of n independent service times: c^2 / n.

    Args:
        scv: Squared coefficient of variation of one service time [1].
        services: Services n that make one quantum [1].

    Returns:
        Squared coefficient of variation of the quantum [1].

    Valid: independent, alike.
    Neglects: correlation between neighbours (it keeps the variability up: use n = 1).
    Source: variance of a sum, Feller vol. 1 (IX).
    """
    return as_float(scv) / as_float(services)


def two_stage_rate(
    rate_1: ArrayLike,
    rate_2: ArrayLike,
    slots: ArrayLike,
    scv_1: ArrayLike = 1.0,
    scv_2: ArrayLike = 1.0,
) -> FloatArray:
    """Throughput of two stages with a finite buffer between them.

    X = mu_lo - (mu_hi - mu_lo) / (r^M - 1),  r = mu_hi / mu_lo,  M = 1 + (B + 2 c) / c^2,
    c^2 = (c_1^2 + c_2^2) / 2;  equal rates: X = mu (B + 2 c) / (B + 2 c + c^2)

    With c = 1 this is the exact result for exponential service, (B + 2)/(B + 3) when the stages are
    equal. For other c it keeps that form with the two limits that are known: a long buffer loses
    mu c^2 / B (reflected Brownian motion), no buffer loses half of c.

    Args:
        rate_1: Rate of the first stage when never starved or blocked [any rate].
        rate_2: Rate of the second stage, same unit [any rate].
        slots: Buffer slots B between them, see `buffer_slots` [1].
        scv_1: Squared coefficient of variation of the first stage's service time [1].
        scv_2: The same of the second [1].

    Returns:
        Throughput, same unit as the rates.

    Valid: c^2 from 0 to about 2, B >= 0; within 4 % of simulation there (tests/physics/test_buffers.py).
    Neglects: skewness of the service times; correlation between successive ones.
    Source: exponential: Hunt, Operations Research 4(6), 1956; Brownian limit: Harrison, Brownian Motion
        and Stochastic Flow Systems, 1985, ch. 5; no buffer: X = 1/E[max(S1, S2)].
    """
    a, b = as_float(rate_1), as_float(rate_2)
    low = np.minimum(a, b)
    high = np.minimum(np.maximum(a, b), _ENDLESS * low)
    c2 = np.maximum((as_float(scv_1) + as_float(scv_2)) / 2, 1e-12)
    m = 1 + (as_float(slots) + 2 * np.sqrt(c2)) / c2
    log_ratio = np.log(high / low)
    exponent = np.minimum(m * log_ratio, _MAX_EXPONENT)
    near = log_ratio < 1e-9  # equal rates: the quotient's limit, free of 0/0
    loss = np.where(near, 1 / m, np.expm1(log_ratio) / np.expm1(np.where(near, 1.0, exponent)))
    return as_float(low * (1 - loss))


def line_rate(rates: ArrayLike, slots: ArrayLike, scv: ArrayLike = 1.0) -> FloatArray:
    """Throughput of any number of stages in series with finite buffers.

    Each stage is slowed by the share of time it is starved (everything before it seen as one stage) and
    blocked (everything behind it seen as one): with X2 from `two_stage_rate`,
        back_i = mu_i X2(front_i, back_i+1) / front_i,   front_i = mu_i X2(front_i-1, back_i) / back_i
    until nothing changes; front_n is the throughput.

    Args:
        rates: Rates, stages on the last axis [any rate].
        slots: Buffer slots between neighbours on the last axis (one fewer), or one number for all [1].
        scv: Squared coefficients of variation, stages on the last axis, or one number for all [1].

    Returns:
        Throughput without the last axis, same unit as the rates. One stage returns its rate.

    Valid: see `two_stage_rate`; 1 % above exact for three equal exponential stages without buffers,
        3 % for five.
    Neglects: dependence between the two sides of a stage.
    Source: aggregation as in Lim, Meerkov, Top, IEEE Trans. Automatic Control 35(7), 1990; the idea of
        decomposition: Gershwin, Operations Research 35(2), 1987.
    """
    mu = as_float(rates)
    stages = mu.shape[-1] if mu.ndim else 1
    if stages == 1:
        return as_float(mu[..., 0] if mu.ndim else mu)
    b = np.broadcast_to(as_float(slots), (*np.shape(as_float(slots))[:-1], stages - 1))
    c2 = np.broadcast_to(as_float(scv), (*np.shape(as_float(scv))[:-1], stages))
    shape = np.broadcast_shapes(mu.shape[:-1], b.shape[:-1], c2.shape[:-1])
    mu = np.broadcast_to(np.minimum(mu, _ENDLESS * np.min(mu, axis=-1, keepdims=True)), (*shape, stages))
    front, back = mu.copy(), mu.copy()
    for _ in range(_MAX_ITERATIONS):
        before = front.copy()
        for i in range(stages - 2, -1, -1):
            passed = two_stage_rate(front[..., i], back[..., i + 1], b[..., i], c2[..., i], c2[..., i + 1])
            back[..., i] = mu[..., i] * passed / front[..., i]
        for i in range(1, stages):
            passed = two_stage_rate(front[..., i - 1], back[..., i], b[..., i - 1], c2[..., i - 1], c2[..., i])
            front[..., i] = mu[..., i] * passed / back[..., i]
        # every stage must have settled: the last one may stand still while the others still move
        if np.all(np.abs(front - before) <= _TOLERANCE * before):
            break
    # both ends see the same throughput; where the count ended the loop the lower one is nearer
    return as_float(np.minimum(front[..., -1], back[..., 0]))


def line_efficiency(rates: ArrayLike, slots: ArrayLike, scv: ArrayLike = 1.0) -> FloatArray:
    """Throughput of a line over its slowest stage: the factor on the minimum of the stages.

    e = line_rate / min(rates)

    Args:
        rates: Rates, stages on the last axis [any rate].
        slots: Buffer slots between neighbours, see `line_rate` [1].
        scv: Squared coefficients of variation, see `line_rate` [1].

    Returns:
        Efficiency, 0 to 1 [1]; 1 for constant service, endless buffers, or one stage much slower.

    Valid: see `line_rate`.
    Neglects: see `line_rate`.
    Source: see `line_rate`.
    """
    return as_float(line_rate(rates, slots, scv) / np.min(np.atleast_1d(as_float(rates)), axis=-1))
