"""Equals do not march in step: files of equal size that share a link or a drive get shares that differ a little.

Workers that do one step after the other (a transfer, then its verification) would else do the same at the same time for
ever, and leave the link idle while all of them verify; no real system does. Each file draws its share anew.

Neglects: shares that change while a file is under way; that those of workers with one step differ as well, which moves
none of their sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Final

from dtnsim.ground.quantity import prior
from dtnsim.physics.fairness import log_spread
from dtnsim.simulation.jobs import Job

#: what equal flows miss of perfect fairness over the life of a file, 1 - J
UNFAIRNESS: Final = prior(
    "0.05", 1.0, "assumed: Jain's index of equal flows and of equal readers of a drive over minutes is 0.8 to 0.99"
)
#: an index of two flows of which one has nearly everything
_MOST: Final = 0.5


def uneven(jobs: Sequence[Job], seed: int, *, drawn: bool) -> None:
    """Gives the files of jobs of several steps their luck.

    Args:
        jobs: All transfers of a run.
        seed: Of the run.
        drawn: Whether the run draws its parameters, or has them at their medians.
    """
    unfair = UNFAIRNESS.value
    if drawn:
        unfair *= Random(f"{seed} fairness").lognormvariate(0.0, math.sqrt(math.log1p(UNFAIRNESS.spread**2)))  # noqa: S311 - no secret
    spread = float(log_spread(1.0 - min(unfair, _MOST)))
    for job in jobs:
        if len(job.legs) > 1:
            job.luck = partial(Random(f"{seed} {job.transfer.name}").lognormvariate, 0.0, spread)  # noqa: S311 - no secret
