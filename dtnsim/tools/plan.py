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
    """What the tool is asked to do.

    Attributes:
        name: Name of the transfer.
        files: Number of files.
        payload_B: Bytes of all files.
        largest_B: Size of the largest file.
        directories: Directories to create.
        rtt_s: Round-trip time between the ends (0 on one host).
        source, destination: Kind of the ends.
        cores: Cores of the host with fewer of them.
        apart: True where the ends are on different hosts (None: where there is a round trip between them).
        file_memory_B: Memory at source and destination in which files stay for another reading.
        buckets: Whether source and destination are buckets of an object store.
        to_tape: Whether the destination is tape.
        within, desk: Whether both ends are on one volume; whether a host at an end is one that people sit at.
        sizes_B, counts: Sizes of the files, and how many there are of each; empty: all of the mean size.
    """

    name: str
    files: int
    payload_B: float
    largest_B: float
    directories: int
    rtt_s: float
    source: EndKind
    destination: EndKind
    cores: int
    apart: bool | None = None
    sizes_B: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    file_memory_B: tuple[float, float] = (0.0, 0.0)
    buckets: tuple[bool, bool] = (False, False)
    to_tape: bool = False
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
    def far(self) -> Far:
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
    """How a step uses the network.

    Attributes:
        sender: Thread that sends.
        receiver: Thread that receives.
        streams: Connections of all workers together.
        transport: TCP; UDT and FASP, which repair losses themselves, and UDP, which does not, with a system call for
            each datagram; or RDMA, which the card does without the core.
        window: Window that the tool fixes for each stream, if it does.
        channel: Window of a protocol above TCP (SSH channel, block requests), for each worker.
        cc: Congestion control that the tool asks for.
        rate: Target rate of a rate-based transport, or a cap that the user set; of all streams together.
        overhead: Bytes sent per payload byte.
        sendfile: True where the sender does not copy.
        lockstep: True where each stream waits for the others, so that the slowest sets the pace of all.
        burst: Bytes that the application hands over at once and then waits for (answers to a read-ahead), if it does.
        reopened: True where every file has new connections, each with a slow start of its own.
        call: Bytes that one call hands to a socket or takes from it (a datagram of UDP), where the tool says it.
        discard: True where the receiver does not copy what came.
        workers: Workers that the connections are of, who take what others leave of what they share.
        grain: Bytes of one request of that window: it is asked for again only when all of it is there.
        stopped: True where a file ends with answers that are waited for, so that no window needs to exceed a file.
        channels: How many such windows there are; one a connection where not given.
        total_B: Bytes of the whole transfer.
    """

    sender: Thread
    receiver: Thread
    streams: int = 1
    transport: Literal["tcp", "udt", "fasp", "udp", "rdma"] = "tcp"
    window: Quantity | None = None
    channel: Quantity | None = None
    cc: str | None = None
    rate: Quantity | None = None
    overhead: float = 1.0
    sendfile: bool = False
    channels: int | None = None
    lockstep: bool = False
    burst: Value | None = None
    reopened: bool = False
    call: Quantity | None = None
    discard: bool = False
    stopped: bool = False
    grain: Quantity | None = None
    workers: int = 1
    total_B: float = math.inf

    def without(self, *names: str) -> NetUse:
        """This use with the defaults of some attributes."""
        return replace(self, **{name: _DEFAULTS[name] for name in names})

    def key(self, *but: str) -> tuple[Any, ...] | None:
        """What tells it from others, ``but`` for some attributes; None where it has draws of its own.

        Numbers that are equal differ where their keys or texts do: draws and words follow from those.
        """
        made: list[Any] = []
        for name in _DEFAULTS:
            if name in but:
                continue
            given = getattr(self, name)
            if isinstance(given, np.ndarray):
                return None
            made.append((given, given.text, given.key) if isinstance(given, Quantity) else given)
        return tuple(made)


_DEFAULTS: Final[dict[str, Any]] = {each.name: each.default for each in fields(NetUse)}


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Work of a thread besides copying: cipher, checksum, compression.

    Attributes:
        end: Which host does it.
        thread: Which of its threads.
        cycles: What a byte costs.
        what: The activity, in words.
        stack: Name of the cost in the host's `Stack` that replaces ``cycles`` where the host's kernel does the work.
        duty: What a device of the host could take over, and what of ``cycles`` stays with the core then.
    """

    end: End
    thread: Thread
    cycles: Quantity
    what: str
    stack: str = ""
    duty: Duty | None = None


@dataclass(frozen=True, slots=True)
class FileCost:
    """What each file costs in time before the next one can start in the same worker.

    Attributes:
        round_trips, drawn: Control round trips between the ends; as drawn where releases differ and nobody states one.
        source: Metadata operations at the source, each of which waits.
        destination: Metadata operations at the destination.
        ahead: Files whose commands are sent ahead (pipelining), which hides the control round trips.
        fixed: Fixed time a file (process start, database ...).
        directory: Metadata operations at the destination for each directory.
        together: True where the two ends work on different files at the same time: the slower one counts.
        folder: Where the files are that the same host has just made: in one of the task's own, or one that all share.
        walk: Whether the step looks at a whole tree, of which memory may have forgotten a part since the last time.
    """

    round_trips: float = 0.0
    source: tuple[str, ...] = ()
    destination: tuple[str, ...] = ()
    ahead: float = 1.0
    fixed: Quantity | None = None
    directory: tuple[str, ...] = ()
    together: bool = False
    folder: Literal["own", "shared"] | None = None
    drawn: Quantity | None = None
    walk: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a tool: becomes one or more phases.

    Attributes:
        name: ``transfer``, ``verification`` ...
        read: Use of the source volume.
        net: Use of the network.
        write: Use of the destination volume.
        reread: Use of the destination volume for reading (verification).
        cpu: Other CPU work.
        files: What each file costs in this step.
        share: Bytes of this step per payload byte.
    """

    name: str
    read: Access | None = None
    net: NetUse | None = None
    write: Access | None = None
    reread: Access | None = None
    cpu: tuple[CpuUse, ...] = ()
    files: FileCost = FileCost()
    share: Value = 1.0


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a timed test runs.

    Attributes:
        seconds, omitted: Time that counts, and time before it that does not [s].
        repeats: True where its files are moved over and over until the time is up, False where it ends earlier
            once they have moved.
    """

    seconds: float
    omitted: float = 0.0
    repeats: bool = True


@dataclass(frozen=True, slots=True)
class Opening:
    """What a tool does once, before its first byte and after its last: connections, log-in, lists, farewell.

    Attributes:
        round_trips: Messages that wait for an answer, one after the other.
        work: Time of processes and of cryptography that all of them wait for.
        what: The parts of it, in words.
        connect: Messages that each further worker's connection waits for, while the first one works already.
        connect_work: Time of processes and cryptography of such a connection.
    """

    round_trips: float = 0.0
    work: Quantity | None = None
    what: str = ""
    connect: float = 0.0
    connect_work: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a tool does to a job.

    Attributes:
        steps: What each worker does with each of its files, one after the other.
        workers: Files or parts of files in progress at once.
        weight: Weight in fair sharing (number of streams).
        piece_B: Bytes that one worker takes at once: longer files are cut, so that all workers can work on one.
        warnings: What the user should know.
        opening, holds_B: What is done once; memory of its own that page caches cannot have meanwhile.
    """

    steps: tuple[Step, ...]
    workers: int = 1
    weight: float = 1.0
    piece_B: float = math.inf
    warnings: tuple[str, ...] = field(default=())
    opening: Opening = Opening()
    holds_B: float = 0.0


#: tools that share machinery, so that the model misses alike of them: benchmarks of storage, and of networks; what goes
#: through ssh; copies within a host or its mounts; movers with a network protocol; backups that look for known blocks
ToolClass = Literal["test", "network test", "ssh", "local", "mover", "backup"]


@dataclass(frozen=True, slots=True)
class Usage:
    """How people move files with a tool, and the options that are worth trying: a row of ``usages.yaml``.

    Attributes:
        name: What it is called in answers.
        line: What to type, options that are tried in braces; SRC, DST and HOST are the folders and the far host.
        needs: What has to be there.
        leads: Where it leads to; a share of the far host is mounted first.
        systems: Where it runs.
        lacks: What it does not do that others do; empty where nothing.
        options: Options that make it what it is, as a path file has them; a name in braces is that option's value.
        tries: Values of options that are worth trying, the usual one first.
    """

    name: str
    line: str
    needs: str = "ssh"
    leads: Literal["host", "bucket", "mount", "share"] = "host"
    systems: Sequence[str] = ("linux", "freebsd", "macos")
    lacks: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    tries: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def with_options(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Its options with values of those that are tried."""
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
    #: whose errors it shares; every tool says it
    tool_class: ClassVar[ToolClass]
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

    def __init_subclass__(cls, **given: Any) -> None:
        """Refuses a tool that does not say whose errors it shares."""
        super().__init_subclass__(**given)
        if cls.kind and getattr(cls, "tool_class", None) not in get_args(ToolClass):
            raise TypeError(f"{cls.__name__}: write tool_class = one of {', '.join(get_args(ToolClass))}")

    @abstractmethod
    def plan(self, job: Job) -> Plan:
        """What this tool does to a job."""

    def files(self) -> tuple[int, float] | None:
        """Files that its own options ask for, and the size of each [B]; None where they say nothing of them."""
        return None

    def timing(self, *, sized: bool) -> Timing | None:
        """How long it runs where a time ends it; None where it ends with its bytes.

        Args:
            sized: Whether the path file says what is moved (``dataset``).

        Raises:
            SpecError: a data set, and one of the options that say the time.
        """
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
