"""Files that arrive damaged: found and sent again where the tool compares checksums, else nobody notices."""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dtnsim.physics._arrays import BoolArray, FloatArray as Array, IntArray
from dtnsim.physics.tools import damaged_share

#: tools that notice: rsync compares a checksum of each whole file; SSH authenticates every packet, and breaks off
_NOTICES: Final = frozenset({"rsync", "parsyncfp", "fpsync", "scp", "sftp", "hpnscp", "mscp", "tar-ssh"})


@dataclass(frozen=True, slots=True)
class Damage:
    """What happened to the files of transfers, (N,) each."""

    again_B: Array  #: Bytes sent again because files were found damaged [B].
    found: IntArray  #: Files found damaged, each time counted.
    unnoticed: IntArray  #: Files that are damaged and nobody noticed.
    spoiled: BoolArray  #: Whether files were still damaged after all tries.


def no_damage(count: int) -> Damage:
    """No damage."""
    zeros = np.zeros(count, np.int64)
    return Damage(np.zeros(count), zeros, zeros, np.zeros(count, np.bool_))


def notices(tool: Any) -> bool:
    """Whether a tool finds damaged files, as its options are."""
    match tool.kind:
        case "globus":
            return bool(tool.verify)
        case "fts":
            return bool(tool.checksum == "both")
        case "bbcp":
            return bool(tool.e)
    return tool.kind in _NOTICES


def drawn(
    size_B: Array, files: IntArray, between_B: float, tries: int, rng: np.random.Generator, *, noticed: bool
) -> Damage:
    """Damage to the files of transfers.

    Args:
        size_B: Bytes of each transfer [B].
        between_B: Bytes between two errors in the mean [B].
        tries: How often a file is sent again at most.
        rng: Of the run.
        noticed: Whether the tool compares checksums.
    """
    damage, share = no_damage(len(size_B)), damaged_share(size_B / files, between_B)
    bad = rng.binomial(files, share)
    if not noticed:
        return replace(damage, unnoticed=bad)
    for _ in range(tries):
        if not bad.any():
            break
        damage = replace(damage, found=damage.found + bad, again_B=damage.again_B + bad * (size_B / files))
        bad = rng.binomial(bad, share)
    return replace(damage, spoiled=bad > 0)
