"""dd: one process that reads a block and writes it, with or without waiting for the medium."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, AliasChoices, Field

from dtnsim.components.access import Finish, Thread
from dtnsim.ground.quantity import prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.tools._common import READER, Size, device_work, one_host, reading, writing
from dtnsim.tools.plan import FileCost, Job, Plan, Step, Tool

_CONV: Final = ("fdatasync", "fsync", "notrunc", "nocreat", "excl", "noerror", "sync")
_OFLAG: Final = ("dsync", "sync", "direct", "append", "nocache", "seek_bytes")
_IFLAG: Final = ("direct", "fullblock", "nocache", "skip_bytes", "count_bytes")


def _words(known: tuple[str, ...]) -> AfterValidator:
    def check(text: str) -> str:
        words = [w.strip() for w in text.split(",") if w.strip()]
        unknown = [w for w in words if w not in known]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not one of {', '.join(known)} (several are written with commas)")
        return ",".join(words)

    return AfterValidator(check)


class Dd(Tool):
    """``dd if=... of=... bs=... count=... conv=... oflag=... iflag=...``: ``if`` and ``of`` are the transfer's ends.

    Neglects: the start of the process; ``ibs`` different from ``obs``.
    Source: dd(1), GNU coreutils; the rate it prints includes closing the output file.
    """

    kind: ClassVar[str] = "dd"
    tool_class = "test"
    reads_option, writes_option = "reads", "writes"

    bs: Annotated[
        Size, Otherwise("1 MiB", "tests of disks: bs=1M (Alibaba Cloud topic center, dd command instances)")
    ] = prior("512 B", 0.0, "dd(1): default of ibs and obs")
    conv: Annotated[str, _words(_CONV)] = ""
    oflag: Annotated[str, _words(_OFLAG)] = ""
    iflag: Annotated[str, _words(_IFLAG)] = ""
    reads: Annotated[
        str | None,
        Field(validation_alias=AliasChoices("if", "reads"), json_schema_extra=READER, description="its from"),
    ] = None
    writes: Annotated[
        str | None,
        Field(validation_alias=AliasChoices("of", "writes"), json_schema_extra=READER, description="its to"),
    ] = None
    count: Annotated[
        int | None, Field(ge=1, json_schema_extra=READER, description="blocks, in the place of a data set")
    ] = None
    sync: Annotated[bool, Otherwise("true", "timed until the data are on the medium: dd && sync")] = False

    def plan(self, job: Job) -> Plan:
        """One process; a direct read has no read-ahead, so that it waits for the block before writing it."""
        one_host(job, self.kind)
        process = Thread("dd")
        direct = "direct" in self.iflag.split(",")
        read = reading(job, process, self.bs, finish="direct" if direct else "steady")
        write = writing(job, process, self.bs, finish=self.finish)
        if write is not None and "notrunc" in self.conv.split(","):
            write = write.but(rewrite=True)
        cost = FileCost(source=("open", "close"), destination=("create", "close"))
        cpu = device_work(job, process)
        if direct and read is not None and write is not None:
            return Plan((Step("read", read=read), Step("write", write=write, cpu=cpu, files=cost)))
        return Plan((Step("copy", read=read, write=write, cpu=cpu, files=cost),))

    def files(self) -> tuple[int, float] | None:
        """One file of so many blocks."""
        return None if self.count is None else (1, self.count * self.bs.value)

    @property
    def finish(self) -> Finish:
        """What the flags make the tool wait for."""
        flags, conversions = self.oflag.split(","), self.conv.split(",")
        if "direct" in flags:
            return "direct"
        if "dsync" in flags or "sync" in flags:
            return "dsync"
        waits = self.sync or "fdatasync" in conversions or "fsync" in conversions
        return "fdatasync" if waits else "none"
