"""What several tools do: accesses to the ends, what a file and a byte of a device cost, what they refuse."""

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Final

from dtnsim.components import cores
from dtnsim.components.access import Access, Finish, Thread
from dtnsim.components.offload import Duty
from dtnsim.components.stack import CHACHA_BYTE
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.tools.plan import CpuUse, End, FileCost, Job, NetUse, Plan, Step, Tool

#: what a copy does for each file; for each folder where they go; with the files' times and modes
OPENED: Final = FileCost(source=("open", "close"), destination=("create", "close"))
COPIED: Final = FileCost(source=("stat", "open", "close"), destination=("create", "close"), directory=("mkdir",))
COPIED_WITH_TIMES: Final = replace(COPIED, destination=("create", "close", "setattr"))

ZERO_BYTE: Final = prior(
    "0.2 cycles/B", 0.3, "clearing pages: UCI LightPath report, dd /dev/zero to /dev/null 16.8 GB/s, ~3 GHz laptop"
)

#: part of a host's memory that holds files for another reading (assumed: programs and what waits to be written have
#: the rest; from a quarter to nearly all)
CACHE_PART: Final = 0.5

#: what does between hosts what a tool does within one
INSTEAD: Final = {"tar": "tar-ssh or tar-nc", "dd": "iperf3 or tar-nc", "robocopy": "scp or rclone"}
MD5: Final = Duty("own", "md5")
TLS: Final = Duty("cipher", "aes-gcm", "tls")  #: AES-GCM of TLS, as a card of the host could compute it

core_cost = cores.core_cost  #: cycles per byte of an operation whose rate is published
#: of checksums whose rate nobody publishes
ADLER32: Final = prior("0.6 cycles/B", 0.5, "assumed: zlib's Adler-32, about 1.5 bytes a cycle")
CRC32C: Final = prior("0.3 cycles/B", 0.5, "assumed: CRC32C with SSE 4.2, one 8-byte step every 1 to 3 cycles")


def scaled(quantity: Quantity, factor: float, why: str) -> Quantity:
    """A quantity times a number, with the reason added to its source."""
    return quantity.times(factor, f"{quantity.source}; {why}")


def reading(job: Job, thread: Thread, block: Quantity, *, workers: int = 1, finish: Finish = "steady") -> Access | None:
    """Use of the source volume; None where the source is a device or memory."""
    if job.source != "volume":
        return None
    return Access(
        "read", thread, block_B=block.value, file_B=job.mean_B, total_B=job.payload_B, streams=workers,
        own_streams=workers, finish=finish,
    )  # fmt: skip


def writing(job: Job, thread: Thread, block: Quantity, *, workers: int = 1, finish: Finish = "none") -> Access | None:
    """Use of the destination volume; None where the destination is a device or memory."""
    use = reading(replace(job, source=job.destination), thread, block, workers=workers, finish=finish)
    return None if use is None else use.but(operation="write", stored=job.stored)


def in_flight(count: int, block: Quantity, noun: str, window: Quantity | None = None) -> Quantity:
    """Bytes that may be under way: so many blocks, or the window of the channel that they share if that is less."""
    blocks = Quantity(count * block.value, "B", block.spread, f"{count} {noun} of {block}; {block.source}")
    return blocks if window is None or blocks.value < window.value else window


def rereading(
    job: Job, thread: Thread, block: Quantity, *, workers: int = 1, end: End = "destination", piece_B: float = math.inf
) -> Access | None:
    """Reading a file once more after it has been moved; from memory where the files in flight fit there.

    Where files are cut, each ``piece_B`` is read again as soon as it has been moved.
    """
    at_destination = end == "destination"
    access = reading(replace(job, source=job.destination) if at_destination else job, thread, block, workers=workers)
    if access is None:
        return None
    again = min(job.mean_B, piece_B) * workers
    fits = again < CACHE_PART * job.file_memory_B[at_destination]
    # least recently used pages go first: of a file that does not fit none is left when it is read again
    cached = {"cached": True, "total_B": again} if fits else {}
    return access.but(again=True, stored=job.stored if at_destination else 1.0, **cached)


def device_work(job: Job, thread: Thread) -> tuple[CpuUse, ...]:
    """What it costs the reading thread where the source is /dev/zero or /dev/urandom."""
    if job.source == "zero":
        return (CpuUse("source", thread, ZERO_BYTE, "clearing pages of /dev/zero", stack="zero_byte"),)
    if job.source == "random":
        return (CpuUse("source", thread, CHACHA_BYTE, "random number generator of the kernel", stack="random_byte"),)
    return ()


def both_ends(
    sender: Thread, receiver: Thread, cycles: Quantity, activity: str, duty: Duty | None = None
) -> tuple[CpuUse, ...]:
    """The same work per byte at both ends."""
    ends: tuple[tuple[End, Thread], ...] = (("source", sender), ("destination", receiver))
    return tuple(CpuUse(end, thread, cycles, activity, duty=duty) for end, thread in ends)


def transfer(
    job: Job,
    ends: tuple[Thread, Thread],
    block: Quantity,
    net: NetUse | None,
    cpu: tuple[CpuUse, ...] = (),
    files: FileCost = COPIED,
    *,
    workers: int = 1,
    name: str = "transfer",
    finish: Finish = "none",
) -> Step:
    """A step that reads, sends and writes, its files or parts of them ``workers`` at once.

    Args:
        ends: Threads that read at the source and write at the destination.
        net: The step's connections.
        cpu: Work of its threads, besides what a device costs the one that reads it.
        files: What each file costs.
        name: What the step is called.
    """
    read = reading(job, ends[0], block, workers=workers)
    write = writing(job, ends[1], block, workers=workers, finish=finish)
    return Step(name, read=read, net=net, write=write, cpu=(*device_work(job, ends[0]), *cpu), files=files)


def one_host(job: Job, tool: str, does: str = "copies", remedy: str = "") -> None:
    """Refuses a job between two hosts for a tool that works within one."""
    if job.remote:
        mount = "mount the other end (volumes: {/share: {filesystem: smb, server: 'HOST:/data'}}) and name that"
        remedy = remedy or f"{mount}, or use {INSTEAD.get(tool, 'a network tool')}"
        raise SpecError(f"{tool} {does} within one host", key=f"{job.name}.to", remedy=remedy)


def needs_volume(job: Job, end: End, tool: str) -> None:
    """Refuses a job whose ``end`` is no volume."""
    kind = job.source if end == "source" else job.destination
    if kind != "volume":
        key = f"{job.name}.{'from' if end == 'source' else 'to'}"
        remedy = "write host:/mount of one of the host's volumes"
        raise SpecError(f"{tool} needs a volume here", key=key, value=kind, remedy=remedy)


def in_memory(job: Job) -> bool:
    """True where what was just written is still cached: the tested volume's files take less than half of the memory."""
    return job.payload_B < CACHE_PART * job.file_memory_B[job.destination == "volume"]


def waits_for(*, direct: bool, each: bool, end: bool) -> Finish:
    """What a test's writes wait for: a flush after each, past the page cache or not, direct requests, or the end."""
    if each:
        return "dsync"
    return "direct" if direct else "fdatasync" if end else "none"


def with_read(job: Job, step: Step, access: Access) -> Step:
    """The step with its read at the end that `VolumeTest.read_access` chose."""
    return replace(step, reread=access) if job.destination == "volume" else replace(step, read=access)


class VolumeTest(Tool):
    """A test of a volume: the transfer's ``to``; one that reads may have it in ``from``."""

    tool_class = "test"

    def read_access(
        self, job: Job, thread: Thread, block: Quantity, *, direct: bool = False, cached: bool = True, **how: Any
    ) -> Access:
        """Reading the volume, a file for each copy of the thread; ``cached``: the page cache has what lies there."""
        if job.destination != "volume":
            needs_volume(job, "source", self.kind)
        finish: Finish = "direct" if direct else "steady"
        access = reading(replace(job, source="volume"), thread, block, workers=thread.copies, finish=finish)
        assert access is not None
        return access.but(cached=cached and not direct and in_memory(job), **how)

    def write_access(self, job: Job, thread: Thread, block: Quantity, finish: Finish, **how: Any) -> Access:
        """Writing the volume, as many files at once as the thread has copies."""
        needs_volume(job, "destination", self.kind)
        access = writing(job, thread, block, workers=thread.copies, finish=finish)
        assert access is not None
        return access.but(**how)


class MemoryTest(Tool):
    """A test of the network from memory to memory: neither files nor volumes matter."""

    tool_class = "network test"

    @abstractmethod
    def net(self) -> NetUse:
        """The connections of the test."""

    def unlike(self) -> str:
        """What its options say otherwise than the path file, in words; empty where nothing is."""
        return ""

    def plan(self, job: Job) -> Plan:
        del job
        net, warning = self.net(), self.unlike()
        return Plan((Step("transfer", net=net),), weight=net.streams, warnings=(warning,) if warning else ())
