import pytest

from dtnsim.ground.errors import SpecError


@pytest.mark.parametrize(
    ("files", "size", "workers", "streams"), [(1, 100e9, 1, 4), (1000, 1e6, 4, 4), (1000, 1e9, 4, 16), (2, 1e9, 2, 8)]
)
def test_large_files_use_several_streams(files, size, workers, streams, tool, job):
    """rclone documentation: 4 transfers, 4 streams above 256 MiB."""
    plan = tool("rclone").plan(job(files=files, payload_B=files * size))
    assert (plan.workers, plan.steps[0].net.streams) == (workers, streams)


def test_cutoff_and_streams_under_their_names(tool, job):
    options = {"transfers": "8", "multi-thread-streams": "2", "multi-thread-cutoff": "1 GiB"}
    plan = tool("rclone", **options).plan(job(files=100, payload_B=100 * 2**30))
    assert (plan.workers, plan.steps[0].net.streams) == (8, 16)


def test_hash_and_tls_can_be_left_out(tool, job):
    words = {w.what for w in tool("rclone", ignore_checksum="true", tls="false").plan(job()).steps[0].cpu}
    assert words == {"HTTP"}
    assert {w.what for w in tool("rclone").plan(job()).steps[0].cpu} == {"HTTP", "TLS AES-GCM", "MD5"}


def test_rejects(tool):
    with pytest.raises(SpecError, match=r"^transfers: "):
        tool("rclone", transfers="0")
