"""One answer whatever the command: predict, simulate and tcp over a fixed grid of generated paths.

    python -m tests.agreement      # every path of the grid; prints the worst, and the quantiles of each kind

Memory to memory over 0.1 to 300 ms, 1 to 64 streams, no loss to 1e-2, tests of 10 s to 1 h, with ``dtnsim tcp`` as
third answer; disk to disk with one to many files on one to four workers, drives slower and faster than the network;
writers beside each other whose bytes fit the destination's page cache, in part, or not; two to sixteen transfers over
one WAN, alike and unlike. The suite takes a sample. CONTRIBUTING lists where commands differ, and why.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dtnsim.physics.tcp import outcome, rounds
from dtnsim.simulation import simulate
from dtnsim.steady.prediction import predict
from tests.lab import journey, machine, volume
from tests.strategies import load

#: of a frame of Ethernet, what a path's bandwidth is of: its bytes on the wire [B]
FRAME_B = 9038.0
QUEUE_B = 25e6


@dataclass(frozen=True)
class Case:
    """A path, and the same question to ``dtnsim tcp`` where it can be asked.

    Attributes:
        path: Plain data of the path.
        tcp: Round trip [s], streams, loss [1] and time [s] over 10 Gb/s and a buffer of `QUEUE_B`.
        pair: Round trip [s], streams and algorithm, that of a second test of one stream, over half of that buffer.
    """

    path: dict[str, Any]
    tcp: tuple[float, int, float, float] | None = None
    pair: tuple[float, int, str, str] | None = None


def network(rtt_ms: float, streams: int, loss: float, seconds: float) -> Case:
    wan = {"bandwidth": "10 Gb/s", "rtt": f"{rtt_ms} ms", "loss": f"{loss}", "buffer": f"{QUEUE_B:.0f} B"}
    tool = {"name": "iperf3", "P": streams, "t": f"{seconds} s"}
    return Case(journey(wan=wan, tool=tool), (rtt_ms / 1e3, streams, loss, seconds))


def disks(read: int, write: int, files: int, workers: int, rtt: str) -> Case:
    host = machine(volumes={"/d": volume({"kind": "ssd", "read": f"{read} MB/s", "write": f"{write} MB/s"})})
    tool = {"name": "gridftp", "p": 4, "cc": workers}
    path = journey(
        host, host, start="a:/d", to="b:/d", tool=tool, dataset={"files": files, "size": "400 GB"},
        wan={"bandwidth": "10 Gb/s", "rtt": rtt},
    )  # fmt: skip
    return Case(path)


def _several(path: dict[str, Any], changes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    one = path.pop("transfer")
    return {**path, "transfers": [{**one, "name": f"t{n}", **change} for n, change in enumerate(changes)]}


def together(count: int, rtt: str) -> Case:
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": rtt}, tool={"name": "iperf3", "t": "60 s", "P": 4})
    return Case(_several(path, [{}] * count))


def rivals(first: str, second: str, streams: int, rtt_ms: float) -> Case:
    """Tests with unlike congestion control."""
    path = journey(wan={"bandwidth": "10 Gb/s", "rtt": f"{rtt_ms} ms", "buffer": "12.5 MB"})
    tests = [{"name": "iperf3", "t": "60 s", "P": n, "C": cc} for n, cc in ((streams, first), (1, second))]
    return Case(_several(path, [{"tool": t} for t in tests]), pair=(rtt_ms / 1e3, streams, first, second))


def caches(size_GB: int, memory: str, write: int, writers: int) -> Case:
    """Writers who stop when the page cache has their bytes."""
    host = machine(
        memory={"kind": "memory", "channels": 8, "rate": "3200 MT/s", "size": memory}, vm={},
        volumes={"/d": volume({"kind": "ssd", "read": "9 GB/s", "write": f"{write} MB/s", "link": "16 GB/s"})},
    )  # fmt: skip
    path = journey(
        machine(), host, to="b:/d", tool={"name": "gridftp", "p": 4}, dataset={"files": 1, "size": f"{size_GB} GB"},
        wan={"bandwidth": "10 Gb/s", "rtt": "3 ms"},
    )  # fmt: skip
    return Case(_several(path, [{"to": "b:/d"}] * writers))


def grid() -> dict[str, Case]:
    """All paths by what makes them."""
    makers: list[tuple[Any, Iterable[tuple[Any, ...]]]] = [
        (network, product((0.1, 3, 30, 300), (1, 8, 64), (0, 1e-6, 1e-4, 1e-3, 1e-2), (10, 60, 3600))),
        (disks, product((300, 3000), (200, 2000), (4, 5, 100, 2000), (1, 4), ("1 ms", "50 ms"))),
        (together, product((2, 5, 16), ("1 ms", "30 ms"))),
        (rivals, product(("cubic", "bbr"), ("bbr", "htcp", "reno"), (1, 3), (30, 100))),
        (caches, product((4, 40, 400), ("16 GiB", "512 GiB"), (200, 900), (1, 4))),
    ]
    return {f"{make.__name__} {how}": make(*how) for make, every in makers for how in every}


def by_tcp(cases: Mapping[str, Case]) -> dict[str, list[float]]:
    """Goodput of each transfer as `dtnsim tcp` has it [B/s]."""
    rate = 1.25e9 * 9000 / FRAME_B
    made: dict[str, rounds.Cases] = {}
    for name, case in cases.items():
        if case.tcp is not None:
            rtt, streams, loss, seconds = case.tcp
            made[name] = rounds.Cases.of(
                rate_Bps=rate, rtt_s=rtt, buffer_B=QUEUE_B, loss=loss, streams=streams, mtu_B=9000.0,
                duration_s=seconds,
            )  # fmt: skip
        elif case.pair is not None:
            rtt, streams, cc, other = case.pair
            made[name] = rounds.Cases.of(
                rate_Bps=rate, rtt_s=rtt, buffer_B=QUEUE_B / 2, streams=streams, mtu_B=9000.0, duration_s=60.0,
                cc=cc, cc2=other,
            )  # fmt: skip
    found = {name: outcome.simulate(case) for name, case in made.items()}
    return {
        name: [float(o.goodput_Bps[0]), *([float(o.second_Bps[0])] if cases[name].pair else [])]
        for name, o in found.items()
    }


def differences(cases: Mapping[str, Case]) -> dict[str, dict[str, float]]:
    """Largest relative difference of a transfer's rate from predict's, by path, in simulate and in tcp."""
    third = by_tcp(cases)
    found: dict[str, dict[str, float]] = {"simulate": {}, "tcp": {}}
    for name, case in cases.items():
        spec = load(case.path)
        predicted = [t.throughput_Bps.p50 for t in predict(spec, samples=0).transfers]
        run = [t.throughput_Bps for t in simulate(spec).runs[0].transfers]
        found["simulate"][name] = max(abs(s / p - 1) for p, s in zip(predicted, run, strict=True))
        if name in third:
            found["tcp"][name] = max(abs(s / p - 1) for p, s in zip(predicted, third[name], strict=True))
    return found


def main() -> None:
    """Prints the quantiles of each kind, and the worst."""
    for other, every in differences(grid()).items():
        kinds: dict[str, list[float]] = defaultdict(list)
        for name, d in every.items():
            kinds[name.split()[0]].append(d)
            kinds["all"].append(d)
        print(f"predict beside {other}")
        for kind, values in kinds.items():
            middle, far, worst = np.quantile(values, [0.5, 0.95, 1.0])
            print(f"  {kind:9} {len(values):4} paths: median {middle:6.2%}, 95 % {far:6.2%}, worst {worst:6.2%}")
        for name in sorted(every, key=lambda n: -every[n])[:25]:
            print(f"  {every[name]:7.1%}  {name}")


if __name__ == "__main__":
    main()
