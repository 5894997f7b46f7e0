"""Bonded links: how many of k links n connections use, by chance and by the hash Linux computes.

One connection stays on one link. The sender's bond decides one direction, the switch's hash the other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dtnsim.physics._arrays import FloatArray, as_float

_UINT32: Final = np.uint32


def expected_links(links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Mean number of links that carry at least one of n streams placed at random.

    E[used] = k (1 - (1 - 1/k)^n)

    Args:
        links: Links k of the bond [1].
        streams: Connections n [1].

    Returns:
        Links used [1], from 1 (n = 1) to k.

    Valid: k >= 1, n >= 0; uniform, independent hash.
    Neglects: sequential ports, whose hashes are not independent (`layer34_links`).
    Source: balls into bins, Feller, An Introduction to Probability Theory vol. 1, II.5.
    """
    k = as_float(links)
    missed = np.where(k > 1, 1 - 1 / k, 0.0) ** as_float(streams)
    return as_float(k * (1 - missed))


@lru_cache(maxsize=4096)
def _expected_max(links: int, streams: int) -> float:
    """E[max load] = sum_m P(max > m), by adding link after link (binomial thinning, no factorials)."""
    total, logs = 0.0, np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, streams + 1)))])
    for m in range(streams):
        left = np.zeros(streams + 1)  # left[r]: r streams not yet placed, no link above m so far
        left[streams] = 1.0
        for j in range(links, 1, -1):
            new = np.zeros(streams + 1)
            for here in range(min(m, streams) + 1):
                r = np.arange(here, streams + 1)
                log_p = logs[r] - logs[here] - logs[r - here] - here * np.log(j) + (r - here) * np.log1p(-1 / j)
                new[r - here] += left[r] * np.exp(log_p)
            left = new
        total += 1.0 - float(left[: m + 1].sum())
    return total


def expected_max_load(links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Mean number of streams on the fullest link, exact.

    E[max] = sum_{m >= 0} (1 - P(no link holds more than m))

    Args:
        links: Links k, whole numbers [1].
        streams: Connections n, whole numbers up to some hundreds [1].

    Returns:
        Streams on the fullest link [1], between n/k and n.

    Valid: k >= 1, n >= 0 (rounded to whole numbers); uniform, independent hash; cost k n^3, cached.
    Neglects: streams of unequal weight.
    Source: multinomial occupancy, Feller vol. 1, II.5; Johnson and Kotz, Urn Models, 1977.
    """
    k, n = np.broadcast_arrays(as_float(links), as_float(streams))
    flat = [_expected_max(round(float(a)), round(float(b))) for a, b in zip(k.ravel(), n.ravel(), strict=True)]
    return as_float(np.array(flat).reshape(k.shape))


def dynamic_rate(link_Bps: ArrayLike, links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Mean rate of a bond when the streams share out the work as they go.

    X = C * E[used]

    Args:
        link_Bps: Payload rate C of one link [B/s].
        links: Links k [1].
        streams: Connections n [1].

    Returns:
        Rate [B/s].

    Valid: every stream can fill a link; blocks handed to whichever stream is free (GridFTP MODE E).
    Neglects: the spread around the mean (use `layer34_links` or draw placements).
    Source: see `expected_links`.
    """
    return as_float(link_Bps) * expected_links(links, streams)


def static_rate(link_Bps: ArrayLike, links: ArrayLike, streams: ArrayLike) -> FloatArray:
    """Rate of a bond when each stream carries a fixed, equal part: the fullest link decides.

    X = n C / E[max]

    Args:
        link_Bps: Payload rate C of one link [B/s].
        links: Links k, whole numbers [1].
        streams: Connections n, whole numbers, at least 1 [1].

    Returns:
        Rate [B/s], at most `dynamic_rate`.

    Valid: every stream can fill a link.
    Neglects: E[1/max] > 1/E[max] (2-4 % for k = 4).
    Source: see `expected_max_load`.
    """
    return as_float(as_float(streams) * as_float(link_Bps) / expected_max_load(links, streams))


def layer34_hash(
    source_address: ArrayLike,
    destination_address: ArrayLike,
    source_port: ArrayLike,
    destination_port: ArrayLike,
    discard_lowest_bit: ArrayLike = 1,
) -> NDArray[np.uint32]:
    """Transmit hash of Linux bonding with xmit_hash_policy layer3+4, IPv4.

    h = ports ^ destination ^ source (as stored in network byte order, read on a little-endian machine)
    h ^= h >> 16;  h ^= h >> 8;  h >>= 1 from Linux 4.15 on

    Args:
        source_address: IPv4 address as a number, 10.0.0.1 = 0x0a000001 [1].
        destination_address: The same of the other end [1].
        source_port: TCP or UDP port [1].
        destination_port: Port of the other end [1].
        discard_lowest_bit: 1 from Linux 4.15 on; 0 before, where even ports all met one link [1].

    Returns:
        Hash, uint32 [1].

    Valid: IPv4 TCP or UDP, not fragmented, little-endian hosts, Linux 3.13 on.
    Neglects: layer2+3 and encapsulating policies.
    Source: Linux drivers/net/bonding/bond_main.c, commits 32819dc1834866 (formula) and b5f862180d7011
        (lowest bit).
    """
    src, dst = (np.asarray(x, dtype=np.uint32) for x in (source_address, destination_address))
    sport, dport = (np.asarray(x, dtype=np.uint32) for x in (source_port, destination_port))
    ports = _swap16(sport) | (_swap16(dport) << _UINT32(16))
    h = ports ^ _swap32(dst) ^ _swap32(src)
    h = h ^ (h >> _UINT32(16))
    h = h ^ (h >> _UINT32(8))
    return np.asarray(h >> np.asarray(discard_lowest_bit, dtype=np.uint32), dtype=np.uint32)


def layer34_links(
    links: ArrayLike,
    source_address: ArrayLike,
    destination_address: ArrayLike,
    source_port: ArrayLike,
    destination_port: ArrayLike,
    discard_lowest_bit: ArrayLike = 1,
) -> NDArray[np.int64]:
    """Link (0 to k - 1) each connection is sent on: `layer34_hash` modulo k.

    Args:
        links: Links k of the bond [1].
        source_address: IPv4 address as a number [1].
        destination_address: The same of the other end [1].
        source_port: Port [1].
        destination_port: Port of the other end [1].
        discard_lowest_bit: See `layer34_hash` [1].

    Returns:
        Index of the link for each connection [1]; ``len(set(...))`` is the number used.

    Valid: see `layer34_hash`; modes balance-xor and 802.3ad.
    Neglects: links that are down (the kernel then takes modulo the usable ones).
    Source: see `layer34_hash`.
    """
    h = layer34_hash(source_address, destination_address, source_port, destination_port, discard_lowest_bit)
    return np.asarray(h.astype(np.int64) % np.asarray(links, dtype=np.int64), dtype=np.int64)


def _swap16(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    low = x & _UINT32(0xFFFF)
    return np.asarray(((low & _UINT32(0xFF)) << _UINT32(8)) | (low >> _UINT32(8)), dtype=np.uint32)


def _swap32(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return np.asarray((_swap16(x) << _UINT32(16)) | _swap16(x >> _UINT32(16)), dtype=np.uint32)
