"""FTS: what a file costs before and after its bytes."""

import pytest


def test_steps_of_a_file(tool, job):
    """UrlCopyProcess.cpp: checksum at the source, copy, checksum at the destination."""
    names = {
        mode: [s.name for s in tool("fts", checksum=mode).plan(job()).steps] for mode in ("both", "none", "target")
    }
    assert names == {
        "both": ["checksum at source", "transfer", "checksum at destination"],
        "none": ["transfer"],
        "target": ["transfer", "checksum at destination"],
    }


def test_two_files_at_once_unless_the_optimizer_says_more(tool, job):
    """OptimizerConstants.h: DEFAULT_MIN_ACTIVE 2."""
    given = job(files=100, payload_B=1e11, largest_B=1e9)
    assert tool("fts").plan(given).workers == 2
    assert tool("fts", active=60).plan(given).workers == 60
    assert tool("fts", active=60, reuse=True).plan(given).workers == 1


def test_small_files_cost_a_process_each(run):
    data = "{files: 600, each: 1 MB}"
    alone, kept = (run(f"{{name: fts, active: 1, reuse: {r}}}", data=data).duration_s.p50 for r in ("false", "true"))
    assert alone - kept == pytest.approx(600 * (0.5 + 2 * 0.053), rel=0.1)
