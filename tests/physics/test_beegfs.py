"""BeeGFS against the figures of a university's system, its client's source and Little's law."""

import math

import pytest
from hypothesis import given, settings, strategies as st

from dtnsim.physics import beegfs, waiting

POSITIVE = st.floats(1e-3, 1e3)
KiB = 1024.0


def test_one_thread_of_a_qdr_system():
    # University of Kiel, parallel file system page (QDR): one thread 0.6 to 1.5 GB/s. A buffer of 512 KiB on 4 GB/s of
    # wire takes 0.13 ms, and twice that or more in the kernels and the server; the thread copies at 6 GB/s
    slow, quick = (beegfs.stream_rate(512 * KiB, 512 * KiB / 4e9 + t, 512 * KiB / 6e9) for t in (0.6e-3, 0.2e-3))
    assert 0.6e9 <= slow < quick <= 1.5e9


def test_calls_that_fill_a_buffer_or_a_chunk_pass_the_buffer():
    """FhgfsOpsHelper.c: a read or write of the buffer's size or more, or of what is left of its chunk, goes out."""
    assert beegfs.asked_bytes(4 * KiB, 512 * KiB, 1024 * KiB) == 512 * KiB
    assert beegfs.asked_bytes(4 * KiB, 512 * KiB, 128 * KiB) == 128 * KiB
    assert beegfs.asked_bytes(4096 * KiB, 512 * KiB, 512 * KiB) == 4096 * KiB


def test_rounds_over_the_targets_of_a_file():
    one = {"buffer_B": 512 * KiB, "latency_s": 1e-3}
    assert beegfs.request_time(512 * KiB, 512 * KiB, 4, **one) == pytest.approx(1e-3)
    assert beegfs.request_time(2048 * KiB, 512 * KiB, 4, **one) == pytest.approx(1e-3)  # four at once
    assert beegfs.request_time(8192 * KiB, 512 * KiB, 4, **one) == pytest.approx(4e-3)
    assert beegfs.request_time(2048 * KiB, 512 * KiB, 1, **one) == pytest.approx(4e-3)  # one after the other
    # a chunk of 1 MiB is read and sent as a whole
    assert beegfs.request_time(1024 * KiB, 1024 * KiB, 1, **one) == pytest.approx(2e-3)
    assert beegfs.request_time(1024 * KiB, 1024 * KiB, 1, trip_s=0.01, **one) == pytest.approx(12e-3)


def test_without_requests_the_copy_is_left():
    assert beegfs.stream_rate(512 * KiB, 0.0, 1e-4) == pytest.approx(512 * KiB / 1e-4)


def test_twelve_connections_to_each_server():
    # connMaxInternodeNum = 12: one server, chunks of 512 KiB, 1 ms each: 6.3 GB/s, above a QDR port
    assert waiting.request_rate(512 * KiB, 1e-3, math.inf, 12) == pytest.approx(6.29e9, rel=1e-3)


@settings(max_examples=50)
@given(buffer=POSITIVE, call=POSITIVE, chunk=POSITIVE, t=POSITIVE, n=st.integers(1, 100))
def test_more_in_flight_is_never_slower(buffer, call, chunk, t, n):
    def rate(targets, latency):
        asked = beegfs.asked_bytes(call, buffer, chunk)
        return beegfs.stream_rate(asked, beegfs.request_time(asked, chunk, targets, buffer, latency), 0.1 * asked)

    assert rate(2 * n, t) >= rate(n, t) * (1 - 1e-12)
    assert rate(n, 2 * t) < rate(n, t)
