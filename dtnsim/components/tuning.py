"""The TCP settings of a host."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from dtnsim.components.base import Model
from dtnsim.components.stack import Stack
from dtnsim.ground.congestion_control import CongestionControl
from dtnsim.ground.quantity import Mixture, Quantity, Unit, factor_spread, ideally, prior
from dtnsim.ground.uncertainty import Otherwise
from dtnsim.physics.tcp import linux, window

Role = Literal["untuned", "dtn", "cloud"]

_DEFAULTS: Final = "tcp(7) and net/ipv4/tcp.c, tcp_init: 6 MiB to receive and 4 MiB to send from 768 MB of memory on"
_UNTUNED: Final = (prior("6 MiB", 0.05, _DEFAULTS), prior("4 MiB", 0.05, _DEFAULTS))
_IMAGES: Final = (
    "images and clusters of providers: between Linux' default and 8 MiB, which some runs between regions show"
)
_CLOUD: Final = (prior("6.9 MiB", factor_spread(1.15), f"{_IMAGES} (calibration/wan-truth)"), _UNTUNED[1])
_ADVICE: Final = "assumed: ESnet fasterdata, host tuning: 64 MiB for 10 Gb/s, 2 GiB for 100 Gb/s, older hosts 32 MiB"
_DTN: Final = (prior("128 MiB", factor_spread(3.0), _ADVICE),) * 2
#: largest receive and send buffers by what a host is for, the smallest first
ROLES: Final = {"untuned": _UNTUNED, "cloud": _CLOUD, "dtn": _DTN}
#: those of hosts of which nobody says it: one draw for the ends of a path, which are mostly alike
_RECEIVE, _SEND = (Mixture.of_kinds("role", [sizes[n] for sizes in ROLES.values()]) for n in range(2))
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
    rmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = ideally("6 MiB", _RECEIVE)
    wmem_max: Annotated[Quantity, Unit("B", low=1024, high=MOST_B)] = ideally("4 MiB", _SEND)
    receive_share: Annotated[Quantity, Unit("1", low=0.1, high=1.0)] | None = None
    pacing: Annotated[Quantity, Unit("B/s", low=1e3)] | None = None

    def of_role(self, role: Role) -> TcpTuning:
        """The same settings, with what is not stated as hosts of a role have it."""
        made = self.model_copy()
        for name, usual in zip(("rmem_max", "wmem_max"), ROLES[role], strict=True):
            if name not in self.model_fields_set:  # which still says what a file states
                made.__dict__[name] = replace(usual, typical=usual)
        return made

    def share(self, stack: Stack, mtu_B: float) -> float:
        """Part of the receive buffer that is window."""
        if self.receive_share is not None:
            return self.receive_share.value
        return float(linux.receive_share(mtu_B, stack.kernel))
