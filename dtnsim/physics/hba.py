"""SAS and SATA host adapters: lanes, wide ports, expanders, and the controller's own limits.

Line rates are given in bytes of line signal (6 Gb/s is 0.75e9 B/s); everything returned is payload
bytes a second unless a name says otherwise. All functions broadcast.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Line codes: SATA and SAS to 12 Gb/s carry 8 bits in 10; 22.5-Gb/s SAS-4 carries 128 in 150
#: (128b/130b with 20 bits of forward error correction).
CODING_8B10B: Final = 0.8
CODING_128B150B: Final = 128.0 / 150.0
#: Lanes of one external or internal wide connector (SFF-8087, -8643, -8644).
WIDE_PORT_LANES: Final = 4


def lane_rate(line_rate: ArrayLike, coding: ArrayLike = CODING_8B10B, framing: ArrayLike = 1.0) -> FloatArray:
    """Payload rate of one SAS or SATA lane, one direction: line x code x framing.

    Args:
        line_rate: Signal rate of the lane [B/s].
        coding: Data over line bits of the line code [1].
        framing: Share left by frames and primitives [1]; drives print 540 to 560 MB/s on a 600-MB/s
            SATA lane, a share of 0.90 to 0.93, which also holds the drive's own limit.

    Returns:
        Rate [B/s].

    Valid: large transfers.
    Neglects: connection set-up of SAS, command gaps at small requests.
    Source: HP, "Serial Attached SCSI technologies", 4th edition, p. 5 (300, 600 and 1200 MB/s a lane);
        Intel SSD 535 specification (540 MB/s).
    """
    return as_float(line_rate) * as_float(coding) * as_float(framing)


def wide_port_rate(lanes: ArrayLike, lane: ArrayLike) -> FloatArray:
    """Rate of a wide port: lanes x lane rate.

    Args:
        lanes: Lanes of the port [1].
        lane: Payload rate of one lane [B/s].

    Returns:
        Rate [B/s].

    Valid: several drives behind the port, each connection on any free lane.
    Neglects: arbitration.
    Source: Oracle 6-Gb SAS HBA guide, p. 70 (x4 at 6 Gb/s: 2400 MB/s).
    """
    return as_float(lanes) * as_float(lane)


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


def core_rate(request_B: ArrayLike, max_rate: ArrayLike, max_iops: ArrayLike) -> FloatArray:
    """Rate of a controller core: bytes bind for large requests, requests for small ones.

    R = min(R_core, s X_core).

    Args:
        request_B: Size of the requests at the controller s [B].
        max_rate: Ceiling in bytes R_core [B/s].
        max_iops: Ceiling in requests X_core [1/s].

    Returns:
        Rate [B/s].

    Valid: reads or writes alone, enough in flight.
    Neglects: the rounding of the knee at s = R_core / X_core; mixed sizes (use `core_seconds`).
    Source: servethehome.com, "LSI 9202-16e" (SAS2008: 350 000 IOPS, about 2.5 GB/s a chip; two of them
        726 000 and above 5 GB/s).
    """
    return np.minimum(as_float(max_rate), as_float(request_B) * as_float(max_iops))


def core_seconds(request_B: ArrayLike, max_rate: ArrayLike, max_iops: ArrayLike) -> FloatArray:
    """Controller time a payload byte costs: max(1/R_core, 1/(s X_core)).

    Args:
        request_B: Size of the requests at the controller s [B].
        max_rate: Ceiling in bytes R_core [B/s].
        max_iops: Ceiling in requests X_core [1/s].

    Returns:
        Service demand on one controller [s/B]; demands of different request sizes add up.

    Valid: as `core_rate`.
    Neglects: as `core_rate`.
    Source: utilisation law over `core_rate`.
    """
    return 1.0 / core_rate(request_B, max_rate, max_iops)


def adapter_rate(
    drives: ArrayLike,
    drive_rate: ArrayLike,
    drive_lane: ArrayLike,
    uplink_rate: ArrayLike,
    core: ArrayLike,
    slot_rate: ArrayLike,
) -> FloatArray:
    """Rate of one adapter with its drives: min(n min(drive, lane), uplink, core, slot).

    Args:
        drives: Drives behind the adapter n [1].
        drive_rate: Rate of one drive [B/s].
        drive_lane: Payload rate of one drive's lane [B/s].
        uplink_rate: Rate from expander to adapter, inf without expander [B/s].
        core: Rate of the controller, see `core_rate` [B/s].
        slot_rate: Payload rate of its PCIe slot in this direction [B/s].

    Returns:
        Bytes a second on the bus, parity and padding included [B/s].

    Valid: equal drives, evenly loaded.
    Neglects: interaction of limits that are close to each other.
    Source: bottleneck law (Denning and Buzen 1978); servethehome.com, "LSI 9202-16e", for the knee
        over the number of drives.
    """
    disks = as_float(drives) * np.minimum(as_float(drive_rate), as_float(drive_lane))
    inner = np.minimum(disks, as_float(uplink_rate))
    return np.minimum(inner, np.minimum(as_float(core), as_float(slot_rate)))
