"""Speed of reading logs (MB/s), and its memory: ``pytest tests/benchmarks -m long --benchmark-enable -s``.

``intervals``, ``replies`` and ``progress`` are what long logs consist of; ``noise`` repeats its shapes as real
logs do, ``prose`` never repeats a line; ``results`` and ``summaries`` are the worst case, nothing but results
(two figures in three lines, five in three): each figure costs about 5 us there, whatever its line's length.
"""

import json
import random
import resource
import time
from collections.abc import Iterator

import pytest

from dtnsim.logs._reader import LogReader

pytestmark = pytest.mark.long

SIZE = 8 << 20


def _intervals() -> Iterator[bytes]:
    yield b"Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
    for at in range(10**9):
        yield b"[  5] %4d.00-%4d.00  sec  4.%02d GBytes  38.%d Gbits/sec    0   3.01 MBytes\n" % (
            at,
            at + 1,
            at % 99,
            at % 9,
        )


def _replies() -> Iterator[bytes]:
    for at in range(10**9):
        yield b"64 bytes from 10.0.0.2: icmp_seq=%d ttl=64 time=0.%03d ms\n" % (at, at % 999)


def _progress() -> Iterator[bytes]:
    for at in range(1, 10**9):
        yield b"%d bytes (11 GB, 10 GiB) copied, %d s, 3.1 GB/s\r" % (at * 3100000000, at)


def _results() -> Iterator[bytes]:
    for at in range(10**9):
        seconds = at % 60 + 1.4705
        rate = 10737.418240 / seconds
        yield b"10240+0 records in\n10240+0 records out\n10737418240 bytes (11 GB) copied, %.4f s, %.1f MB/s\n" % (
            seconds,
            rate,
        )


def _summaries() -> Iterator[bytes]:
    for at in range(10**9):
        yield b"--- 10.0.0.2 ping statistics ---\n5 packets transmitted, 5 received, 0%% packet loss, time 4996ms\n"
        yield b"rtt min/avg/max/mdev = 0.0%02d/0.1%02d/0.2%02d/0.012 ms\n" % (at % 99, at % 99, at % 99)


def _noise() -> Iterator[bytes]:
    for at in range(10**9):
        yield b"[%10.4f] usb 1-%d: new high-speed device number %d using xhci_hcd\n" % (at / 7, at % 9, at % 127)


def _prose() -> Iterator[bytes]:
    rng = random.Random(1)
    words = [bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(3000)]
    while True:
        yield b" ".join(rng.choices(words, k=10)) + b"\n"


@pytest.mark.parametrize(
    "kind", [_intervals, _replies, _progress, _noise, _prose, _results, _summaries], ids=lambda k: k.__name__[1:]
)
def test_stream(benchmark, kind):
    data = bytearray()
    for line in kind():
        data += line
        if len(data) >= SIZE:
            break
    blocks = [bytes(data[at : at + (1 << 20)]) for at in range(0, len(data), 1 << 20)]

    def read() -> int:
        reader = LogReader("log")
        count = sum(1 for block in blocks for _ in reader.feed(block))
        return count + sum(1 for _ in reader.finish())

    count = benchmark.pedantic(read, rounds=1, iterations=1)
    if benchmark.stats is not None:
        rate = len(data) / benchmark.stats["mean"] / 1e6
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"\n{kind.__name__[1:]}: {rate:.1f} MB/s, {count} records, peak {peak:.0f} MB")


def _iperf3() -> tuple[bytes, bytes, bytes]:
    """Head, one interval and tail of ``iperf3 -J`` with eight streams."""
    one = {
        "socket": 5, "start": 1, "end": 2.0000321, "seconds": 1.0000321, "bytes": 584580096, "rtt": 12034,
        "bits_per_second": 4676492123.5, "retransmits": 0, "snd_cwnd": 3145728, "omitted": False, "sender": True,
    }  # fmt: skip
    head = b'{"start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": 8}}, "intervals": ['
    interval = json.dumps({"streams": [one] * 8, "sum": one}, indent="\t").encode()
    return head, interval, b'], "end": {"sum_sent": {"seconds": 9, "bytes": 9e9, "bits_per_second": 8e9}}}\n'


def _fio() -> tuple[bytes, bytes, bytes]:
    """Head, one job and tail of fio's JSON+."""
    read = {"io_bytes": 1000000, "bw": 976, "bw_bytes": 1000000, "iops": 244.0, "runtime": 1000}
    read["clat_ns"] = {"mean": 1.5, "bins": {str(n * 64): n % 977 for n in range(20_000)}}
    job = json.dumps({"jobname": "a", "error": 0, "read": read}, indent=2).encode()
    return b'{"fio version": "fio-3.36", "jobs": [', job, b"]}\n"


@pytest.mark.parametrize("kind", [_iperf3, _fio], ids=lambda k: k.__name__[1:])
def test_long_json(benchmark, kind):
    """JSON too long to hold; the ratio is of bytes a second to those of `json.loads`, which holds all of it."""
    head, element, tail = kind()
    data = head + b",".join([element] * (4 * SIZE // len(element))) + tail
    blocks = [data[at : at + (1 << 20)] for at in range(0, len(data), 1 << 20)]
    start = time.process_time()
    json.loads(data)
    whole = time.process_time() - start
    taken = 0.0

    def read() -> int:
        nonlocal taken
        start = time.process_time()
        reader = LogReader("log")
        count = sum(1 for block in blocks for _ in reader.feed(block)) + sum(1 for _ in reader.finish())
        taken = time.process_time() - start
        return count

    count = benchmark.pedantic(read, rounds=1, iterations=1)
    rate = len(data) / taken / 1e6
    print(f"\n{kind.__name__[1:]}: {rate:.1f} MB/s, {count} records, {whole / taken:.2f} of the speed of json.loads")
