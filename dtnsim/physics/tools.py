"""What transfer programs do by rule: rsync's blocks, tar's, the pace of requests, where a broken transfer goes on."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: rsync.h: BLOCK_SIZE and MAX_BLOCK_SIZE [B]
LEAST_BLOCK_B: Final = 700.0
MOST_BLOCK_B: Final = 131072.0
TOKEN_B: Final = 4.0  #: a token for a block that is known (token.c, simple_send_token) [B]

#: GNU tar: blocks, and records of twenty of them [B]
TAR_BLOCK_B: Final = 512.0
TAR_RECORD_B: Final = 10240.0


def block_length(file_B: ArrayLike) -> FloatArray:
    """Length of the blocks of a file: b = min(max(floor(sqrt(s) / 8) 8, 700), 131072).

    Args:
        file_B: Size of the file s [B].

    Returns:
        Bytes of a block [B].

    Valid: protocol 30 and later (rsync 3.0), no ``--block-size``.
    Neglects: the last, shorter block.
    Source: github.com/RsyncProject/rsync generator.c (sum_sizes_sqroot), rsync.h.
    """
    root = np.floor(np.sqrt(np.maximum(as_float(file_B), 0.0)) / 8.0) * 8.0
    return np.asarray(np.clip(root, LEAST_BLOCK_B, MOST_BLOCK_B), float)


def delta_share(file_B: ArrayLike, literal: ArrayLike) -> FloatArray:
    """Bytes that the sender sends for a byte of a file of which an older version is known: l + (1 - l) 4 / b.

    Args:
        file_B: Size of the file [B].
        literal: Part of it that the old version does not have l [1].

    Returns:
        Bytes sent per byte of the file [1].

    Valid: changes that lie together; scattered ones make whole blocks literal.
    Neglects: the sums that travel the other way, 6 to 20 bytes a block; that runs of known blocks share a token when
        they are compressed.
    Source: A. Tridgell, P. Mackerras, "The rsync algorithm", ANU TR-CS-96-05; rsync token.c (simple_send_token).
    """
    new = as_float(literal)
    return np.asarray(new + (1.0 - new) * TOKEN_B / block_length(file_B), float)


def tar_archive(files: ArrayLike, directories: ArrayLike, payload_B: ArrayLike) -> FloatArray:
    """Bytes of a tar archive: 512 B a header, files padded to 512 B, two empty blocks, all in records of 10 KiB.

    Args:
        files: Files in it [1].
        directories: Directories in it [1].
        payload_B: Bytes of the files [B].

    Returns:
        Bytes of the archive [B].

    Valid: files of unlike sizes, whose last blocks are half full in the mean.
    Neglects: names of more than 100 characters, sparse files, extended attributes.
    Source: GNU tar manual, "Basic Tar Format"; --blocking-factor=20.
    """
    blocks_B = TAR_BLOCK_B * (1.5 * as_float(files) + as_float(directories) + 2.0)
    return np.asarray(np.ceil((blocks_B + as_float(payload_B)) / TAR_RECORD_B) * TAR_RECORD_B, float)


def pacer_wait(
    files: ArrayLike, workers: ArrayLike, requests: ArrayLike, interval_s: ArrayLike, own_s: ArrayLike
) -> FloatArray:
    """Time that a worker waits for its turn with each file: max(0, F r d / ceil(F / N) - t).

    F files of r requests take at least F r d, and each of N workers has ceil(F / N) of them: what is left of its part
    of that time once its own waits are over.

    Args:
        files: F, files of all workers [1].
        workers: N, workers with a file each [1].
        requests: r, requests of a file [1].
        interval_s: d, least time between the beginnings of two requests [s].
        own_s: t, what a worker waits for anyway with each file [s].

    Returns:
        Seconds for each file of a worker [s].

    Valid: a pace that is kept by all requests of a program together.
    Neglects: bursts that are allowed after a pause; the time of the bytes themselves.
    Source: github.com/rclone/rclone lib/pacer/pacer.go (beginCall: a token comes back after the pacer's sleep).
    """
    f, n = as_float(files), as_float(workers)
    turn = f * as_float(requests) * as_float(interval_s) / np.maximum(np.ceil(f / n), 1.0)
    return np.asarray(np.maximum(turn - as_float(own_s), 0.0))


def mean_finish_time(others: ArrayLike, interval_s: ArrayLike, service_s: ArrayLike) -> FloatArray:
    """Mean time until one of n requests is done that begin at a pace and are served in turn: s + (n - 1) / 2 max(d, s).

    Args:
        others: n, requests [1].
        interval_s: d, time between their beginnings [s].
        service_s: s, time that each takes of the server [s].

    Returns:
        Mean time from the first one's turn to begin until a request is done [s]; 0 without requests.

    Valid: equal requests at equal distances (a D/D/1 queue): where the server is slower than the pace it sets it.
    Neglects: other work of the server.
    Source: L. Kleinrock, "Queueing Systems" I, 1975, section 1.3 (deterministic flow).
    """
    n, service = as_float(others), as_float(service_s)
    mean = service + (n - 1.0) / 2.0 * np.maximum(as_float(interval_s), service)
    return np.asarray(np.where(n >= 1.0, mean, 0.0), float)


def staggered_idle_time(workers: ArrayLike, files: ArrayLike, interval_s: ArrayLike, file_s: ArrayLike) -> FloatArray:
    """Mean time without work of workers who begin at a pace and share a list of files: (w T - F s) / (w - 1).

    Those who begin first take more files: k of the workers share F s of work and end at T = F s / k + (k - 1) d / 2,
    which is least for k = sqrt(2 F s / d), or for all of them. The others begin when nothing is left.

    Args:
        workers: w, workers that may begin [1].
        files: F, files [1].
        interval_s: d, time between their beginnings [s].
        file_s: s, time of a file [s].

    Returns:
        Mean time without work of each of the w - 1 others until the last file is done [s]; 0 for one worker.

    Valid: equal files, many for each worker that has one.
    Neglects: that a file is whole.
    Source: sum over workers of T - i d = F s (fluid limit of a list that is worked off).
    """
    many, work, pace = as_float(workers), as_float(files) * as_float(file_s), as_float(interval_s)
    used = np.clip(np.sqrt(2.0 * work / np.maximum(pace, 1e-300)), 1.0, many)
    last = work / used + (used - 1.0) * pace / 2.0
    return np.where(many > 1.0, (many * last - work) / np.maximum(many - 1.0, 1.0), 0.0)


def kept_bytes(done_B: ArrayLike, file_B: ArrayLike, files: ArrayLike, workers: ArrayLike) -> Any:
    """Bytes in whole files when a transfer is broken off: it goes on at the first file that is not whole.

    k = max(0, floor(d / f - (w - 1) / 2)) f: of the files that w workers have under way half is done in the mean, so
    that d bytes are (w - 1) / 2 files more than the whole ones and the one that is next.

    Args:
        done_B: Bytes moved so far d [B].
        file_B: Size of a file f [B].
        files: Number of files [1].
        workers: Files in progress at once w, no more than there are [1].

    Returns:
        Bytes that need not be sent again [B].

    Valid: equal files, 0 <= done_B <= files x file_B.
    Neglects: files of unequal sizes, of which the large ones are broken off more often.
    Source: derived: w files under way, each half done in the mean (uniform over a file).
    """
    done, unit = np.asarray(done_B, float), np.asarray(file_B, float)
    under_way = (np.minimum(workers, files) - 1.0) / 2.0
    return np.minimum(np.maximum(np.floor(done / unit - under_way + 1e-9), 0.0) * unit, done)


def damaged_share(file_B: ArrayLike, between_B: ArrayLike) -> Any:
    """Share of files that arrive damaged although no checksum of the network found an error.

    p = 1 - exp(-f / L): errors that pass the checksums of links and of TCP come at random, one in L bytes in the mean.

    Args:
        file_B: Size of a file f [B].
        between_B: Bytes between two such errors in the mean L [B].

    Returns:
        Probability that a file is damaged [1].

    Valid: file_B >= 0, between_B > 0.
    Neglects: errors that come together, as a bad memory module or router makes them.
    Source: Stone and Partridge, When the CRC and TCP checksum disagree, SIGCOMM 2000: checksums fail to detect errors
        for 1 in 16 million to 10 billion packets; at 1460 B a packet that is L = 23 GB to 15 TB.
    """
    return -np.expm1(-np.asarray(file_B, float) / np.asarray(between_B, float))
