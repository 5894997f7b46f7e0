"""Several rsyncs at once, each with a list of files that fpart made."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from dtnsim.components.access import Access, Thread
from dtnsim.tools._ssh import FAREWELL, LOGIN, LOGIN_CPU, crowd
from dtnsim.tools.plan import CpuUse, FileCost, Job, Opening, Plan, Step
from dtnsim.tools.rsync import DAEMON, PROTOCOL, START, Rsync

#: runs that log in at once: from ten on, sshd refuses some (sshd_config(5), MaxStartups 10:30:100)
LOGINS: Final = (4, 8)
#: a file costs fpart a stat beside rsync's own
CRAWL: Final = ("stat",)


def parts_of(job: Job, files: int | None, size_B: float) -> int:
    """Lists that fpart makes of a job: none has more files or bytes than it may."""
    by_size = math.ceil(job.payload_B / max(size_B, 1.0))
    by_files = math.ceil(job.files / files) if files else 1
    return max(1, min(max(by_size, by_files), job.files))


def several(rsync: Rsync, job: Job, parts: int, at_once: int) -> Plan:
    """A plan of ``parts`` runs of rsync, ``at_once`` of them at a time.

    A run logs in, exchanges its list and says farewell, whatever it moves: those messages are spread over its files.
    """
    workers = max(1, min(at_once, parts))
    one = rsync.plan(job)
    trips = (LOGIN + FAREWELL if rsync.e == "ssh" else DAEMON) + PROTOCOL
    each = math.ceil(parts / workers) / math.ceil(job.files / workers)  # runs a worker does for each of its files
    trips = trips if job.remote else 0.0
    work = START if not job.remote else crowd(LOGIN_CPU, workers, job, 0.0) if rsync.e == "ssh" else None
    steps: list[Step] = []
    for step in one.steps:
        files = step.files
        if step.name == "scan":
            files = replace(files, source=(*files.source, *CRAWL))
        if step is one.steps[-1]:
            fixed = None if work is None else work.worth(work.value * each, f"{work.source}; {each:.3g} runs a file")
            files = replace(files, round_trips=files.round_trips + trips * each, fixed=fixed)
        steps.append(_wider(step, workers, files))
    return replace(one, steps=tuple(steps), workers=workers, weight=workers, opening=Opening())


def _wider(step: Step, workers: int, files: FileCost) -> Step:
    """A step of one rsync as a step of several."""

    def thread(one: Thread) -> Thread:
        return replace(one, copies=one.copies * workers)

    def access(one: Access | None) -> Access | None:
        if one is None:
            return None
        return one.but(thread=thread(one.thread), streams=workers, own_streams=workers)

    net = step.net
    if net is not None:
        net = replace(
            net,
            sender=thread(net.sender),
            receiver=thread(net.receiver),
            streams=workers,
            channels=workers if net.channel is not None else None,
        )
    cpu = tuple(CpuUse(c.end, thread(c.thread), c.cycles, c.what, c.stack, c.duty) for c in step.cpu)
    return replace(
        step,
        read=access(step.read),
        write=access(step.write),
        reread=access(step.reread),
        net=net,
        cpu=cpu,
        files=files,
    )
