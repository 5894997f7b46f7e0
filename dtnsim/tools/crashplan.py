"""CrashPlan: a backup service that looks for known blocks, compresses and encrypts in one thread."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import Cycles, Rate, Ratio, Size, core_cost, reading, scaled, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Plan, Step, Tool

_MD5 = core_cost("md5", "hash of a block, to find blocks that are known")
_ZLIB = core_cost("zlib6_compress", "compression of a block")
_LOOK_UP: Final = prior("0.1 ms", 1.0, "assumed: look-up of a file in the client's database, in Java")
#: work of full de-duplication over that of the minimal one
_FULL: Final = 4.0
_FULL_SOURCE: Final = (
    "support.crashplan.com, Data De-duplication: full over an Internet connection, minimal on disk or LAN, where it "
    "makes the initial backup faster by typically 400 % on one processor"
)


class Crashplan(Tool):
    """Backup of a data set: every block of a new or changed file is hashed, compressed and encrypted.

    ``changed`` is the part of the bytes that lie in new or changed files (1: the initial backup; 0: a scan that finds
    nothing), ``literal`` the part of those that the destination does not know yet and that is sent and stored,
    ``ratio`` times smaller with ``compression``.
    De-duplication is minimal to a local disk and full over a network (``automatic``). On Linux the client always
    works with the share of a core that it may use while the user is away, ``cpu``.

    A thin set of parameters with wide spreads: the product publishes few. ``session`` is what users report of one
    connection to a server over a wide-area network; what holds it there is not published.

    Neglects: the database's growth; memory; scheduling by the service.
    Source: Code42 support, General settings reference and De-duplication and your backup; costs of hash and
    compression from published rates of these.
    """

    kind: ClassVar[str] = "crashplan"
    tool_class = "backup"

    deduplication: Literal["automatic", "minimal", "full"] = "automatic"
    compression: bool = True
    changed: Annotated[Quantity, Unit("1", high=1.0)] = prior("1", 0.0, "initial backup: every file is new")
    literal: Annotated[Quantity, Unit("1", high=1.0)] = prior("1", 0.0, "initial backup: no block is known")
    ratio: Ratio = prior("1", 0.0, "incompressible data")
    cpu: Annotated[Quantity, Unit("1", low=0.01, high=1.0)] = prior(
        "0.8", 0.15, "assumed, from memory: 80 % of a core by default while the user is away"
    )
    cipher: Cycles = prior("20 cycles/B", 0.5, "assumed: Blowfish or AES in Java without AES instructions")
    block: Size = prior("64 KiB", 1.0, "assumed: block that is hashed and sent")
    session: Rate = prior(
        "3.8 Mb/s",
        1.0,
        "clients of version 3 and 4 in public reports, geometric mean: 2.1 Mb/s (technazgul.com 2011-01), 4 to 6 Mb/s "
        "(JrCs/docker-crashplan issue 10), 16 and 1.2 Mb/s (jlesage/docker-crashplan issue 10); processors mostly idle",
    )

    def plan(self, job: Job) -> Plan:
        """A scan of all files, then one engine thread at the source; on one host there is no network."""
        scan = FileCost(source=("stat",), fixed=_LOOK_UP)
        steps = [Step("scan", files=scan)]
        if self.changed.value > 0:
            steps.append(self._backup(job))
        return Plan(tuple(steps))

    def _backup(self, job: Job) -> Step:
        engine, store = Thread("CrashPlan engine"), Thread("CrashPlan store")
        away, sent = job.remote, self.literal.value
        packed = sent / self.ratio.value if self.compression else sent
        net = NetUse(engine, store, rate=self.session, overhead=packed) if away else None
        write = writing(job, store, self.block)
        return Step(
            "backup",
            read=reading(job, engine, self.block),
            net=net,
            write=write if sent > 0 else None,
            cpu=self._work(
                engine, sent, full=self.deduplication == "full" or (away and self.deduplication != "minimal")
            ),
            files=FileCost(
                round_trips=2.0 if away and self.changed.value == 1 else 0.0,  # file known? version stored (assumed)
                source=("open", "close") if job.source == "volume" and self.changed.value == 1 else (),
            ),
            share=self.changed.value,
        )

    def _work(self, engine: Thread, sent: float, *, full: bool) -> tuple[CpuUse, ...]:
        """Work of the engine; what de-duplication finds needs neither compression nor encryption."""
        part, why = sent / self.cpu.value, f"on {self.cpu} of a core"
        whole = _MD5.value + _ZLIB.value + self.cipher.value  # a new byte with minimal de-duplication
        search = _MD5.value + ((_FULL - 1) * whole if full else 0.0)
        work = [
            CpuUse("source", engine, scaled(self.cipher, part, why), "encryption"),
            CpuUse(
                "source",
                engine,
                Quantity(search / self.cpu.value, "cycles/B", 0.5, f"{_FULL_SOURCE if full else _MD5.source}; {why}"),
                f"search for known blocks ({'full' if full else 'minimal'})",
            ),
        ]
        if self.compression:
            work.append(CpuUse("source", engine, scaled(_ZLIB, part, why), "compression"))
        return tuple(work)
