"""Servers behind a shared file system: their ports, the arrays behind them, what many streams cost their disks.

What Lustre, GPFS, NFS appliances and their like have in common. All functions broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from dtnsim.physics._arrays import FloatArray, as_float, broadcast


def node_rate(
    ports: ArrayLike, port_rate: ArrayLike, port_share: ArrayLike = 1.0, own_rate: ArrayLike = np.inf
) -> FloatArray:
    """Rate of one server: min(ports x R_port x share, R_own).

    Args:
        ports: Network ports of a server [1].
        port_rate: Line rate of one port [B/s].
        port_share: Payload per byte of line rate [1].
        own_rate: What its cores and memory move [B/s].

    Returns:
        Rate [B/s].

    Valid: ports used alike, in one direction at a time.
    Neglects: traffic between servers (replicas, mirrors), which the file system's kind adds.
    Source: bottleneck law; Lustre manual, "Understanding Lustre Architecture" (90 % of the network reached).
    """
    return np.minimum(as_float(ports) * as_float(port_rate) * as_float(port_share), as_float(own_rate))


def elsewhere(servers: ArrayLike) -> FloatArray:
    """Part of the bytes and requests of a client on one of the servers that pass a wire: 1 - 1 / n.

    Args:
        servers: Servers n [1].

    Returns:
        Share [1].

    Valid: files and names spread evenly over equal servers, whatever client made them.
    Neglects: file systems that prefer the client's own targets; a call that waits for the last of several servers.
    Source: mean over n equal servers of which one is the client's own host.
    """
    return 1.0 - 1.0 / as_float(servers)


def surviving(servers: ArrayLike, failed: ArrayLike, striped: ArrayLike) -> FloatArray:
    """Servers' worth of rate that is left when some have failed and their partners do their work.

    Files that lie on few servers: n - f. Files striped over all: the pair with one survivor serves two servers'
    share of every file and sets the pace of all, n / 2.

    Args:
        servers: Servers in pairs n [1].
        failed: Failed ones f, at most one of a pair [1].
        striped: 1 where every file is striped over all servers, 0 where files lie on few [1].

    Returns:
        Servers' worth of rate [1].

    Valid: failover pairs that reach each other's drives; f at most n / 2.
    Neglects: the time of the failover itself.
    Source: Lustre manual, "Understanding Failover in a Lustre File System" (active/active pairs of servers);
        slowest of equal shares.
    """
    n, f = as_float(servers), as_float(failed)
    even = np.where(f > 0.0, n / 2.0, n)
    return np.where(as_float(striped) > 0.0, even, n - f)


def in_turn(items: ArrayLike, bins: ArrayLike, each: ArrayLike = 1.0) -> FloatArray:
    """Bins in use by items that are given to them in turn, each to ``each`` of them: min(f c, m).

    Args:
        items: Items f (files, directories) [1].
        bins: Bins m (storage targets, metadata servers) [1].
        each: Bins that one item takes c [1].

    Returns:
        Bins in use [1].

    Valid: targets about as full as each other (within 17 %), files made one after the other; directories that are
        each on one of the servers.
    Neglects: a start elsewhere after some thousand objects; pools of targets; striped directories, which spread one
        over several servers; renames across servers.
    Source: Lustre manual, "Managing Free Space" (round-robin allocator); lustre/lod/lod_qos.c, lod_alloc_rr; the
        manual's "Lustre Metadata Service" and "Creating a sub-directory on a given MDT" (DNE).
    """
    return np.minimum(as_float(items) * as_float(each), as_float(bins))


def until_the_last(items: ArrayLike, bins: ArrayLike, each: ArrayLike = 1.0, turn: ArrayLike = 0.0) -> FloatArray:
    """Bins' worth of rate where all items begin at once and the time is that of the last: f c / E[fullest bin].

    Given in turn, the fullest has ceil(f c / m). At random its load is the largest of m binomials, each of f items with
    the chance c / m, taken to be independent.

    Args:
        items: Equal items f [1].
        bins: Bins m [1].
        each: Bins that one item takes c [1].
        turn: 1 where they are given in turn, 0 where at random [1].

    Returns:
        Bins [1]; no more than are in use.

    Valid: equal items, whose parts in a bin share its rate equally.
    Neglects: that bins together hold f c parts (4 % for two items in two bins).
    Source: order statistics of binomials; M. Raab, A. Steger, "Balls into Bins", RANDOM 1998.
    """
    f, m, c, t = broadcast(items, bins, each, turn)
    most = [
        np.ceil(n * k / b - 1e-9) if alike else _largest(round(n), min(k / b, 1.0), b)
        for n, b, k, alike in zip(f.flat, m.flat, c.flat, t.flat, strict=True)
    ]
    return as_float(f * c / np.reshape(most, f.shape))


def _largest(items: int, chance: float, bins: float) -> float:
    """Mean of the largest of so many independent binomials, which is no less than their mean."""
    if chance >= 1.0:
        return float(items)
    k = np.arange(1, items + 1)
    log = np.cumsum(np.log((items - k + 1) / k * chance / (1.0 - chance)))
    cdf = np.cumsum(np.exp(np.concatenate([[0.0], log]) + items * np.log1p(-chance)))
    none_above = np.where(np.arange(items) < np.ceil(items * chance - 1e-9), 0.0, np.minimum(cdf[:-1], 1.0) ** bins)
    return float(np.sum(1.0 - none_above))


def run_length(cache_B: ArrayLike, streams: ArrayLike, request_B: ArrayLike) -> FloatArray:
    """Contiguous bytes that an array moves for one stream before the next gets its turn: max(C / n, request).

    Args:
        cache_B: Memory of the array's controller for write-back and read-ahead C [B].
        streams: Streams on this array n [1].
        request_B: Size of one request [B].

    Returns:
        Bytes a turn [B]; with `hdd_streams.interleaved_rate` the rate of disks falls with the number of streams.

    Valid: sequential streams, each detected by the controller; equal shares of its memory.
    Neglects: requests of one stream that the memory joins although they arrive apart.
    Source: Li, Shen and Papathanasiou, "Competitive prefetching for concurrent sequential I/O", EuroSys 2007
        (prefetch depth bounded by memory over streams).
    """
    return np.maximum(as_float(cache_B) / np.maximum(as_float(streams), 1.0), as_float(request_B))
