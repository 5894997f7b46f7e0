"""mc cp and mc mirror: MinIO's client, a worker a core, four parts of an object at once."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Final

from pydantic import AliasChoices, Field

from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools._common import Client as ClientEnd
from dtnsim.tools._common import Count, Cycles, Rate, core_cost
from dtnsim.tools._s3 import Client, uploads
from dtnsim.tools.plan import Job, Plan, Tool, Usage

_START: Final = prior("0.1 s", 0.5, "assumed: a Go program that reads its configuration")
#: minio-go constants.go: minPartSize, maxPartsCount, totalWorkers
_LEAST_PART_B: Final = 16 * 2.0**20
_MOST_PARTS: Final = 10_000
_THREADS: Final = 4
_SHA256: Final = core_cost("sha256_ni", "signature of the payload, where the store is not reached by https")


class Mc(Tool):
    """``mc cp -r`` or ``mc mirror`` between a folder and a bucket.

    ``workers`` objects at once. mc begins with as many as the host has cores and adds as many every 4 s while that
    makes it faster, to 128 at most; the number here is the one it begins with unless it is given. Uploads from 16 MiB
    on go in parts of size/10,000 rounded up to 16 MiB, four at once; downloads are one stream an object.

    Neglects: the workers that are added.
    Source: github.com/minio/mc cmd/parallel-manager.go; github.com/minio/minio-go constants.go and
        api-put-object-streaming.go.
    """

    kind: ClassVar[str] = "mc"
    tool_class = "mover"
    usages = (
        Usage(
            "mc", "mc cp -r --max-workers {workers} SRC DST", "the bucket's keys", "bucket",
            tries={"workers": (4, 16, 64, 256)},
        ),
    )  # fmt: skip

    workers: Annotated[Count | None, Field(validation_alias=AliasChoices("workers", "max-workers"))] = None
    disable_multipart: Annotated[
        bool, Field(validation_alias=AliasChoices("disable_multipart", "disable-multipart"))
    ] = False
    limit_upload: Annotated[Rate | None, Field(validation_alias=AliasChoices("limit_upload", "limit-upload"))] = None
    limit_download: Annotated[Rate | None, Field(validation_alias=AliasChoices("limit_download", "limit-download"))] = (
        None
    )
    tls: bool = True
    client: ClientEnd | None = None
    overhead: Cycles = prior("1 cycles/B", 0.7, "assumed: Go's HTTP client, two copies in user space")

    def plan(self, job: Job) -> Plan:
        """Objects at once; parts of an upload at once."""
        put = uploads(job, self.kind, self.client)
        whole = not put or self.disable_multipart or job.largest_B < _LEAST_PART_B
        part = max(math.ceil(job.largest_B / _MOST_PARTS / _LEAST_PART_B), 1) * _LEAST_PART_B
        objects = min(self.workers or job.cores, 128)
        limit: Quantity | None = self.limit_upload if put else self.limit_download
        return Client(
            "mc",
            put,
            at_once=objects if whole else objects * _THREADS,
            part_B=math.inf if whole else part,
            threshold_B=math.inf if whole else _LEAST_PART_B,
            a_file=1 if whole else _THREADS,
            head=1.0,  # its size and time are asked for before it is copied
            start=_START,
            overhead=self.overhead,
            checksum=None if self.tls else (_SHA256, "SHA-256 of the payload"),
            tls=self.tls,
            lists=job.files > 1,
            limit=limit,
        ).plan(job)
