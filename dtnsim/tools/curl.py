"""curl: one connection kept, several at once, or a process a file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import prior
from dtnsim.tools import _http as http
from dtnsim.tools._common import Count, Rate
from dtnsim.tools.plan import Job, Opening, Plan, Tool

#: one run of curl in a shell's loop: fork, exec, libraries, exit
_PROCESS: Final = prior("0.01 s", 0.4, "curl 7.88.1, a process a file: user and system time of 50 of them")


class Curl(Tool):
    """``curl -Z --parallel-max N -K list``, or ``each: true`` for a curl (or wget) of its own for each file.

    In parallel mode curl first waits whether the server speaks HTTP/2 on the first connection.

    Neglects: HTTP/2 and 3; uploads.
    Source: curl(1); lib/multi.c (CURLOPT_PIPEWAIT); RFC 9112.
    """

    kind: ClassVar[str] = "curl"
    tool_class = "mover"

    parallel: Annotated[bool, Field(validation_alias=AliasChoices("parallel", "Z"))] = False
    parallel_max: Annotated[Count, Field(validation_alias=AliasChoices("parallel_max", "parallel-max"))] = 50
    limit_rate: Annotated[Rate | None, Field(validation_alias=AliasChoices("limit_rate", "limit-rate"))] = None
    each: Annotated[bool, Field(description="a curl of its own for each file")] = False
    tls: Annotated[bool, Field(description="https")] = False

    def plan(self, job: Job) -> Plan:
        """Requests one after the other, or on as many connections as asked for."""
        connect = http.CONNECT + (http.TLS if self.tls else 0.0)
        if self.each:
            return http.download(
                job,
                Opening(),
                workers=1,
                each=http.REQUEST + connect,
                reopened=True,
                tls=self.tls,
                rate=self.limit_rate,
                process=_PROCESS,
            )
        workers = max(1, min(self.parallel_max, job.files)) if self.parallel else 1
        opening = connect + (connect if workers > 1 else 0.0)
        return http.download(
            job,
            Opening(opening, http.START, "connection"),
            workers=workers,
            each=http.REQUEST,
            tls=self.tls,
            rate=self.limit_rate,
        )
