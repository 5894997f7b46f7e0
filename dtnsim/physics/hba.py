"""SAS and SATA host adapters: expanders and the controller's own limits.

Rates are payload bytes a second (a 6-Gb/s lane: 600 MB/s after 8b/10b). All functions broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def expander_uplink_rate(
    lanes: ArrayLike, uplink_lane: ArrayLike, drive_lane: ArrayLike, buffered: ArrayLike
) -> FloatArray:
    """Rate from an expander to the adapter, when the drives' links are slower than the uplink's.

    lanes x min(uplink, drive) without buffering: a connection runs at the drive's speed on every hop.
    lanes x uplink with store-and-forward buffering in the expander.

    Args:
        lanes: Lanes of the uplink [1].
        uplink_lane: Payload rate of an uplink lane [B/s].
        drive_lane: Payload rate of the drives' lanes [B/s].
        buffered: True where the expander buffers (DataBolt and the like) [bool].

    Returns:
        Rate [B/s].

    Valid: enough drives to fill the lanes.
    Neglects: the buffer's size.
    Source: SAS store-and-forward buffering patent text; Lenovo RAID 930 guide (DataBolt).
    """
    uplink = as_float(uplink_lane)
    speed = np.where(np.asarray(buffered, dtype=bool), uplink, np.minimum(uplink, as_float(drive_lane)))
    return as_float(lanes) * speed


def core_seconds(request_B: ArrayLike, max_rate: ArrayLike, max_iops: ArrayLike) -> FloatArray:
    """Controller time a payload byte costs: max(1/R_core, 1/(s X_core)).

    Args:
        request_B: Size of the requests at the controller s [B].
        max_rate: Ceiling in bytes R_core [B/s].
        max_iops: Ceiling in requests X_core [1/s].

    Returns:
        Service demand on one controller [s/B]; demands of different request sizes add up.

    Valid: reads or writes alone, enough in flight: bytes bind for large requests, requests for small ones.
    Neglects: the rounding of the knee at s = R_core / X_core.
    Source: servethehome.com, "LSI 9202-16e" (SAS2008: 350 000 IOPS, about 2.5 GB/s a chip; two of them
        726 000 and above 5 GB/s).
    """
    return np.maximum(1.0 / as_float(max_rate), 1.0 / (as_float(request_B) * as_float(max_iops)))
