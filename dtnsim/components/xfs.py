"""xfs on local drives."""

from __future__ import annotations

from typing import ClassVar

from dtnsim.components.filesystem import LocalFilesystem


class Xfs(LocalFilesystem):
    """xfs behind the Linux page cache; its costs are the kernel's (see `stack`)."""

    kind: ClassVar[str] = "xfs"
