"""The pieces that a transfer's workers take in turn: files, batches of equal files, parts of shared files."""

import math
from collections.abc import Generator, Iterator
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Final

from dtnsim.ground.records import Transfer
from dtnsim.steady.matrices import several_steps
from dtnsim.steady.stages import in_parts, visit_B

#: number of files, or parts, up to which they are moved one by one; more go in batches of equal ones, or larger parts
MAX_FILES: Final = 20_000
#: a batch is at most this part of the files and bytes behind it, and of those before it; and this part of a worker's
#: share of them: what is on its way is out of order by as much
_BATCH_PART: Final = 150
_OWN_PART: Final = 32
_ROUNDED: Final = 1e-9  #: part of a part that is rounding
_ROUNDS: Final = 32  #: parts a thread takes of a file that it shares with others

_ENDLESS: Final = 1000.0  #: length of an endless file over the bytes that its timed transfer is expected to move
#: parts that a file without an end is cut into where each byte is waited for: of all workers, and of one at least
_PARTS: Final = 4096
_LEAST_PARTS: Final = 16
_MOST_TURNS: Final = 64  #: parts that a worker cuts a file into whose every byte it waits for, at most


def work(transfer: Transfer, *, pauses: bool = False) -> Iterator[tuple[float, int]]:
    """The `steps` of a transfer, repeated if it is timed; ``pauses``: whether each byte is waited for."""
    if not transfer.timed:
        yield from steps(transfer)
        return
    if pauses and math.isinf(max(transfer.sizes_B, default=0.0)):
        yield from _endless(transfer)
    longest = _ENDLESS * max(transfer.payload_B, 1.0)
    again = replace(transfer, sizes_B=tuple(min(size, longest) for size in transfer.sizes_B))
    while True:
        yield from steps(again)


def _endless(transfer: Transfer) -> Iterator[tuple[float, int]]:
    """Parts of an endless file, so small that waiting for bytes and moving them alternate.

    The first parts of the workers differ in size, so that they do not wait in step.
    """
    workers = max(1, int(transfer.workers))
    part = transfer.payload_B / workers / max(_LEAST_PARTS, _PARTS // workers)
    for number in range(workers):
        yield part * (number + 0.5) / workers, 0
    while True:
        yield part, 0


def in_turns(transfer: Transfer) -> bool:
    """Whether its workers cut long files into parts if each byte is waited for."""
    return transfer.workers >= 2 and not transfer.timed and not parts_of_files(transfer)


def turns(transfer: Transfer, size_B: float, worker: int) -> tuple[float, ...]:
    """Parts of a file whose every byte one of several workers waits for, so that waiting and moving alternate.

    The workers' first parts differ in size, so that they do not wait in step; the last ones make up for it.
    """
    workers = int(transfer.workers)
    parts = min(_MOST_TURNS, int(_PARTS * size_B / max(transfer.payload_B, 1.0)))
    if parts < _LEAST_PARTS or not in_turns(transfer):
        return (size_B,)
    part = size_B / parts
    ahead = part * (worker + 0.5) / workers
    return (ahead, *[part] * (parts - 1), part - ahead)


def parts_of_files(transfer: Transfer) -> int:
    """Number of parts in which workers take each file; 0 if each takes whole files."""
    files, workers = sum(int(n) for n in transfer.counts), int(transfer.workers)
    if in_parts(transfer) and files > 0:
        longest = max(transfer.sizes_B) if several_steps(transfer) else transfer.payload_B / files
        parts = math.ceil(min(longest / visit_B(transfer) * (1 - _ROUNDED), MAX_FILES))
        return parts if parts > 1 and 2 * files <= MAX_FILES else 0
    return _ROUNDS * math.ceil(workers / files) if 0 < files < workers else 0


def _shared(transfer: Transfer, parts: int) -> Generator[tuple[float, int], None, None]:
    """Files that several threads share, as those of bonnie++ or wdt: many parts; the last counts as the file.

    The first parts differ in size, so that the threads fall out of step as their single operations do; the last ones
    make up for it, since no thread waits for longer than such an operation when all ends.
    """
    threads = min(int(transfer.workers), parts // 2)
    ramp = [(n + 0.5) / max(threads, 1) for n in range(threads)]
    files = [size for size, count in zip(transfer.sizes_B, transfer.counts, strict=True) for _ in range(int(count))]
    for number, size in enumerate(files):
        weights = [1.0] * parts
        if number == 0:
            weights[:threads] = ramp
        if number == len(files) - 1:
            weights[parts - threads :] = [1.0 - part for part in ramp]
        total = math.fsum(weights)
        for n, weight in enumerate(weights):
            yield size * weight / total, int(n == parts - 1)


def _cut(transfer: Transfer) -> Generator[tuple[float, int], None, None]:
    """Files cut into parts that go through all steps (`visit_B`); if very many, larger ones away from both ends."""
    visit, most, left, done = visit_B(transfer), transfer.payload_B / MAX_FILES, transfer.payload_B, 0.0
    many = max(_BATCH_PART, _OWN_PART * int(transfer.workers))
    for size, count in zip(transfer.sizes_B, transfer.counts, strict=True):
        for _ in range(int(count)):
            rest, parts = size, 2
            while parts > 1:
                parts = max(math.ceil(rest / max(visit, min(most, done / many, left / many)) * (1 - _ROUNDED)), 1)
                part = rest / parts
                yield part, int(parts == 1)
                rest, left, done = rest - part, left - part, done + part


def steps(transfer: Transfer) -> Generator[tuple[float, int], None, None]:
    """(bytes, files) of what a worker takes next: a file, or a batch of equal ones where there are very many.

    Sizes come mixed, each in proportion to its number, as a directory walk meets them. A batch waits and
    moves for all of its files at once, which only stretches time; to keep the beginning and the end, where
    workers fall in and out of step, as they are, batches are small there and grow with the files and bytes
    behind them and before them.
    """
    heap = [(0.5 / n, k, int(n)) for k, n in enumerate(transfer.counts) if n > 0]
    ahead, behind = sum(n for _, _, n in heap), 0
    if parts := parts_of_files(transfer):
        yield from _cut(transfer) if in_parts(transfer) else _shared(transfer, parts)
        return
    part = max(_BATCH_PART, _OWN_PART * int(transfer.workers)) if ahead > MAX_FILES else ahead + 1
    to_come_B, come_B = transfer.payload_B, 0.0
    heapify(heap)
    while heap:
        _, k, count = heappop(heap)
        size = transfer.sizes_B[k]
        room = max(min(to_come_B, come_B), 0.0) / part  # of what is left after 1e15 bytes, rounding may take more
        fits = int(room / size) if room < size * count else count  # large files alone: they are what the end waits for
        take = min(count, max(1, min(min(ahead, behind) // part, fits)))
        ahead, behind, count = ahead - take, behind + take, count - take
        to_come_B, come_B = to_come_B - take * size, come_B + take * size
        if count:
            total = transfer.counts[k]
            heappush(heap, ((total - count + 0.5) / total, k, count))
        yield size * take, take
