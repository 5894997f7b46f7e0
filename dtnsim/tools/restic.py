"""restic: a backup with all cores, packs over several connections."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dtnsim.ground.quantity import prior
from dtnsim.tools._backup import BlockBackup
from dtnsim.tools._common import Count, core_cost
from dtnsim.tools._ssh import COSTS, LOGIN, LOGIN_WORK
from dtnsim.tools.plan import Job, Opening, Plan

_SEEN = (
    (prior("1.5 cycles/B", 0.6, "assumed: Rabin fingerprint in Go, a table look-up and a shift a byte"), "chunker"),
    (core_cost("sha256_ni", "name of a block"), "SHA-256 of blocks"),
)
_PACKED = (
    (prior("2.5 cycles/B", 0.6, "assumed: AES-CTR and Poly1305 in Go's assembler"), "encryption"),
    (core_cost("zstd1_compress", "since 0.14"), "zstd"),
)
_START = prior("1.5 s", 0.7, "assumed: scrypt of the password takes half a second, then index and locks are read")
#: TLS and a few requests for configuration, keys, locks and snapshots (assumed)
_REQUESTS = 8.0


class Restic(BlockBackup):
    """``restic -r sftp:|rest:|s3: backup DIR -o connections=5``: files are cut by content, new blocks sent in packs.

    Cutting and hashing use all cores of the host with fewer of them; ``connections`` packs are on their way at once.

    Neglects: memory of the index; pruning; files that are read two at a time only (``--read-concurrency``).
    Source: restic documentation, design and tuning backup parameters (pack 16 MiB, 5 connections, read-concurrency 2).
    """

    kind: ClassVar[str] = "restic"

    connections: Count = 5
    repository: Annotated[Literal["sftp", "rest", "s3"], Field(description="how the repository is reached")] = "sftp"

    def plan(self, job: Job) -> Plan:
        """Blocks by all cores."""
        ssh = self.repository == "sftp"  # all its requests share one ssh process
        trips, work = (LOGIN + _REQUESTS, LOGIN_WORK) if ssh else (2.0 + _REQUESTS, _START)
        link = (COSTS["aes-gcm"], "SSH aes-gcm") if ssh else (core_cost("aes128_gcm", "TLS"), "TLS AES-GCM")
        begin = Opening(trips, work.worth(_START.value + (work.value if ssh else 0.0), _START.source), "repository")
        at_once = 1 if ssh else self.connections
        return self.blocks(job, begin, threads=job.cores, connections=at_once, seen=_SEEN, packed=_PACKED, link=link)
