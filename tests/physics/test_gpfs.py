"""GPFS against Little's law in a printed gpfsperf run, IBM's subblock figures, and its limits."""

import numpy as np
from hypothesis import given, strategies as st

from dtnsim.physics import gpfs, servers, waiting
from tests.each import values

POSITIVE = st.floats(1e-3, 1e3)
MiB = 2.0**20


test_values = values({
    # gpfsperf create seq, 12 threads, 8-MiB records: 5089216.97 kB/s (decimal: 606.68 ops/s x 8 MiB), mean latency
    # 19.350 ms, threads busy 0.978 of the time
    "Little's law in a gpfsperf run": (
        waiting.request_rate, (8 * MiB, 19.350e-3, np.inf, 12 * 0.978), 5089216.97e3, 1e-3),
    "a fifth of the default 1 GiB holds 12.8 blocks of 16 MiB": (
        gpfs.blocks_in_flight, (72, 16 * MiB, 2.0**30, 0.2), 12.8),
    "small blocks: the 72 threads": (gpfs.blocks_in_flight, (72, MiB, 2.0**30, 0.2), 72),
    "a large pagepool": (gpfs.blocks_in_flight, (72, 16 * MiB, 2.0**40, 0.2), 72),
    "one at least": (gpfs.blocks_in_flight, (72, 2.0**30, 2.0**30, 0.2), 1.0),
    "small files touch few disks": (
        servers.file_stripes, ([0, 1, 2**23, 2**23 + 1, 1e12], 40, 2**23), [1, 1, 1, 2, 40]),
    "IBM docs, mmcrfs, since 5.0: blocks to 64 KiB have subblocks of 4, to 4 MiB of 8, beyond of 16 KiB":
        (gpfs.subblock, ([65536, 2**18, 2**22, 2**23],), [4096, 8192, 8192, 16384]),
    "a byte takes one": (gpfs.allocated_bytes, (1, 8192), 8192),
    "a byte more than a block, too": (gpfs.allocated_bytes, (2**24 + 1, 16384), 2**24 + 2**14),
    "FAST 2002: a request to the token manager, then the holder is asked":
        (gpfs.token_round_trips, ([0.0, 0.5, 1.0, 2.0],), [1.0, 2.0, 3.0, 3.0]),
    'IBM docs, "File system manager": who holds its tokens sends nothing':
        (gpfs.token_messages, (0, [0.0, 0.5, 1.0, 2.0]), [0.0, 1.0, 2.0, 2.0]),
    "who does not sends one": (gpfs.token_messages, (1, 0), 1),
})  # fmt: skip


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
