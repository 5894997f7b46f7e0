"""Borg: one thread does all of it."""

import pytest


def test_one_core_cuts_hashes_packs_and_encrypts(tool, job, run):
    """2 + SHA-256 + AES 2.5 cycles a byte at 9 GHz, and the read of the files on the same thread."""
    step = tool("borg", compression="none").plan(job()).steps[1]
    mine = [use for use in step.cpu if use.thread.name == "borg engine"]
    assert {use.thread.copies for use in mine} == {1}
    cycles = sum(use.cycles.value for use in mine)
    assert cycles == pytest.approx(2.0 + 2.8 / 1.3 + 2.5)
    rate = run("{name: borg, compression: none}", rtt="0.1 ms").throughput_Bps.p50
    assert 0.5 * 9e9 / cycles < rate < 9e9 / cycles


def test_compression_costs_the_engine(tool, job):
    plain, lz4 = (tool("borg", compression=c).plan(job()).steps[1].cpu for c in ("none", "lz4"))
    assert len(lz4) == len(plain) + 1
