"""What SSH does to a byte: one process a side with cipher and MAC, and a channel with its own window."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import AliasChoices, Field

from dtnsim.components.access import Thread
from dtnsim.components.base import Model
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.physics.core_rates import CORE_RATES
from dtnsim.tools._common import Rate, Size, Version, both_ends, scaled, version_tuple
from dtnsim.tools.plan import CpuUse, NetUse, Tool

Cipher = Literal["chacha20-poly1305", "aes-gcm", "aes-ctr", "none"]

#: TCP work that the end-to-end figures contain and that the path charges by itself (Stack.receive_byte)
_TCP = 0.62
_VM = "OpenSSH 9.2 over loopback on an Ice Lake-SP VM (2.8 GHz nominal, noisy), server process"


def _end_to_end(rate: float, clock: float, source: str) -> Quantity:
    """Cost of a byte [cycles/B] from an end-to-end rate [B/s] at a clock [Hz]."""
    whole = clock / rate
    return Quantity(whole - _TCP, "cycles/B", 0.4, f"{source}: {whole:.1f} cycles/B less {_TCP} of kernel TCP")


_GCM = CORE_RATES["openssh_aes_gcm"]

#: cost of a byte in the SSH process of either side (cipher, MAC, copies, pipe to scp), by what is spoken
COSTS: Final = {
    "aes-gcm": _end_to_end(_GCM.rate_Bps, _GCM.clock_Hz, _GCM.source),
    "chacha20-poly1305": _end_to_end(0.37e9, 2.8e9, _VM),
    "aes-ctr": _end_to_end(0.38e9, 2.8e9, _VM + ", AES-CTR with SHA2 MAC"),
    "none": prior("3.3 cycles/B", 0.4, "HPN-README: no cipher and no MAC is > 30 % faster than AES-GCM (4.3 cycles/B)"),
    "chacha20-poly1305 portable": prior(
        "13 cycles/B",
        0.4,
        "assumed: portable C ChaCha20 and Poly1305 before OpenSSH used libcrypto's, about 10 cycles/B, "
        "and 3.3 without cipher",
    ),
    "aes-ctr old": prior(
        "16 cycles/B",
        0.5,
        "assumed: AES-CTR with HMAC before OpenSSH 6.5, 11 cycles/B with AES instructions, 25 without",
    ),
}

CHANNEL: Final = prior("2 MiB", 0.0, "OpenSSH channels.h, CHAN_SES_WINDOW_DEFAULT 64 x 32 KiB, since 4.7 (2007)")
CHANNEL_OLD: Final = prior("128 KiB", 0.0, "OpenSSH channels.h before 4.7: 4 packets of 32 KiB")
#: 32 KiB of data travel with length, padding, channel header and MAC: about 48 bytes (RFC 4253, RFC 4254)
OVERHEAD: Final = 1.0 + 48.0 / 32768.0
#: the SSH process of each side: network, cipher and copies on one core
SENDER: Final = Thread("ssh sender")
RECEIVER: Final = Thread("ssh receiver")
#: cipher threads of HPN-SSH for each direction (HPN-README: two to four by default)
HPN_THREADS: Final = 4
#: release that made libcrypto do ChaCha20 (cipher-chachapoly-libcrypto.c)
_LIBCRYPTO: Final = (8, 3)


class SshLink(Model):
    """What the two ends of an SSH connection agree on.

    ``version`` is the older one of the two ends: that one decides.
    """

    version: Version = "8.9"
    cipher: Annotated[Cipher | None, Field(validation_alias=AliasChoices("cipher", "c", "Ciphers"))] = None
    hpn: Annotated[bool, Field(description="HPN-SSH at both ends: channel window follows TCP, threaded cipher")] = False
    channel: Size | None = None

    def agreed(self) -> str:
        """Key into `COSTS`: the cipher and how these versions compute it.

        OpenSSH proposes ChaCha20-Poly1305 first since 6.5; before, AES-CTR with a MAC.
        """
        old = version_tuple(self.version) < (6, 5)
        cipher = self.cipher or ("aes-ctr" if old else "chacha20-poly1305")
        if cipher == "aes-ctr" and old:
            return "aes-ctr old"
        if cipher == "chacha20-poly1305" and version_tuple(self.version) < _LIBCRYPTO:
            return "chacha20-poly1305 portable"
        return cipher

    def window(self) -> Quantity | None:
        """Window of the SSH channel; HPN-SSH lets it follow TCP's."""
        if self.channel is not None:
            return self.channel
        if self.hpn:
            return None
        return CHANNEL if version_tuple(self.version) >= (4, 7) else CHANNEL_OLD

    def network(self, *, channel: Quantity | None = None, rate: Quantity | None = None, sent: float = 1.0) -> NetUse:
        """One TCP connection with one channel; ``sent`` bytes go through it per payload byte."""
        return NetUse(SENDER, RECEIVER, channel=channel or self.window(), rate=rate, overhead=sent * OVERHEAD)

    def crypto(self, sent: float = 1.0) -> tuple[CpuUse, ...]:
        """Work of the SSH processes; HPN-SSH spreads ChaCha20 and AES-CTR over threads beside them."""
        agreed = self.agreed()
        cost, words = COSTS[agreed], f"SSH {agreed}"
        if sent != 1.0:
            cost = scaled(cost, sent, f"{sent:.3g} bytes sent per payload byte")
        if not self.hpn or agreed in ("aes-gcm", "none"):
            return both_ends(SENDER, RECEIVER, cost, words)
        bare = scaled(COSTS["none"], sent, "HPN-SSH beside its cipher threads")
        cipher = replace(cost, value=max(cost.value - bare.value, 0.0), source=f"{cost.source}; less {bare.value:.3g}")
        threads = (Thread("ssh cipher threads", HPN_THREADS), Thread("ssh decipher threads", HPN_THREADS))
        return (
            *both_ends(SENDER, RECEIVER, bare, "SSH less its cipher"),
            *both_ends(*threads, cipher, words),
        )


class SshTool(SshLink, Tool):
    """A tool whose one connection is SSH."""

    limit: Annotated[Rate | None, Field(validation_alias=AliasChoices("limit", "l"))] = None
