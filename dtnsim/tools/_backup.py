"""Backups that cut files into blocks by their content, and send the blocks that the repository lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.tools._common import Rate, Ratio, both_ends, device_work, reading, scaled, writing
from dtnsim.tools.plan import CpuUse, FileCost, Job, NetUse, Opening, Plan, Step, Tool

#: what is read at once, and a pack that is sent and stored
_READ = prior("1 MiB", 0.7, "assumed: files are read by 0.5 to 8 MiB")
_PACK = prior("16 MiB", 0.3, "restic documentation: packs of 16 MiB; borg's segments take what comes")


class BlockBackup(Tool):
    """What such backups share.

    ``changed`` is the part of the bytes in files that are new or changed, ``literal`` the part of those that the
    repository lacks, ``ratio`` times smaller when compressed. Blocks travel in packs, so that no file waits for an
    answer; the repository's end writes packs.
    """

    tool_class = "backup"
    changed: Annotated[Quantity, Unit("1", high=1.0)] = prior("1", 0.0, "first backup: every file is new")
    literal: Annotated[Quantity, Unit("1", high=1.0)] = prior("1", 0.0, "first backup: no block is known")
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
        packed: Sequence[tuple[Quantity, str]],
        link: tuple[Quantity, str],
    ) -> Plan:
        """A scan of all files, then blocks of the changed ones.

        Args:
            job: What it is asked to do.
            opening: Log-in, and what is read of the repository.
            threads: Threads that cut, hash, compress and encrypt.
            connections: Connections to the repository.
            seen: What the source does to a byte of a changed file.
            packed: What it does to a byte that is new.
            link: What both ends of a connection do to a byte that is sent.
        """
        steps = [Step("scan", files=FileCost(source=("stat",)))]
        changed, sent = self.changed.value, self.literal.value
        engine = Thread(f"{self.kind} engine", threads)
        sender, store = Thread(f"{self.kind} sender", connections), Thread(f"{self.kind} repository", connections)
        if changed > 0:
            small = sent / self.ratio.value
            cpu = [CpuUse("source", engine, cycles, what) for cycles, what in seen]
            if sent > 0:
                cpu += [CpuUse("source", engine, scaled(c, sent, "of new blocks"), what) for c, what in packed]
                cpu += (
                    both_ends(sender, store, scaled(link[0], small, "of what is sent"), link[1]) if job.remote else ()
                )
            net = NetUse(sender, store, streams=connections, rate=self.limit, overhead=small)
            steps.append(
                Step(
                    "backup",
                    read=reading(job, engine, _READ),
                    net=net if job.remote and sent > 0 else None,
                    write=writing(job, store, _PACK) if sent > 0 else None,
                    cpu=(*device_work(job, engine), *cpu),
                    files=FileCost(source=("open", "close")) if changed == 1 else FileCost(),
                    share=changed,
                )
            )
        return Plan(tuple(steps), weight=connections, opening=opening if job.remote else Opening())
