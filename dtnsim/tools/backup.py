"""Backups that cut files into blocks by their content, and send the blocks that the repository lacks.

- Borg: a backup by one thread over one ssh connection.
- restic: a backup with all cores, packs over several connections.
- CrashPlan: a backup service that looks for known blocks, compresses and encrypts in one thread.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.components.offload import Duty
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import TLS, both_ends, core_cost, device_work, reading, scaled, writing
from dtnsim.tools._options import Count, Cycles, Rate, Ratio, Share, Size, named
from dtnsim.tools._ssh import COSTS, LOGIN, LOGIN_WORK
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step, Tool

#: what is read at once, and a pack that is sent and stored
_READ = prior("1 MiB", 0.7, "assumed: files are read by 0.5 to 8 MiB")
_PACK = prior("16 MiB", 0.3, "restic documentation, tuning backup parameters: since 0.14, 4 to 8 MiB before")
_SEGMENT = prior("500 MiB", 0.0, "borgbackup documentation, internals: max_segment_size, since 1.1")


class BlockBackup(Tool):
    """What backups by blocks share.

    ``changed`` is the part of the bytes in files that are new or changed, ``literal`` the part of those that the
    repository lacks, ``ratio`` times smaller when compressed. Blocks travel in packs, so that no file waits for an
    answer; the repository's end writes packs, whatever files their blocks are from. In a bucket a pack is one PUT, and
    as many are on their way as there are connections.
    """

    tool_class = "backup"
    #: work of each file besides its bytes: name, attributes, chunker set up, list of blocks
    each: ClassVar[Quantity] = prior("50 us", 1.0, "assumed: a few goroutines, locks and maps of Go")

    changed: Share = prior("1", 0.0, "first backup: every file is new")
    literal: Share = prior("1", 0.0, "first backup: no block is known")
    ratio: Ratio = prior("1", 0.0, "incompressible data")
    limit: Rate | None = None

    def blocks(
        self,
        job: Job,
        opening: Opening,
        *,
        threads: int,
        connections: int,
        seen: Sequence[tuple[Quantity, str]],
        packed: Sequence[tuple[Quantity, str, Duty | None]],
        link: tuple[Quantity, str, Duty],
        kept: Quantity,
        served: bool = False,
    ) -> Plan:
        """A scan of all files, then blocks of the changed ones.

        Args:
            opening: Log-in, and what is read of the repository.
            threads: Threads that cut, hash, compress and encrypt.
            connections: Connections to the repository.
            seen: What the source does to a byte of a changed file.
            packed: What it does to a byte that is new.
            link: What both ends of a connection do to a byte that is sent.
            kept: Size of a file, or object, of the repository.
            served: Whether a server there hashes each file, and answers when it is safe on the medium.
        """
        steps = [Step("scan", files=FileCost(source=("stat",), fixed=self.each))]
        changed, sent = self.changed.value, self.literal.value
        engine = Thread(f"{self.kind} engine", threads)
        sender, store = Thread(f"{self.kind} sender", connections), Thread(f"{self.kind} repository", connections)
        if changed > 0:
            small = sent / self.ratio.value
            cpu = [CpuUse("source", engine, cycles, activity) for cycles, activity in seen]
            if sent > 0:
                for cycles, activity, duty in packed:
                    cpu.append(CpuUse("source", engine, scaled(cycles, sent, "of new blocks"), activity, duty=duty))
                cycles, activity, duty = link
                sends = scaled(cycles, small, "of what is sent")
                cpu += both_ends(sender, store, sends, activity, duty) if job.remote else ()
                if served:
                    hashed, activity = _SEEN[1]
                    cpu.append(CpuUse("destination", store, scaled(hashed, small, "of what is stored"), activity))
            net = NetUse(sender, store, streams=connections, rate=self.limit, overhead=small)
            opened = FileCost(source=("open", "close")) if changed == 1 else FileCost()
            work, read = (*device_work(job, engine), *cpu), reading(job, engine, _READ)
            step = Step("backup", read=read, cpu=work, files=opened, share=changed)
            if sent > 0:
                bucket, at_once = job.buckets[True], connections if job.buckets[True] or served else 1
                block = kept if served else min(kept, _PACK, key=attrgetter("value"))
                write = writing(job, store, block, workers=at_once, finish="dsync" if served else "none")
                write = write and write.but(file_B=kept.value, part_B=kept.value if bucket else 0.0)
                step = replace(step, net=net if job.remote else None, write=write)
            steps.append(step)
        return Plan(tuple(steps), weight=connections, opening=opening if job.remote else Opening())


_CHUNKER = prior("2 cycles/B", 0.6, "assumed: Buzhash in C, two table look-ups a byte")
_AES = prior("2.5 cycles/B", 0.6, "assumed: AES-CTR and HMAC or BLAKE2b of what is stored, by OpenSSL")
#: ciphers: the program's own, and the one that the `ssh` of Borg and restic proposes first (OpenSSH since 6.5)
_CTR: Final = Duty("own", "aes-ctr")
_SSH: Final = COSTS["chacha20-poly1305"], "SSH chacha20-poly1305", Duty("cipher", "chacha20-poly1305", "ssh")
_CALLS = 6.0  #: version, open of the repository, manifest, lock, commit (assumed)


class Borg(BlockBackup):
    """``borg create ssh://HOST/REPO::NAME DIR -C compression``: cutting, hashing, compression and cipher on one core.

    Neglects: the files cache's reading; compaction.
    Source: borgbackup documentation, internals (chunker, one thread) and security (AES-CTR, HMAC-SHA256);
    borg-with-lock(1): one operation in a repository.
    """

    kind: ClassVar[str] = "borg"
    locks: ClassVar[bool] = True
    each = prior("0.2 ms", 1.0, "assumed: some hundred calls of the Python interpreter, a microsecond each")

    compression: Annotated[Literal["none", "lz4", "zstd"], Field(description="-C")] = "lz4"

    def plan(self, job: Job) -> Plan:
        seen = ((_CHUNKER, "chunker"), (core_cost("sha256_ni", "HMAC-SHA256, name of a block"), "HMAC of blocks"))
        packed: list[tuple[Quantity, str, Duty | None]] = [(_AES, "encryption", _CTR)]
        if self.compression != "none":
            name = "lz4_compress" if self.compression == "lz4" else "zstd1_compress"
            packed.append((core_cost(name, "borg -C"), self.compression, None))
        begin = Opening(LOGIN + _CALLS, LOGIN_WORK, "ssh log-in and the repository")
        return self.blocks(job, begin, threads=1, connections=1, seen=seen, packed=packed, link=_SSH, kept=_SEGMENT)


_SEEN = (
    (prior("1.5 cycles/B", 0.6, "assumed: Rabin fingerprint in Go, a table look-up and a shift a byte"), "chunker"),
    (core_cost("sha256_ni", "name of a block"), "SHA-256 of blocks"),
)
_PACKED = (
    (prior("2.5 cycles/B", 0.6, "assumed: AES-CTR and Poly1305 in Go's assembler"), "encryption", _CTR),
    (core_cost("zstd1_compress", "since 0.14"), "zstd", None),
)
_START = prior("1.5 s", 0.7, "assumed: scrypt of the password takes half a second, then index and locks are read")
_REQUESTS = 8.0  #: TLS and a few requests for configuration, keys, locks and snapshots (assumed)


class Restic(BlockBackup):
    """``restic -r sftp:|rest:|s3: backup DIR -o connections=5``: files are cut by content, new blocks sent in packs.

    Cutting and hashing use all cores of the host with fewer of them; ``connections`` packs are on their way at once.

    Neglects: memory of the index; pruning; files that are read two at a time only (``--read-concurrency``); the flush
    of rest-server's folder after that of a pack.
    Source: restic documentation, design and tuning backup parameters (pack 16 MiB, 5 connections, read-concurrency 2);
    internal/backend/s3/s3.go: parts only from 200 MiB on; rest-server, repo/repo.go: saveBlob hashes and syncs a file.
    """

    kind: ClassVar[str] = "restic"

    connections: Count = 5
    pack_size: Annotated[Size, named("pack_size", "pack-size")] = _PACK
    repository: Annotated[Literal["sftp", "rest", "s3"], Field(description="how the repository is reached")] = "sftp"

    def plan(self, job: Job) -> Plan:
        ssh = self.repository == "sftp"  # all its requests share one ssh process
        trips, work = (LOGIN + _REQUESTS, LOGIN_WORK) if ssh else (2.0 + _REQUESTS, _START)
        link = _SSH if ssh else (core_cost("aes128_gcm", "TLS"), "TLS AES-GCM", TLS)
        begin = Opening(trips, work.worth(_START.value + (work.value if ssh else 0.0), _START.source), "repository")
        at_once = 1 if ssh else self.connections
        return self.blocks(
            job,
            begin,
            threads=job.cores,
            connections=at_once,
            seen=_SEEN,
            packed=_PACKED,
            link=link,
            kept=self.pack_size,
            served=self.repository == "rest" and job.remote,
        )


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
    changed: Share = prior("1", 0.0, "initial backup: every file is new")
    literal: Share = prior("1", 0.0, "initial backup: no block is known")
    ratio: Ratio = prior("1", 0.0, "incompressible data")
    cpu: Annotated[Quantity, Unit("1", low=0.01, high=1.0)] = prior(
        "0.8", 0.15, "assumed: 80 % of a core by default while the user is away"
    )
    cipher: Cycles = prior("20 cycles/B", 0.5, "assumed: Blowfish or AES in Java without AES instructions")
    block: Size = prior("64 KiB", 1.0, "assumed: block that is hashed and sent")
    session: Rate = prior(
        "3.8 Mb/s",
        1.0,
        "clients of version 3 and 4 in public reports, geometric mean: 2.1 Mb/s (technazgul.com 2011-01), 4 to 6 Mb/s "
        "(JrCs/docker-crashplan issue 10), 16 and 1.2 Mb/s (jlesage/docker-crashplan issue 10); "
        "processors mostly idle",
    )

    def plan(self, job: Job) -> Plan:
        """A scan of all files, then one engine thread at the source; on one host there is no network."""
        scan = Step("scan", files=FileCost(source=("stat",), fixed=_LOOK_UP))
        return Plan((scan, self._backup(job)) if self.changed.value > 0 else (scan,))

    def _backup(self, job: Job) -> Step:
        engine, store = Thread("CrashPlan engine"), Thread("CrashPlan store")
        away, sent = job.remote, self.literal.value
        packed = sent / self.ratio.value if self.compression else sent
        full = self.deduplication == "full" or (away and self.deduplication != "minimal")
        opened, new = ("open", "close") if job.source == "volume" else (), self.changed.value == 1
        net = NetUse(engine, store, rate=self.session, overhead=packed) if away else None
        read, write = reading(job, engine, self.block), writing(job, store, self.block) if sent > 0 else None
        # file known? version stored (assumed)
        files = FileCost(round_trips=2.0 if away else 0.0, source=opened) if new else FileCost()
        work, share = self._work(engine, sent, full=full), self.changed.value
        return Step("backup", read=read, net=net, write=write, cpu=work, files=files, share=share)

    def _work(self, engine: Thread, sent: float, *, full: bool) -> tuple[CpuUse, ...]:
        """Work of the engine; what de-duplication finds needs neither compression nor encryption."""
        part, why = sent / self.cpu.value, f"on {self.cpu} of a core"
        new_byte = _MD5.value + _ZLIB.value + self.cipher.value  # a new byte with minimal de-duplication
        search = _MD5.value + ((_FULL - 1) * new_byte if full else 0.0)
        source, kind = (_FULL_SOURCE, "full") if full else (_MD5.source, "minimal")
        looked_up = Quantity(search / self.cpu.value, "cycles/B", 0.5, f"{source}; {why}")
        work = [
            CpuUse("source", engine, scaled(self.cipher, part, why), "encryption"),
            CpuUse("source", engine, looked_up, f"search for known blocks ({kind})"),
        ]
        if self.compression:
            work.append(CpuUse("source", engine, scaled(_ZLIB, part, why), "compression"))
        return tuple(work)
