"""Equals do not march in step: files of equal size that share a link or a drive get shares that differ a little.

Workers that do one step after the other (a transfer, then its verification) would else do the same at the same time for
ever, and leave the link idle while all of them verify; no real system does. Each file draws its share anew, and what it
takes where its worker is by itself (a checksum on a core of its own): else two workers who verify for longer than they
copy would copy in turns for ever, once they no longer meet. Nor do
workers that wait for each file (round trips, operations) all wait and then all move: waits differ from file to file, so
that they meet at what they share as the queue of a closed network has it (`dtnsim.physics.waiting`), as in `predict`.

Neglects: shares that change while a file is under way; that those of workers with one step differ as well, which moves
none of their sums.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from statistics import NormalDist
from typing import Final

from dtnsim.ground.quantity import prior
from dtnsim.physics.waiting import log_spread
from dtnsim.simulation.chunks import parts_of_files
from dtnsim.simulation.jobs import Job
from dtnsim.steady.stages import UNFAIRNESS, in_parts

#: what files wait for (operations, round trips, first bytes), one beside the other
PAUSES: Final = prior(
    "0.5", 1.0, "assumed: positions of heads, other requests and packets make single waits differ by a quarter to all"
)
#: files of a worker beyond the first from which on waits have all of that spread: the last of few would stand for all
_MANY_ROUNDS: Final = 16.0
#: golden section, and the part of the law that is left out at each end
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_TAIL: Final = 1e-4
_MOST: Final = 0.5  #: an index of two flows of which one has nearly everything


def uneven(jobs: Sequence[Job], seed: int, *, drawn: bool) -> None:
    """Draws how files differ from their equals: shares and steps of jobs of several steps, waits of all.

    Args:
        drawn: Whether the run draws its parameters, or has them at their medians.
    """
    unfair = UNFAIRNESS.value
    if drawn:
        unfair *= Random(f"{seed} fairness").lognormvariate(0.0, math.sqrt(math.log1p(UNFAIRNESS.spread**2)))  # noqa: S311 - no secret
    spread = float(log_spread(1.0 - min(unfair, _MOST)))
    for job in jobs:
        steps = sum(bool(leg.fill_costs) for leg in job.legs)  # a scan uses no station
        rounds = math.inf if job.transfer.timed else job.transfer.files / job.workers
        visits = rounds * parts_of_files(job.transfer) if in_parts(job.transfer) else rounds
        meets = job.workers > 1 or len(jobs) > 1
        key = f"{seed} {job.transfer.name}"
        if steps > 1 and visits > 1:  # else nothing is for ever
            job.share_jitter = partial(Random(key).lognormvariate, 0.0, spread)  # noqa: S311 - no secret
            sd = spread * _of_all(visits) * meets
            job.step_jitter = partial(Random(f"{key} pace").lognormvariate, -(sd**2) / 2, sd)  # noqa: S311 - no secret
        if rounds > 1 and meets:
            job.wait_jitter = partial(next, pauses(f"{key} pauses", PAUSES.value * _of_all(rounds)))


def _of_all(rounds: float) -> float:
    """Part of a spread that files of a worker have, of which there are so many."""
    return min((rounds - 1) / _MANY_ROUNDS, 1.0)


def pauses(seed: str, spread: float) -> Iterator[float]:
    """Factors of one wait after the other, log-normal with a mean of one; so are any few in a row, nearly.

    The shares of the golden section fall evenly into any interval, however few there are of them.
    """
    sigma = math.sqrt(math.log1p(spread**2))
    place, normal = Random(seed).random(), NormalDist(-(sigma**2) / 2, sigma)  # noqa: S311 - no secret
    while True:
        place = (place + _GOLDEN) % 1.0
        yield math.exp(normal.inv_cdf(min(max(place, _TAIL), 1 - _TAIL)))
