"""bbcp: several TCP streams in lockstep between one reader and one writer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from dtnsim.components.access import Thread
from dtnsim.ground.quantity import Quantity, Scalar, prior
from dtnsim.tools._common import COPIED, MD5, both_ends, core_cost, transfer
from dtnsim.tools._options import Count, Cycles, Rate, Size, documented, named
from dtnsim.tools.plan import CpuUse, Job, Mover, NetUse, Plan

#: bbcp_Config.C, setRWB: from this window on, a buffer has its largest size
LARGE_WINDOW_B = 418816
MAX_BUFFER_B = 524288
PAGE_B = 4096

_MD5 = core_cost("md5", "bbcp brings its own MD5")


class Bbcp(Mover):
    """``bbcp -s streams -w [=]window -B buffer -e -r -z -P seconds``.

    The window is only where a kernel that tunes its buffers starts; ``w: =8 MiB`` fixes it. ``-P`` is the
    interval of progress messages, ``-z`` turns the connection round; neither changes the rate.

    One thread reads, one a stream sends or receives (and sums with ``-e``), one writes. At the source the
    streams form a ring in which each waits, after every buffer, for its neighbour: all go at the pace of
    the slowest, and the turns cost time by themselves, whatever disks and network could do. A buffer is
    the window and a quarter, at most 512 KiB, and its first page is the header's.

    Neglects: the ssh sessions and forks that start each file; ``-a``, ``-c``, ``-o``.
    Source: bbcp source: bbcp_Config.C (setRWB, default window), bbcp_BuffPool.C (Allocate), bbcp_Node.C and
    bbcp_Link.C (threads, "buddy pipeline"), bbcp_Network.C (autotuning).
    """

    kind: ClassVar[str] = "bbcp"
    streams_option = "s"

    s: Annotated[Count, named("s", "streams")] = 4
    w: Annotated[Size, named("w", "window")] = prior("128 KiB", 0.0, "bbcp_Config: default window")
    fixed: Annotated[bool, Field(description="the window is fixed; written as 'w: =8 MiB'")] = False
    B: Annotated[Size | None, named("B", "buffer")] = None
    e: Annotated[bool, named("e", "md5")] = False
    r: Annotated[bool, documented("r", "recursive")] = False
    z: Annotated[bool, documented()] = False
    P: Annotated[int, documented(ge=0)] = 0
    x: Annotated[Rate | None, named("x", "limit")] = None
    buffer_work: Cycles = prior(
        "0.1 cycles/B", 0.7, "assumed: hand-over of a block between threads, 10 000 cycles for each 128 KiB"
    )
    turn_work: Cycles = prior(
        "2.2 cycles/B",
        0.45,
        "SLAC confluence, bbcp (2009): /dev/zero to /dev/null on one host, 4 streams, 0.83 to 0.85 GB/s; at 2.66 GHz "
        "(assumed) 3.2 cycles/B with buffers half of today's default: 1.6 if it goes with buffers, "
        "3.2 if with bytes",
    )

    @model_validator(mode="before")
    @classmethod
    def _equals(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        for key in ("w", "window"):
            text = raw.get(key)
            if isinstance(text, str) and text.lstrip().startswith("="):
                bare = text.lstrip().removeprefix("=")
                if isinstance(text, Scalar):
                    bare = Scalar(bare, text.file, text.line, text.source)
                return {**raw, key: bare, "fixed": True}
        return raw

    @property
    def block(self) -> Quantity:
        """Bytes of a file that one buffer holds."""
        buffer, window = self.B, self.w.value
        size = buffer.value if buffer is not None else (MAX_BUFFER_B if window > LARGE_WINDOW_B else 1.25 * window)
        data = max(size // PAGE_B - 1, 1) * PAGE_B
        return Quantity(
            data, "B", 0.0, "bbcp_Config.C setRWB and bbcp_BuffPool.C: whole pages, less one for the header"
        )

    def plan(self, job: Job) -> Plan:
        reader, writer = Thread("bbcp reader"), Thread("bbcp writer")
        senders, receivers = Thread("bbcp senders", self.s), Thread("bbcp receivers", self.s)
        turns = CpuUse("source", Thread("bbcp streams in turn"), self.turn_work, "streams wait for each other")
        sums = both_ends(senders, receivers, _MD5, "MD5", MD5) if self.e else ()
        net = NetUse(
            senders, receivers, streams=self.s, window=self.w if self.fixed else None, rate=self.x, lockstep=True
        )
        cpu = (*both_ends(reader, writer, self.buffer_work, "hand-over of blocks"), turns, *sums)
        # the request for a file and its end (bbcp_Protocol)
        step = transfer(job, (reader, writer), self.block, net, cpu, replace(COPIED, round_trips=2.0))
        return Plan((step,), weight=self.s)
