"""Local file systems of other systems than Linux: NTFS, ReFS, APFS, UFS."""

from __future__ import annotations

from typing import ClassVar

from dtnsim.components.filesystem import ExtentFilesystem


class Local(ExtentFilesystem):
    """A file system behind its system's page cache, whose costs are the kernel's (see `stack`); parts say which one.

    Neglects: what a file system compresses, deduplicates or checks (ReFS' integrity streams) of the data themselves.
    """

    kind: ClassVar[str] = "local"
    #: a file record of 1 KiB in blocks of 4 KiB and its part of a directory (Microsoft, master file table)
    metadata_writes: ClassVar[float] = 1 / 4 + 1 / 64
