"""Clients of a bucket.

- aws s3 cp and aws s3 sync: ten requests of all objects together, large objects in parts of 8 MiB.
- s5cmd: hundreds of objects at once over S3, large ones in parts.
- mc cp and mc mirror: MinIO's client, a worker a core, four parts of an object at once.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Unit, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools._common import MD5, core_cost
from dtnsim.tools._options import Client as ClientEnd, Count, Cycles, Rate, Share, Size, named
from dtnsim.tools._s3 import GO_CLIENT, Client, uploads
from dtnsim.tools.plan import CpuUse, Job, Mover, Plan, Step

_START: Final = prior("0.6 s", 0.5, "assumed: Python and botocore's service descriptions are read, about half a second")
_UNLOCKED: Final = prior("0.3 cycles/B", 0.7, "assumed: what threads do outside the interpreter's lock")
_NATIVE: Final = prior(
    "1.5 cycles/B", 0.7, "assumed: HTTP and a checksum in C, a copy or two on the event loops' threads"
)
#: of a request, in the interpreter and on the event loops' threads
_PYTHON_REQUEST: Final = prior(
    "13000000 cycles",
    0.35,
    "measured: 2.0 to 4.1 ms of a core for each of 3,000 PUTs of 4 KiB to a server beside it, 2.7 in geometric mean "
    "(10 and 100 at once, http and https, aws-cli 1.16, 1.22, 1.27 and 1.46 on Python 3.7, 3.8, 3.9 and 3.11), start "
    "taken off, at 3.65 GHz on a shared EPYC of Zen 4, whose cycles do 1.35 times the work",
)
_NATIVE_REQUEST: Final = prior("150000 cycles", 0.8, "assumed: HTTP and a signature in C, 20 to 100 us")
#: aws-c-s3 source/s3_client.c: 250 connections for 100 Gb/s [B/s], and no fewer or more than these
_CONNECTION_BPS, _FEWEST, _MOST = 100e9 / 250 / 8, 10, 10000
_CONFIG: Final = "aws-cli awscli/customizations/s3/transferconfig.py"


class AwsS3(Mover):
    """``aws s3 cp --recursive`` or ``aws s3 sync``, with the ``s3`` section of the configuration by its own names.

    One Python process: its threads share the interpreter, so that all bytes pass one core (``overhead``). ``sync``
    lists the keys first, a thousand an answer, and moves only what changed (``changed``, part of the bytes). With
    ``preferred_transfer_client: crt`` a library in C moves the bytes on all cores, with a connection for each 0.4 Gb/s
    of ``target_bandwidth`` in the place of ``max_concurrent_requests``.

    Neglects: sizes of ``sync`` that its own hash does not look at.
    Source: github.com/aws/aws-cli awscli/customizations/s3/transferconfig.py (max_concurrent_requests 10,
        multipart_threshold and multipart_chunksize 8 MiB); github.com/boto/s3transfer s3transfer/manager.py;
        github.com/awslabs/aws-c-s3 source/s3_client.c (s_throughput_per_connection_gbps 100/250, 10 to 10,000).
    """

    kind: ClassVar[str] = "aws-s3"
    files_option = "max_concurrent_requests"

    command: Annotated[Literal["cp", "sync"], Field(description="aws s3 cp --recursive, or aws s3 sync")] = "cp"
    preferred_transfer_client: Annotated[
        Literal["classic", "crt"], Otherwise("crt", "machines that the AWS CLI takes to be fast (auto), or told so")
    ] = "classic"
    target_bandwidth: Rate = prior("10 Gb/s", 0.0, "AWS CLI, S3 configuration: where it cannot tell from the machine")
    max_concurrent_requests: Annotated[Count, named("max_concurrent_requests", "max_concurrency")] = 10
    multipart_threshold: Size = prior("8 MiB", 0.0, _CONFIG)
    multipart_chunksize: Annotated[Size, Unit("B", low=5 * 2**20)] = prior("8 MiB", 0.0, _CONFIG)
    max_bandwidth: Rate | None = None
    changed: Share = prior("1", 0.0, "every object is new; matters to sync only")
    tls: Annotated[bool, Field(description="https; false for --endpoint-url http://...")] = True
    client: ClientEnd | None = None
    overhead: Cycles = prior(
        "12.2 cycles/B",
        0.5,
        "github scylladb/scylladb, pull 22634: aws-cli with ten threads moved 276 MB/s; at some 3.8 GHz (assumed), one "
        "interpreter: copies, MD5 or CRC and TLS of Python's ssl, less 1.6 of a request for each 8 MiB",
    )

    def plan(self, job: Job) -> Plan:
        put, native = uploads(job, self.kind, self.client), self.preferred_transfer_client == "crt"
        aimed = min(max(math.ceil(self.target_bandwidth.value / _CONNECTION_BPS), _FEWEST), _MOST)
        client = Client(
            "aws-cli",
            put,
            at_once=aimed if native else self.max_concurrent_requests,
            part_B=self.multipart_chunksize.value,
            threshold_B=self.multipart_threshold.value,
            head=0.0 if put or job.files > 1 else 1.0,
            start=_START,
            overhead=_NATIVE if native else _UNLOCKED,
            tls=self.tls,
            lists=self.command == "sync" or (not put and job.files > 1),
            limit=self.max_bandwidth,
            share=self.changed.value if self.command == "sync" else 1.0,
            request=_NATIVE_REQUEST if native else None,
        )
        return client.plan(job) if native else self._locked(client, job)

    def _locked(self, client: Client, job: Job) -> Plan:
        """Its plan with the interpreter's lock: one thread through which every byte and request goes."""
        plan, thread = client.plan(job), Thread("Python interpreter")
        lock = CpuUse("source" if client.put else "destination", thread, self.overhead, "aws-cli")
        requests = client.asking(job, thread, _PYTHON_REQUEST)

        def locked(step: Step) -> Step:
            return step if step.net is None else replace(step, cpu=(*step.cpu, lock, requests))

        return replace(plan, steps=tuple(locked(s) for s in plan.steps))


#: of every body that is put, before it is sent: aws-sdk-go service/s3/body_hash.go (computeBodyHashes)
_BODY_HASHES: Final = "hash of a body before it is sent (aws-sdk-go, computeBodyHashes); Go's assembler as OpenSSL's"
_S5CMD_START: Final = prior(
    "0.1 s", 0.5, "assumed: a Go program that reads its credentials; rclone over http takes 0.15 s"
)


class S5cmd(Mover):
    """``s5cmd --numworkers N cp -c parts -p MiB``: ``numworkers`` objects at once, ``c`` parts of each at once.

    An object that fits one part is one PUT or GET, so ``c`` matters only to larger objects. The first range of a
    download is got alone, since its answer tells the size: of 77 parts, 32 at once, four rounds of a part.

    The SDK sums each body that is put by MD5 and SHA-256 before it sends it.

    Neglects: retries; limits and latency of the store itself (a volume of kind s3 has them).
    Source: github.com/peak/s5cmd command/app.go (numworkers 256) and command/cp.go (concurrency 5, part size 50 MiB);
        github.com/aws/aws-sdk-go service/s3/s3manager/download.go (the first range alone, then the others).
    """

    kind: ClassVar[str] = "s5cmd"
    files_option, streams_option = "numworkers", "c"

    numworkers: Count = 256
    c: Annotated[Count, named("c", "concurrency")] = 5
    p: Annotated[Size, named("p", "part-size")] = prior("50 MiB", 0.0, "s5cmd command/cp.go: defaultPartSize 50 MiB")
    tls: Annotated[bool, Field(description="https; false for --endpoint-url http://...")] = True
    client: ClientEnd | None = None
    overhead: Cycles = GO_CLIENT

    def plan(self, job: Job) -> Plan:
        put = uploads(job, self.kind, self.client)
        large = job.largest_B > self.p.value
        return Client(
            "s5cmd",
            put,
            at_once=self.numworkers * self.c if large else self.numworkers,
            part_B=self.p.value,
            threshold_B=self.p.value + 1,
            a_file=self.c,
            first=not put,
            start=_S5CMD_START,
            overhead=self.overhead,
            checksums=(
                (core_cost("md5_openssl", _BODY_HASHES), "MD5 of the body", MD5),
                (core_cost("sha256_ni", _BODY_HASHES), "SHA-256 of the body", None),
            ),
            tls=self.tls,
            lists=not put and job.files > 1,
        ).plan(job)


_MC_START: Final = prior("0.1 s", 0.5, "assumed: a Go program that reads its configuration")
#: minio-go constants.go: minPartSize, maxPartsCount, totalWorkers
_LEAST_PART_B: Final = 16 * 2.0**20
_MOST_PARTS: Final = 10_000
_THREADS: Final = 4
_SHA256: Final = core_cost("sha256_ni", "signature of the payload, where the store is not reached by https")


class Mc(Mover):
    """``mc cp -r`` or ``mc mirror`` between a folder and a bucket.

    ``workers`` objects at once. mc begins with as many as the host has cores and adds as many every 4 s while that
    makes it faster, to 128 at most; the number here is the one it begins with unless it is given. Uploads from 16 MiB
    on go in parts of size/10,000 rounded up to 16 MiB, four at once; downloads are one stream an object.

    Neglects: the workers that are added.
    Source: github.com/minio/mc cmd/parallel-manager.go; github.com/minio/minio-go constants.go and
        api-put-object-streaming.go.
    """

    kind: ClassVar[str] = "mc"

    workers: Annotated[Count | None, named("workers", "max-workers")] = None
    disable_multipart: Annotated[bool, named("disable_multipart", "disable-multipart")] = False
    limit_upload: Annotated[Rate | None, named("limit_upload", "limit-upload")] = None
    limit_download: Annotated[Rate | None, named("limit_download", "limit-download")] = None
    tls: bool = True
    client: ClientEnd | None = None
    overhead: Cycles = GO_CLIENT

    def plan(self, job: Job) -> Plan:
        put = uploads(job, self.kind, self.client)
        single = not put or self.disable_multipart or job.largest_B < _LEAST_PART_B
        part = max(math.ceil(job.largest_B / _MOST_PARTS / _LEAST_PART_B), 1) * _LEAST_PART_B
        objects = min(self.workers or job.cores, 128)
        limit: Quantity | None = self.limit_upload if put else self.limit_download
        return Client(
            "mc",
            put,
            at_once=objects if single else objects * _THREADS,
            part_B=math.inf if single else part,
            threshold_B=math.inf if single else _LEAST_PART_B,
            a_file=1 if single else _THREADS,
            head=1.0,  # its size and time are asked for before it is copied
            start=_MC_START,
            overhead=self.overhead,
            checksums=() if self.tls else ((_SHA256, "SHA-256 of the payload", None),),
            tls=self.tls,
            lists=job.files > 1,
            limit=limit,
        ).plan(job)
