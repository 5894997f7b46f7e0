"""Distributions of file sizes, as groups of equal files."""

import math
from typing import Final

import numpy as np

from dtnsim.physics._arrays import FloatArray as Array, IntArray

Groups = tuple[Array, IntArray]

MAX_GROUPS: Final = 1000  #: a distribution or list of sizes is kept as at most so many groups of equal files
MAX_DRAWN: Final = 1_000_000  #: up to so many files are drawn one by one where a seed is given


def grouped(sizes_B: Array) -> Groups:
    """Sizes of files one by one, in groups."""
    sizes, counts = np.unique(sizes_B, return_counts=True)
    if sizes.size > MAX_GROUPS:
        every = np.repeat(sizes, counts)
        edges = edges_of(every.size)
        counts = np.diff(edges)
        sizes = np.add.reduceat(every, edges[:-1]) / counts
    return sizes, counts


def scaled(groups: Groups, files: int | None) -> Groups:
    """As many files as asked for, with the distribution of sizes of those that are known."""
    total = int(groups[1].sum())
    if files is None or files == total:
        return groups
    counts = np.diff(np.rint(np.cumsum(groups[1]) * (files / total)).astype(np.int64), prepend=0)
    return groups[0][counts > 0], counts[counts > 0]


def between(files: int, low_B: float, high_B: float, total_B: float) -> Groups:
    """Sizes of files of which only number, ends and sum are known.

    The quantile function low + (high - low) u^k, with k such that the sum is right: one exponent, no
    further assumption, and k = 1 (uniform) where the sum says nothing else.

    Args:
        files: Number of files.
        low_B: Smallest size [B].
        high_B: Largest size [B].
        total_B: Sum of all sizes [B], between files x low and files x high.

    Returns:
        (sizes [B], counts), each the mean of its quantile range, so that the sum is kept exactly.

    Valid: low_B <= total_B / files <= high_B.
    Neglects: what the real distribution looks like between its ends.
    Source: derived here: the mean of u^k over [0, 1] is 1 / (k + 1).
    """
    edges = edges_of(files)
    counts = np.diff(edges)
    over, under = total_B / files - low_B, high_B - total_B / files
    if over <= 0 or under < 0:
        return np.full(counts.size, total_B / files), counts
    power = under / over + 1.0
    with np.errstate(divide="ignore"):  # the lowest edge: log 0
        above = -np.expm1(power * np.log1p((edges - files) / files))  # 1 - u^power, exact near the top
    sizes = low_B - (high_B - low_B) * np.diff(above) / power * files / counts
    return sizes, counts


def histogram(high_B: Array, counts: IntArray, total_B: float | None = None) -> Groups:
    """Files up to each size and above the one before.

    Where in its bin a file lies is the same part of the way for all, on a scale of logarithms: half of it, or what
    makes the sum right.

    Args:
        high_B: Largest size of each bin, rising [B], shape (bins,).
        counts: Files of each.
        total_B: Sum of all sizes [B]; None: not known.

    Returns:
        (sizes [B], counts).

    Valid: total_B between the sums with all files at the lower and at the upper ends of their bins.
    Neglects: differences within a bin.
    Source: derived here: the bins of storage reports are equal on a scale of logarithms.
    """
    low = np.concatenate([[1.0], high_B[:-1]])

    def sizes(part: float) -> Array:
        return np.asarray(low ** (1 - part) * high_B**part)

    if total_B is None:
        return sizes(0.5), counts
    below, above = 0.0, 1.0
    for _ in range(60):
        middle = (below + above) / 2
        below, above = (middle, above) if sizes(middle) @ counts < total_B else (below, middle)
    return sizes(above), counts


def log_normal(files: int, median_B: float, sigma: float, seed: int | None = None) -> Groups:
    """Log-normal file sizes in at most `MAX_GROUPS` groups.

    Without a seed each group has the mean of its range of quantiles, so that the sum is that of the
    distribution: files x median x exp(sigma^2 / 2). With a seed (and up to `MAX_DRAWN` files) the
    files are drawn and put together; count and sum of the draw are kept.

    Args:
        files: Number of files.
        median_B: Median size [B].
        sigma: Standard deviation of the natural logarithm of the size [1].
        seed: Seed of the draw.

    Returns:
        (sizes [B], counts).

    Valid: sigma up to 5.
    Neglects: correlation of sizes within directories.
    Source: partial expectation of the log-normal distribution, N. L. Johnson, S. Kotz and
        N. Balakrishnan, Continuous Univariate Distributions, vol. 1, 2nd edition, ch. 14.
    """
    edges = edges_of(files)
    counts = np.diff(edges)
    if seed is not None and files <= MAX_DRAWN:
        drawn = np.sort(np.random.default_rng(seed).lognormal(math.log(median_B), sigma, files))
        return np.add.reduceat(drawn, edges[:-1]) / counts, counts
    from scipy.special import ndtr, ndtri

    # part of the bytes in files above each quantile; counted from the top, where groups are small
    above = ndtr(sigma + ndtri((files - edges) / files))
    mean = median_B * math.exp(sigma**2 / 2)
    return -mean * np.diff(above) * files / counts, counts


def edges_of(files: int) -> IntArray:
    """Where files in rising order are cut into groups: the largest stay alone, as they hold the bytes."""
    if files <= MAX_GROUPS:
        return np.arange(files + 1)
    from_top = np.unique(np.rint(np.geomspace(1, files, MAX_GROUPS)).astype(np.int64))
    return np.append(files - from_top[::-1], files)
