import pytest

from dtnsim.ground.errors import SpecError

#: uploads
TO = (False, True)


@pytest.mark.parametrize(
    ("files", "size", "workers", "streams"), [(1, 100e9, 1, 4), (1000, 1e6, 4, 4), (1000, 1e9, 4, 16), (2, 1e9, 2, 8)]
)
def test_large_files_use_several_streams(files, size, workers, streams, tool, job):
    """rclone documentation: 4 transfers, 4 streams above 256 MiB."""
    plan = tool("rclone").plan(job(buckets=TO, files=files, payload_B=files * size))
    assert (plan.workers, plan.steps[0].net.streams) == (workers, streams)


def test_cutoff_and_streams_under_their_names(tool, job):
    options = {"transfers": "8", "multi-thread-streams": "2", "multi-thread-cutoff": "1 GiB"}
    plan = tool("rclone", **options).plan(job(buckets=TO, files=100, payload_B=100 * 2**30))
    assert (plan.workers, plan.steps[0].net.streams) == (8, 16)


def test_hash_and_tls_can_be_left_out(tool, job):
    words = {w.what for w in tool("rclone", ignore_checksum="true", tls="false").plan(job(buckets=TO)).steps[0].cpu}
    assert words == {"HTTP"}
    assert {w.what for w in tool("rclone").plan(job(buckets=TO)).steps[0].cpu} == {"HTTP", "TLS AES-GCM", "MD5"}


def test_rejects(tool):
    with pytest.raises(SpecError, match=r"^transfers: "):
        tool("rclone", transfers="0")


@pytest.mark.parametrize(
    ("ends", "backend", "put"),
    [
        ({}, "sftp", True),
        ({"buckets": TO}, "s3", True),
        ({"buckets": (True, False)}, "s3", False),
        ({"buckets": TO, "rtt_s": 0.0}, "s3", True),
        ({"rtt_s": 0.0}, "local", True),
        ({"source": "memory"}, "sftp", True),
    ],
)
def test_the_protocol_follows_from_the_ends(ends, backend, put, tool, job):
    """What is left out is what the far end speaks: the plan is that of the same options written out."""
    given = job(files=100, **ends)
    client = "source" if put else "destination"
    assert tool("rclone").plan(given) == tool("rclone", backend=backend, client=client).plan(given)


@pytest.mark.parametrize(
    ("options", "ends", "said"),
    [
        ({"backend": "sftp"}, {"buckets": TO}, r"tool\.backend: .*bucket \(got 'sftp'\); write s3, or leave it out"),
        ({"backend": "s3"}, {}, r"tool\.backend: .*without a bucket \(got 's3'\); write sftp or http or webdav"),
        ({"backend": "sftp"}, {"rtt_s": 0.0}, r"tool\.backend: .*same host \(got 'sftp'\); write local"),
        ({"backend": "local"}, {}, r"tool\.backend: .*\(got 'local'\)"),
        ({"client": "source"}, {"buckets": (True, False)}, r"tool\.client: .*\(got 'source'\); leave it out"),
        ({"backend": "http", "client": "source"}, {}, r"tool\.client: .*write client: destination"),
    ],
)
def test_a_contradiction_is_refused(options, ends, said, tool, job):
    with pytest.raises(SpecError, match=said):
        tool("rclone", **options).plan(job(**ends))


def test_between_mounts_nothing_crosses_a_network_and_a_file_is_one_stream(tool, job):
    """fs/operations/multithread.go: local to local only where --multi-thread-streams is given."""
    here = job(files=100, payload_B=100e9, rtt_s=0.0)
    (step,) = tool("rclone").plan(here).steps
    assert step.net is None
    assert step.files.round_trips == 0
    assert [use.end for use in step.cpu if use.what == "MD5"] == ["source", "destination"]
    assert tool("rclone").plan(here).weight == 4
    assert tool("rclone", multi_thread_streams=2).plan(here).weight == 8
