"""xfs on local drives."""

from __future__ import annotations

from typing import ClassVar

from dtnsim.components.filesystem import ExtentFilesystem


class Xfs(ExtentFilesystem):
    """xfs behind the Linux page cache; its costs are the kernel's (see `stack`)."""

    kind: ClassVar[str] = "xfs"
    #: 512-B inodes, written in clusters of 32; directory entries of some 64 B (XFS algorithms and data structures)
    metadata_writes: ClassVar[float] = 1 / 32 + 1 / 64
