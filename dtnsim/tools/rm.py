"""rm -r: no byte moves; every file is a request that waits for its answer."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.tools._common import READER, needs_volume
from dtnsim.tools.plan import FileCost, Job, Plan, Step, Tool


class Rm(Tool):
    """``rm -rf`` of the data set on the transfer's ``to`` (or on its ``from`` where ``to`` is no volume).

    Its throughput is the bytes of the removed files over the time; its duration is what one reads.

    Over NFSv3 each file is a REMOVE, and its name came with others in a READDIRPLUS. Each directory is opened
    (GETATTR), checked (ACCESS), read (READDIRPLUS, which fills the cache of names, so that no LOOKUP is left) and
    removed (RMDIR).

    Neglects: time that the medium needs to free blocks.
    Source: RFC 1813, sections 3.3.12, 3.3.13 and 3.3.17; GNU coreutils rm.c (fts, unlinkat).
    """

    kind: ClassVar[str] = "rm"
    tool_class = "local"

    r: Annotated[bool, Field(json_schema_extra=READER, validation_alias=AliasChoices("r", "R", "recursive"))] = True
    f: Annotated[bool, Field(json_schema_extra=READER, validation_alias=AliasChoices("f", "force"))] = True

    def plan(self, job: Job) -> Plan:
        """One process, file after file."""
        each, directory = ("remove", "readdir"), ("stat", "access", "list", "remove")
        if job.destination == "volume":
            return Plan((Step("remove", files=FileCost(destination=each, directory=directory)),))
        needs_volume(job, "source", self.kind)
        return Plan((Step("remove", files=FileCost(source=each, directory=directory)),))
