"""restic and its base: what changed is hashed, what is new is packed and sent."""

import pytest


def test_all_cores_and_five_connections(tool, job):
    scan, backup = tool("restic", repository="rest").plan(job(cores=16)).steps
    assert scan.files.source == ("stat",)
    assert {use.thread.copies for use in backup.cpu if "restic engine" in use.thread.name} == {16}
    assert backup.net.streams == 5
    assert tool("restic").plan(job()).steps[1].net.streams == 1  # sftp: one ssh


def test_known_blocks_are_hashed_and_not_sent(tool, job):
    new, half, known = (tool("restic", literal=f"{part}").plan(job()).steps[1] for part in (1, 0.5, 0))
    assert (new.net.overhead, half.net.overhead, known.net) == (1.0, 0.5, None)
    assert [use.what for use in known.cpu] == ["chunker", "SHA-256 of blocks"]
    assert known.write is None
    assert len(tool("restic", changed="0").plan(job()).steps) == 1


def test_compression_is_less_on_the_wire(tool, job):
    assert tool("restic", ratio="2").plan(job()).steps[1].net.overhead == pytest.approx(0.5)
