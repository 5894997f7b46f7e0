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
