"""BeeGFS against the figures of a university's system, its client's source and Little's law."""

import math

from hypothesis import given, strategies as st

from dtnsim.physics import beegfs, waiting
from tests.each import values

POSITIVE = st.floats(1e-3, 1e3)
KiB = 1024.0


def test_one_thread_of_a_qdr_system():
    # University of Kiel, parallel file system page (QDR): one thread 0.6 to 1.5 GB/s. A buffer of 512 KiB on 4 GB/s of
    # wire takes 0.13 ms, and twice that or more in the kernels and the server; the thread copies at 6 GB/s
    slow, quick = (beegfs.stream_rate(512 * KiB, 512 * KiB / 4e9 + t, 512 * KiB / 6e9) for t in (0.6e-3, 0.2e-3))
    assert 0.6e9 <= slow < quick <= 1.5e9


ONE = {"buffer_B": 512 * KiB, "latency_s": 1e-3}
test_values = values({
    # FhgfsOpsHelper.c: a read or write of the buffer's size or more, or of what is left of its chunk, goes out
    "a small call asks for a buffer": (beegfs.asked_bytes, (4 * KiB, 512 * KiB, 1024 * KiB), 512 * KiB),
    "or for a chunk": (beegfs.asked_bytes, (4 * KiB, 512 * KiB, 128 * KiB), 128 * KiB),
    "a large one passes it": (beegfs.asked_bytes, (4096 * KiB, 512 * KiB, 512 * KiB), 4096 * KiB),
    **{f"{asked} KiB in chunks of {chunk} on {targets} targets{more and ', and the way to them'}: {ms} ms": (
        beegfs.request_time, {"asked_B": asked * KiB, "chunk_B": chunk * KiB, "targets": targets, **ONE, **more},
        ms * 1e-3) for asked, chunk, targets, more, ms in (
            (512, 512, 4, {}, 1), (2048, 512, 4, {}, 1), (8192, 512, 4, {}, 4), (2048, 512, 1, {}, 4),
            (1024, 1024, 1, {}, 2), (1024, 1024, 1, {"trip_s": 0.01}, 12))},
    "half a buffer: the message is whole": (
        beegfs.request_time, {"asked_B": 256 * KiB, "chunk_B": 512 * KiB, "targets": 4, **ONE, "message_s": 0.4e-3},
        0.7e-3),
    "a message alone": (
        beegfs.request_time, {"asked_B": 256 * KiB, "chunk_B": 512 * KiB, "targets": 4, **ONE, "message_s": 9.0}, 1e-3),
    "and its wire": (
        beegfs.request_time, {"asked_B": 512 * KiB, "chunk_B": 512 * KiB, "targets": 4, **ONE, "wire_Bps": 1e9},
        1e-3 + 512 * KiB / 1e9),
    "without requests the copy is left": (beegfs.stream_rate, (512 * KiB, 0.0, 1e-4), 512 * KiB / 1e-4),
    # github.com/BrisingrArelius/pfs, mdtest of one task over 2.5 GbE: 4,897 stats and 2,173 removals a second; ext3
    # makes and closes a file in 32 us (foddex.net), some 25 us a change
    "a removal is two messages and two changes": (
        beegfs.operation_time, (2.0, 1 / 4897, 0.0, 2.0, 25e-6), 1 / 2173, 0.02),
    "nothing changed, nothing away: the messages": (beegfs.operation_time, (3.0, 1e-4, 0.0, 0.0, 1.0), 3e-4),
    "an ocean between": (beegfs.operation_time, (2.0, 1e-4, 0.1, 2.0, 25e-6), 0.2, 2e-3),
    "MsgHelperUnlink.cpp: every target of the pattern is asked": (beegfs.removal_messages, (4.0,), 4.0),
    "connMaxInternodeNum = 12: 6.3 GB/s of one server, above a QDR port":
        (waiting.request_rate, (512 * KiB, 1e-3, math.inf, 12), 6.29e9, 1e-3),
})  # fmt: skip


@given(buffer=POSITIVE, call=POSITIVE, chunk=POSITIVE, t=POSITIVE, n=st.integers(1, 100))
def test_more_in_flight_is_never_slower(buffer, call, chunk, t, n):
    def rate(targets, latency):
        asked = beegfs.asked_bytes(call, buffer, chunk)
        return beegfs.stream_rate(asked, beegfs.request_time(asked, chunk, targets, buffer, latency), 0.1 * asked)

    assert rate(2 * n, t) >= rate(n, t) * (1 - 1e-12)
    assert rate(n, 2 * t) < rate(n, t)
