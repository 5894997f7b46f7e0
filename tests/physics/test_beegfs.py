"""BeeGFS against the figures of a university's system, its client's source and Little's law."""

from hypothesis import given, strategies as st

from dtnsim.physics import beegfs

POSITIVE = st.floats(1e-3, 1e3)
KiB = 1024.0


def test_one_thread_of_a_qdr_system():
    # University of Kiel, parallel file system page (QDR): one thread 0.6 to 1.5 GB/s. A buffer of 512 KiB on 4 GB/s of
    # wire takes 0.13 ms, and twice that or more in the kernels and the server; the thread copies at 6 GB/s
    slow, quick = (beegfs.stream_rate(512 * KiB, 512 * KiB / 4e9 + t, 512 * KiB / 6e9) for t in (0.6e-3, 0.2e-3))
    assert 0.6e9 <= slow < quick <= 1.5e9


@given(buffer=POSITIVE, call=POSITIVE, chunk=POSITIVE, t=POSITIVE, n=st.integers(1, 100))
def test_more_in_flight_is_never_slower(buffer, call, chunk, t, n):
    def rate(targets, latency):
        asked = beegfs.asked_bytes(call, buffer, chunk)
        return beegfs.stream_rate(asked, beegfs.request_time(asked, chunk, targets, buffer, latency), 0.1 * asked)

    assert rate(2 * n, t) >= rate(n, t) * (1 - 1e-12)
    assert rate(n, 2 * t) < rate(n, t)
