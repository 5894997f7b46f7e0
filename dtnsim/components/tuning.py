"""The TCP settings of a host."""

from __future__ import annotations

from typing import Annotated

from dtnsim.components.base import Model
from dtnsim.components.stack import Stack
from dtnsim.ground.congestion_control import CongestionControl
from dtnsim.ground.quantity import Quantity, Unit, unstated
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics.tcp import linux, window

_TUNED = "assumed: between an untouched host (tcp(7): 6 MiB and 4 MiB) and one tuned for long paths (64 MiB and more)"
#: largest that Linux takes; 2 GiB, which is one byte more, is what people write for it
MOST_B = window.MOST_SYSCTL_B + 1


class TcpTuning(Model):
    """The host's TCP settings.

    Attributes:
        cc: Congestion control (net.ipv4.tcp_congestion_control).
        rmem_max: Largest receive buffer (tcp_rmem[2]).
        wmem_max: Largest send buffer (tcp_wmem[2]).
        receive_share: Part of the receive buffer that is window; by the kernel of the host's stack where not given.
        pacing: Rate at which a stream is paced (tc fq maxrate, --fq-rate).
    """

    cc: Annotated[
        CongestionControl,
        Otherwise("bbr", "senders set up for long or lossy paths (net.ipv4.tcp_congestion_control)"),
    ] = "cubic"
    rmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = unstated(
        "6 MiB", "16 MiB", 3.0, f"Linux default of tcp_rmem[2]; {_TUNED}"
    )
    wmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = unstated(
        "4 MiB", "16 MiB", 3.0, f"Linux default of tcp_wmem[2]; {_TUNED}"
    )
    receive_share: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] | None = None
    pacing: Annotated[Quantity, Unit("B/s", low=1e3)] | None = None

    def share(self, stack: Stack, mtu_B: float) -> float:
        """Part of the receive buffer that is window."""
        if self.receive_share is not None:
            return self.receive_share.value
        return float(linux.receive_share(mtu_B, stack.kernel))
