"""What SSH does to a byte: one process a side with cipher and MAC, and a channel with its own window."""

import math
import re
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from dtnsim.components.access import Thread
from dtnsim.components.base import Model
from dtnsim.components.offload import Duty
from dtnsim.ground import library
from dtnsim.ground.quantity import Quantity, prior
from dtnsim.ground.uncertainty import Otherwise, Since
from dtnsim.physics.core_rates import CORE_RATES
from dtnsim.tools._common import both_ends, core_cost, scaled
from dtnsim.tools._options import Client, Rate, Ratio, Size, Version, by_release, named, version_tuple
from dtnsim.tools.plan import CpuUse, Job, NetUse, Opening, Tool


def cipher_of(name: str) -> str:
    """A cipher by the name that ssh_config(5) has for it: aes256-gcm@openssh.com, aes128-ctr."""
    plain = name.partition("@")[0]
    return re.sub(r"^aes(128|192|256)-(gcm|ctr)$", r"aes-\2", plain)


def _cipher_name(text: object) -> object:
    name = cipher_of(text) if isinstance(text, str) else text
    if isinstance(name, str) and (remedy := library.instead(name, "cipher")) is not None:
        raise ValueError(f"is no cipher with a cost here; {remedy}")
    return name


Cipher = Annotated[Literal["chacha20-poly1305", "aes-gcm", "aes-ctr", "none"], BeforeValidator(_cipher_name)]

#: TCP work that the end-to-end figures contain and that the path charges by itself (Stack.receive_byte)
_TCP = 0.62
_VM = "OpenSSH 9.2 over loopback on an Ice Lake-SP VM (2.8 GHz nominal, noisy), server process"
#: processor time of each process for 1 GiB from tmpfs to tmpfs, beside other loads
LOT: Final = "OpenSSH 9.2 over loopback on a busy VM of an EPYC 7003 at 3.13 GHz"


def _end_to_end(cycles: float, source: str) -> Quantity:
    """Cost of a byte [cycles/B] from one that has kernel TCP in it [cycles/B]."""
    return Quantity(cycles - _TCP, "cycles/B", 0.4, f"{source}: {cycles:.1f} cycles/B less {_TCP} of kernel TCP")


_GCM = CORE_RATES["openssh_aes_gcm"]

#: release that reads the network into its packet buffer and a pipe into its channel's (release notes); 8 KiB and
#: 16 KiB a call before (SSH_IOBUFSZ of defines.h and clientloop.c, CHAN_RBUF of channels.h)
_LARGE_READS: Final = (8, 9)
#: what a byte costs with those small reads over what it costs since
_SMALL_READS = 1.22
_READS = (
    "reads of 8 and 16 KiB before OpenSSH 8.9: 1.22 times the processor time of 9.2 where a library cuts its calls to "
    "that (five ciphers, both ways: 1.07 to 1.43; busy VM of an EPYC 7003)"
)

#: cost of a byte in the SSH process of either side (cipher, MAC, copies, pipe to scp), by what is spoken; since 8.9
COSTS: Final = {
    "aes-gcm": _end_to_end(
        math.sqrt(_GCM.cycles_per_byte / _SMALL_READS * 6.8),
        f"geometric mean of {_GCM.source} (OpenSSH 6.6), {_GCM.cycles_per_byte:.1f} cycles/B over {_SMALL_READS}, and "
        f"{LOT}, 6.8 cycles/B",
    ),
    "chacha20-poly1305": _end_to_end(2.8 / 0.37, _VM),
    "aes-ctr": _end_to_end(
        math.sqrt(4.7 / _SMALL_READS * 8.8),
        "with UMAC-64, which both ends put first (myproposal.h since 6.7; RHEL 8 and 9 have SHA-2, cheaper where the "
        "core has its instructions): geometric mean of nerdbynature.de (2014, OpenSSH 6.6, 4 GB over loopback in 6 s, "
        f"ThinkPad E431 of assumed 3.2 GHz), 4.7 cycles/B over {_SMALL_READS}, and {LOT}, 8.8 cycles/B",
    ),
    "none": prior("3.5 cycles/B", 0.4, "HPN-README: no cipher and no MAC is > 30 % faster than AES-GCM (4.7 cycles/B)"),
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
HPN_THREADS: Final = 4  #: cipher threads of HPN-SSH for each direction (HPN-README: two to four by default)
_LIBCRYPTO: Final = (8, 3)  #: release that made libcrypto do ChaCha20 (cipher-chachapoly-libcrypto.c)

_ZLIB: Final = core_cost("zlib6_compress", "ssh -C")
_UNZLIB: Final = core_cost("zlib6_decompress", "ssh -C")

#: messages of OpenSSH that wait, from SYN to the answer of the command that is run (RFC 4253, 4252, 4254): TCP;
#: banners; KEXINIT; the key exchange; NEWKEYS and the service request, which Nagle's algorithm keeps back until those
#: are acknowledged; "none"; key offered; signature; the server's host keys (since 6.8) and the channel, each kept back
#: until what the server sent before is acknowledged; command
LOGIN: Final = 12.0
#: what runs before and besides: process start at both ends, sntrup761 and ECDH, a signature, login shell
LOGIN_WORK: Final = prior(
    "0.28 s",
    0.25,
    "OpenSSH 9.2 less its round trips on shared VMs: 0.33 s on one (scp, sftp, rsync to an empty folder at 5 ms), "
    "0.21 to 0.27 s on another ('ssh host true', calibration/lot-truth)",
)
FAREWELL: Final = 1.0  #: after the last answer: end of file, exit status and close of the channel

#: processor time of one log-in at both ends, where many are made at once
LOGIN_CPU: Final = prior(
    "0.15 s", 0.25, "OpenSSH 9.2 to an empty folder: user and system time of the client 0.2 s with its start, on a VM"
)


def crowd(each: Quantity, connections: int, job: Job, round_trips: float) -> Quantity:
    """Work of one of several log-ins at once: they share the cores, and their round trips hide some of it."""
    more = max(connections * each.value / job.cores - round_trips * job.rtt_s, each.value)
    return each.worth(more, f"{each.source}; {connections} log-ins at once on {job.cores} cores")


class SshLink(Model):
    """What the two ends of an SSH connection agree on.

    ``version`` is the older one of the two ends: that one decides.
    """

    version: Annotated[
        Version,
        Otherwise("7.4", "RHEL 7: ChaCha20 in portable C before 8.3 (cipher-chachapoly-libcrypto.c)"),
        Otherwise("9.6", "Ubuntu 24.04: scp speaks SFTP since 9.0 (release notes, 2022), on RHEL 9 before"),
        # as Red Hat Enterprise Linux 4 to 8 had it, 7 since its release 7.4; then Ubuntu 22.04 and 24.04
        Since(
            (
                *((2005, "3.9"), (2007, "4.3"), (2010, "5.3"), (2014, "6.4"), (2017, "7.4"), (2019, "8.0")),
                *((2022, None), (2024, "9.6")),
            )
        ),
    ] = "8.9"
    cipher: Annotated[Cipher | None, named("cipher", "c", "Ciphers")] = None
    hpn: Annotated[bool, Field(description="HPN-SSH at both ends: channel window follows TCP, threaded cipher")] = False
    channel: Size | None = None

    def agreed(self, release: str | None = None) -> str:
        """Key into `COSTS`: the cipher and how these versions, or another release, compute it.

        OpenSSH proposes ChaCha20-Poly1305 first since 6.5; before, AES-CTR with a MAC.
        """
        version = version_tuple(release or self.version)
        old = version < (6, 5)
        cipher = self.cipher or ("aes-ctr" if old else "chacha20-poly1305")
        if cipher == "aes-ctr" and old:
            return "aes-ctr old"
        if cipher == "chacha20-poly1305" and version < _LIBCRYPTO:
            return "chacha20-poly1305 portable"
        return cipher

    def _byte(self, release: str) -> Quantity:
        """What a byte costs with the cipher and the reads of a release."""
        agreed = self.agreed(release)
        old_figure = agreed.endswith((" old", " portable"))  # figures of such releases
        small = not old_figure and version_tuple(release) < _LARGE_READS
        return scaled(COSTS[agreed], _SMALL_READS, _READS) if small else COSTS[agreed]

    def window(self) -> Quantity | None:
        """Window of the SSH channel; HPN-SSH lets it follow TCP's."""
        if self.channel is not None:
            return self.channel
        if self.hpn:
            return None
        return CHANNEL if version_tuple(self.version) >= (4, 7) else CHANNEL_OLD

    def opening(self, more: float, parts: str) -> Opening:
        """Log-in and ``more`` messages that wait."""
        words = f"ssh log-in ({LOGIN:g} round trips) and {parts}"
        return Opening(LOGIN + FAREWELL + more, LOGIN_WORK, words)

    def network(self, *, channel: Quantity | None = None, sent: float = 1.0, **how: Any) -> NetUse:
        """One TCP connection with one channel, the agreed one if left out; a payload byte is ``sent`` bytes in it."""
        channel = channel or self.window()
        return NetUse(SENDER, RECEIVER, channel=channel, overhead=sent * OVERHEAD, answered=True, **how)

    def crypto(self, sent: float = 1.0) -> tuple[CpuUse, ...]:
        """Work of the SSH processes; HPN-SSH spreads ChaCha20 and AES-CTR over threads beside them."""
        agreed = self.agreed()
        cost, words = COSTS[agreed], f"SSH {agreed}"
        if not self.hpn:
            cost = by_release(self, "ssh", self._byte)
        if sent != 1.0:
            cost = scaled(cost, sent, f"{sent:.3g} bytes sent per payload byte")
        if not self.hpn or agreed in ("aes-gcm", "none"):
            left = scaled(COSTS["none"], sent, "what SSH costs without a cipher")
            return both_ends(SENDER, RECEIVER, cost, words, None if agreed == "none" else self._duty(left))
        bare = scaled(COSTS["none"], sent, "HPN-SSH beside its cipher threads")
        cipher = cost.worth(max(cost.value - bare.value, 0.0), f"{cost.source}; less {bare.value:.3g}")
        threads = (Thread("ssh cipher threads", HPN_THREADS), Thread("ssh decipher threads", HPN_THREADS))
        return (
            *both_ends(SENDER, RECEIVER, bare, "SSH less its cipher"),
            *both_ends(*threads, cipher, words, self._duty(None)),
        )

    def _duty(self, left: Quantity | None) -> Duty:
        """The cipher, as a card of the host could compute it."""
        return Duty("cipher", self.agreed().split()[0], "ssh", left=left)


class SshTool(SshLink, Tool):
    """A tool whose one connection is SSH."""

    tool_class = "ssh"

    compress: Annotated[bool, named("compress", "C")] = False
    ratio: Ratio = prior("1", 0.0, "incompressible data")

    def sent(self, job: Job) -> float:
        """Bytes in the channel per payload byte."""
        del job
        return 1.0 / self.ratio.value if self.compress else 1.0

    def packing(self) -> tuple[CpuUse, ...]:
        """Zlib at its level 6, in the SSH process itself, where ``compress`` asks for it."""
        if not self.compress:
            return ()
        return (
            CpuUse("source", SENDER, _ZLIB, "zlib compression"),
            CpuUse("destination", RECEIVER, _UNZLIB, "zlib expansion"),
        )


class SshCopy(SshTool):
    """A tool over SSH that puts files, typed at the source, or gets them, typed at the destination (``client``)."""

    limit: Annotated[Rate | None, named("limit", "l")] = None
    client: Client = "source"
