"""HTCondor: a connection a job."""

import pytest


def test_jobs_at_once(tool, job):
    given = job(files=1000, payload_B=1e9, largest_B=1e6)
    assert tool("condor").plan(given).workers == 100
    few = tool("condor", files_per_job="50").plan(given)
    assert few.workers == 20
    assert few.steps[0].files.round_trips == pytest.approx(1 + 6 / 50)
    assert few.steps[0].files.fixed.value == pytest.approx(0.1 / 50)


def test_encryption_costs_both_ends(tool, job):
    plain, secret = (tool("condor", encrypt=v).plan(job()).steps[0].cpu for v in ("false", "true"))
    assert len(secret) == len(plain) + 2
