"""btrfs: checksums, compressed extents, copy on write."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from dtnsim.components.access import Access, Thread
from dtnsim.components.cores import core_cost
from dtnsim.components.filesystem import AgedFilesystem, Stretch
from dtnsim.components.machine import Machine
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.term import Term, law, term
from dtnsim.physics import local

_CHECKSUMS: Final = {
    "crc32c": prior(
        "0.3 cycles/B", 0.5, "assumed: the processor's own CRC32C instruction, some 0.15 to 0.5 cycles a byte"
    ),
    "xxhash": core_cost("xxh64"),
    "sha256": core_cost("sha256_ni"),
    "blake2": prior(
        "3.5 cycles/B", 0.4, "assumed: BLAKE2b in the kernel without vector instructions, 3 to 5 cycles a byte"
    ),
}
#: (to compress, to decompress)
_COMPRESSORS: Final = {
    "lzo": (
        prior("9 cycles/B", 0.5, "assumed: lz4 takes 6.3 and LZO1X-1 half as much again"),
        prior("3 cycles/B", 0.5, "assumed: lz4 takes 1 and LZO some times that"),
    ),
    "zlib": (core_cost("zlib6_compress"), core_cost("zlib6_decompress")),
    "zstd": (core_cost("zstd1_kernel"), core_cost("zstd1_decompress")),
}


class Btrfs(AgedFilesystem):
    """btrfs behind the Linux page cache.

    The volume's ``array`` is the profile: jbod for single, raid for RAID 0, 1 and 10.

    Checksums and compression are done by the mount's worker threads. What is written goes to a new place, so that a
    random rewrite from the page cache is a stream for the drives; ``nodatacow`` rewrites in place, without checksums or
    compression. A file that has been rewritten so lies in pieces (``extent``). A reader waits while an extent of its
    file is decompressed, one after the other: what the figures of Linux commit 5c1aab1dd544 have in common.

    Neglects: levels of compression (zstd as fast as level 1, zlib as level 6); duplicates of metadata; scrubs; the
    write hole of RAID 5 and 6.

    Attributes:
        checksum: Checksum of data (mkfs.btrfs --csum).
        compress: Compression (mount -o compress).
        ratio: Bytes of files for each byte that the algorithm leaves.
        nodatacow: Whether data are rewritten in place (mount -o nodatacow, chattr +C).
        thread_pool: Worker threads (mount -o thread_pool): as many as cores and two more, at most 8.
    """

    kind: ClassVar[str] = "btrfs"

    checksum: Literal["crc32c", "xxhash", "sha256", "blake2"] = "crc32c"
    compress: Literal["none", "lzo", "zlib", "zstd"] = "none"
    ratio: Annotated[Quantity, Unit("1", low=1.0, high=1000.0)] = prior("1", 0.0, "data that do not compress")
    nodatacow: bool = False
    thread_pool: Annotated[int, Field(ge=1, le=1024)] | None = None

    @property
    def compressed(self) -> bool:
        """Whether data are compressed."""
        return self.compress != "none" and not self.nodatacow

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """The workers' checksums and compression, then the array with what is stored."""
        reading, stored, whole = use.operation == "read", term(1.0), term(1.0)
        if self.compressed:
            ratio = row.term(self.ratio) / term(max(use.stored, 1e-3))
            stored, use = law(local.stored_share, ratio=ratio), use.but(stored=1.0)
            if reading and use.random:
                whole = law(local.extent_load, request_B=term(use.block_B, "B"))
                use = use.but(block_B=max(use.block_B, local.COMPRESSED_B))
        if not self.nodatacow:
            self._work(row.times(whole), host, stored, reading=reading)
        if use.buffered and use.random and not self.nodatacow:
            use = use.but(random=False, rewrite=False)
        share = float(np.mean(np.asarray(stored.value)))
        super().medium(row.times(whole * stored), use.but(total_B=use.total_B * share), host, volume)

    def stretches(self, row: Row, use: Access, host: Machine, volume: str) -> tuple[Stretch, ...]:
        """Reads wait for the decompression of each extent."""
        made = super().stretches(row, use, host, volume)
        if use.operation != "read" or use.cached or not self.compressed:
            return made
        wait = row.term(_COMPRESSORS[self.compress][1]) / host.clock(row)
        if use.random:
            wait = wait * law(local.extent_load, request_B=term(use.block_B, "B"))
        said = "each compressed extent, one after the other"
        return tuple(
            replace(s, delay=np.asarray(s.delay) + wait.value, what=s.what if np.any(s.delay) else said) for s in made
        )

    def _work(self, row: Row, host: Machine, stored: Term, *, reading: bool) -> None:
        """Charges the workers for a byte of the file: what is stored has checksums."""
        cycles = stored * row.term(_CHECKSUMS[self.checksum])
        what = f"{self.checksum} checksum"
        if self.compressed:
            cycles = cycles + row.term(_COMPRESSORS[self.compress][1 if reading else 0])
            what += f", {self.compress} {'decompression' if reading else 'compression'}"
        workers = self.thread_pool or min(host.cpu.total + 2, 8)
        host.core(row, Thread("btrfs worker", workers), cycles, what)

    def request_size(self, use: Access) -> float:
        """A compressed extent is read whole."""
        return max(use.block_B, local.COMPRESSED_B) if self.compressed and use.operation == "read" else use.block_B
