"""fpsync: rsyncs at once over lists that fpart makes, of at most 2000 files and 4 GiB each."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Count, Size
from dtnsim.tools._rsyncs import parts_of, several
from dtnsim.tools.plan import Job, Plan, Tool, Usage
from dtnsim.tools.rsync import Rsync


class Fpsync(Tool):
    """``fpsync -n jobs -f files -s bytes -o 'rsync options' src/ host:/dst/``.

    Each list is an rsync of its own: over ssh it logs in again. ``rsync`` has its options (``-o``).

    Neglects: workers on other hosts (``-w``); that lists are made while the first are moved; other copy tools (``-m``).
    Source: github.com/martymac/fpart tools/fpsync (OPT_JOBS 2, OPT_FPMAXPARTFILES 2000, OPT_FPMAXPARTSIZE 4 GiB).
    """

    kind: ClassVar[str] = "fpsync"
    tool_class = "ssh"
    usages = (
        Usage("fpsync between mounts", "fpsync -n {n} SRC/ DST/", "", "mount", tries={"n": (2, 4, 8, 16, 32)}),
    )  # fmt: skip

    n: Annotated[Count, Field(validation_alias=AliasChoices("n", "jobs"))] = 2
    f: Annotated[int, Field(ge=1, validation_alias=AliasChoices("f", "files"))] = 2000
    s: Annotated[Size, Field(validation_alias=AliasChoices("s", "size"))] = prior(
        "4 GiB", 0.0, "fpart tools/fpsync: OPT_FPMAXPARTSIZE"
    )
    rsync: Rsync = Rsync()

    def plan(self, job: Job) -> Plan:
        """Runs of rsync, ``n`` at once."""
        return several(self.rsync, job, parts_of(job, self.f, self.s.value), self.n)
