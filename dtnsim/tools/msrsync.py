"""msrsync: rsyncs at once within a host, over lists of at most 1000 files and 1 GiB each."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Count, Size, one_host
from dtnsim.tools._rsyncs import parts_of, several
from dtnsim.tools.plan import Job, Plan, Tool, Usage
from dtnsim.tools.rsync import Rsync


class Msrsync(Tool):
    """``msrsync -p processes -f files -s size -r 'rsync options' SRC/ DST/``.

    Neglects: that lists are made while the first are moved.
    Source: github.com/jbd/msrsync README (-p 1, -f 1000, -s 1G).
    """

    kind: ClassVar[str] = "msrsync"
    tool_class = "local"
    usages = (
        Usage("msrsync", "msrsync -p {p} SRC/ DST/", "", "mount", tries={"p": (4, 8, 16, 32)}),
    )  # fmt: skip

    p: Annotated[Count, Field(validation_alias=AliasChoices("p", "processes"))] = 1
    f: Annotated[int, Field(ge=1, validation_alias=AliasChoices("f", "files"))] = 1000
    s: Annotated[Size, Field(validation_alias=AliasChoices("s", "size"))] = prior("1 GiB", 0.0, "msrsync README: -s")
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        """Runs of rsync, ``p`` at once."""
        one_host(job, self.kind)
        return several(self.rsync, job, parts_of(job, self.f, self.s.value), self.p)
