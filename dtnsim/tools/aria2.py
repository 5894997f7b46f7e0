"""aria2: files at once, and pieces of a file over several connections."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import prior
from dtnsim.tools import _http as http
from dtnsim.tools._common import Count, Rate, Size
from dtnsim.tools.plan import Job, Opening, Plan, Tool

#: start of the program: options, DNS and RNG, disk cache, timers of its event loop
_START: Final = prior("0.06 s", 0.4, "aria2 1.36.0: user and system time of a run with one file")


class Aria2(Tool):
    """``aria2c -j files -x connections -s splits -k least -i list``.

    A file is cut into at most ``s`` parts of at least ``k``, over at most ``x`` connections to a server; the others
    begin when the first answer has shown the length and that ranges are allowed.

    Neglects: several mirrors; pieces handed from slow to fast connections.
    Source: aria2c(1).
    """

    kind: ClassVar[str] = "aria2"
    tool_class = "mover"
    streams_option = "s"

    j: Annotated[Count, Field(validation_alias=AliasChoices("j", "max-concurrent-downloads"))] = 5
    x: Annotated[int, Field(ge=1, le=16, validation_alias=AliasChoices("x", "max-connection-per-server"))] = 1
    s: Annotated[Count, Field(validation_alias=AliasChoices("s", "split"))] = 5
    k: Annotated[Size, Field(validation_alias=AliasChoices("k", "min-split-size"))] = prior(
        "20 MiB", 0.0, "aria2c(1): --min-split-size"
    )
    limit: Annotated[Rate | None, Field(validation_alias=AliasChoices("limit", "max-overall-download-limit"))] = None
    tls: Annotated[bool, Field(description="https")] = False

    def plan(self, job: Job) -> Plan:
        """Files at once, each in parts where it is large enough."""
        workers = max(1, min(self.j, job.files))
        parts = max(1, min(self.x, self.s, math.floor(job.mean_B / self.k.value)))
        connect = http.CONNECT + (http.TLS if self.tls else 0.0)
        opening = connect + ((connect + http.REQUEST) if parts > 1 else 0.0)
        return http.download(
            job,
            Opening(opening, _START, "connections"),
            workers=workers,
            each=http.REQUEST,
            streams=workers * parts,
            tls=self.tls,
            rate=self.limit,
        )
