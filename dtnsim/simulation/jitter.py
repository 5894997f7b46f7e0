"""Jitter, so that equals do not march in step: equal files on a shared link or drive get slightly different shares.

Workers with several steps (a transfer, then its verification) would otherwise stay in step for ever and leave the link
idle while all of them verify, as no real system does. So each file draws its share anew, and the pace of its private
steps (a checksum on a core of its own); otherwise two workers that verify for longer than they copy would copy in turns
for ever. Waits for each file (round trips, operations) differ as well, so that workers queue as in a closed network
(`dtnsim.physics.waiting`), as in `predict`.

Neglects: shares that change while a file moves; jitter of workers with a single step, which would not change their sum.
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
    """Sets the jitter of jobs: of waits for all, of shares and steps where there are several; ``drawn`` or median."""
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
    """Part of the spread that applies to a worker with this many files."""
    return min((rounds - 1) / _MANY_ROUNDS, 1.0)


def pauses(seed: str, spread: float) -> Iterator[float]:
    """Factors of successive waits, log-normal with mean one, as nearly are any few in a row.

    The shares of the golden section fall evenly into any interval, however few there are of them.
    """
    sigma = math.sqrt(math.log1p(spread**2))
    place, normal = Random(seed).random(), NormalDist(-(sigma**2) / 2, sigma)  # noqa: S311 - no secret
    while True:
        place = (place + _GOLDEN) % 1.0
        yield math.exp(normal.inv_cdf(min(max(place, _TAIL), 1 - _TAIL)))
