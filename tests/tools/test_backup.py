"""Backups: what changed is hashed, what is new is packed and sent."""

import pytest


def test_full_deduplication_costs_four_times_the_minimal_one(tool, job):
    """support.crashplan.com: minimal de-duplication makes the initial backup faster by typically 400 %."""

    def cycles(mode, **how):
        return sum(w.cycles.value for w in tool("crashplan", deduplication=mode).plan(job(**how)).steps[-1].cpu)

    assert cycles("full") == pytest.approx(4 * cycles("minimal"))
    assert cycles("automatic") == cycles("full")
    assert cycles("automatic", rtt_s=0.0) == cycles("minimal")


def test_what_is_new_of_what_changed_travels(tool, job):
    """A fifth of the bytes lie in changed files, a tenth of those is new: two per cent travel."""
    backup = tool("crashplan", changed="0.2", literal="0.1").plan(job()).steps[-1]
    assert backup.share * backup.net.overhead == pytest.approx(0.02)


def test_local_backup_is_slower_than_a_disk_by_an_order_of_magnitude(tool, job):
    """170 GB took 3.25 h to a USB 3 disk on a laptop of about 3 GHz (UCI report): 14.5 MB/s; spread of parts 40 %."""
    step = tool("crashplan").plan(job(rtt_s=0.0)).steps[-1]
    assert step.net is None
    cycles = sum(w.cycles.value for w in step.cpu)
    assert 3e9 / cycles == pytest.approx(14.5e6, rel=0.5)


def test_all_cores_and_five_connections(tool, job):
    scan, backup = tool("restic", repository="rest").plan(job(cores=16)).steps
    assert scan.files.source == ("stat",)
    assert {use.thread.copies for use in backup.cpu if "restic engine" in use.thread.name} == {16}
    assert backup.net.streams == 5
    assert tool("restic").plan(job()).steps[1].net.streams == 1  # sftp: one ssh


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
