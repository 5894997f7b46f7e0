"""Tape: streaming and what too slow a host costs, locates in the order asked for or sorted, a drive's time a byte.

All functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float


def streaming_rate(
    feed: ArrayLike, slowest: ArrayLike, fastest: ArrayLike, buffer_B: ArrayLike, reposition_s: ArrayLike
) -> FloatArray:
    """What a drive passes at most while a host feeds (or drains) it at a steady rate f: of the two the lower one holds.

    Between its slowest speed R_min and its fastest R_max the drive matches the host. Below R_min it stops and goes
    (shoe-shining): its buffer B fills while it repositions for t_b, then empties at R_min while f comes in. Where
    f t_b fits the buffer nothing is lost but wear; where it does not, the host waits for the rest of each stop:
    X = R_min B / (B + t_b (R_min - f)).

    Args:
        feed: Rate that the host offers or takes f [B/s].
        slowest: Lowest speed at which the tape streams R_min [B/s].
        fastest: Highest speed R_max [B/s].
        buffer_B: Memory of the drive B [B].
        reposition_s: Time to stop, go back and be up to speed again t_b [s].

    Returns:
        Rate [B/s].

    Valid: a steady feed; speeds of the drive close together.
    Neglects: steps between the drive's speeds; blocks that are written twice.
    Source: Quantum, LTO-9 user's guide, "Speed matching" (twelve speeds from 177 to 408 MB/s, backhitch below);
        conservation of bytes in the buffer.
    """
    f, low = as_float(feed), as_float(slowest)
    room = as_float(buffer_B)
    stopping = low * room / (room + as_float(reposition_s) * np.maximum(low - f, 0.0))
    return np.where(f >= low, as_float(fastest), stopping)


def feed_of_one(disk: ArrayLike, drives: ArrayLike, idle_s: ArrayLike) -> FloatArray:
    """Rate that a staging disk has for each drive that streams: those that locate or are mounted leave theirs.

    A disk of F that is busy all the time has F Z of n drives mounting and locating: f = F / (n - F Z), F at most.

    Args:
        disk: What the disk gives all of them F [B/s].
        drives: Drives n [1].
        idle_s: Time of a drive that a byte takes beside streaming Z [s/B].

    Returns:
        Rate [B/s].

    Valid: drives that mount and locate at different times.
    Neglects: chance: all of them may stream at once.
    Source: Little's law.
    """
    rate = as_float(disk)
    return rate / np.maximum(as_float(drives) - rate * as_float(idle_s), 1.0)


def locate_time(
    away_s: ArrayLike, turn_s: ArrayLike, files: ArrayLike, sorted_: ArrayLike, between_s: ArrayLike = np.inf
) -> FloatArray:
    """Mean time from the end of one file to the beginning of the next on a serpentine tape.

    From the load point to a random place is half of the tape: away = turn + T / 2, with T the time from end to end. Two
    random places are T / 3 apart. Block numbers run up and down the tape in some hundred wraps, so sorting by them is
    no help where files are few; where they lie close together the drive is no slower than one that streams past what
    lies between. A recommended access order sweeps the tape up and down once, 2 T / (n + 1) a file.

    Args:
        away_s: Mean time from the load point to a file [s].
        turn_s: Time to stop, change the wrap and be up to speed again [s].
        files: Files asked for on one tape at once n [1].
        sorted_: 1 where they are sorted by a recommended access order (RAO), 0 where not [1].
        between_s: Time to stream past what lies between a file and the next in the order of their blocks, in which a
            queue asks for them; infinite where each is asked for by itself [s].

    Returns:
        Time [s].

    Valid: files at random places, or in the order of their blocks.
    Neglects: that a sweep may read only what lies in its direction where files are many.
    Source: geometry; IBM, "Random file access on tape: RAO" (LTO-9, up to 86 % less).
    """
    turn = as_float(turn_s)
    span = 2.0 * np.maximum(as_float(away_s) - turn, 0.0)
    swept = np.minimum(2.0 / (as_float(files) + 1.0), 1.0 / 3.0)
    return np.minimum(turn + span * np.where(as_float(sorted_) > 0.0, swept, 1.0 / 3.0), as_float(between_s))


def drive_seconds(
    rate: ArrayLike, run_B: ArrayLike, locate_s: ArrayLike, tape_B: ArrayLike, mount_s: ArrayLike
) -> FloatArray:
    """Time of a drive that one byte takes: 1 / X + t_locate / run + t_mount / (bytes of one mount).

    Args:
        rate: Streaming rate X [B/s].
        run_B: Bytes that lie together and are read or written without a locate [B].
        locate_s: Time of one locate [s].
        tape_B: Bytes that one mount moves [B].
        mount_s: Time in which a mount keeps the drive from moving bytes [s].

    Returns:
        Time [s/B].

    Valid: drives that are never idle.
    Neglects: tapes that wait for a drive while another one is free.
    Source: sum of a drive's states; CERN, CTA workshop 2021 (mount, position and unmount: more than two minutes).
    """
    return 1.0 / as_float(rate) + as_float(locate_s) / as_float(run_B) + as_float(mount_s) / as_float(tape_B)
