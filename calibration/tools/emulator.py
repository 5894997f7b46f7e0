"""A wide-area path in user space between two network namespaces, for kernels without netem: root, TUN and iproute2.

Each direction is a queue of bytes that a rate drains, then a delay. Lengths are those of IP packets. A packet leaves at
max(arrival, departure of the one before) + 8 length / rate, so that a late process changes no rate.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
NEAR, FAR = "10.78.0.1", "10.78.0.2"


def why_not() -> str:
    """Why there can be no such path here; nothing where there can."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    if os.geteuid() != 0:
        return "needs root"
    if shutil.which("ip") is None:
        return "needs iproute2"
    if not Path("/dev/net/tun").exists():
        return "needs /dev/net/tun"
    made = subprocess.run(["ip", "netns", "add", f"wan{os.getpid()}t"], capture_output=True, check=False)
    if made.returncode:
        return "may not make network namespaces"
    subprocess.run(["ip", "netns", "del", f"wan{os.getpid()}t"], capture_output=True, check=False)
    return ""


class Wan:
    """Two namespaces, ``near`` and ``far``, with a path between them as long as the context lasts."""

    def __init__(self, rate_bps: float, rtt_s: float, buffer_B: float, mtu: int = 1500) -> None:
        """Says how wide and how long the path is."""
        self.rate_Bps, self.delay_s, self.buffer_B, self.mtu = rate_bps / 8, rtt_s / 2, buffer_B, mtu
        self.near, self.far = (f"wan{os.getpid()}{end}" for end in "ab")
        self.child: subprocess.Popen[bytes] | None = None
        self.started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Wan:
        """Makes the namespaces and starts the emulator."""
        fds = []
        for space, here, there in ((self.near, NEAR, FAR), (self.far, FAR, NEAR)):
            fds.append(_tun(space))
            _sh("ip", "netns", "add", space)
            _sh("ip", "link", "set", space, "netns", space)
            _sh("ip", "-n", space, "link", "set", "lo", "up")
            _sh("ip", "-n", space, "addr", "add", here, "peer", there, "dev", space)
            _sh("ip", "-n", space, "link", "set", space, "mtu", str(self.mtu), "txqueuelen", "50000", "up")
        numbers = [*fds, self.rate_Bps, self.delay_s, self.buffer_B]
        carry = [sys.executable, __file__, *map(str, numbers)]
        self.child = subprocess.Popen(carry, pass_fds=fds, stdin=subprocess.DEVNULL)
        for fd in fds:
            os.close(fd)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends what runs in the two namespaces and removes them."""
        if self.child is not None:
            self.child.kill()
            self.child.wait(5)
        for space in (self.near, self.far):
            listed = subprocess.run(["ip", "netns", "pids", space], capture_output=True, text=True, check=False)
            for pid in listed.stdout.split():
                os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)
        for program in self.started:
            program.wait(5)

    def popen(self, space: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Starts a program in one of the namespaces."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.started.append(subprocess.Popen(["ip", "netns", "exec", space, *command], **quiet))
        return self.started[-1]

    def timed(self, command: Sequence[str], limit_s: float = 120.0) -> float:
        """Seconds from start to exit of a command at the near end.

        Raises:
            RuntimeError: it failed.
        """
        begin = time.monotonic()
        ran = subprocess.run(
            ["ip", "netns", "exec", self.near, *command], capture_output=True, text=True, timeout=limit_s, check=False
        )
        if ran.returncode:
            raise RuntimeError(f"{command[0]} failed: {ran.stderr.strip()[-200:]}")
        return time.monotonic() - begin


def carry(a: int, b: int, rate_Bps: float, delay_s: float, buffer_B: float) -> None:
    """The emulator: packets of each end wait for the rate, then for the delay."""
    leaves = {a: 0.0, b: 0.0}
    other = {a: b, b: a}
    waiting: list[tuple[float, int, int, bytes]] = []
    number = 0
    while True:
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, fd, packet = heapq.heappop(waiting)
            os.write(fd, packet)
        rest = max(waiting[0][0] - now, 0.0) if waiting else 1.0
        ready, _, _ = select.select([a, b], [], [], rest)
        now = time.monotonic()
        for fd in ready:
            packet = os.read(fd, 65536)
            queued = max(leaves[fd] - now, 0.0) * rate_Bps
            if queued + len(packet) > buffer_B:
                continue
            leaves[fd] = max(leaves[fd], now) + len(packet) / rate_Bps
            number += 1
            heapq.heappush(waiting, (leaves[fd] + delay_s, number, other[fd], packet))


def _tun(name: str) -> int:
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22s", name.encode(), IFF_TUN | IFF_NO_PI, b""))
    return fd


def _sh(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    carry(int(sys.argv[1]), int(sys.argv[2]), *map(float, sys.argv[3:6]))
