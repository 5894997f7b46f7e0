"""S3 object stores: parts over connections that each wait for their answers, request limits of prefixes."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from dtnsim.components.access import Access
from dtnsim.components.device import Connections
from dtnsim.components.filesystem import label_of
from dtnsim.components.machine import Machine
from dtnsim.components.parallel import Copies
from dtnsim.components.servers import RequestTime, SharedFilesystem
from dtnsim.ground import library
from dtnsim.ground.ledger import Row
from dtnsim.ground.quantity import Quantity, Unit, Value, prior
from dtnsim.ground.term import Term, count, law, minimum, term
from dtnsim.physics import cloud, redundancy, waiting

#: operations of files for which an object store is not asked; what is opened is asked for its data by GETs alone
_NO_REQUEST = frozenset({"open", "close", "access", "mkdir"})
_PREFIX = "AWS, optimizing Amazon S3 performance: requests a second of one prefix"


class S3(SharedFilesystem, Copies):
    """A bucket that a host reads or writes through ``via``; ``servers`` describe a store of one's own.

    A file moves in parts of ``part_size`` on ``concurrency`` connections; files at once are the tool's. Tools that
    speak S3 themselves (aws s3, s5cmd, mc, rclone) cut files by their own options instead. A store of one's own keeps
    ``replicas`` copies, or ``data`` and ``coding`` shards (MinIO, Ceph RGW), which its nodes and drives carry. Its
    prefixes have no limits but those that are stated, it answers as servers in a room do, not as a service, and what is
    put is on its drives before the answer (``commit``).

    Attributes:
        metadata_time: Time of one request for names; as long as one for data where ``latency`` alone is stated.

    Neglects: requests that fail and are repeated; TLS beside what the tool's own options say.
    """

    kind: ClassVar[str] = "s3"
    common: ClassVar[str] = "servers share prefixes get_rate put_rate commit replicas data coding"
    striped: ClassVar[bool] = True
    flushes_at_close: ClassVar[bool] = True
    over_ip: ClassVar[bool] = True
    behind_kind: ClassVar[str] = "servers"
    connected_by_tools: ClassVar[bool] = True
    asked_by: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("stat", "lookup"), "HEAD"),
        "create": "POST",  # CreateMultipartUpload, CompleteMultipartUpload (Amazon S3 API reference)
        **dict.fromkeys(("list", "readdir"), "LIST"),
        "remove": "DELETE",
        **dict.fromkeys(_NO_REQUEST, ""),
    }
    drives_in_arrays: ClassVar[bool] = True
    scattered: ClassVar[bool] = True

    part_size: Annotated[Quantity, Unit("B", low=1)] = prior(
        "8 MiB", 0.0, "aws-cli: multipart_chunksize 8 MB; AWS advises ranges of 8 to 16 MB"
    )
    concurrency: Annotated[int, Field(ge=1, le=10000)] = 10
    latency: RequestTime = prior(
        "100 ms", 0.5, "AWS, Performance guidelines for Amazon S3: first-byte latencies of roughly 100 to 200 ms"
    )
    metadata_time: RequestTime = prior(
        "60 ms",
        0.4,
        "AWS Labs, latency benchmark of mountpoint-s3 (April 2025): 49 to 61 ms to list 100 names, 225 to 248 to make "
        "a file of a byte, some four requests; cdouglas/endive (2025): 60 ms of small PUTs in the region",
    )
    stream: Annotated[Quantity, Unit("B/s", spread=0.3, low=1e4)] = prior(
        "87 MB/s", 0.3, "AWS, Performance design patterns: one concurrent request for each 85 to 90 MB/s"
    )
    prefixes: Annotated[int, Field(ge=1, le=100000)] = 1
    get_rate: Annotated[Quantity, Unit("1/s", spread=0.1, low=1)] = prior("5500 ops/s", 0.1, _PREFIX)
    put_rate: Annotated[Quantity, Unit("1/s", spread=0.1, low=1)] = prior("3500 ops/s", 0.1, _PREFIX)

    commit: RequestTime = prior(
        "3 ms",
        1.2,
        "assumed: a store of one's own, whose PUT creates, flushes and renames a file on each drive (MinIO "
        "cmd/xl-storage.go: writeAllDirect ends with Fdatasync): "
        "0.3 ms on flash with capacitors to 30 ms on disks",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_its_own(cls, raw: Any) -> Any:
        """What is not said of a store whose servers are told is as of MinIO, not as of a service."""
        described = isinstance(raw, dict) and raw.get("servers") is not None
        usual = library.read("parts", "s3/minio") if described else {}
        return {**{key: usual[key] for key in ("latency", "stream")}, **raw} if described else raw

    def sees(self, use: Access) -> Access:
        """Tools that speak S3 send each part as they have read it; objects that are kept are kept by the servers."""
        if use.operation == "read":
            return use.but(cached=False, warm=use.cached)
        return use.but(finish="steady") if use.part_B > 0 else use

    def gathers(self, use: Access) -> bool:
        """Tools that speak S3 wait for the answer to each part; mounts have a cache."""
        return super().gathers(use) and not use.part_B > 0

    def medium(self, row: Row, use: Access, host: Machine, volume: str) -> None:
        """Connections of the files, the prefixes' limits, a store's own nodes, then the network to it."""
        label, fs = label_of(volume), self.system_mount(row)
        reading, by_tool = use.operation == "read", use.part_B > 0
        size = term(use.part_B, "B", "the tool's own options") if by_tool else row.term(self.part_size)
        part = minimum(size, term(max(use.file_B, 1.0), "B"))
        flow = row.term(self.stream)
        if np.any(np.isfinite(use.flow_Bps)):
            flow = minimum(flow, term(use.flow_Bps, "B/s", "what TCP lets a connection have on the way to the store"))
        waits = self.away(row.term(self.latency), use)
        if fs.servers is not None and not reading:
            waits = waits + row.term(fs.commit)
        one = law(waiting.request_rate, request_B=part, latency_s=waits, rate_Bps=flow)
        every = count(self._at_once(use), "connection") * one
        text = f"S3 connections that each wait for their {'GETs' if reading else 'PUTs'}"
        remedy = "more parts at once, larger ones, or more files at once (options of the tool)" if by_tool else ""
        self.of_each(row, use, f"{label}.connections", every, text, remedy=remedy)
        if fs.servers is None or fs.states("get_rate" if reading else "put_rate"):
            self._prefixes(row, label, part, fs.get_rate if reading else fs.put_rate)
        copies, ports = fs.stored(), fs.ports(reading=reading)
        visit = law(
            redundancy.shard_bytes,
            part_B=part,
            stored_per_byte=1.0 if reading else copies,
            shards=fs.shards(use.operation),
            arrays=fs.servers.arrays if fs.servers is not None else 1,
        )
        self.charge_servers(row.times(ports), use, label, visit, drives=row if reading else row.times(copies))
        host.storage_network(row, use, volume)

    def _prefixes(self, row: Row, label: str, part: Term, limit: Quantity) -> None:
        """Charges the limits of request, which are those of a service."""
        (far, prefix), number = self.station_names(row, label), self.system_mount(row).prefixes
        rate = law(cloud.prefix_rate, requests_per_s=row.term(limit), prefixes=number, part_B=part)
        far.charge(f"{prefix}prefixes", "s3", what="requests a second of the bucket's prefixes", capacity=rate)

    def connections_of(self, row: Row, use: Access) -> Connections:
        """Connections of the program, which opens its own; each part takes one that is free."""
        return Connections(max(use.own_streams, 1) * self._at_once(use), shared=False)

    def _at_once(self, use: Access) -> int:
        """Parts of one file under way at once; one that is smaller than a part is one request."""
        if use.part_B > 0:
            return use.parts
        return int(max(min(self.concurrency, math.ceil(use.file_B / self.part_size.value)), 1))

    def round_trips(self, row: Row, operation: str) -> Value:
        return 0.0 if operation in _NO_REQUEST else super().round_trips(row, operation)

    def request_wait(self, row: Row, use: Access, host: Machine, volume: str) -> Value:
        return (row.value(self.latency) + use.rtt_s) / use.block_B

    def operation_time(self, row: Row, operation: str, host: Machine) -> Value:
        return 0.0 if operation in _NO_REQUEST else row.value(self.timed(operation))

    def timed(self, operation: str) -> Quantity:
        """What a request for names takes; where that of data alone is stated, as long."""
        return self.of_two("latency", "metadata_time", second=True)
