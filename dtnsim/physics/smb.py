"""SMB 3: credits in flight, channels, read-ahead of the Linux client. All functions broadcast."""

from __future__ import annotations

from typing import Final

from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float

#: Payload that one credit allows (MS-SMB2, section 3.1.5.2: CreditCharge = (size - 1) / 65536 + 1).
CREDIT_B: Final = 65536.0


def credits_rate(
    granted: ArrayLike, io_B: ArrayLike, rtt_s: ArrayLike, service_s: ArrayLike, channels: ArrayLike = 1
) -> FloatArray:
    """Rate by the credits that a server grants: requests of ceil(io / 64 KiB) credits, n c / charge x io / (T + t).

    Args:
        granted: Credits of one channel c [1].
        io_B: Bytes of one request [B].
        rtt_s: Round-trip time T [s].
        service_s: Server time of one request t [s].
        channels: Channels n (multichannel) [1].

    Returns:
        Rate [B/s].

    Valid: enough read-ahead or dirty pages to use the credits, at least one request's worth of them.
    Neglects: credits that grow with use at the start of a session.
    Source: MS-SMB2, sections 3.1.5.2 and 3.3.1.2 (multi-credit requests, granting of credits); Little.
    """
    charge = -(-as_float(io_B) // CREDIT_B)
    flying = as_float(channels) * as_float(granted) / charge * as_float(io_B)
    return flying / (as_float(rtt_s) + as_float(service_s))


def read_ahead(rsize_B: ArrayLike) -> FloatArray:
    """Bytes that the Linux client reads ahead: 2 rsize.

    Args:
        rsize_B: rsize [B].

    Returns:
        Window of one sequential reader [B].

    Valid: Linux 5.13 and later without ``rasize``.
    Neglects: the ramp of the window.
    Source: Linux fs/smb/client/cifsfs.c, cifs_read_super (ra_pages of two rsize).
    """
    return 2.0 * as_float(rsize_B)
