"""Borg: a backup by one thread over one ssh connection."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.ground.quantity import prior
from dtnsim.tools._backup import BlockBackup
from dtnsim.tools._common import core_cost
from dtnsim.tools._ssh import COSTS, LOGIN, LOGIN_WORK
from dtnsim.tools.plan import Job, Opening, Plan

_CHUNKER = prior("2 cycles/B", 0.6, "assumed: Buzhash in C, two table look-ups a byte")
_AES = prior("2.5 cycles/B", 0.6, "assumed: AES-CTR and HMAC or BLAKE2b of what is stored, by OpenSSL")
#: version, open of the repository, manifest, lock, commit (assumed)
_CALLS = 6.0


class Borg(BlockBackup):
    """``borg create ssh://HOST/REPO::NAME DIR -C compression``: cutting, hashing, compression and cipher on one core.

    Neglects: the files cache's reading; compaction.
    Source: borgbackup documentation, internals (chunker, one thread) and security (AES-CTR, HMAC-SHA256).
    """

    kind: ClassVar[str] = "borg"

    compression: Annotated[Literal["none", "lz4", "zstd"], Field(description="-C")] = "lz4"

    def plan(self, job: Job) -> Plan:
        """Blocks by one thread."""
        seen = ((_CHUNKER, "chunker"), (core_cost("sha256_ni", "HMAC-SHA256, name of a block"), "HMAC of blocks"))
        packed = [(_AES, "encryption")]
        if self.compression != "none":
            name = "lz4_compress" if self.compression == "lz4" else "zstd1_compress"
            packed.append((core_cost(name, "borg -C"), self.compression))
        begin = Opening(LOGIN + _CALLS, LOGIN_WORK, "ssh log-in and the repository")
        link = (COSTS["aes-gcm"], "SSH aes-gcm")
        return self.blocks(job, begin, threads=1, connections=1, seen=seen, packed=packed, link=link)
