"""CrashPlan: a backup service that hashes, compresses and encrypts in one thread."""

from __future__ import annotations

from typing import ClassVar

from dtnsim.components.access import Thread
from dtnsim.quantity import prior
from dtnsim.tools._common import Cycles, Size, core_cost, reading, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Plan, Step, Tool

_MD5 = core_cost("md5", "hash of a block, to find blocks that are known")
_ZLIB = core_cost("zlib6_compress", "compression of a block")


class Crashplan(Tool):
    """First backup of a data set: every block is hashed, compressed and encrypted before it is sent.

    A thin set of parameters with wide spreads: the product publishes none.

    Neglects: blocks that deduplication saves; the database's growth; throttling by the service.
    Source: UCI LightPath report (what it does); costs from published rates of its parts.
    """

    kind: ClassVar[str] = "crashplan"

    deduplication: bool = True
    compression: bool = True
    cipher: Cycles = prior("20 cycles/B", 0.5, "assumed: Blowfish or AES in Java without AES instructions")
    block: Size = prior("64 KiB", 1.0, "assumed: block that is hashed and sent, and acknowledged before the next")

    def plan(self, job: Job) -> Plan:
        """One engine thread at the source; on one host there is no network."""
        engine, store = Thread("CrashPlan engine"), Thread("CrashPlan store")
        work = [CpuUse("source", engine, self.cipher, "encryption")]
        if self.deduplication:
            work.append(CpuUse("source", engine, _MD5, "hash for deduplication"))
        if self.compression:
            work.append(CpuUse("source", engine, _ZLIB, "compression"))
        net = NetUse(engine, store, channel=self.block) if job.rtt_s > 0 else None
        step = Step(
            "backup",
            read=reading(job, engine, self.block),
            net=net,
            write=writing(job, store, self.block),
            cpu=tuple(work),
            files=FileCost(
                round_trips=2.0 if net is not None else 0.0,  # file known? version stored (assumed)
                source=("stat", "open", "close") if job.source == "volume" else (),
            ),
        )
        return Plan((step,))
