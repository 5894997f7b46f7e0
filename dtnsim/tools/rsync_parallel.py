"""rsync behind xargs or GNU parallel: a run for each entry of the top folder, several at once."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.tools._common import Count
from dtnsim.tools._rsyncs import LOGINS, several
from dtnsim.tools.plan import Job, Plan, Tool, Usage
from dtnsim.tools.rsync import Rsync


class RsyncParallel(Tool):
    """``ls SRC | xargs -P jobs -I{} rsync -a SRC/{} HOST:DST/``, or ``parallel -j jobs``.

    ``entries`` are the arguments, each with its share of the files; as many as there are folders, or files of a folder
    alone, unless given. Each run logs in again.

    Neglects: entries of unlike size, of which the last one runs alone.
    Source: xargs(1); parallel(1).
    """

    kind: ClassVar[str] = "rsync-parallel"
    tool_class = "ssh"
    usages = (
        Usage(
            "rsync behind xargs", "ls SRC | xargs -P {jobs} -I% rsync -a SRC/% HOST:DST/",
            tries={"jobs": LOGINS},
        ),
        Usage(
            "rsync behind xargs, mounts", "ls SRC | xargs -P {jobs} -I% rsync -a SRC/% DST/", "", "mount",
            tries={"jobs": (4, 8, 16, 32)},
        ),
    )  # fmt: skip

    jobs: Annotated[Count, Field(validation_alias=AliasChoices("jobs", "P", "j"))] = 4
    entries: Annotated[int | None, Field(ge=1, description="arguments: entries of the top folder")] = None
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        """Runs of rsync, ``jobs`` at once."""
        entries = min(self.entries or job.directories or job.files, job.files)
        return several(self.rsync, job, max(entries, 1), self.jobs)
