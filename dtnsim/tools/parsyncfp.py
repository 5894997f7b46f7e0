"""parsyncfp: rsyncs at once over lists of fpart, of some 10 GB each."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Count, Rate, Size
from dtnsim.tools._rsyncs import LOGINS, parts_of, several
from dtnsim.tools.plan import Job, Plan, Tool, Usage
from dtnsim.tools.rsync import Rsync


class Parsyncfp(Tool):
    """``parsyncfp --NP n --chunksize size --maxbw KB/s --rsyncopts '...' --startdir DIR dirs host:/dst``.

    Lists are cut by size alone. ``NP`` is the square root of the processors unless given; ``maxbw`` is for all of them.

    Neglects: rsyncs that are suspended when the load is high (``--maxload``); the checks of every ``--checkperiod``.
    Source: github.com/hjmangalam/parsyncfp README.md (NP sqrt(CPUs), chunksize 10G, maxbw).
    """

    kind: ClassVar[str] = "parsyncfp"
    tool_class = "ssh"
    usages = (
        Usage("parsyncfp", "parsyncfp --NP {NP} --startdir SRC . HOST:DST", tries={"NP": LOGINS}),
    )  # fmt: skip

    NP: Annotated[Count | None, Field(validation_alias=AliasChoices("NP", "np"))] = None
    chunksize: Annotated[Size, Field(validation_alias=AliasChoices("chunksize", "cs"))] = prior(
        "10 GB", 0.0, "parsyncfp README: --chunksize 10G"
    )
    maxbw: Rate | None = None
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        """Runs of rsync, ``NP`` at once."""
        at_once = self.NP or max(1, round(math.sqrt(job.cores)))
        rsync = self.rsync if self.maxbw is None else self.rsync.model_copy(update={"bwlimit": self.maxbw})
        return several(rsync, job, parts_of(job, None, self.chunksize.value), at_once)
