"""GPFS against Little's law in a printed gpfsperf run, IBM's subblock figures, and its limits."""

import numpy as np
from hypothesis import given, strategies as st

from dtnsim.physics import gpfs, waiting

POSITIVE = st.floats(1e-3, 1e3)


@given(threads=st.integers(1, 512), block=st.floats(65536, 2**24), pool=st.floats(2**27, 2**38), t=POSITIVE)
def test_more_memory_and_threads_never_hurt(threads, block, pool, t):
    def rate(n, p):
        return waiting.request_rate(block, t, np.inf, gpfs.blocks_in_flight(n, block, p, 0.2))

    assert rate(threads + 1, pool) >= rate(threads, pool)
    assert rate(threads, 2 * pool) >= rate(threads, pool)


@given(size=st.floats(1, 1e9), block=st.sampled_from([262144.0, 4194304.0]))
def test_allocation_wastes_less_than_a_subblock(size, block):
    spare = gpfs.allocated_bytes(size, gpfs.subblock(block)) - size
    assert -1e-6 <= spare < 8192 + 1e-6
