"""What of a broken transfer need not be sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
    Source: derived here.
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
