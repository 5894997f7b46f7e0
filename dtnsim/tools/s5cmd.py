"""s5cmd: hundreds of objects at once over S3, large ones in parts."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import prior
from dtnsim.tools._common import Client as ClientEnd
from dtnsim.tools._common import Count, Cycles, Size
from dtnsim.tools._s3 import Client, uploads
from dtnsim.tools.plan import Job, Plan, Tool, Usage

_START: Final = prior("0.1 s", 0.5, "assumed: a Go program that reads its credentials; rclone over http takes 0.15 s")


class S5cmd(Tool):
    """``s5cmd --numworkers N cp -c parts -p MiB``: ``numworkers`` objects at once, ``c`` parts of each at once.

    An object that fits one part is one PUT or GET; ranges of a download begin when the answer to the first has told the
    size, so ``c`` matters only to larger objects.

    Neglects: retries; limits and latency of the store itself (a volume of kind s3 has them).
    Source: github.com/peak/s5cmd command/app.go (numworkers 256) and command/cp.go (concurrency 5, part size 50 MiB);
        github.com/aws/aws-sdk-go service/s3/s3manager/download.go (the first range alone, then the others).
    """

    kind: ClassVar[str] = "s5cmd"
    tool_class = "mover"
    files_option = "numworkers"
    usages = (
        Usage(
            "s5cmd", "s5cmd --numworkers {numworkers} cp -c {c} 'SRC/*' DST/", "the bucket's keys", "bucket",
            tries={"numworkers": (256, 64, 1024), "c": (5, 16)},
        ),
    )  # fmt: skip

    numworkers: Count = 256
    c: Annotated[Count, Field(validation_alias=AliasChoices("c", "concurrency"))] = 5
    p: Annotated[Size, Field(validation_alias=AliasChoices("p", "part-size"))] = prior(
        "50 MiB", 0.0, "s5cmd command/cp.go: defaultPartSize 50 MiB"
    )
    tls: Annotated[bool, Field(description="https; false for --endpoint-url http://...")] = True
    client: ClientEnd | None = None
    overhead: Cycles = prior("1 cycles/B", 0.7, "assumed: Go's HTTP client, two copies in user space")

    def plan(self, job: Job) -> Plan:
        """Objects at once, each in parts where it is larger than one."""
        put = uploads(job, self.kind, self.client)
        large = job.largest_B > self.p.value
        return Client(
            "s5cmd",
            put,
            at_once=self.numworkers * self.c if large else self.numworkers,
            part_B=self.p.value,
            threshold_B=self.p.value + 1,
            a_file=self.c,
            head=1.0 if large and not put else 0.0,
            start=_START,
            overhead=self.overhead,
            tls=self.tls,
            lists=not put and job.files > 1,
        ).plan(job)
