"""mscp: several SSH connections that work on chunks of files, an SFTP window each."""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Final

from dtnsim.components.access import Thread
from dtnsim.components.tuning import CongestionControl
from dtnsim.ground.quantity import prior
from dtnsim.tools._common import COPIED_WITH_TIMES, in_flight, transfer
from dtnsim.tools._options import Count, Rate, Size, named
from dtnsim.tools._ssh import LOGIN, LOGIN_CPU, LOGIN_WORK, OVERHEAD, SshCopy, crowd
from dtnsim.tools.plan import Job, NetUse, Opening, Plan

_SESSION: Final = 2.0  #: SFTP's INIT on a further connection, and STAT of the target on the first
#: put, once a file: STAT of its folder, OPEN and CLOSE that make it, SETSTAT at its end; each chunk: OPEN, WRITE, CLOSE
_PUT_FILE, _CHUNK = 4.0, 3.0
_WALK: Final = 1.0  #: get, in the one thread that lists: a STAT a file (path.c, walk_path_recursive)


class Mscp(SshCopy):
    """``mscp -n connections -a requests -b bytes -s least -S most -c cipher -g cc``.

    Each connection has one thread, one cipher and ``a`` requests of ``b`` bytes in flight. A file larger than ``s`` is
    cut into as many chunks as there are connections. ``n`` is floor(2 ln(cores)) + 1 unless given; ``u`` connections
    log in at once.

    Neglects: that libssh's own channel window is another than OpenSSH's; deeper folders, one STAT each a file.
    Source: github.com/upa/mscp doc/mscp.rst (options and defaults), src/path.c (messages of a file, chunks), src/mscp.c
        (connections, least chunk), src/ssh.c.
    """

    kind: ClassVar[str] = "mscp"

    n: Annotated[Count | None, named("n", "connections")] = None
    u: Annotated[Count, named("u", "max_startups")] = 8
    a: Annotated[Count, named("a", "nr_ahead")] = 32
    b: Annotated[Size, named("b", "buf_size")] = prior("16 KiB", 0.0, "mscp(1): -b 16384")
    s: Annotated[Size, named("s", "min_chunk_size")] = prior(
        "64 MiB", 0.0, "mscp src/mscp.c: DEFAULT_MIN_CHUNK_SZ 64 << 20"
    )
    S: Annotated[Size | None, named("S", "max_chunk_size")] = None
    g: Annotated[CongestionControl | None, named("g", "congestion")] = None
    limit: Annotated[Rate | None, named("limit", "L")] = None

    def chunk_B(self, size: float, connections: int) -> float:
        """Bytes of a chunk of a file of this size."""
        if size <= self.s.value:
            return max(size, 1.0)
        return self.S.value if self.S is not None else max(size / connections, self.s.value)

    def connections(self, job: Job) -> int:
        """Connections that have something to do."""
        most = self.n or math.floor(2 * math.log(max(job.cores, 1))) + 1
        chunks = job.per_file(lambda size: math.ceil(max(size, 1.0) / self.chunk_B(size, most))) * job.files
        return max(1, min(most, math.ceil(chunks)))

    def plan(self, job: Job) -> Plan:
        workers = self.connections(job)
        sender, receiver = Thread("mscp senders", workers), Thread("mscp receivers", workers)
        sent, put = self.sent(job), self.client == "source"
        flight = in_flight(self.a, self.b, "requests", self.window())
        chunks = job.per_file(lambda size: math.ceil(max(size, 1.0) / self.chunk_B(size, workers)))
        each = max(_CHUNK * chunks, _WALK * workers) if not put else _PUT_FILE + _CHUNK * chunks
        net = NetUse(sender, receiver, streams=workers, cc=self.g, rate=self.limit, overhead=sent * OVERHEAD)
        net = replace(net, channel=flight, channels=workers, grain=self.b, stopped=True)
        ends = {"source": sender, "destination": receiver}  # cipher and compression, a thread a connection
        cpu = tuple(replace(use, thread=ends[use.end]) for use in (*self.crypto(sent), *self.packing()))
        files = replace(COPIED_WITH_TIMES, round_trips=each)
        step = transfer(job, (sender, receiver), self.b, net, cpu, files, workers=workers)
        waves = (math.ceil((workers - 1) / self.u) + 1) / 2  # u log in at once: how long a mean one waits
        connect = (LOGIN + _SESSION) * (waves - 1)
        further = crowd(LOGIN_CPU, workers - 1, job, LOGIN)
        # the list has a connection of its own; those that copy log in when it has begun
        opening = Opening(
            2 * (LOGIN + _SESSION), LOGIN_WORK, "ssh log-ins of the list and of the copies", connect, further
        )
        piece = self.s.value if workers > 1 else math.inf
        return Plan((step,), workers=workers, weight=workers, piece_B=piece, opening=opening)
