"""rm -r: no byte moves; every file is a request that waits for its answer."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from dtnsim.tools._common import needs_volume
from dtnsim.tools.plan import FileCost, Job, Plan, Step, Tool


class Rm(Tool):
    """``rm -rf`` of the data set on the transfer's ``to`` (or on its ``from`` where ``to`` is no volume).

    Its throughput is the bytes of the removed files over the time; its duration is what one reads.

    Neglects: time that the medium needs to free blocks.
    Source: RFC 1813 (REMOVE is one request); attributes that expired are asked again for some entries.
    """

    kind: ClassVar[str] = "rm"

    r: Annotated[bool, Field(validation_alias=AliasChoices("r", "R", "recursive"))] = True
    f: Annotated[bool, Field(validation_alias=AliasChoices("f", "force"))] = True

    def plan(self, job: Job) -> Plan:
        """One process, file after file."""
        operations = ("remove", "revalidate")
        if job.destination == "volume":
            return Plan((Step("remove", files=FileCost(destination=operations, directory=("remove",))),))
        needs_volume(job, "source", self.kind)
        return Plan((Step("remove", files=FileCost(source=operations, directory=("remove",))),))
