"""Several rsyncs at once, each with a list of files that fpart made.

- fpsync: rsyncs at once over lists that fpart makes, of at most 2000 files and 4 GiB each.
- msrsync: rsyncs at once within a host, over lists of at most 1000 files and 1 GiB each.
- parsyncfp: rsyncs at once over lists of fpart, of some 10 GB each.
- rsync behind xargs or GNU parallel: a run for each entry of the top folder, several at once.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Final

from pydantic import Field

from dtnsim.components.access import Access, Thread
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import one_host
from dtnsim.tools._options import Count, Rate, Size, named
from dtnsim.tools._ssh import FAREWELL, LOGIN, LOGIN_CPU, crowd
from dtnsim.tools.plan import FileCost, Job, Opening, Plan, Step, Tool
from dtnsim.tools.rsync import DAEMON, PROTOCOL, START, Rsync

CRAWL: Final = ("stat",)  #: a file costs fpart a stat beside rsync's own


def parts_of(job: Job, files: int | None, size_B: float) -> int:
    """Lists that fpart makes of a job: none has more files (None: any number) or bytes than it may."""
    by_size = math.ceil(job.payload_B / max(size_B, 1.0))
    by_files = math.ceil(job.files / files) if files else 1
    return max(1, min(max(by_size, by_files), job.files))


def _several(rsync: Rsync, job: Job, parts: int, at_once: int) -> Plan:
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
        channels = workers if net.channel is not None else None
        sender, receiver = thread(net.sender), thread(net.receiver)
        net = replace(net, sender=sender, receiver=receiver, streams=workers, channels=channels)
    cpu = tuple(replace(use, thread=thread(use.thread)) for use in step.cpu)
    read, write, reread = map(access, (step.read, step.write, step.reread))
    return replace(step, read=read, write=write, reread=reread, net=net, cpu=cpu, files=files)


class Fpsync(Tool):
    """``fpsync -n jobs -f files -s bytes -o 'rsync options' src/ host:/dst/``.

    Each list is an rsync of its own: over ssh it logs in again. ``rsync`` has its options (``-o``).

    Neglects: workers on other hosts (``-w``); that lists are made while the first are moved; other copy tools (``-m``).
    Source: github.com/martymac/fpart tools/fpsync (OPT_JOBS 2, OPT_FPMAXPARTFILES 2000, OPT_FPMAXPARTSIZE 4 GiB).
    """

    kind: ClassVar[str] = "fpsync"
    files_option = "n"
    tool_class = "ssh"

    n: Annotated[Count, named("n", "jobs")] = 2
    f: Annotated[int, named("f", "files", ge=1)] = 2000
    s: Annotated[Size, named("s", "size")] = prior("4 GiB", 0.0, "fpart tools/fpsync: OPT_FPMAXPARTSIZE")
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        return _several(self.rsync, job, parts_of(job, self.f, self.s.value), self.n)


class Msrsync(Tool):
    """``msrsync -p processes -f files -s size -r 'rsync options' SRC/ DST/``.

    Neglects: that lists are made while the first are moved.
    Source: github.com/jbd/msrsync README (-p 1, -f 1000, -s 1G).
    """

    kind: ClassVar[str] = "msrsync"
    files_option = "p"
    tool_class = "local"

    p: Annotated[Count, named("p", "processes")] = 1
    f: Annotated[int, named("f", "files", ge=1)] = 1000
    s: Annotated[Size, named("s", "size")] = prior("1 GiB", 0.0, "msrsync README: -s")
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        one_host(job, self.kind)
        return _several(self.rsync, job, parts_of(job, self.f, self.s.value), self.p)


class Parsyncfp(Tool):
    """``parsyncfp --NP n --chunksize size --maxbw KB/s --rsyncopts '...' --startdir DIR dirs host:/dst``.

    Lists are cut by size alone. ``NP`` is the square root of the processors unless given; ``maxbw`` is for all of them.

    Neglects: rsyncs that are suspended when the load is high (``--maxload``); the checks of every ``--checkperiod``.
    Source: github.com/hjmangalam/parsyncfp README.md (NP sqrt(CPUs), chunksize 10G, maxbw).
    """

    kind: ClassVar[str] = "parsyncfp"
    files_option = "NP"
    tool_class = "ssh"

    NP: Annotated[Count | None, named("NP", "np")] = None
    chunksize: Annotated[Size, named("chunksize", "cs")] = prior("10 GB", 0.0, "parsyncfp README: --chunksize 10G")
    maxbw: Rate | None = None
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        at_once = self.NP or max(1, round(math.sqrt(job.cores)))
        rsync = self.rsync if self.maxbw is None else self.rsync.model_copy(update={"bwlimit": self.maxbw})
        return _several(rsync, job, parts_of(job, None, self.chunksize.value), at_once)


class RsyncParallel(Tool):
    """``ls SRC | xargs -P jobs -I{} rsync -a SRC/{} HOST:DST/``, or ``parallel -j jobs``.

    ``entries`` are the arguments, each with its share of the files; as many as there are folders, or files of a folder
    alone, unless given. Each run logs in again.

    Neglects: entries of unlike size, of which the last one runs alone.
    Source: xargs(1); parallel(1).
    """

    kind: ClassVar[str] = "rsync-parallel"
    files_option = "jobs"
    tool_class = "ssh"

    jobs: Annotated[Count, named("jobs", "P", "j")] = 4
    entries: Annotated[int | None, Field(ge=1, description="arguments: entries of the top folder")] = None
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        entries = min(self.entries or job.directories or job.files, job.files)
        return _several(self.rsync, job, max(entries, 1), self.jobs)
