"""What a tool says to the composer: its steps, threads, connections and what each file costs."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, get_args

import numpy as np

from dtnsim.components.access import Access, Thread
from dtnsim.components.base import Component, documentation_only
from dtnsim.components.offload import Duty
from dtnsim.ground import yamlio
from dtnsim.ground.errors import SpecError
from dtnsim.ground.quantity import Quantity, Value

End = Literal["source", "destination"]

#: what a transfer reads from or writes to: a volume, or a device without a medium
EndKind = Literal["volume", "zero", "null", "random", "memory"]

#: what a tool's protocol has to lead to: a bucket at either end, another host's files or memory, or one host's mounts
Far = Literal["bucket", "host", "memory", "mount"]


@dataclass(frozen=True, slots=True)
class Job:
    """What the tool is asked to do."""

    name: str  #: Name of the transfer.
    files: int  #: Number of files.
    payload_B: float  #: Bytes of all files.
    largest_B: float  #: Size of the largest file.
    directories: int  #: Directories to create.
    rtt_s: float  #: Round-trip time between the ends (0 on one host).
    #: Kind of the ends.
    source: EndKind
    destination: EndKind
    cores: int  #: Cores of the host with fewer of them.
    #: True where the ends are on different hosts (None: where there is a round trip between them).
    apart: bool | None = None
    #: Sizes of the files, and how many there are of each; empty: all of the mean size.
    sizes_B: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    #: Memory at source and destination in which files stay for another reading.
    file_memory_B: tuple[float, float] = (0.0, 0.0)
    buckets: tuple[bool, bool] = (False, False)  #: Whether source and destination are buckets of an object store.
    to_tape: bool = False  #: Whether the destination is tape.
    #: Whether both ends are on one volume; whether a host at an end is one that people sit at.
    within: bool = False
    desk: bool = False

    def per_file(self, count: Callable[[float], float]) -> float:
        """Mean over the files of something that depends on their sizes."""
        if not self.sizes_B:
            return count(self.mean_B)
        return sum(count(s) * n for s, n in zip(self.sizes_B, self.counts, strict=True)) / max(self.files, 1)

    @property
    def remote(self) -> bool:
        """Whether the ends are on different hosts."""
        return self.rtt_s > 0 if self.apart is None else self.apart

    @property
    def far_end(self) -> Far:
        """What the protocol of a tool has to lead to."""
        if any(self.buckets):
            return "bucket"
        if not self.remote:
            return "mount"
        return "host" if self.source == self.destination == "volume" else "memory"

    @property
    def mean_B(self) -> float:
        """Mean file size."""
        return self.payload_B / max(self.files, 1)

    @property
    def stored(self) -> float:
        """Bytes a compressing medium keeps per byte: none of zeros."""
        return 0.0 if self.source == "zero" else 1.0


@dataclass(frozen=True, slots=True)
class NetUse:
    """How a step uses the network."""

    sender: Thread  #: Thread that sends.
    receiver: Thread  #: Thread that receives.
    streams: int = 1  #: Connections of all workers together.
    #: TCP; UDT and FASP, which repair losses themselves, and UDP, which does not, with a system call for each datagram;
    #: or RDMA, which the card does without the core.
    transport: Literal["tcp", "udt", "fasp", "udp", "rdma"] = "tcp"
    window: Quantity | None = None  #: Window that the tool fixes for each stream, if it does.
    channel: Quantity | None = None  #: Window of a protocol above TCP (SSH channel, block requests), for each worker.
    cc: str | None = None  #: Congestion control that the tool asks for.
    #: Target rate of a rate-based transport, or a cap that the user set; of all streams together.
    rate: Quantity | None = None
    pacing: Quantity | None = None  #: Rate at which the tool has the packets of each stream spaced.
    overhead: float = 1.0  #: Bytes sent per payload byte.
    sendfile: bool = False  #: True where the sender does not copy.
    polls: bool = False  #: True where the sender never sleeps in a write, so that its buffer is filled as it empties.
    channels: int | None = None  #: How many such windows there are; one a connection where not given.
    lockstep: bool = False  #: True where each stream waits for the others, so that the slowest sets the pace of all.
    #: Bytes that the application hands over at once and then waits for (answers to a read-ahead), if it does.
    burst: Value | None = None
    reopened: bool = False  #: True where every file has new connections, each with a slow start of its own.
    #: Bytes that one call hands to a socket or takes from it (a datagram of UDP), where the tool says it.
    call: Quantity | None = None
    discard: bool = False  #: True where the receiver does not copy what came.
    #: True where a file ends with answers that are waited for, so that no window needs to exceed a file.
    stopped: bool = False
    answered: bool = False  #: True where one at the end of all is, whose round trip has the last byte's way.
    #: Bytes of one request of that window: it is asked for again only when all of it is there.
    grain: Quantity | None = None
    workers: int = 1  #: Workers that the connections are of, who take what others leave of what they share.
    total_B: float = math.inf  #: Bytes of the whole transfer.

    def without(self, *names: str) -> NetUse:
        """This use with the defaults of some attributes."""
        return replace(self, **{name: _DEFAULTS[name] for name in names})

    def key(self, *but: str) -> tuple[Any, ...] | None:
        """What tells it from others, ``but`` for some attributes; None where it has draws of its own.

        Numbers that are equal differ where their keys or texts do: draws and words follow from those.
        """
        parts: list[Any] = []
        for name in _DEFAULTS:
            if name in but:
                continue
            setting = getattr(self, name)
            if isinstance(setting, np.ndarray):
                return None
            parts.append((setting, setting.text, setting.key) if isinstance(setting, Quantity) else setting)
        return tuple(parts)


_DEFAULTS: Final[dict[str, Any]] = {each.name: each.default for each in fields(NetUse)}


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Work of a thread besides copying: cipher, checksum, compression."""

    end: End  #: Which host does it.
    thread: Thread  #: Which of its threads.
    cycles: Quantity  #: What a byte costs.
    what: str  #: The activity, in words.
    #: Name of the cost in the host's `Stack` that replaces ``cycles`` where the host's kernel does the work.
    stack: str = ""
    #: What a device of the host could take over, and what of ``cycles`` stays with the core then.
    duty: Duty | None = None


@dataclass(frozen=True, slots=True)
class FileCost:
    """What each file costs in time before the next one can start in the same worker."""

    #: Control round trips between the ends; as drawn where releases differ and nobody states one.
    round_trips: float = 0.0
    source: tuple[str, ...] = ()  #: Metadata operations at the source, each of which waits.
    destination: tuple[str, ...] = ()  #: Metadata operations at the destination.
    ahead: float = 1.0  #: Files whose commands are sent ahead (pipelining), which hides the control round trips.
    fixed: Quantity | None = None  #: Fixed time a file (process start, database ...).
    directory: tuple[str, ...] = ()  #: Metadata operations at the destination for each directory.
    together: bool = False  #: True where the two ends work on different files at the same time: the slower one counts.
    #: Where the files are that the same host has just made: in one of the task's own, or one that all share.
    folder: Literal["own", "shared"] | None = None
    drawn: Quantity | None = None
    #: Whether the step looks at a whole tree, of which memory may have forgotten a part since the last time.
    walk: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a tool: becomes one or more phases."""

    name: str  #: ``transfer``, ``verification`` ...
    read: Access | None = None  #: Use of the source volume.
    net: NetUse | None = None  #: Use of the network.
    write: Access | None = None  #: Use of the destination volume.
    reread: Access | None = None  #: Use of the destination volume for reading (verification).
    cpu: tuple[CpuUse, ...] = ()  #: Other CPU work.
    files: FileCost = FileCost()  #: What each file costs in this step.
    share: Value = 1.0  #: Bytes of this step per payload byte.


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a timed test runs."""

    #: Time that counts, and time before it that does not [s].
    seconds: float
    omitted: float = 0.0
    #: True where its files are moved over and over until the time is up, False where it ends earlier once they have
    #: moved.
    repeats: bool = True


@dataclass(frozen=True, slots=True)
class Opening:
    """What a tool does once, before its first byte and after its last: connections, log-in, lists, farewell."""

    round_trips: float = 0.0  #: Messages that wait for an answer, one after the other.
    work: Quantity | None = None  #: Time of processes and of cryptography that all of them wait for.
    what: str = ""  #: The parts of it, in words.
    #: Messages that each further worker's connection waits for, while the first one works already.
    connect: float = 0.0
    connect_work: Quantity | None = None  #: Time of processes and cryptography of such a connection.


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a tool does to a job."""

    steps: tuple[Step, ...]  #: What each worker does with each of its files, one after the other.
    workers: int = 1  #: Files or parts of files in progress at once.
    weight: float = 1.0  #: Weight in fair sharing (number of streams).
    #: Bytes that one worker takes at once: longer files are cut, so that all workers can work on one.
    piece_B: float = math.inf
    warnings: tuple[str, ...] = field(default=())  #: What the user should know.
    #: What is done once; memory of its own that page caches cannot have meanwhile.
    opening: Opening = Opening()
    holds_B: float = 0.0


#: tools that share machinery, so that the model misses alike of them: benchmarks of storage, and of networks; what goes
#: through ssh; copies within a host or its mounts; movers with a network protocol; backups that look for known blocks
ToolClass = Literal["test", "network test", "ssh", "local", "mover", "backup"]


@dataclass(frozen=True, slots=True)
class Usage:
    """How people move files with a tool, and the options that are worth trying: a row of ``usages.yaml``."""

    name: str  #: What it is called in answers.
    line: str  #: What to type, options that are tried in braces; SRC, DST and HOST are the folders and the far host.
    needs: str = "ssh"  #: What has to be there.
    #: Where it leads to; a share of the far host is mounted first.
    leads: Literal["host", "bucket", "mount", "share"] = "host"
    systems: Sequence[str] = ("linux", "freebsd", "macos")  #: Where it runs.
    lacks: str = ""  #: What it does not do that others do; empty where nothing.
    #: Options that make it what it is, as a path file has them; a name in braces is that option's value.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Values of options that are worth trying, the usual one first.
    tries: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def with_options(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Options of the usage with chosen values for those that are tried."""
        like = {k: chosen[v[1:-1]] if isinstance(v, str) and v[:1] == "{" else v for k, v in self.options.items()}
        return {**like, **chosen}


@cache
def usages() -> list[tuple[str, Usage]]:
    """Every usage of every tool, with the tool's kind."""
    table = yamlio.plain(Path(__file__).with_name("usages.yaml"))
    return [(kind, Usage(**row)) for kind, rows in table.items() for row in rows]


class Tool(Component):
    """A transfer tool or benchmark: its options under its own names, and the plan they make."""

    family: ClassVar[str] = "tool"
    tool_class: ClassVar[ToolClass]  #: whose errors it shares; every tool says it
    #: option of the target rate alone, where a plan follows from options and kinds of ends; None where it needs more
    pace: ClassVar[str | None] = None
    #: options that are a number of files, or of streams, at once; empty where there is none
    files_option: ClassVar[str] = ""
    streams_option: ClassVar[str] = ""
    #: options that name what it reads and writes in the place of a transfer's ends; empty where there are none
    reads_option: ClassVar[str] = ""
    writes_option: ClassVar[str] = ""
    #: options of a test that say how long it runs, and how much of that time does not count; empty where none does
    time_option: ClassVar[str] = ""
    omit_option: ClassVar[str] = ""
    fetches: ClassVar[bool] = False  #: whether it fetches from servers, which are mostly other people's
    locks: ClassVar[bool] = False  #: whether a run locks what it writes to

    #: options of a command line that change a duration and are not modelled
    unmodelled: tuple[str, ...] = documentation_only(())

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Refuses a tool that does not say whose errors it shares."""
        super().__init_subclass__(**keywords)
        if cls.kind and getattr(cls, "tool_class", None) not in get_args(ToolClass):
            raise TypeError(f"{cls.__name__}: write tool_class = one of {', '.join(get_args(ToolClass))}")

    @abstractmethod
    def plan(self, job: Job) -> Plan:
        """What this tool does to a job."""

    def files(self) -> tuple[int, float] | None:
        """Files that its own options ask for, and the size of each [B]; None where they say nothing of them."""
        return None

    def timing(self, *, sized: bool) -> Timing | None:
        """How long it runs where a time ends it; None where it ends with its bytes (``sized``: the path says them)."""
        options = [name for name in (self.time_option, self.omit_option) if name]
        if options and not sized:
            omitted: Quantity | None = getattr(self, self.omit_option, None)
            return Timing(getattr(self, self.time_option).value, 0.0 if omitted is None else omitted.value)
        for name in options:
            if name in self.model_fields_set:
                message, value = f"{self.kind} takes a time or a number of bytes, not both", str(getattr(self, name))
                remedy = f"leave out {' and '.join(options)}, or the dataset"
                raise SpecError(message, key=f"tool.{name}", value=value, remedy=remedy)
        return None


class Mover(Tool):
    """The tool class of those that move files by a network protocol of their own."""

    tool_class = "mover"


class LocalTool(Tool):
    """The tool class of those that work within a host or its mounts."""

    tool_class = "local"
