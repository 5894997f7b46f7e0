"""BeeGFS against the figures of a university's system and Little's law."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtnsim.physics import beegfs

POSITIVE = st.floats(1e-3, 1e3)
KiB = 1024.0


def test_one_thread_of_a_qdr_system():
    # University of Kiel, parallel file system page (QDR): one thread 0.6 to 1.5 GB/s. A buffer of 512 KiB on 4 GB/s of
    # wire takes 0.13 ms, and twice that or more in the kernels and the server
    slow, quick = (beegfs.stream_rate(512 * KiB, 4 * KiB, 512 * KiB / 4e9 + t) for t in (0.7e-3, 0.25e-3))
    assert 0.6e9 <= slow < quick <= 1.5e9


def test_large_calls_pass_the_buffer():
    assert beegfs.stream_rate(512 * KiB, 4096 * KiB, 1e-3) == pytest.approx(4096 * KiB / 1e-3)
    assert beegfs.stream_rate(512 * KiB, 1.0, 1e-3) == pytest.approx(512 * KiB / 1e-3)


def test_twelve_connections_to_each_server():
    # connMaxInternodeNum = 12: one server, chunks of 512 KiB, 1 ms each: 6.3 GB/s, above a QDR port
    assert beegfs.connections_rate(12, 1, 512 * KiB, 1e-3) == pytest.approx(6.29e9, rel=1e-3)


@settings(max_examples=50)
@given(buffer=POSITIVE, call=POSITIVE, t=POSITIVE, n=st.integers(1, 100))
def test_more_in_flight_is_never_slower(buffer, call, t, n):
    assert beegfs.stream_rate(2 * buffer, call, t) >= beegfs.stream_rate(buffer, call, t)
    assert beegfs.stream_rate(buffer, call, 2 * t) < beegfs.stream_rate(buffer, call, t)
    assert beegfs.connections_rate(n + 1, n, call, t) > beegfs.connections_rate(n, n, call, t)
